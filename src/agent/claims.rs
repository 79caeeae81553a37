//! Who answers which prompt: nobody answers one that another is answering or has answered.

use std::sync::{Arc, Mutex, PoisonError};

/// More prompts than can be shown at once; older ones are gone from the screen.
const KEPT_MAX: usize = 64;

/// Prompts that are being answered or were.
#[derive(Clone, Debug, Default)]
pub struct Claims(Arc<Mutex<Vec<String>>>);

/// The right to answer one prompt; dropping it lets somebody else try.
#[derive(Debug)]
pub struct Claimed {
    claims: Claims,
    prompt_id: Option<String>,
}

impl Claims {
    /// The right to answer this prompt, unless somebody else has it.
    pub fn claim(&self, prompt_id: &str) -> Option<Claimed> {
        let mut claimed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if claimed.iter().any(|known| known == prompt_id) {
            return None;
        }
        if claimed.len() == KEPT_MAX {
            claimed.remove(0);
        }
        claimed.push(prompt_id.to_owned());
        Some(Claimed { claims: self.clone(), prompt_id: Some(prompt_id.to_owned()) })
    }
}

impl Claimed {
    /// It was answered, and nobody else shall.
    pub fn keep(mut self) {
        self.prompt_id = None;
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        if let Some(id) = self.prompt_id.take() {
            let mut claimed = self.claims.0.lock().unwrap_or_else(PoisonError::into_inner);
            claimed.retain(|known| *known != id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_answered_once_and_tried_again_only_after_a_failure() {
        let claims = Claims::default();
        let first = claims.claim("p1");
        assert!(first.is_some() && claims.claim("p1").is_none() && claims.claim("p2").is_some());
        drop(first);
        let second = claims.claim("p1").map(Claimed::keep);
        assert!(second.is_some() && claims.claim("p1").is_none());
    }
}
