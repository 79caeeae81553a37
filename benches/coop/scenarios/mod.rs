//! What is measured, one file for each question.

mod drain;
mod growth;
mod idle;
mod latency;
mod memory;
mod screen;
mod start;
mod subscribers;

use anyhow::Result;

use crate::corpus::{Corpus, Kind, Library};
use crate::report::Report;
use crate::scale::Scale;

/// Their names, in the order of the table.
pub const SCENARIOS: [&str; 8] = ["drain", "subscribers", "latency", "screen", "memory", "idle", "start", "growth"];

/// What scenarios share.
pub struct Bench {
    pub scale: Scale,
    pub library: Library,
    pub report: Report,
}

impl Bench {
    pub async fn run(&mut self, name: &str) -> Result<()> {
        match name {
            "drain" => drain::run(self).await,
            "subscribers" => subscribers::run(self).await,
            "latency" => latency::run(self).await,
            "screen" => screen::run(self).await,
            "memory" => memory::run(self).await,
            "idle" => idle::run(self).await,
            "start" => start::run(self).await,
            "growth" => growth::run(self).await,
            _ => unreachable!("names are checked before"),
        }
    }

    /// The usual mix.
    fn mix(&self) -> Result<Corpus> {
        Ok(self.library.corpus(Kind::Mix, self.scale.corpus_bytes)?)
    }
}
