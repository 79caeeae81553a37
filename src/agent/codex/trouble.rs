//! What goes wrong in Codex, sorted by its own words for it (`codex_error_info`, 0.166.0).

use jiff::tz::TimeZone;
use serde_json::Value;

use super::resets::reset_time;
use crate::agent::{Claim, EpochMs};
use crate::session::{ErrorCategory, Parked, Trouble};

/// A limit of a paid account and a prepaid one that is used up have the same word; only the text tells.
const QUOTA: &str = "Quota exceeded";
const USAGE_LIMIT: [&str; 2] = ["You’ve hit your usage limit", "You've hit your usage limit"];

/// How texts begin that carry the status that a server answered with; in `codex exec --json` there is nothing else.
const STATUS: [&str; 2] = ["exceeded retry limit, last status: ", "unexpected status "];

/// How texts begin that tell of a server that could not be reached.
const UNREACHABLE: [&str; 2] =
    ["error sending request", "stream disconnected before completion: error sending request"];

/// An error as Codex tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What Codex shows.
    pub text: String,
    /// Codex's word for it; empty when it is not told.
    word: String,
    http_status: Option<u64>,
}

impl Failure {
    /// Reads `{"message": …, "codex_error_info": …}`; `None` when there is no error.
    pub fn read(error: &Value) -> Option<Self> {
        let text = error["message"].as_str().map(str::to_owned).filter(|_| error.is_object())?;
        let info = &error["codex_error_info"];
        // Either a word, or an object whose only key is the word.
        let inner = info.as_object().and_then(|info| info.iter().next());
        let word = info.as_str().or(inner.map(|(word, _)| word.as_str())).unwrap_or_default().to_owned();
        let http_status = inner.and_then(|(_, fields)| fields["http_status_code"].as_u64());
        Some(Self { text, word, http_status })
    }

    /// An error of which only the text is known.
    pub fn of_text(text: &str) -> Self {
        let status = STATUS.iter().find_map(|beginning| text.strip_prefix(beginning));
        let http_status = status.and_then(|rest| rest.split(' ').next()?.parse().ok());
        Self { text: text.to_owned(), word: String::new(), http_status }
    }

    /// What the failure means for the session: parked when it ends by itself, else an error.
    pub fn claim(self, now: EpochMs) -> Claim {
        match self.category() {
            category @ ErrorCategory::RateLimited => Claim::Parked(Parked {
                resume_at_epoch_ms: reset_time(&self.text, now, TimeZone::system()).map(|at| at.0),
                reason: self.text,
                category,
            }),
            category => Claim::Error(Trouble { category, detail: self.text, resume_at_epoch_ms: None }),
        }
    }

    pub fn category(&self) -> ErrorCategory {
        match self.word.as_str() {
            "usage_limit_exceeded" if self.text.starts_with(QUOTA) => ErrorCategory::OutOfCredits,
            "usage_limit_exceeded" => ErrorCategory::RateLimited,
            "context_window_exceeded" => ErrorCategory::ContextWindow,
            "unauthorized" => ErrorCategory::Unauthorized,
            "server_overloaded" | "internal_server_error" => ErrorCategory::ServerError,
            _ => self.category_without_word(),
        }
    }

    fn category_without_word(&self) -> ErrorCategory {
        let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| self.text.starts_with(beginning));
        match self.http_status {
            Some(401 | 403) => ErrorCategory::Unauthorized,
            Some(402) => ErrorCategory::OutOfCredits,
            Some(429) => ErrorCategory::RateLimited,
            Some(500..) => ErrorCategory::ServerError,
            Some(_) => ErrorCategory::Other,
            None if begins(&UNREACHABLE) || self.word == "http_connection_failed" => ErrorCategory::NoInternet,
            None if begins(&USAGE_LIMIT) => ErrorCategory::RateLimited,
            None if begins(&[QUOTA]) => ErrorCategory::OutOfCredits,
            // A stream that broke off in the middle.
            None if self.text.starts_with("stream disconnected") => ErrorCategory::ServerError,
            None => ErrorCategory::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: EpochMs = EpochMs(1_794_787_606_000); // 2026-11-16T00:06:46Z

    fn category(info: Value, message: &str) -> ErrorCategory {
        Failure::read(&json!({"message": message, "codex_error_info": info})).unwrap().category()
    }

    #[test]
    fn every_error_that_was_seen_has_its_category() {
        use ErrorCategory::*;
        for (info, message, expected) in [
            (json!("usage_limit_exceeded"), "You’ve hit your usage limit. Try again at 5:00 AM.", RateLimited),
            (json!("usage_limit_exceeded"), "Quota exceeded. Check your plan and billing details.", OutOfCredits),
            (json!({"response_too_many_failed_attempts": {"http_status_code": 429}}), "exceeded", RateLimited),
            (json!({"http_connection_failed": {"http_status_code": 401}}), "unexpected status 401", Unauthorized),
            (json!({"http_connection_failed": {"http_status_code": null}}), "no", NoInternet),
            (json!("context_window_exceeded"), "Codex ran out of room", ContextWindow),
            (json!("server_overloaded"), "Selected model is at capacity.", ServerError),
            (json!("internal_server_error"), "We’re currently experiencing high demand", ServerError),
            (json!("other"), "stream disconnected before completion: stream closed", ServerError),
            (json!("a_word_of_tomorrow"), "oops", Other),
            (Value::Null, "oops 429", Other),
        ] {
            assert_eq!(category(info.clone(), message), expected, "{info} {message}");
        }
    }

    #[test]
    fn without_an_error_there_is_none() {
        for none in [Value::Null, json!({}), json!("x"), json!({"message": 7})] {
            assert_eq!(Failure::read(&none), None);
        }
    }

    #[test]
    fn a_limit_is_parked_until_it_ends() {
        let text = "You’ve hit your usage limit. Or try again at Nov 17th, 2026 4:52 AM.";
        let Claim::Parked(parked) = Failure::of_text(text).claim(NOW) else { panic!("not parked") };
        assert_eq!((parked.category, parked.reason.as_str()), (ErrorCategory::RateLimited, text));
        assert!(parked.resume_at_epoch_ms.is_some_and(|at| at > NOW.0));
    }

    #[test]
    fn a_text_tells_by_how_it_begins_not_by_what_it_mentions() {
        let category = |text: &str| Failure::of_text(text).category();
        assert_eq!(category("exceeded retry limit, last status: 429 Too Many Requests"), ErrorCategory::RateLimited);
        assert_eq!(category("unexpected status 401 Unauthorized: no"), ErrorCategory::Unauthorized);
        assert_eq!(category("the model said: unexpected status 401"), ErrorCategory::Other);
        assert_eq!(category("error sending request for url (http://x)"), ErrorCategory::NoInternet);
    }
}
