//! A typed client over coop.v1: finds a session, shows its token, and tells failures in words.
//!
//! ```text
//! Wish      what the caller said about the session          wish.rs
//! Target    a URL or a socket                                target.rs, discover.rs, choose.rs
//! Found     the sessions of this machine                     sessions.rs
//! Kept      the boxes of this machine, running or not        kept.rs
//! Boxes     the calls of the daemon that keeps them          daemon.rs
//! Client    the generated calls on a connection to it        connect.rs, credentials.rs
//! Failure   why there is no answer, and the way out          failure.rs
//! ```

mod choose;
mod connect;
mod credentials;
pub mod daemon;
mod discover;
mod failure;
mod kept;
mod sessions;
mod target;
mod wish;

pub use choose::{choose, introduce};
pub use connect::{Calls, Client, connect, connect_lasting};
pub use credentials::Credentials;
pub use discover::{box_of, box_socket, live_sockets, words_for};
pub use failure::Failure;
pub use kept::{Kept, contains, kept, whole_path};
pub use sessions::{Found, check_private, sessions};
pub use target::Target;
pub use wish::Wish;
