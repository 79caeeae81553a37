//! A typed client over coop.v1: finds a session, shows its token, and tells failures in words.
//!
//! ```text
//! Wish      what the caller said about the session          wish.rs
//! Target    a URL or a socket                                target.rs, discover.rs, choose.rs
//! Found     the sessions of this machine                     sessions.rs
//! Client    the generated calls on a connection to it        connect.rs, credentials.rs
//! Failure   why there is no answer, and the way out          failure.rs
//! ```

mod choose;
mod connect;
mod credentials;
mod discover;
mod failure;
mod sessions;
mod target;
mod wish;

pub use choose::{choose, introduce};
pub use connect::{Calls, Client, connect, connect_lasting};
pub use credentials::Credentials;
pub use failure::Failure;
pub use sessions::{Found, check_private, sessions};
pub use target::Target;
pub use wish::Wish;
