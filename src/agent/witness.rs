//! Messages on their way, and who saw that the agent took them.

use unicode_normalization::UnicodeNormalization;

use crate::session::TurnId;

/// Messages whose witness may still come; more are never on their way at once.
const EXPECTED_MAX: usize = 256;

/// Stands between messages that were joined (Gemini CLI 0.61.0).
const JOINED_BY: &str = "\n\n";

/// A message that was given to the agent.
#[derive(Debug)]
struct Expected {
    text: String,
    turn: TurnId,
    /// It was given to an agent at work.
    queues: bool,
}

/// All messages that no witness has confirmed yet, oldest first.
#[derive(Debug, Default)]
pub struct Witnesses {
    expected: Vec<Expected>,
}

impl Witnesses {
    /// Looks out for a message.
    pub fn expect(&mut self, text: &str, turn: TurnId, queues: bool) {
        if self.expected.len() == EXPECTED_MAX {
            self.expected.remove(0);
        }
        self.expected.push(Expected { text: comparable(text), turn, queues });
    }

    /// Somebody saw the agent take a message; whose turn it was that wrote it, if it was ours. Some agents join the
    /// messages that they had queued.
    pub fn saw(&mut self, text: &str) -> Vec<TurnId> {
        let text = comparable(text);
        if let Some(index) = self.expected.iter().position(|expected| expected.text == text) {
            return vec![self.expected.remove(index).turn];
        }
        let Some(joined) = self.joined(&text) else { return Vec::new() };
        self.expected.retain(|expected| !joined.contains(&expected.turn));
        joined
    }

    /// The messages that make up this text, in their order.
    fn joined(&self, text: &str) -> Option<Vec<TurnId>> {
        let (mut rest, mut turns) = (text, Vec::new());
        while !rest.is_empty() {
            let next = self.expected.iter().filter(|expected| !turns.contains(&expected.turn)).find_map(|expected| {
                let behind = rest.strip_prefix(expected.text.as_str())?;
                let is_whole = behind.is_empty() || behind.starts_with(JOINED_BY);
                is_whole.then_some((expected.turn, behind.trim_start()))
            });
            let (turn, behind) = next?;
            turns.push(turn);
            rest = behind;
        }
        Some(turns)
    }

    /// How many messages wait for an agent to be done with its work.
    pub fn queued(&self) -> usize {
        self.expected.iter().filter(|expected| expected.queues).count()
    }

    /// A message was taken back before the agent saw it.
    pub fn forget(&mut self, turn: TurnId) {
        self.expected.retain(|expected| expected.turn != turn);
    }
}

/// A message as it is compared: agents compose characters (NFC), turn tabs into spaces and trim the ends.
pub fn comparable(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
    lines.trim().nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_known_again_whatever_the_agent_does_to_its_form() {
        let mut witnesses = Witnesses::default();
        witnesses.expect(" e\u{301}te\u{301}\tof\r\n69 ", TurnId(7), false);
        assert_eq!(witnesses.saw("été of\n69"), [], "a tab is four spaces");
        assert_eq!(witnesses.saw("été    of\n69"), [TurnId(7)]);
        assert_eq!(witnesses.saw("été    of\n69"), [], "it is taken once");
    }

    #[test]
    fn of_two_equal_messages_the_older_is_confirmed_first() {
        let mut witnesses = Witnesses::default();
        witnesses.expect("go", TurnId(1), false);
        witnesses.expect("go", TurnId(2), true);
        assert_eq!(witnesses.queued(), 1);
        assert_eq!(witnesses.saw("go"), [TurnId(1)]);
        witnesses.forget(TurnId(2));
        assert_eq!(witnesses.saw("go"), []);
    }

    #[test]
    fn messages_that_were_joined_are_all_confirmed_and_none_that_is_only_the_beginning_of_another() {
        let mut witnesses = Witnesses::default();
        for (text, turn) in [("go", 1), ("go on", 2), ("go", 3), ("and\n\nstop", 4)] {
            witnesses.expect(text, TurnId(turn), true);
        }
        assert_eq!(witnesses.saw("go\n\nsomebody else's"), []);
        assert_eq!(witnesses.saw("go on\n\ngo\n\nand\n\nstop"), [TurnId(2), TurnId(1), TurnId(4)]);
        assert_eq!(witnesses.saw("go"), [TurnId(3)]);
    }
}
