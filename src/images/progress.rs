//! How far a pull is, told to whoever shows it.

use std::sync::Arc;

use serde::Serialize;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Resolving,
    Pulling,
    Unpacking,
    Done,
}

/// One step of a pull.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Progress {
    pub phase: Phase,
    /// The digest of the layer that this is about; empty when it is about the whole image.
    pub layer: String,
    pub bytes_done: u64,
    pub bytes_total: u64,
}

/// Bytes between two reports of the same layer: a hundred for a large one, few for a small one.
pub(super) const REPORT_STEP_BYTES: u64 = 512 << 10;

/// Where progress is told. It is called from several threads and must not wait.
#[derive(Clone)]
pub struct Report(Arc<dyn Fn(Progress) + Send + Sync>);

impl Report {
    pub fn new(tell: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// For those who do not want to know.
    pub fn nowhere() -> Self {
        Self::new(|_| {})
    }

    pub(super) fn tell(&self, phase: Phase, layer: &str, bytes_done: u64, bytes_total: u64) {
        (self.0)(Progress { phase, layer: layer.to_owned(), bytes_done, bytes_total });
    }
}
