//! What the model will do: one turn for each request that it gets.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::Gate;

/// Turns in order. When they are used up, the model says [`Script::NOTHING_LEFT`].
#[derive(Default)]
pub struct Script {
    pub(super) turns: VecDeque<Turn>,
    /// What subagents do, by the prompt that they are given.
    pub(super) helpers: Vec<(String, VecDeque<Turn>)>,
    /// Meant for the turn that is added next.
    hold: Option<Gate>,
}

/// The answer to one request.
pub(super) struct Turn {
    /// Passed before the first byte.
    pub hold: Option<Gate>,
    pub answer: Answer,
    pub usage: Tokens,
}

pub(super) enum Answer {
    Message { blocks: Vec<Block>, end: End },
    Refused { status: u16, headers: Vec<(String, String)>, error: Value },
}

pub(super) enum Block {
    /// Words in the order in which they are streamed.
    Text(Vec<Piece>),
    Tool {
        name: String,
        input: Value,
    },
    /// Writes a plan where the agent said that plans belong.
    PlanFile(String),
}

pub(super) enum Piece {
    Words(String),
    Pause(Gate),
}

/// How a message ends.
pub(super) enum End {
    /// With what its blocks ask for: `tool_use` or `end_turn`.
    Usual,
    /// With another stop reason.
    Reason(&'static str),
    /// The connection breaks after what was said.
    Dropped,
    /// The connection breaks before anything is said.
    HungUp,
    /// An error in the midst of the stream.
    Error(Value),
}

/// What a message is said to have cost.
#[derive(Clone, Copy)]
pub(super) struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Default for Tokens {
    fn default() -> Self {
        Self { input: 10, output: 5, cache_read: 0, cache_write: 0 }
    }
}

/// One question of a dialog.
pub struct Question(Value);

impl Question {
    /// One of these options, or own words.
    pub fn one(question: &str, header: &str, options: &[&str]) -> Self {
        Self::new(question, header, options, false)
    }

    /// Any of these options.
    pub fn several(question: &str, header: &str, options: &[&str]) -> Self {
        Self::new(question, header, options, true)
    }

    fn new(question: &str, header: &str, options: &[&str], multi_select: bool) -> Self {
        let option = |label: &&str| json!({"label": label, "description": format!("About {label}")});
        let options: Vec<Value> = options.iter().map(option).collect();
        Self(json!({"question": question, "header": header, "multiSelect": multi_select, "options": options}))
    }
}

impl Script {
    /// Said when a test has not told the model what to do.
    pub const NOTHING_LEFT: &str = "My script has ended.";

    pub fn new() -> Self {
        Self::default()
    }

    /// Says something and ends its turn.
    pub fn text(self, text: &str) -> Self {
        self.message(vec![said(text)], End::Usual)
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

    /// Uses a tool.
    pub fn tool(self, name: &str, input: Value) -> Self {
        self.tools(&[(name, input)])
    }

    /// Uses several tools at once.
    pub fn tools(self, calls: &[(&str, Value)]) -> Self {
        let call = |(name, input): &(&str, Value)| Block::Tool { name: (*name).into(), input: input.clone() };
        let blocks = std::iter::once(said("I use a tool.")).chain(calls.iter().map(call));
        self.message(blocks.collect(), End::Usual)
    }

    /// Runs a command.
    pub fn bash(self, command: &str) -> Self {
        self.tool("Bash", json!({"command": command, "description": "A command of the test"}))
    }

    /// Asks.
    pub fn question(self, questions: Vec<Question>) -> Self {
        let questions: Vec<Value> = questions.into_iter().map(|question| question.0).collect();
        self.tool("AskUserQuestion", json!({"questions": questions}))
    }

    /// Writes a plan and asks whether it shall be carried out: two turns.
    pub fn plan(self, plan: &str) -> Self {
        self.message(vec![Block::PlanFile(plan.into())], End::Usual).tool("ExitPlanMode", json!({}))
    }

    /// What a subagent with this prompt does.
    pub fn helper(mut self, prompt: &str, script: Script) -> Self {
        self.helpers.push((prompt.into(), script.turns));
        self
    }

    /// Refuses the request with an HTTP status.
    pub fn error(mut self, status: u16, headers: &[(&str, &str)], kind: &str, message: &str) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let error = json!({"type": kind, "message": message});
        self.push(Answer::Refused { status, headers, error });
        self
    }

    /// The connection breaks after some words.
    pub fn drop_mid_stream(self) -> Self {
        self.message(vec![said("These words are cut")], End::Dropped)
    }

    /// The connection breaks without a word.
    pub fn hang_up(self) -> Self {
        self.message(Vec::new(), End::HungUp)
    }

    /// An error comes in the stream itself.
    pub fn error_mid_stream(self, kind: &str, message: &str) -> Self {
        self.message(vec![said("These words are cut")], End::Error(json!({"type": kind, "message": message})))
    }

    pub fn refusal(self) -> Self {
        self.message(vec![said("No.")], End::Reason("refusal"))
    }

    /// Never gets to the end: Claude Code 2.1.197 asks three more times before it gives up.
    pub fn max_tokens(mut self) -> Self {
        for _ in 0..4 {
            self = self.message(vec![said("This is cut")], End::Reason("max_tokens"));
        }
        self
    }

    /// What the last turn is said to have cost.
    pub fn usage(mut self, input: u64, output: u64, cache_read: u64, cache_write: u64) -> Self {
        let turn = self.turns.back_mut().expect("a turn that costs something");
        turn.usage = Tokens { input, output, cache_read, cache_write };
        self
    }

    fn message(mut self, blocks: Vec<Block>, end: End) -> Self {
        self.push(Answer::Message { blocks, end });
        self
    }

    fn push(&mut self, answer: Answer) {
        self.turns.push_back(Turn { hold: self.hold.take(), answer, usage: Tokens::default() });
    }
}

fn said(text: &str) -> Block {
    Block::Text(vec![Piece::Words(text.into())])
}
