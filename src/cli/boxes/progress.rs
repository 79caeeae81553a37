//! How far a pull or a build is: on a terminal one line for each thing that is under way, elsewhere a line when it begins.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use unicode_width::UnicodeWidthChar;

use crate::child;
use crate::cli::words::plain;
use crate::proto::v1::BuildProgress;

/// Lines that are painted over; more would not fit into a small terminal.
const LIVE_MAX: usize = 8;

/// What a terminal measures that does not say.
const COLS: usize = 80;

/// How much of a digest is shown.
const DIGEST_CHARS: usize = 12;

/// The last step, which is no thing of its own.
const DONE: &str = "done";

/// Where progress is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Nowhere: a program reads the result.
    Nowhere,
    Lines,
    Terminal {
        cols: usize,
    },
}

/// Tells progress on stderr, so that stdout has the result alone.
pub struct Teller {
    board: Board,
}

impl Teller {
    /// For a program nothing is told but the result.
    pub fn new(quiet: bool) -> Self {
        let cols = child::window_of(io::stderr().as_fd()).map_or(COLS, |size| size.cols().into());
        let place = match (quiet, io::stderr().is_terminal()) {
            (true, _) => Place::Nowhere,
            (false, true) => Place::Terminal { cols },
            (false, false) => Place::Lines,
        };
        Self { board: Board { place, live: Vec::new(), painted: 0 } }
    }

    pub fn tell(&mut self, progress: &BuildProgress) {
        write(&self.board.take(progress));
    }

    /// Nothing more comes. What was under way stays as it stands.
    pub fn finish(&mut self) {
        write(&self.board.finish());
    }
}

