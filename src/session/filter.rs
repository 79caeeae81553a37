//! What people type is looked through before it reaches the program, where the operator asked for that. What programs
//! send through the API is theirs to choose and passes as it is.

use std::time::{Duration, Instant};

use bytes::Bytes;

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
    last_ctrl_c: Option<Instant>,
}

impl Filtering {
    pub fn new(filter: InputFilter) -> Self {
        Self { filter, last_ctrl_c: None }
    }

    /// What of it passes. A sequence counts when it comes in one piece, as terminals send it.
    pub fn pass(&mut self, bytes: Bytes, now: Instant) -> Bytes {
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
            if *first != CTRL_C || self.admits_ctrl_c(now) {
                passed.push(*first);
            }
            rest = &rest[1..];
        }
        passed.into()
    }

    fn admits_ctrl_c(&mut self, now: Instant) -> bool {
        let is_soon = |last: Instant| now.saturating_duration_since(last) < self.filter.ctrl_c_pause;
        if self.last_ctrl_c.is_some_and(is_soon) {
            return false;
        }
        self.last_ctrl_c = Some(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(filtering: &mut Filtering, typed: &[u8], now: Instant) -> Vec<u8> {
        filtering.pass(Bytes::copy_from_slice(typed), now).to_vec()
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
