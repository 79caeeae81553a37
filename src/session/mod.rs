//! The one owner of a child, and the only place where a session's state changes.
//!
//! ```text
//!   commands ──> owner ──> child (input, size, signals)
//!                  │ ╰───> terminal (the picture)
//!                  ▼
//!                feed ───> subscriptions: output by offset, events by seq, the screen's latest
//! ```
//! The owner runs on a thread of its own. Others hold a [`Session`], which sends commands and reads what was published.

mod clock;
mod command;
mod condition;
mod echo;
mod environment;
mod event;
mod feed;
mod filter;
mod handle;
mod inbox;
mod journal;
mod keep;
mod lent;
mod life;
mod lock;
mod outbox;
mod owner;
mod picture;
mod receipt;
mod refusal;
mod revival;
mod state;
mod subscription;
mod tally;
mod terminals;
mod turn;
mod vitals;
mod waiters;

pub use clock::epoch_ms;
pub use command::{Declared, Expect, Write};
pub use condition::{Condition, Conditions, Met};
pub use environment::{BadVariable, Change, Environment, Given};
pub use event::{Began, Denied, Ended, Entry, Event, Kept, Stopped, Transition, WrittenTo, Wrote};
pub use feed::{Frame, Resume};
pub use filter::InputFilter;
pub use handle::{Attached, Redrawn, Session};
pub use lock::LockId;
pub use outbox::INPUT_BYTES_MAX;
pub use owner::{Outcome, Plan, Program, start};
pub use picture::{Picture, Style};
pub use receipt::{Phase, Receipt, Ticket};
pub use refusal::Refusal;
pub use revival::RestartPolicy;
pub use state::{Cause, ErrorCategory, Parked, Prompt, PromptKind, Question, State, StateKind, Tier, Trouble};
pub use subscription::{Counted, Item, Missing, Subscription, Wants};
pub use tally::{InputKind, Measured, Tally, Times};
pub use terminals::{Joining, SizePolicy};
pub use turn::{Turn, TurnId, Witness};
pub use vitals::{Life, Vitals};
