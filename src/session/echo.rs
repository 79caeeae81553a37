//! Looks for the echo of a typed text in what the child prints afterwards.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use vte::{Parser, Perform};

/// The longest text whose echo is looked for, in visible characters. It is looked for whole: a part of it proves nothing.
const PATTERN_CHARS_MAX: usize = 4096;

/// How long an echo is looked for. A program that shows typed text does so at once; a busy one within seconds.
const LOOK_FOR: Duration = Duration::from_secs(10);

/// In how much output; whatever prints more than this in the meantime does not echo.
const LOOK_THROUGH_BYTES: usize = 256 * 1024;

/// How many echoes are looked for at once; the oldest is given up first.
const LOOKOUTS_MAX: usize = 64;

/// The echoes that are being looked for. Costs nothing while there are none.
#[derive(Default)]
pub struct Echoes {
    lookouts: VecDeque<Lookout>,
    parser: Parser,
}

struct Lookout {
    id: u64,
    pattern: Vec<char>,
    /// For each prefix of the pattern, the longest prefix that is also its end (Knuth, Morris, Pratt).
    fallback: Vec<usize>,
    matched: usize,
    until: Instant,
    bytes_left: usize,
}

impl Echoes {
    /// Begins to look for a text; one without a visible character, or a very long one, has no echo to look for.
    pub fn look_for(&mut self, id: u64, text: &str, now: Instant) {
        let pattern: Vec<char> = text.chars().filter(|c| is_visible(*c)).take(PATTERN_CHARS_MAX + 1).collect();
        if pattern.is_empty() || pattern.len() > PATTERN_CHARS_MAX {
            return;
        }
        if self.lookouts.is_empty() {
            // What was cut off earlier has nothing to do with what comes now.
            self.parser = Parser::new();
        }
        if self.lookouts.len() == LOOKOUTS_MAX {
            self.lookouts.pop_front();
        }
        let fallback = fallbacks(&pattern);
        self.lookouts.push_back(Lookout {
            id,
            pattern,
            fallback,
            matched: 0,
            until: now + LOOK_FOR,
            bytes_left: LOOK_THROUGH_BYTES,
        });
    }

    /// Looks through what the child printed; returns the inputs whose text was seen.
    pub fn seen_in(&mut self, bytes: &[u8], now: Instant) -> Vec<u64> {
        self.lookouts.retain(|lookout| lookout.until > now && lookout.bytes_left > 0);
        self.lookouts
            .iter_mut()
            .for_each(|lookout| lookout.bytes_left = lookout.bytes_left.saturating_sub(bytes.len()));
        if self.lookouts.is_empty() {
            return Vec::new();
        }
        let mut printed = Printed { lookouts: &mut self.lookouts };
        self.parser.advance(&mut printed, bytes);
        let seen = self.lookouts.iter().filter(|l| l.is_seen()).map(|l| l.id).collect();
        self.lookouts.retain(|lookout| !lookout.is_seen());
        seen
    }

    /// Whether the echo of this input is still looked for.
    pub fn looks_for(&self, id: u64) -> bool {
        self.lookouts.iter().any(|lookout| lookout.id == id)
    }

    /// Nothing typed to a child is looked for in the next one's output.
    pub fn clear(&mut self) {
        self.lookouts.clear();
    }
}

impl Lookout {
    fn is_seen(&self) -> bool {
        self.matched == self.pattern.len()
    }

    fn advance(&mut self, c: char) {
        if self.is_seen() {
            return;
        }
        while self.matched > 0 && self.pattern[self.matched] != c {
            self.matched = self.fallback[self.matched - 1];
        }
        if self.pattern[self.matched] == c {
            self.matched += 1;
        }
    }
}

/// White space is not compared: line editors wrap long lines with blanks and returns of their own.
fn is_visible(c: char) -> bool {
    !c.is_whitespace() && !c.is_control()
}

fn fallbacks(pattern: &[char]) -> Vec<usize> {
    let mut fallback = vec![0; pattern.len()];
    let mut length = 0;
    for index in 1..pattern.len() {
        while length > 0 && pattern[index] != pattern[length] {
            length = fallback[length - 1];
        }
        if pattern[index] == pattern[length] {
            length += 1;
        }
        fallback[index] = length;
    }
    fallback
}

struct Printed<'a> {
    lookouts: &'a mut VecDeque<Lookout>,
}

impl Perform for Printed<'_> {
    fn print(&mut self, c: char) {
        if is_visible(c) {
            self.lookouts.iter_mut().for_each(|lookout| lookout.advance(c));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(typed: &str, printed: &[&[u8]]) -> bool {
        let (mut echoes, now) = (Echoes::default(), Instant::now());
        echoes.look_for(1, typed, now);
        printed.iter().any(|bytes| echoes.seen_in(bytes, now) == [1])
    }

    #[test]
    fn an_echo_is_seen_however_it_is_painted() {
        assert!(seen("ls -la", &[b"ls -la"]));
        assert!(seen("ls -la", &[b"l", b"s \x1b[1m-", b"\x1b[0mla"]), "in pieces, with colours");
        assert!(seen("ls -la", &[b"ls - \r\r\nla"]), "wrapped at the edge");
        assert!(seen("grüße", &["grü".as_bytes(), "ße".as_bytes()]));
        assert!(seen("aab", &[b"aaab"]), "after a false start");
    }

    #[test]
    fn what_was_not_printed_is_not_an_echo() {
        assert!(!seen("secret", &[b"Password: ", b"\r\nWelcome"]));
        assert!(!seen("ls", &[b"\x1b]0;ls\x07"]), "a title is not on the screen");
        assert!(!seen("  ", &[b"  "]), "blanks prove nothing");
        assert!(!seen(&"a".repeat(1000), &[&[b'a'; 999]]), "most of it is not all of it");
    }

    #[test]
    fn an_echo_is_looked_for_only_so_long() {
        let (mut echoes, now) = (Echoes::default(), Instant::now());
        echoes.look_for(1, "x", now);
        assert!(echoes.seen_in(b"x", now + LOOK_FOR).is_empty());
        echoes.look_for(2, "x", now);
        assert!(echoes.seen_in(&vec![b'.'; LOOK_THROUGH_BYTES], now).is_empty());
        assert!(echoes.seen_in(b"x", now).is_empty());
    }
}
