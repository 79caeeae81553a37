//! Messages on their way, and who saw that the agent took them.

use std::hash::{DefaultHasher, Hash, Hasher};

use unicode_normalization::UnicodeNormalization;

use super::evidence::{EpochMs, Source};
use crate::session::TurnId;

/// Messages whose witness may still come; more are never on their way at once.
const EXPECTED_MAX: usize = 256;

/// How long after one witness another may tell of the same message: logs are written and read later than hooks are heard.
const ECHO_WITHIN_MS: u64 = 10_000;

/// Messages that are taken in that time; more have no second witness.
const TAKEN_MAX: usize = 64;

/// Stands between messages that were joined (Gemini CLI 0.61.0).
const JOINED_BY: &str = "\n\n";

/// A message that was given to the agent.
#[derive(Debug)]
struct Expected {
    text: String,
    turn: TurnId,
    /// It was given to an agent at work.
    queues: bool,
    /// Nobody saw it taken for so long that its receipt says so.
    is_doubted: bool,
    /// The agent, which had queued it, came to rest without it.
    is_left: bool,
}

/// A message that the agent was seen to take, whoever gave it.
#[derive(Debug)]
struct Taken {
    /// Stands for its text, which may be large.
    hash: u64,
    at: EpochMs,
    by: Vec<Source>,
}

/// All messages that no witness has confirmed yet, oldest first, and what witnesses have told lately.
#[derive(Debug, Default)]
pub struct Witnesses {
    expected: Vec<Expected>,
    taken: Vec<Taken>,
}

impl Witnesses {
    /// Looks out for a message.
    pub fn expect(&mut self, text: &str, turn: TurnId, queues: bool) {
        if self.expected.len() == EXPECTED_MAX {
            self.expected.remove(0);
        }
        self.expected.push(Expected { text: comparable(text), turn, queues, is_doubted: false, is_left: false });
    }

    /// Somebody saw the agent take a message; whose turn it was that wrote it, if it was ours. Some agents join the
    /// messages that they had queued.
    pub fn saw(&mut self, text: &str, by: Source, now: EpochMs) -> Vec<TurnId> {
        let text = comparable(text);
        if self.is_echo(&text, by, now) { Vec::new() } else { self.gone(&text, |_| true) }
    }

    /// Whether another witness has told of this very message: two words about one message are not two messages.
    fn is_echo(&mut self, text: &str, by: Source, now: EpochMs) -> bool {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        self.taken.retain(|taken| now.since(taken.at) < ECHO_WITHIN_MS);
        if let Some(taken) = self.taken.iter_mut().find(|taken| taken.hash == hash && !taken.by.contains(&by)) {
            taken.by.push(by);
            return true;
        }
        if self.taken.len() == TAKEN_MAX {
            self.taken.remove(0);
        }
        self.taken.push(Taken { hash, at: now, by: vec![by] });
        false
    }

    /// The agent gave a message back that it had queued, or several at once; whose turns they were.
    pub fn given_back(&mut self, text: &str) -> Vec<TurnId> {
        self.gone(&comparable(text), |expected| expected.queues)
    }

    /// The agent rests and shows no message that waits: what it had queued was taken back, as far as anybody knows. Whose
    /// turns those are; should one be taken after all, it is seen.
    pub fn rests(&mut self) -> Vec<TurnId> {
        let mut turns = Vec::new();
        for expected in self.expected.iter_mut().filter(|expected| expected.queues) {
            (expected.queues, expected.is_left) = (false, true);
            if !std::mem::replace(&mut expected.is_doubted, true) {
                turns.push(expected.turn);
            }
        }
        turns
    }

    /// An agent that has come to rest shows these messages of its queue where one types; whose turns those are. One that was
    /// never queued may stand there for a moment before it is taken.
    pub fn stand_in_box(&mut self, is_shown: impl Fn(&str) -> bool) -> Vec<TurnId> {
        let stands = |expected: &Expected| expected.is_left && is_shown(&expected.text);
        self.expected.extract_if(.., |expected| stands(expected)).map(|expected| expected.turn).collect()
    }

    /// Nobody has seen this message taken in time.
    pub fn doubt(&mut self, turn: TurnId) {
        self.expected.iter_mut().filter(|expected| expected.turn == turn).for_each(|it| it.is_doubted = true);
    }

    /// Takes out the message with this text, or those that make it up.
    fn gone(&mut self, text: &str, may_be: impl Fn(&Expected) -> bool) -> Vec<TurnId> {
        let one = self.likeliest().find(|expected| expected.text == text && may_be(expected)).map(|it| vec![it.turn]);
        let turns = one.or_else(|| self.joined(text, may_be)).unwrap_or_default();
        self.expected.retain(|expected| !turns.contains(&expected.turn));
        turns
    }

    /// Of two equal messages the older was taken first, unless nobody believes any more that it was.
    fn likeliest(&self) -> impl Iterator<Item = &Expected> {
        let of = |is_doubted| self.expected.iter().filter(move |expected| expected.is_doubted == is_doubted);
        of(false).chain(of(true))
    }

