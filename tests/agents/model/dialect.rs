//! What the server must know of an API.

use axum::http::Method;
use serde_json::Value;

use super::request::{Kind, Talk};
use super::turn::{Block, Fault, Intent, Message};
use super::wire::Speech;

/// One API, as one agent uses it.
pub trait Dialect: Sync {
    /// What a request wants.
    fn wanted(&self, method: &Method, path: &str, body: &Value) -> Wanted;

    /// The words and the results of tools in a request for words.
    fn read(&self, body: &Value) -> Talk;

    /// How the agent's own tools do this: the blocks of one message or, where the agent needs several steps, of several.
    fn does(&self, intent: Intent, body: &Value) -> Vec<Vec<Block>>;

    /// What answers a request that is not the script's: for a summary or something small beside the conversation.
    fn aside(&self, kind: Kind) -> &'static str;

    /// A message as the answer to this request, as a stream or as a whole.
    fn speech(&self, message: &Message, body: &Value, streamed: bool) -> Speech;

    /// The body of an answer that refuses.
    fn refusal(&self, status: u16, fault: &Fault) -> Value;
}

pub enum Wanted {
    /// That the model says something.
    Words { kind: Kind, streamed: bool },
    /// Something else that the service knows: status and body.
    Fact(u16, Value),
}
