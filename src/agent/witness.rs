//! Messages on their way, and who saw that the agent took them.

use unicode_normalization::UnicodeNormalization;

use crate::session::TurnId;

/// Messages whose witness may still come; more are never on their way at once.
const EXPECTED_MAX: usize = 256;

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

    /// Somebody saw the agent take a message; whose turn it was that wrote it, if it was ours.
    pub fn saw(&mut self, text: &str) -> Option<TurnId> {
        let text = comparable(text);
        let index = self.expected.iter().position(|expected| expected.text == text)?;
        Some(self.expected.remove(index).turn)
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
        assert_eq!(witnesses.saw("été of\n69"), None, "a tab is four spaces");
        assert_eq!(witnesses.saw("été    of\n69"), Some(TurnId(7)));
        assert_eq!(witnesses.saw("été    of\n69"), None, "it is taken once");
    }

    #[test]
    fn of_two_equal_messages_the_older_is_confirmed_first() {
        let mut witnesses = Witnesses::default();
        witnesses.expect("go", TurnId(1), false);
        witnesses.expect("go", TurnId(2), true);
        assert_eq!(witnesses.queued(), 1);
        assert_eq!(witnesses.saw("go"), Some(TurnId(1)));
        witnesses.forget(TurnId(2));
        assert_eq!(witnesses.saw("go"), None);
    }
}
