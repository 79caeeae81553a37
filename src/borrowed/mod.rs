//! A terminal that somebody else started: a pane of tmux or a window of GNU screen, served like a child of our own.
//!
//! ```text
//! find ──> Loan { news, input, wishes }
//!            news    what it prints, its size, its end      tmux/live.rs, poll.rs
//!            input   what it is typed                       halves.rs
//!            wishes  another size, and letting go           halves.rs
//! ```
//! tmux tells what a pane prints as it prints it (control mode). Where that cannot be had, and in GNU screen, the
//! picture is looked at again and again, and what changed is drawn anew. Whatever becomes of coop, what was borrowed
//! runs on.

mod failure;
mod halves;
mod picture;
mod poll;
pub mod process;
mod run;
mod screen;
mod strain;
mod target;
mod tmux;

pub use failure::CannotBorrow;
pub use halves::{Answer, Input, Loan, News, Over, Signals, Wishes};
pub use target::{Target, parse_target};

/// Finds what is meant and begins to follow it. Must be called inside a tokio runtime.
pub async fn borrow(target: &Target) -> Result<Loan, CannotBorrow> {
    match target {
        Target::Tmux { socket, place } => tmux::borrow(socket.as_ref(), place).await,
        Target::Screen(place) => screen::borrow(place).await,
    }
}