    /// The messages that make up this text, in their order.
    fn joined(&self, text: &str, may_be: impl Fn(&Expected) -> bool) -> Option<Vec<TurnId>> {
        let (mut rest, mut turns) = (text, Vec::new());
        while !rest.is_empty() {
            let others = self.likeliest().filter(|expected| !turns.contains(&expected.turn) && may_be(expected));
            let next = others.into_iter().find_map(|expected| {
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

    /// A message was not given to the agent after all.
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

    /// All of it is told through hooks, at one time.
    fn saw(witnesses: &mut Witnesses, text: &str) -> Vec<TurnId> {
        witnesses.saw(text, Source::Hooks, EpochMs(0))
    }

    #[test]
    fn two_witnesses_of_one_message_do_not_confirm_two() {
        let mut witnesses = Witnesses::default();
        witnesses.expect("go", TurnId(1), false);
        witnesses.expect("go", TurnId(2), false);
        assert_eq!(witnesses.saw("go", Source::Hooks, EpochMs(10)), [TurnId(1)]);
        assert_eq!(witnesses.saw("go", Source::Log, EpochMs(500)), [], "the log tells of the same one");
        assert_eq!(witnesses.saw("go", Source::Log, EpochMs(900)), [TurnId(2)]);
        assert_eq!(witnesses.saw("go", Source::Hooks, EpochMs(1000)), []);
        witnesses.expect("go", TurnId(3), false);
        let late = EpochMs(20_000);
        assert_eq!(witnesses.saw("go", Source::Log, late), [TurnId(3)], "nobody is that late");
    }

    #[test]
    fn a_message_is_known_again_whatever_the_agent_does_to_its_form() {
        let mut witnesses = Witnesses::default();
        witnesses.expect(" e\u{301}te\u{301}\tof\r\n69 ", TurnId(7), false);
        assert_eq!(saw(&mut witnesses, "été of\n69"), [], "a tab is four spaces");
        assert_eq!(saw(&mut witnesses, "été    of\n69"), [TurnId(7)]);
        assert_eq!(saw(&mut witnesses, "été    of\n69"), [], "it is taken once");
    }

    #[test]
    fn of_two_equal_messages_the_older_is_confirmed_first() {
        let mut witnesses = Witnesses::default();
        witnesses.expect("go", TurnId(1), false);
        witnesses.expect("go", TurnId(2), true);
        assert_eq!(witnesses.queued(), 1);
        assert_eq!(saw(&mut witnesses, "go"), [TurnId(1)]);
        witnesses.forget(TurnId(2));
        assert_eq!(saw(&mut witnesses, "go"), []);
    }

    #[test]
    fn a_message_that_nobody_believes_in_any_more_does_not_take_the_witness_of_another() {
        let mut witnesses = Witnesses::default();
        witnesses.expect("go", TurnId(1), false);
        witnesses.doubt(TurnId(1));
        witnesses.expect("go", TurnId(2), false);
        assert_eq!(saw(&mut witnesses, "go"), [TurnId(2)]);
        assert_eq!(saw(&mut witnesses, "go"), [TurnId(1)], "it was only late");
    }

    #[test]
    fn what_was_queued_and_stands_in_the_box_of_an_agent_at_rest_was_given_back() {
        let mut witnesses = Witnesses::default();
        witnesses.expect("go", TurnId(1), false);
        witnesses.expect("go on", TurnId(2), true);
        witnesses.expect("elsewhere", TurnId(3), true);
        assert_eq!(witnesses.stand_in_box(|_| true), [], "it may still come to be taken");
        assert_eq!(witnesses.rests(), [TurnId(2), TurnId(3)]);
        assert_eq!(witnesses.stand_in_box(|text| "go on".contains(text)), [TurnId(2)], "the first was never queued");
        assert_eq!(saw(&mut witnesses, "elsewhere"), [TurnId(3)], "it was only late");
    }

    #[test]
    fn a_message_that_the_agent_gave_back_is_not_waited_for() {
        let mut witnesses = Witnesses::default();
        witnesses.expect("go", TurnId(1), false);
        witnesses.expect("go", TurnId(2), true);
        witnesses.expect("on", TurnId(3), true);
        assert_eq!(witnesses.given_back("go\n\non"), [TurnId(2), TurnId(3)], "the first was not queued");
        assert_eq!((witnesses.queued(), witnesses.given_back("go")), (0, vec![]));
        assert_eq!(saw(&mut witnesses, "go"), [TurnId(1)]);
    }

    #[test]
    fn what_was_queued_is_doubted_once_when_the_agent_rests_and_can_still_be_seen() {
        let mut witnesses = Witnesses::default();
        witnesses.expect("go", TurnId(1), true);
        witnesses.expect("on", TurnId(2), true);
        witnesses.doubt(TurnId(2));
        assert_eq!(witnesses.rests(), [TurnId(1)], "of the other it was said before");
        assert_eq!((witnesses.queued(), witnesses.rests()), (0, vec![]));
        assert_eq!(saw(&mut witnesses, "go"), [TurnId(1)]);
    }

    #[test]
    fn messages_that_were_joined_are_all_confirmed_and_none_that_is_only_the_beginning_of_another() {
        let mut witnesses = Witnesses::default();
        for (text, turn) in [("go", 1), ("go on", 2), ("go", 3), ("and\n\nstop", 4)] {
            witnesses.expect(text, TurnId(turn), true);
        }
        assert_eq!(saw(&mut witnesses, "go\n\nsomebody else's"), []);
        assert_eq!(saw(&mut witnesses, "go on\n\ngo\n\nand\n\nstop"), [TurnId(2), TurnId(1), TurnId(4)]);
        assert_eq!(saw(&mut witnesses, "go"), [TurnId(3)]);
    }
}
