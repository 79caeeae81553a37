//! The terminals that are attached: whose size counts, and which of them answers the child's queries.

use crate::child::Size;

/// Whose size the session has when several terminals are attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizePolicy {
    /// That of the terminal which came, was resized or typed last.
    #[default]
    Latest,
    /// As many columns and rows as all of them have.
    Smallest,
    /// The session's own; terminals change nothing.
    Fixed,
}

/// Names one attached terminal; never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalId(u64);

/// How a terminal joins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joining {
    /// What it measures; `None` for one that leaves the size alone.
    pub size: Option<Size>,
    /// Whether it may type.
    pub types: bool,
    /// Whether it answers queries by itself.
    pub answers: bool,
}

#[derive(Debug)]
struct Seat {
    id: TerminalId,
    joined: Joining,
    /// Greater for those that were used later.
    used: u64,
}

/// All that are there, in the order in which they came.
#[derive(Debug, Default)]
pub struct Terminals {
    policy: SizePolicy,
    seats: Vec<Seat>,
    /// Counts joinings and uses.
    count: u64,
}

impl Terminals {
    pub fn new(policy: SizePolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    pub fn join(&mut self, joined: Joining) -> TerminalId {
        self.count += 1;
        let id = TerminalId(self.count);
        self.seats.push(Seat { id, joined, used: self.count });
        id
    }

    pub fn leave(&mut self, id: TerminalId) {
        self.seats.retain(|seat| seat.id != id);
    }

    /// It measures this now.
    pub fn resize(&mut self, id: TerminalId, size: Size) {
        self.count += 1;
        if let Some(seat) = self.seats.iter_mut().find(|seat| seat.id == id) {
            seat.joined.size = Some(size);
            seat.used = self.count;
        }
    }

    /// It typed; true when it was not the last one that did.
    pub fn typed(&mut self, id: TerminalId) -> bool {
        let last = self.seats.iter().max_by_key(|seat| seat.used).is_some_and(|seat| seat.id == id);
        self.count += 1;
        if let Some(seat) = self.seats.iter_mut().find(|seat| seat.id == id) {
            seat.used = self.count;
        }
        !last
    }

    /// The size that the session should have; `None` when no terminal has a say.
    pub fn size(&self) -> Option<Size> {
        let sized = self.seats.iter().filter_map(|seat| Some((seat.used, seat.joined.size?)));
        match self.policy {
            SizePolicy::Latest => sized.max_by_key(|(used, _)| *used).map(|(_, size)| size),
            SizePolicy::Smallest => sized.map(|(_, size)| size).reduce(Size::common),
            SizePolicy::Fixed => None,
        }
    }

    /// Which one answers queries; coop does when there is none.
    pub fn answerer(&self) -> Option<TerminalId> {
        self.seats.iter().find(|seat| seat.joined.answers).map(|seat| seat.id)
    }

    /// Whether it answers queries although another one does so already.
    pub fn answers_in_vain(&self, id: TerminalId) -> bool {
        let answers = self.seats.iter().any(|seat| seat.id == id && seat.joined.answers);
        answers && self.answerer() != Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(cols: u32, rows: u32) -> Joining {
        Joining { size: Some(Size::new(cols, rows).unwrap()), types: true, answers: true }
    }

    fn size(terminals: &Terminals) -> Option<(u16, u16)> {
        terminals.size().map(|size| (size.cols(), size.rows()))
    }

    #[test]
    fn the_terminal_that_was_used_last_has_its_size_and_gives_it_back_when_it_leaves() {
        let mut terminals = Terminals::new(SizePolicy::Latest);
        assert_eq!(size(&terminals), None);
        let (wide, narrow) = (terminals.join(sized(120, 40)), terminals.join(sized(60, 50)));
        assert_eq!(size(&terminals), Some((60, 50)));
        assert!(!terminals.typed(narrow));
        assert!(terminals.typed(wide));
        assert_eq!(size(&terminals), Some((120, 40)));
        terminals.resize(narrow, Size::new(61, 51).unwrap());
        assert_eq!(size(&terminals), Some((61, 51)));
        terminals.leave(narrow);
        assert_eq!(size(&terminals), Some((120, 40)));
        terminals.leave(wide);
        assert_eq!(size(&terminals), None);
    }

    #[test]
    fn the_smallest_is_what_all_can_show() {
        let mut terminals = Terminals::new(SizePolicy::Smallest);
        let wide = terminals.join(sized(120, 40));
        let high = terminals.join(sized(60, 50));
        terminals.join(Joining::default());
        assert_eq!(size(&terminals), Some((60, 40)));
        terminals.leave(wide);
        assert_eq!(size(&terminals), Some((60, 50)));
        terminals.leave(high);
        assert_eq!(size(&terminals), None);
    }

    #[test]
    fn a_fixed_size_is_nobodys() {
        let mut terminals = Terminals::new(SizePolicy::Fixed);
        terminals.join(sized(120, 40));
        assert_eq!(size(&terminals), None);
    }

    #[test]
    fn one_terminal_answers_and_when_it_leaves_the_next_does() {
        let mut terminals = Terminals::default();
        terminals.join(Joining { types: true, ..Default::default() });
        assert_eq!(terminals.answerer(), None);
        let (first, second) = (terminals.join(sized(9, 9)), terminals.join(sized(9, 9)));
        assert!(terminals.answerer() == Some(first) && terminals.answers_in_vain(second));
        terminals.leave(first);
        assert!(terminals.answerer() == Some(second) && !terminals.answers_in_vain(second));
    }
}
