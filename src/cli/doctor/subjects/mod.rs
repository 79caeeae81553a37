//! The agents that the doctor knows: how each is housed, what its model speaks, which sources it has.

mod claude;
mod codex;
mod gemini;

use std::ffi::OsString;
use std::io;

use axum::body::Body;
use axum::http::{Method, Response};
use clap::ValueEnum;
use serde_json::Value;

use super::house::House;
use super::model::Reply;
use crate::config::Agent;

/// Looks like a key, opens nothing.
const API_KEY: &str = "sk-ant-api03-coop-doctor-0123456789abcdef";

/// Agents that the doctor knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Known {
    Claude,
    Codex,
    Gemini,
}

/// One agent, as the doctor must know it.
pub struct Subject {
    pub agent: Agent,
    /// The program's name, and the word for it.
    pub program: &'static str,
    /// The command that installs it.
    pub install: &'static str,
    pub hooks: Hooks,
    /// The source that shows at any moment how things are.
    pub arbiter: Arbiter,
    /// Whether the title tells too, where it is not the arbiter.
    pub title_tells: bool,
    pub answers: Answers,
    /// What earlier runs would have left in its home, so that the first thing to be seen is the input box.
    pub seed: fn(&House, &str) -> io::Result<()>,
    /// What it finds in its environment.
    pub variables: fn(&House, &str) -> Vec<(&'static str, OsString)>,
    pub dialect: Dialect,
}

/// How its dialogs are answered while its hooks work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// Through the hook that asked, beside the dialog that is drawn; a plain no by keys.
    HookAndKeys,
    /// Through the hook that asked, before any dialog is drawn.
    Hook,
    Keys,
}

/// The events of its hooks.
pub struct Hooks {
    /// Tells that it can be typed to, where one does.
    pub start: Option<&'static str>,
    pub message: &'static str,
    pub stop: &'static str,
    pub permission: &'static str,
}

pub struct Arbiter {
    /// As it is called in the evidence.
    pub source: &'static str,
    pub name: &'static str,
    pub hint: &'static str,
}

/// What its model speaks.
pub struct Dialect {
    pub kind: fn(&Method, &str, &Value) -> Kind,
    /// The conversation in a request.
    pub conversation: fn(&Value) -> &Value,
    /// The texts of the user's last message.
    pub last_texts: fn(&Value) -> Vec<&str>,
    pub answer: fn(&Value, &Reply) -> Response<Body>,
}

/// What a request is.
pub enum Kind {
    /// A turn of the conversation.
    Turn,
    /// Something small beside it.
    Aside,
    /// Answered like this.
    Known(Response<Body>),
    /// Nothing that is served.
    Strange,
}

impl Known {
    pub fn subject(self) -> &'static Subject {
        match self {
            Self::Claude => &claude::SUBJECT,
            Self::Codex => &codex::SUBJECT,
            Self::Gemini => &gemini::SUBJECT,
        }
    }
}
