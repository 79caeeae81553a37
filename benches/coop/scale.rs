//! How much is measured: enough to trust the figures, or just enough to see that everything runs.

use std::time::Duration;

const MB: usize = 1_000_000;

pub struct Scale {
    /// Rounds of each measurement; all contestants take part in each.
    pub rounds: usize,
    /// Rounds of what takes long.
    pub long_rounds: usize,
    /// Size of a corpus.
    pub corpus_bytes: usize,
    /// What a server with a history has printed before, and what its memory is measured after, in corpora.
    pub history_corpora: usize,
    pub subscribers: usize,
    pub idle_subscribers: usize,
    /// Keys typed in each round.
    pub keys: usize,
    /// How long requests are made in each round.
    pub requests: Duration,
    /// How long an idle server is watched.
    pub idle: Duration,
    pub starts: usize,
}

impl Scale {
    pub fn full() -> Self {
        Self {
            rounds: 7,
            long_rounds: 3,
            corpus_bytes: 20 * MB,
            history_corpora: 10,
            subscribers: 100,
            idle_subscribers: 1000,
            keys: 300,
            requests: Duration::from_secs(2),
            idle: Duration::from_secs(10),
            starts: 40,
        }
    }

    pub fn short() -> Self {
        Self {
            rounds: 2,
            long_rounds: 1,
            corpus_bytes: MB,
            history_corpora: 4,
            subscribers: 20,
            idle_subscribers: 100,
            keys: 50,
            requests: Duration::from_millis(300),
            idle: Duration::from_secs(2),
            starts: 3,
        }
    }
}
