//! What drivers and faces ask of the watch over an agent.

use serde_json::Value;
use tokio::sync::oneshot;

use super::explain::Explained;
use super::mind::Open;
use crate::session::TurnId;

/// How an open question becomes the answer that its hook expects; `null` leaves it to the dialog.
pub type Decision = Box<dyn FnOnce(&Open) -> Value + Send>;

pub enum Ask {
    /// Look out for a message that is about to be given to the agent.
    Expect { text: String, turn: TurnId, queues: bool, reply: oneshot::Sender<()> },
    /// The message was not given after all.
    Forget { turn: TurnId },
    /// Nobody has seen the message taken in time; somebody still may.
    Doubt { turn: TurnId },
    /// Answer the question of this prompt through the hook that asked it.
    Decide { prompt_id: String, decision: Decision, reply: oneshot::Sender<Told> },
    /// Why the state is what it is.
    Explain { reply: oneshot::Sender<Explained> },
    /// Whether the agent may stop; the reason when it may not.
    Stop { already_held: bool, reply: oneshot::Sender<Option<String>> },
    /// What the agent is told at this kind of start, as a shell script.
    Start { source: String, reply: oneshot::Sender<String> },
}

/// What became of an answer that was given to a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// The hook's process has handed it to the agent, or lets go of it as it was told to.
    HandedOn,
    /// No hook waits for it, or it left without it.
    Gone,
    /// It was given, and nothing was heard of it.
    Unheard,
}
