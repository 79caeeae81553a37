//! What people type is looked through before it reaches the program, where the operator asked for that. What programs
//! send through the API is theirs to choose and passes as it is.

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::terminals::TerminalId;

const CTRL_C: u8 = 0x03;

/// What must not be typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputFilter {
    /// A second Ctrl-C within so long is dropped: two of them end most agents. Zero lets all pass.
    pub ctrl_c_pause: Duration,
    /// Sequences that are dropped wherever they stand; none of them is empty.
    pub blocked: Vec<Vec<u8>>,
}

/// The same at work.
#[derive(Debug, Default)]
pub struct Filtering {
    filter: InputFilter,
    /// When each terminal was last let through with a Ctrl-C, as long as that counts: what one person types must not
    /// swallow what another does.
    ctrl_cs: Vec<(TerminalId, Instant)>,
}

impl Filtering {
    pub fn new(filter: InputFilter) -> Self {
        Self { filter, ctrl_cs: Vec::new() }
    }

    /// What passes of what a terminal sends. A sequence counts when it comes in one piece, as terminals send it.
    pub fn pass(&mut self, from: TerminalId, bytes: Bytes, now: Instant) -> Bytes {
        if self.filter == InputFilter::default() {
            return bytes;
        }
        let mut passed = Vec::with_capacity(bytes.len());
        let mut rest = &bytes[..];
        while let Some(first) = rest.first() {
            if let Some(blocked) = self.filter.blocked.iter().find(|blocked| rest.starts_with(blocked)) {
                rest = &rest[blocked.len()..];
                continue;
            }
            if *first != CTRL_C || self.admits_ctrl_c(from, now) {
                passed.push(*first);
            }
            rest = &rest[1..];
        }
        passed.into()
    }

    fn admits_ctrl_c(&mut self, from: TerminalId, now: Instant) -> bool {
        self.ctrl_cs.retain(|(_, last)| now.saturating_duration_since(*last) < self.filter.ctrl_c_pause);
        if self.ctrl_cs.iter().any(|(terminal, _)| *terminal == from) {
            return false;
        }
        self.ctrl_cs.push((from, now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::terminals::{Joining, Terminals};

    fn two_terminals() -> [TerminalId; 2] {
        let mut terminals = Terminals::default();
        [(), ()].map(|()| terminals.join(Joining::default()))
    }

    fn pass(filtering: &mut Filtering, typed: &[u8], now: Instant) -> Vec<u8> {
        filtering.pass(two_terminals()[0], Bytes::copy_from_slice(typed), now).to_vec()
    }

    #[test]
    fn a_ctrl_c_of_one_terminal_does_not_swallow_that_of_another() {
        let pause = Duration::from_millis(500);
        let mut filtering = Filtering::new(InputFilter { ctrl_c_pause: pause, blocked: Vec::new() });
        let ([one, other], now) = (two_terminals(), Instant::now());
        let mut ctrl_c = |from, now| !filtering.pass(from, Bytes::from_static(b"\x03"), now).is_empty();
        assert!(ctrl_c(one, now));
        assert!(ctrl_c(other, now + pause / 2));
        assert!(!ctrl_c(one, now + pause / 2));
        assert!(ctrl_c(one, now + pause));
        assert!(!ctrl_c(other, now + pause));
        assert!(ctrl_c(other, now + pause + pause / 2));
    }

    #[test]
    fn a_second_ctrl_c_too_soon_is_dropped_and_a_later_one_passes() {
        let pause = Duration::from_millis(500);
        let mut filtering = Filtering::new(InputFilter { ctrl_c_pause: pause, blocked: Vec::new() });
        let now = Instant::now();
        assert_eq!(pass(&mut filtering, b"a\x03\x03b", now), b"a\x03b");
        assert_eq!(pass(&mut filtering, b"\x03", now + pause / 2), b"");
        assert_eq!(pass(&mut filtering, b"\x03", now + pause), b"\x03");
    }

    #[test]
    fn blocked_sequences_are_dropped_wherever_they_stand_and_nothing_else() {
        let blocked = vec![b"\x1b[Z".to_vec(), b"\x1a".to_vec()];
        let mut filtering = Filtering::new(InputFilter { ctrl_c_pause: Duration::ZERO, blocked });
        let now = Instant::now();
        assert_eq!(pass(&mut filtering, b"x\x1b[Zy\x1a\x1b[A\x03\x03", now), b"xy\x1b[A\x03\x03");
    }
}