fn write(text: &str) {
    if !text.is_empty() {
        // Nobody may be there to read it, which is no reason to fail.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

struct Board {
    place: Place,
    live: Vec<Thing>,
    /// Lines on the terminal that are painted over next time.
    painted: usize,
}

/// Something that is under way.
#[derive(Clone, Debug)]
struct Thing {
    step: String,
    what: String,
    done: u64,
    total: Option<u64>,
}

impl Thing {
    fn is_done(&self) -> bool {
        self.total.is_some_and(|total| self.done >= total)
    }

    /// `pull    sha256:0123456789ab  3.1 of 30.2 MB`
    fn told(&self) -> String {
        let amount = match self.total {
            Some(total) if self.done >= total => format!("  {}", amount(total)),
            Some(total) => format!("  {} of {}", amount(self.done), amount(total)),
            None if self.done > 0 => format!("  {}", amount(self.done)),
            None => String::new(),
        };
        format!("{:<7} {}{amount}", plain(&self.step), short(&plain(&self.what)))
    }
}

impl Board {
    fn take(&mut self, progress: &BuildProgress) -> String {
        let mut above = String::new();
        let (step, what) = (&progress.step, &progress.what);
        let at = self.live.iter().position(|thing| thing.step == *step && thing.what == *what);
        let is_new = at.is_none() && step != DONE;
        if is_new {
            // What does not say how much there is has ended when the next thing begins.
            let (over, live) = self.live.drain(..).partition(|thing| thing.total.is_none());
            self.live = live;
            above += &self.last_words(over);
        }
        let thing =
            Thing { step: step.clone(), what: what.clone(), done: progress.done_bytes, total: progress.total_bytes };
        match at {
            Some(at) => self.live[at] = thing,
            None if is_new => {
                if self.place == Place::Lines && thing.total.is_none_or(|total| thing.done < total) {
                    above += &format!("{}\n", thing.told());
                }
                self.live.push(thing);
            }
            None => {}
        }
        let (over, live) = self.live.drain(..).partition(Thing::is_done);
        self.live = live;
        above += &self.last_words(over);
        if let Some(line) = &progress.line {
            above += &format!("  {}\n", plain(line));
        }
        self.paint(&above)
    }

    /// On a terminal the line stays; elsewhere it was told when it began, unless it says more now.
    fn last_words(&self, over: Vec<Thing>) -> String {
        let told = over.iter().filter(|thing| self.place != Place::Lines || thing.total.is_some());
        told.map(|thing| format!("{}\n", thing.told())).collect()
    }

    fn finish(&mut self) -> String {
        let over = std::mem::take(&mut self.live);
        let above = self.last_words(over);
        self.paint(&above)
    }

    /// Lines that stay, and below them those that will be painted over.
    fn paint(&mut self, above: &str) -> String {
        let Place::Terminal { cols } = self.place else {
            return if self.place == Place::Lines { above.to_owned() } else { String::new() };
        };
        let mut out = String::new();
        if self.painted > 0 {
            out += &format!("\x1b[{}A\r\x1b[J", self.painted);
        }
        for line in above.lines() {
            out += &format!("{}\r\n", cut(line, cols));
        }
        let shown = &self.live[..self.live.len().min(LIVE_MAX)];
        for thing in shown {
            out += &format!("{}\r\n", cut(&thing.told(), cols));
        }
        self.painted = shown.len();
        out
    }
}

/// A digest by its beginning; anything else whole.
fn short(what: &str) -> String {
    match what.split_once(':') {
        Some((algorithm, hex)) if hex.len() > DIGEST_CHARS && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            format!("{algorithm}:{}", &hex[..DIGEST_CHARS])
        }
        _ => what.to_owned(),
    }
}

/// Bytes in the unit that people read.
pub fn amount(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    #[allow(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// As much as fits into a line without wrapping, which would be painted over wrongly.
fn cut(text: &str, cols: usize) -> String {
    let mut left = cols.saturating_sub(1);
    let fits = |ch: &char| {
        let width = ch.width().unwrap_or(0);
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(place: Place) -> Board {
        Board { place, live: Vec::new(), painted: 0 }
    }

    fn at(step: &str, what: &str, done_bytes: u64, total_bytes: Option<u64>) -> BuildProgress {
        BuildProgress { step: step.into(), what: what.into(), done_bytes, total_bytes, line: None }
    }

    #[test]
    fn without_a_terminal_a_thing_is_told_when_it_begins_and_when_its_amount_is_known() {
        let mut board = board(Place::Lines);
        let digest = format!("sha256:{}", "0123456789abcdef".repeat(4));
        assert_eq!(board.take(&at("resolve", "debian:12", 0, None)), "resolve debian:12\n");
        assert_eq!(
            board.take(&at("pull", &digest, 0, Some(3_000_000))),
            "pull    sha256:0123456789ab  0 B of 3.0 MB\n"
        );
        assert_eq!(board.take(&at("pull", &digest, 1_000_000, Some(3_000_000))), "");
        assert_eq!(
            board.take(&at("pull", &digest, 3_000_000, Some(3_000_000))),
            "pull    sha256:0123456789ab  3.0 MB\n"
        );
        assert_eq!(board.take(&at("setup", "apt install jq", 0, None)), "setup   apt install jq\n");
        let line = BuildProgress { line: Some("Get:1 \x1b[2J".into()), ..at("setup", "apt install jq", 0, None) };
        assert_eq!(board.take(&line), "  Get:1 \\u{1b}[2J\n");
        assert_eq!(board.take(&at("done", "", 0, None)), "");
        assert_eq!(board.finish(), "");
    }

    #[test]
    fn on_a_terminal_what_is_under_way_is_painted_over_and_what_is_done_stays_above() {
        let mut board = board(Place::Terminal { cols: 40 });
        assert_eq!(board.take(&at("pull", "one", 1, Some(2))), "pull    one  1 B of 2 B\r\n");
        let both = board.take(&at("pull", "two", 1, Some(2)));
        assert_eq!(both, "\x1b[1A\r\x1b[Jpull    one  1 B of 2 B\r\npull    two  1 B of 2 B\r\n");
        let done = board.take(&at("pull", "two", 2, Some(2)));
        assert_eq!(done, "\x1b[2A\r\x1b[Jpull    two  2 B\r\npull    one  1 B of 2 B\r\n");
        assert_eq!(board.finish(), "\x1b[1A\r\x1b[Jpull    one  1 B of 2 B\r\n");
        assert_eq!(board.painted, 0);
    }

    #[test]
    fn a_line_never_wraps_and_few_are_painted_over() {
        let mut board = board(Place::Terminal { cols: 10 });
        let mut last = String::new();
        for number in 0..20 {
            last = board.take(&at("pull", &format!("layer {number}"), 0, Some(9)));
        }
        assert_eq!(board.painted, LIVE_MAX);
        assert!(last.lines().skip(1).all(|line| line.trim_end().len() < 10), "{last:?}");
    }

    #[test]
    fn a_program_is_told_nothing() {
        let mut board = board(Place::Nowhere);
        assert_eq!(board.take(&at("pull", "one", 1, Some(2))) + &board.finish(), "");
    }

    #[test]
    fn amounts_are_told_in_units() {
        let told = [0, 999, 1000, 3_100_000, 999_960, 7_000_000_000].map(amount);
        assert_eq!(told, ["0 B", "999 B", "1.0 kB", "3.1 MB", "1.0 MB", "7.0 GB"]);
    }
}
