//! What was asked for and is not so: known from the start, or found out while the session runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// As many as are told of what is found out; no box has so much to hide.
const LATER_MAX: usize = 64;

/// Shared by those who find out and those who tell.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    first: Arc<[String]>,
    /// By what they are about.
    later: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Warnings {
    pub fn new(first: Vec<String>) -> Self {
        Self { first: first.into(), later: Arc::default() }
    }

    /// What is wrong with this now; `None` when nothing is any more.
    pub fn set(&self, about: &str, warning: Option<String>) {
        let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        match warning {
            Some(warning) if later.len() < LATER_MAX || later.contains_key(about) => {
                later.insert(about.to_owned(), warning);
            }
            Some(_) => {}
            None => {
                later.remove(about);
            }
        }
    }

    pub fn all(&self) -> Vec<String> {
        let later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        self.first.iter().chain(later.values()).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_stays_until_it_is_taken_back_and_there_are_not_too_many() {
        let warnings = Warnings::new(vec!["first".into()]);
        let elsewhere = warnings.clone();
        elsewhere.set(".env", Some("is bare".into()));
        elsewhere.set(".env", Some("is still bare".into()));
        assert_eq!(warnings.all(), ["first", "is still bare"]);
        elsewhere.set(".env", None);
        assert_eq!(warnings.all(), ["first"]);
        (0..1000).for_each(|nth| warnings.set(&nth.to_string(), Some("more".into())));
        assert_eq!(warnings.all().len(), 1 + LATER_MAX);
    }
}
