//! Container images for boxes, without Docker and without root: what `image = "…"` may say, how an image comes into the
//! store, what of it is kept.
//!
//! ```text
//! reference ──> registry, layout, archive ──> resolved ──> blob ──> unpack ──> store
//!  "debian:12"   where it comes from           its parts    bytes    a rootfs   what is there
//! ```
//! What comes from a registry or out of a file is a stranger's: every blob is checked against its digest, every name is
//! resolved below one directory (root.rs), everything has a limit (limits.rs). An image is there whole or not at all.

mod archive;
mod auth;
mod blob;
mod config;
mod decompress;
mod digest;
mod error;
mod layout;
mod limits;
mod lock;
mod manifest;
mod others;
mod progress;
mod pull;
mod records;
mod reference;
mod registry;
mod resolved;
mod root;
mod setups;
mod store;
mod tarball;
mod trees;
mod unpack;
mod whiteout;

pub use auth::Logins;
pub use config::ImageConfig;
pub use digest::{BadDigest, Digest};
pub use error::ImageError;
pub use limits::Limits;
pub use manifest::Platform;
pub use others::{CLEAR_VERB, clear_main};
pub use progress::{Phase, Progress, Report};
pub use reference::{BadReference, Reference, Remote};
pub use registry::Patience;
pub use setups::{Begun, Build, Recipe, Setup, Setups};
pub use store::{Freed, Held, Image, Store};
pub use tarball::TarError;
pub use trees::{remove as remove_tree, size as tree_bytes};

#[cfg(test)]
mod removal_tests;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod scratch;
#[cfg(test)]
mod tarmaker;
#[cfg(test)]
mod unruly;
