//! The kitty keyboard protocol's stack of flags, one per screen; kept only to be restored in a viewer's terminal.

/// How many pushed flags are remembered; the protocol lets a terminal drop the oldest beyond its limit.
const PUSHED_MAX: usize = 16;

/// Flags in force, and those to return to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KittyStack {
    flags: u8,
    pushed: Vec<u8>,
}

impl KittyStack {
    pub fn flags(&self) -> u8 {
        self.flags
    }

    /// `CSI > flags u`
    pub(super) fn push(&mut self, flags: u16) {
        if self.pushed.len() == PUSHED_MAX {
            self.pushed.remove(0);
        }
        self.pushed.push(self.flags);
        self.flags = known(flags);
    }

    /// `CSI < count u`
    pub(super) fn pop(&mut self, count: u16) {
        for _ in 0..usize::from(count.max(1)).min(PUSHED_MAX + 1) {
            self.flags = self.pushed.pop().unwrap_or(0);
        }
    }

    /// `CSI = flags ; how u`: replace all flags, or add, or remove the given ones.
    pub(super) fn change(&mut self, flags: u16, how: u16) {
        match how {
            0 | 1 => self.flags = known(flags),
            2 => self.flags |= known(flags),
            3 => self.flags &= !known(flags),
            _ => {}
        }
    }

    /// The sequences that build this stack on an empty one.
    pub(super) fn rebuild(&self) -> String {
        let mut levels = self.pushed.iter().chain([&self.flags]);
        let bottom = levels.next().copied().unwrap_or(0);
        let mut sequences = if bottom == 0 { String::new() } else { format!("\x1b[={bottom};1u") };
        sequences.extend(levels.map(|flags| format!("\x1b[>{flags}u")));
        sequences
    }
}

/// The protocol defines five flags.
fn known(flags: u16) -> u8 {
    (flags & 0b1_1111) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn popping_returns_to_what_was_pushed_over() {
        let mut stack = KittyStack::default();
        stack.push(1);
        stack.push(5);
        stack.change(2, 2);
        assert_eq!(stack.flags(), 7);
        stack.change(1, 3);
        assert_eq!(stack.flags(), 6);
        stack.pop(0);
        assert_eq!(stack.flags(), 1);
        stack.pop(9);
        assert_eq!(stack, KittyStack::default());
    }

    #[test]
    fn a_program_that_only_pushes_takes_bounded_memory() {
        let mut stack = KittyStack::default();
        for _ in 0..1000 {
            stack.push(1);
        }
        assert_eq!(stack.pushed.len(), PUSHED_MAX);
        stack.pop(u16::MAX);
        assert_eq!(stack, KittyStack::default());
    }
}
