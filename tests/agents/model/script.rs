//! What the model will do: one turn for each request that it gets.

use std::collections::VecDeque;
use std::path::Path;

use serde_json::Value;

use super::Gate;
use super::turn::{Answer, Block, End, Fault, Intent, Piece, Question, Tokens, Turn};

/// Turns in order. When they are used up, the model says [`Script::NOTHING_LEFT`].
#[derive(Default)]
pub struct Script {
    pub(super) turns: VecDeque<Turn>,
    /// What subagents do, by the prompt that they are given.
    pub(super) helpers: Vec<(String, VecDeque<Turn>)>,
    /// Meant for the turn that is added next.
    hold: Option<Gate>,
}

impl Script {
    /// Said when a test has not told the model what to do.
    pub const NOTHING_LEFT: &str = "My script has ended.";

    pub fn new() -> Self {
        Self::default()
    }

    /// Says something and ends its turn.
    pub fn text(self, text: &str) -> Self {
        self.message(vec![Block::said(text)], End::Usual)
    }

    /// Says something, waits at the gate, says the rest. The first words are a paragraph, because Claude Code 2.1.197 draws
    /// streamed text when a paragraph is complete.
    pub fn slow(self, first: &str, gate: &Gate, rest: &str) -> Self {
        let pieces = vec![Piece::Words(format!("{first}\n\n")), Piece::Pause(gate.clone()), Piece::Words(rest.into())];
        self.message(vec![Block::Text(pieces)], End::Usual)
    }

    /// The next turn waits here before its first byte.
    pub fn hold(mut self, gate: &Gate) -> Self {
        self.hold = Some(gate.clone());
        self
    }

    /// Uses a tool, by the agent's own name for it.
    pub fn tool(self, name: &str, input: Value) -> Self {
        self.tools(&[(name, input)])
    }

    /// Uses several tools at once.
    pub fn tools(self, calls: &[(&str, Value)]) -> Self {
        let calls = calls.iter().map(|(name, input)| Block::tool(name, input.clone()));
        let blocks = std::iter::once(Block::said("I use a tool.")).chain(calls);
        self.message(blocks.collect(), End::Usual)
    }

    /// Says something and uses a tool.
    pub fn says_and_uses(self, text: &str, name: &str, input: Value) -> Self {
        self.message(vec![Block::said(text), Block::tool(name, input)], End::Usual)
    }

    /// Runs a command, for which the user is asked.
    pub fn bash(self, command: &str) -> Self {
        self.does(Intent::Run(command.into()))
    }

    /// Writes a file.
    pub fn write(self, path: impl AsRef<Path>, text: &str) -> Self {
        self.does(Intent::Write { path: path.as_ref().into(), text: text.into() })
    }

    /// Replaces some words of a file, which Claude Code reads first.
    pub fn edit(self, path: impl AsRef<Path>, before: &str, after: &str) -> Self {
        self.does(Intent::Edit { path: path.as_ref().into(), before: before.into(), after: after.into() })
    }

    /// Asks.
    pub fn question(self, questions: Vec<Question>) -> Self {
        self.does(Intent::Ask(questions))
    }

    /// Makes a plan, where agents plan, and asks whether it shall be carried out.
    pub fn plan(self, plan: &str) -> Self {
        self.does(Intent::Plan(plan.into()))
    }

    /// What a subagent with this prompt does.
    pub fn helper(mut self, prompt: &str, script: Script) -> Self {
        self.helpers.push((prompt.into(), script.turns));
        self
    }

    /// Refuses the request with an HTTP status.
    pub fn error(mut self, status: u16, headers: &[(&str, &str)], kind: &str, message: &str) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        self.push(Answer::Refused { status, headers, fault: Fault::new(kind, message) });
        self
    }

    /// Further fields of the error that was added last.
    pub fn fields(mut self, fields: Value) -> Self {
        let turn = self.turns.back_mut().expect("an error that has fields");
        match &mut turn.answer {
            Answer::Refused { fault, .. } | Answer::Said { end: End::Failed(fault), .. } => {
                fault.fields = fields.as_object().expect("fields with names").clone();
            }
            _ => panic!("only an error has further fields"),
        }
        self
    }

    /// The connection breaks after some words.
    pub fn drop_mid_stream(self) -> Self {
        self.message(vec![Block::said("These words are cut")], End::Dropped)
    }

    /// The connection breaks without a word.
    pub fn hang_up(self) -> Self {
        self.message(Vec::new(), End::HungUp)
    }

    /// An error comes in the stream itself.
    pub fn error_mid_stream(self, kind: &str, message: &str) -> Self {
        self.message(vec![Block::said("These words are cut")], End::Failed(Fault::new(kind, message)))
    }

    /// Refuses after a word.
    pub fn refusal(self) -> Self {
        self.message(vec![Block::said("No.")], End::Refusal)
    }

    /// Is kept from saying a word.
    pub fn blocked(self) -> Self {
        self.message(Vec::new(), End::Refusal)
    }

    /// Does not get to the end.
    pub fn max_tokens(self) -> Self {
        self.message(vec![Block::said("This is cut")], End::MaxTokens)
    }

    /// The last turn comes this often, for agents that ask again.
    pub fn times(mut self, times: usize) -> Self {
        let turn = self.turns.back().expect("a turn that comes again").clone();
        self.turns.extend(std::iter::repeat_n(turn, times - 1));
        self
    }

    /// What the last turn is said to have cost.
    pub fn usage(mut self, input: u64, output: u64, cache_read: u64, cache_write: u64) -> Self {
        let turn = self.turns.back_mut().expect("a turn that costs something");
        turn.tokens = Tokens { input, output, cache_read, cache_write };
        self
    }

    fn message(mut self, blocks: Vec<Block>, end: End) -> Self {
        self.push(Answer::Said { blocks, end });
        self
    }

    fn does(mut self, intent: Intent) -> Self {
        self.push(Answer::Does(intent));
        self
    }

    fn push(&mut self, answer: Answer) {
        self.turns.push_back(Turn { hold: self.hold.take(), answer, tokens: Tokens::default() });
    }
}
