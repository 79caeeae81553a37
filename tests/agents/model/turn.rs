//! One answer of the model, before a dialect has put it into bytes.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::Gate;

/// The answer to one request.
#[derive(Clone)]
pub struct Turn {
    /// Passed before the first byte.
    pub hold: Option<Gate>,
    pub answer: Answer,
    pub tokens: Tokens,
}

#[derive(Clone)]
pub enum Answer {
    Said {
        blocks: Vec<Block>,
        end: End,
    },
    /// Every agent has its own tools for it.
    Does(Intent),
    Refused {
        status: u16,
        headers: Vec<(String, String)>,
        fault: Fault,
    },
}

/// What the model wants to do, whatever the tool is called.
#[derive(Clone)]
pub enum Intent {
    /// A command, for which the user is asked.
    Run(String),
    Write {
        path: PathBuf,
        text: String,
    },
    Edit {
        path: PathBuf,
        before: String,
        after: String,
    },
    Ask(Vec<Question>),
    Plan(String),
}

#[derive(Clone)]
pub enum Block {
    /// Words in the order in which they are streamed.
    Text(Vec<Piece>),
    /// A tool that takes text in place of JSON has a string as its input.
    Tool { name: String, input: Value },
}

#[derive(Clone)]
pub enum Piece {
    Words(String),
    Pause(Gate),
}

/// How a message ends.
#[derive(Clone)]
pub enum End {
    /// With what its blocks ask for: a result of a tool, or the user's next words.
    Usual,
    /// It would have become too long.
    MaxTokens,
    /// The model may not say more.
    Refusal,
    /// The connection breaks after what was said.
    Dropped,
    /// The connection breaks before anything is said.
    HungUp,
    /// An error in the midst of the stream.
    Failed(Fault),
}

/// An error, in the words of the API.
#[derive(Clone)]
pub struct Fault {
    pub kind: String,
    pub message: String,
    /// Further fields, as the API has them.
    pub fields: Map<String, Value>,
}

/// What a message is said to have cost.
#[derive(Clone, Copy)]
pub struct Tokens {
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

/// A message as a dialect speaks it.
pub struct Message {
    pub blocks: Vec<Block>,
    pub end: End,
    pub tokens: Tokens,
}

/// One question of a dialog.
#[derive(Clone)]
pub struct Question {
    pub question: String,
    pub header: String,
    pub options: Vec<String>,
    pub several: bool,
}

impl Question {
    /// One of these options, or own words.
    pub fn one(question: &str, header: &str, options: &[&str]) -> Self {
        Self::new(question, header, options, false)
    }

    /// Any of these options.
    pub fn several(question: &str, header: &str, options: &[&str]) -> Self {
        Self::new(question, header, options, true)
    }

    fn new(question: &str, header: &str, options: &[&str], several: bool) -> Self {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        Self { question: question.into(), header: header.into(), options, several }
    }

    /// The options with a description each.
    pub(super) fn described(&self) -> Value {
        let option = |label: &String| json!({"label": label, "description": format!("About {label}")});
        self.options.iter().map(option).collect()
    }
}

impl Block {
    pub fn said(text: &str) -> Self {
        Self::Text(vec![Piece::Words(text.into())])
    }

    pub fn tool(name: &str, input: Value) -> Self {
        Self::Tool { name: name.into(), input }
    }

    /// The use of a tool, with words before it as models say them.
    pub fn use_of(name: &str, input: Value) -> Vec<Self> {
        vec![Self::said("I use a tool."), Self::tool(name, input)]
    }
}

impl Fault {
    pub fn new(kind: &str, message: &str) -> Self {
        Self { kind: kind.into(), message: message.into(), fields: Map::new() }
    }

    /// Its fields, with kind and message under the names that the API has for them.
    pub fn object(&self, kind: &str, message: &str) -> Value {
        let mut object = self.fields.clone();
        object.insert(kind.into(), self.kind.clone().into());
        object.insert(message.into(), self.message.clone().into());
        object.into()
    }
}

/// All words, without the pauses between them.
pub fn words(pieces: &[Piece]) -> String {
    let words = pieces.iter().filter_map(|piece| match piece {
        Piece::Words(words) => Some(words.as_str()),
        Piece::Pause(_) => None,
    });
    words.collect()
}
