//! Who answers which prompt: nobody answers one that another is answering or has answered.

use std::sync::{Arc, Mutex, PoisonError};

/// More prompts than can be shown at once; older ones are gone from the screen.
const KEPT_MAX: usize = 64;

/// Prompts that are being answered or were.
#[derive(Clone, Debug, Default)]
pub struct Claims(Arc<Mutex<Vec<Try>>>);

/// The last try to answer a prompt.
#[derive(Debug)]
struct Try {
    prompt_id: String,
    /// Counted from 1.
    number: u64,
    is_over: bool,
}

/// The right to answer one prompt; dropping it lets somebody else try.
#[derive(Debug)]
pub struct Claimed {
    claims: Claims,
    prompt_id: Option<String>,
    number: u64,
}

impl Claims {
    /// The right to answer this prompt, unless somebody else has it.
    pub fn claim(&self, prompt_id: &str) -> Option<Claimed> {
        let mut claimed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = match claimed.iter_mut().find(|known| known.prompt_id == prompt_id) {
            Some(known) if !known.is_over => return None,
            Some(known) => {
                (known.number, known.is_over) = (known.number + 1, false);
                known.number
            }
            None => {
                if claimed.len() == KEPT_MAX {
                    claimed.remove(0);
                }
                claimed.push(Try { prompt_id: prompt_id.to_owned(), number: 1, is_over: false });
                1
            }
        };
        Some(Claimed { claims: self.clone(), prompt_id: Some(prompt_id.to_owned()), number })
    }

    /// Whether this try is the last that was made.
    pub fn is_last(&self, prompt_id: &str, number: u64) -> bool {
        let claimed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        claimed.iter().any(|known| known.prompt_id == prompt_id && known.number == number)
    }
}

impl Claimed {
    /// Which try it is.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// It was answered, and nobody else shall.
    pub fn keep(mut self) {
        self.prompt_id = None;
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        if let Some(id) = self.prompt_id.take() {
            let mut claimed = self.claims.0.lock().unwrap_or_else(PoisonError::into_inner);
            let known = claimed.iter_mut().find(|known| known.prompt_id == id && known.number == self.number);
            known.into_iter().for_each(|known| known.is_over = true);
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
        assert!(claims.is_last("p1", 2) && !claims.is_last("p1", 1));
    }
}
