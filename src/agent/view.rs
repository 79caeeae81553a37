//! What drivers go by: the latest look at an agent, published whole after each change.

use std::borrow::Cow;
use std::path::PathBuf;

use super::evidence::EpochMs;
use super::look::Look;
use super::usage::Totals;
use crate::session::State;
use crate::terminal::Seq;

/// One moment of an agent.
#[derive(Clone, Debug)]
pub struct View {
    /// The child that this is about; `None` while there is none.
    pub pid: Option<u32>,
    pub state: State,
    /// Why the state is believed.
    pub cause: Cow<'static, str>,
    /// When an agent that has stopped will be called idle, if nothing happens before.
    pub idle_at: Option<EpochMs>,
    pub look: Look,
    /// The screen that was looked at.
    pub screen_seq: Seq,
    /// Whether the question that is shown can be answered through the hook that asked it.
    pub open_question: bool,
    /// Until when a question that was announced may still be drawn: what is typed then may answer it.
    pub opens_until: Option<EpochMs>,
    /// Who could witness that a message was taken.
    pub hooks_speak: bool,
    pub log_speaks: bool,
    /// The agent's own name for its conversation.
    pub conversation: Option<String>,
    /// A message was seen to be taken in it.
    pub has_begun: bool,
    pub log: Option<PathBuf>,
    /// What the conversation cost so far.
    pub usage: Totals,
}

impl View {
    /// Before any child was looked at.
    pub fn of_nobody() -> Self {
        Self {
            pid: None,
            state: State::Starting,
            cause: "launch".into(),
            idle_at: None,
            look: Look::default(),
            screen_seq: Seq(0),
            open_question: false,
            opens_until: None,
            hooks_speak: false,
            log_speaks: false,
            conversation: None,
            has_begun: false,
            log: None,
            usage: Totals::default(),
        }
    }
}
