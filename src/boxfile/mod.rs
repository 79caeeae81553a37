//! coop.toml: the description of a box that stands in a project.
//!
//! ```text
//! source ──> parse ──> BoxFile ─┐ merge ──> settings ──> resolve ──> BoxPlan
//!  bytes      words     layers ─┘             │                        │
//!                                             demands ──> trust        explain
//! ```
//! A repository's file is the word of a stranger: it is bounded, shown escaped, and what it asks for beyond what the
//! user would get without it needs the user's trust.

mod amounts;
mod demands;
mod discover;
mod explain;
mod file;
mod git;
mod keys;
mod leads;
mod load;
mod merge;
mod mistake;
mod mounts;
mod name;
mod nearest;
mod objection;
mod origin;
mod parse;
mod paths;
mod places;
mod plan;
mod reader;
mod resolve;
mod shown;
mod source;
mod template;
mod trust;
mod words;

pub use demands::{Demand, demands};
pub use discover::{FILE_NAME, discover};
pub use file::*;
pub use git::{Entrance, GIT_LIVE, entrance};
pub use leads::{LeadError, real_path};
pub use load::{CONFIG_NAME, Loaded, load, load_files};
pub use merge::{Overrides, merge};
pub use mistake::{Mistake, Mistakes};
pub use name::{NAME_BYTES_MAX, NAME_RULE, is_name, name_of_directory};
pub use objection::{Objection, Objections};
pub use origin::{Origin, Said, Spot, Whose};
pub use parse::parse;
pub use plan::*;
pub use resolve::{Surroundings, place, resolve};
pub use shown::shown;
pub use source::{FILE_BYTES_MAX, FileError, Source, read};
pub use template::{InitError, init, installed_agent, template};
pub use trust::{Grant, Needs, Trust, TrustError, Verdict};
pub use words::*;

#[cfg(test)]
mod tests {
    mod files;
    mod merging;
    mod parsing;
    mod properties;
    mod reading;
    mod resolving;
    mod scratch;
    mod starting;
    mod trusting;
}
