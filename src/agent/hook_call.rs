//! What a hook tells coop, and the answer that its process waits for.

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::hook_wire::{Act, Answer};

/// Calls that wait for their consumer. Each has a process that waits as well, so more only wait elsewhere.
const CALLS_WAITING_MAX: usize = 64;

/// How much of a payload that is no JSON is shown.
const EXCERPT_CHARS_MAX: usize = 200;

/// One call from inside the session.
#[derive(Debug)]
pub struct HookCall {
    pub call: Call,
    pub answer: HookAnswer,
}

/// What is said.
#[derive(Debug)]
pub enum Call {
    /// The agent's hook of this name fired.
    Event { event: String, payload: Result<Value, BadPayload> },
    /// The agent gives the signal that lets it stop.
    ResolveStop { signal: Result<Value, BadPayload> },
}

/// A payload that cannot be used. That it came is still known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPayload {
    #[error("the payload is larger than {bytes_max} bytes")]
    TooLarge { bytes_max: usize },
    #[error("the payload is not JSON: {why}; it begins with {excerpt:?}")]
    NotJson { why: String, excerpt: String },
}

/// Where the answer goes. Dropped without one, the hook ends and has said nothing to its agent.
///
/// Whoever holds one must drop it when its reason has gone. Claude Code 2.1.197 ends the hook of a dialog that was left by
/// Esc, but lets that of a dialog which was answered by a key wait on, even beyond its own end.
#[derive(Debug)]
pub struct HookAnswer(oneshot::Sender<Given>);

/// An answer on its way to the hook's process.
#[derive(Debug)]
pub(super) struct Given {
    pub answer: Answer,
    /// Where it is told whether the process printed it; dropped when nobody knows.
    pub printed: Option<oneshot::Sender<bool>>,
}

/// The way from sockets and pipes to whoever makes sense of the calls.
pub fn channel() -> (mpsc::Sender<HookCall>, mpsc::Receiver<HookCall>) {
    mpsc::channel(CALLS_WAITING_MAX)
}

impl HookAnswer {
    pub(super) fn pair() -> (Self, oneshot::Receiver<Given>) {
        let (sender, receiver) = oneshot::channel();
        (Self(sender), receiver)
    }

    /// For those who tell without waiting.
    pub(super) fn unheard() -> Self {
        Self::pair().0
    }

    /// The hook prints this.
    pub fn reply(self, output: impl Into<Vec<u8>>) {
        self.give(Act::Print, output.into());
    }

    /// The same; what comes back is whether it did, or nothing when that is not known.
    pub fn reply_and_see(self, output: impl Into<Vec<u8>>) -> oneshot::Receiver<bool> {
        let (printed, is_printed) = oneshot::channel();
        let answer = Answer { act: Act::Print, body: output.into() };
        if let Err(Given { printed: Some(printed), .. }) = self.0.send(Given { answer, printed: Some(printed) }) {
            // The process has left without it.
            let _ = printed.send(false);
        }
        is_printed
    }

    /// The hook lets a shell run this, and prints what that prints.
    pub fn run(self, script: impl Into<Vec<u8>>) {
        self.give(Act::Run, script.into());
    }

    /// The hook lets a shell run this, and prints what that prints as JSON that hands it to the model.
    pub fn run_for_context(self, script: impl Into<Vec<u8>>) {
        self.give(Act::RunForContext, script.into());
    }

    /// The signal was taken; `words` are for the one who gave it.
    pub fn accept(self, words: impl Into<Vec<u8>>) {
        self.give(Act::Accept, words.into());
    }

    /// The signal was not taken.
    pub fn refuse(self, complaints: &[String]) {
        self.give(Act::Refuse, complaints.join("\n").into());
    }

    /// Whether nobody waits for it any more: the agent has ended its hook.
    pub fn is_gone(&self) -> bool {
        self.0.is_closed()
    }

    /// Waits until nobody waits for it any more.
    pub async fn gone(&mut self) {
        self.0.closed().await;
    }

    fn give(self, act: Act, body: Vec<u8>) {
        // Whoever asked may have left; that is for them.
        let _ = self.0.send(Given { answer: Answer { act, body }, printed: None });
    }
}

/// Reads a payload.
pub(super) fn parse(payload: &[u8]) -> Result<Value, BadPayload> {
    serde_json::from_slice(payload).map_err(|error| {
        let text = String::from_utf8_lossy(&payload[..payload.len().min(4 * EXCERPT_CHARS_MAX)]);
        BadPayload::NotJson { why: error.to_string(), excerpt: text.chars().take(EXCERPT_CHARS_MAX).collect() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_json_is_shown_in_part() {
        let text = "é".repeat(1000);
        let Err(BadPayload::NotJson { excerpt, .. }) = parse(text.as_bytes()) else { panic!("no JSON") };
        assert_eq!(excerpt, "é".repeat(EXCERPT_CHARS_MAX));
        assert!(parse(b"").unwrap_err().to_string().contains("EOF"));
        assert_eq!(parse(b" {\"a\":1} ").unwrap()["a"], 1);
    }

    #[tokio::test]
    async fn an_answer_that_nobody_hears_is_gone_at_once() {
        let mut answer = HookAnswer::unheard();
        assert!(answer.is_gone());
        answer.gone().await;
        answer.reply("x");
    }
}
