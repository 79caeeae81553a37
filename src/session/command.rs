//! What the owner can be asked to do. Each command carries the place for its answer.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::condition::{Conditions, Met};
use super::environment::{Change, Environment};
use super::event::Event;
use super::handle::Redrawn;
use super::lock::LockId;
use super::picture::{Picture, Style};
use super::receipt::{Phase, Ticket};
use super::refusal::Refusal;
use super::state::{Cause, State, StateKind};
use super::tally::InputKind;
use super::terminals::{Joining, TerminalId};
use super::turn::{Given, TurnId};
use crate::child::{Launch, Signal, Size};
use crate::terminal::Seq;

/// The place for an answer.
pub type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

/// What must be true at the moment of writing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    pub state: Option<StateKind>,
    pub prompt_id: Option<String>,
    pub screen_seq: Option<Seq>,
}

/// What is to be written.
#[derive(Clone, Debug)]
pub enum Write {
    /// Text, perhaps with Enter after it; its echo is looked for.
    Text { text: String, enter: bool },
    /// Bytes as they are.
    Raw(Bytes),
    /// Named keys; how they are encoded depends on the terminal's modes at that moment.
    Keys(Vec<String>),
}

impl Write {
    pub fn kind(&self) -> InputKind {
        match self {
            Self::Text { .. } => InputKind::Input,
            Self::Raw(_) => InputKind::Raw,
            Self::Keys(_) => InputKind::Keys,
        }
    }
}

/// Rows that changed, and the picture's frame around them.
#[derive(Debug)]
pub struct Difference {
    pub picture: Arc<Picture>,
    /// `None` when the whole picture must be taken.
    pub rows: Option<Vec<(usize, String)>>,
}

/// What is known about the agent in one child.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// The child that is meant; about any other nothing is changed.
    pub pid: u32,
    pub state: State,
    pub cause: Cause,
    /// The agent's last words, when they are known.
    pub last_message: Option<String>,
    /// The agent's own name for its conversation.
    pub conversation: Option<String>,
}

pub enum Command {
    Picture {
        style: Style,
        reply: oneshot::Sender<Arc<Picture>>,
    },
    Difference {
        style: Style,
        since: Seq,
        reply: oneshot::Sender<Difference>,
    },
    Scrollback {
        lines_max: usize,
        reply: oneshot::Sender<Vec<String>>,
    },
    Redraw {
        reply: oneshot::Sender<Redrawn>,
    },
    /// A terminal joins.
    Attach {
        joining: Joining,
        reply: oneshot::Sender<(TerminalId, Redrawn)>,
    },
    /// An attached terminal measures another size.
    Measured {
        terminal: TerminalId,
        size: Size,
        reply: Reply<()>,
    },
    /// It is gone, and with it what it said about its size.
    Detach(TerminalId),
    Write {
        what: Write,
        writer: Option<LockId>,
        expect: Expect,
        reply: Reply<Ticket>,
    },
    /// Typed at an attached terminal: written like any input, but nobody asks for a receipt of every key.
    Type {
        terminal: TerminalId,
        bytes: Bytes,
        reply: Reply<()>,
    },
    /// Asks for several writes in a row.
    BeginTurn {
        /// What it is for.
        kind: InputKind,
        writer: Option<LockId>,
        expect: Expect,
        /// The child's end is a witness.
        exit_confirms: bool,
        reply: Reply<Given>,
    },
    /// One of them.
    WriteInTurn {
        turn: TurnId,
        bytes: Bytes,
        reply: Reply<Ticket>,
    },
    /// All that was written in a turn got further.
    Progress {
        turn: TurnId,
        phase: Phase,
    },
    /// What the agent is doing now.
    Declare(Declared),
    /// Something that the agent's side wants to be told to everybody.
    Announce(Event),
    Resize {
        size: Size,
        reply: Reply<Size>,
    },
    /// Whether the child's terminal shows what is typed by itself; `None` where nobody can tell.
    Echoes {
        reply: oneshot::Sender<Option<bool>>,
    },
    /// Whether the child has read all that it was typed; `None` where nobody can tell.
    HasRead {
        reply: oneshot::Sender<Option<bool>>,
    },
    Signal {
        signal: Signal,
        reply: Reply<()>,
    },
    Acquire {
        id: LockId,
        ttl: Duration,
        reply: Reply<()>,
    },
    Release {
        id: LockId,
        reply: Reply<bool>,
    },
    Wait {
        conditions: Conditions,
        reply: Reply<Option<Met>>,
    },
    Restart {
        env: BTreeMap<String, String>,
        /// Another command line, where the old one would not do again.
        argv: Option<Vec<OsString>>,
        /// It goes on with the same conversation.
        resumes: bool,
        /// Somebody asked for it; not because it had ended.
        by_hand: bool,
        reply: Reply<(u32, Seq)>,
    },
    Environment {
        change: Change,
        reply: Reply<Environment>,
    },
    /// What the next child would be started with, were it given this too.
    NextLaunch {
        env: BTreeMap<String, String>,
        reply: Reply<Launch>,
    },
    Shutdown,
    KillNow,
}
