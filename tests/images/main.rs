//! What coop promises about images, held against real programs: a registry, a disk that is full, the mapper
//! of users, bubblewrap.
//!
//! `tests/images/run` installs what is needed and runs this.

#[path = "../boxes/support.rs"]
#[allow(dead_code, reason = "most of it is for tests/boxes")]
#[macro_use]
mod support;

mod disk;
mod house;
#[path = "../it/boxes/inside/image.rs"]
#[allow(dead_code, reason = "the other forms of an image are for tests/it")]
mod image;
mod pushed;
mod ranges;
mod registry;
mod registry_program;
mod scratch;
mod standing;
