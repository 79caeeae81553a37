//! What coop promises about images, held against real programs: a registry, a disk that is full.
//!
//! `tests/images/run` installs what is needed and runs this.

mod disk;
mod pushed;
mod registry;
mod registry_program;
mod scratch;
