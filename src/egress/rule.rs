//! Why a rule that somebody wrote cannot be used, said so that the right one is near.

/// A rule that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{entry:?} is no entry of {key}: {wrong}")]
pub struct BadRule {
    /// The setting that it stands in, as `network.allow`.
    pub key: &'static str,
    /// Its place in the list, from 0.
    pub index: usize,
    /// As it was written, cut when it is very long.
    pub entry: String,
    /// What is wrong, and what would be right.
    pub wrong: String,
}

/// How much of an entry an error repeats.
const ENTRY_CHARS_MAX: usize = 120;

impl BadRule {
    pub(super) fn new(key: &'static str, index: usize, entry: &str, wrong: String) -> Self {
        let mut shown: String = entry.chars().take(ENTRY_CHARS_MAX).collect();
        if shown.len() < entry.len() {
            shown.push('…');
        }
        Self { key, index, entry: shown, wrong }
    }
}
