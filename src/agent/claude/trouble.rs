//! What goes wrong in Claude Code, sorted by its own words for it (2.1.197).

use super::resets::{reset_time, tells_of_usage_limit};
use crate::agent::{Claim, EpochMs};
use crate::session::{ErrorCategory, Parked, Trouble};

/// What Claude puts before what a server answered.
const API_ERROR: &str = "API Error: ";

/// How texts begin that tell of a server that could not be reached; they come with `server_error` and no status.
const UNREACHABLE: [&str; 2] = ["Unable to connect", "Request timed out. Check your internet connection"];

/// How the text begins when a conversation is larger than the model can read.
const TOO_LONG: &str = "Prompt is too long";

/// An error as Claude tells it, in a hook, a log line or a stream line.
#[derive(Clone, Copy, Debug)]
pub struct Failure<'a> {
    /// Claude's word for it, such as `rate_limit`; empty when it is not told.
    pub word: &'a str,
    /// What Claude shows.
    pub text: &'a str,
    /// The status that the server answered with, when it did.
    pub http_status: Option<u16>,
}

impl Failure<'_> {
    /// What the failure means for the session: parked when it ends by itself, else an error.
    pub fn claim(self, now: EpochMs) -> Claim {
        match self.category() {
            category @ ErrorCategory::RateLimited => Claim::Parked(Parked {
                reason: self.text.to_owned(),
                resume_at_epoch_ms: reset_time(self.text, now).map(|at| at.0),
                category,
            }),
            category => Claim::Error(Trouble { category, detail: self.text.to_owned(), resume_at_epoch_ms: None }),
        }
    }

    /// What the failure is about.
    pub fn category(self) -> ErrorCategory {
        match self.word {
            "authentication_failed" | "oauth_org_not_allowed" => ErrorCategory::Unauthorized,
            "billing_error" => ErrorCategory::OutOfCredits,
            "rate_limit" => ErrorCategory::RateLimited,
            "overloaded" => ErrorCategory::ServerError,
            "server_error" if self.is_unreachable() => ErrorCategory::NoInternet,
            "server_error" => ErrorCategory::ServerError,
            "invalid_request" if self.text.starts_with(TOO_LONG) => ErrorCategory::ContextWindow,
            "invalid_request" | "model_not_found" | "max_output_tokens" => ErrorCategory::Other,
            _ => self.category_without_word(),
        }
    }

    /// Where Claude has no word of its own, the status decides, then the few texts that are known.
    fn category_without_word(self) -> ErrorCategory {
        match self.http_status {
            Some(401 | 403) => ErrorCategory::Unauthorized,
            Some(429) => ErrorCategory::RateLimited,
            Some(500..) => ErrorCategory::ServerError,
            _ if tells_of_usage_limit(self.text) => ErrorCategory::RateLimited,
            _ if self.is_unreachable() => ErrorCategory::NoInternet,
            // An error in the middle of a stream that began well has neither a status nor a word.
            None if self.text == "API Error: Overloaded" => ErrorCategory::ServerError,
            _ => ErrorCategory::Other,
        }
    }

    fn is_unreachable(self) -> bool {
        let text = self.text.strip_prefix(API_ERROR).unwrap_or(self.text);
        self.http_status.is_none() && UNREACHABLE.iter().any(|beginning| text.starts_with(beginning))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const NOW: EpochMs = EpochMs(1_794_787_606_000); // 2026-11-16T00:06:46Z

    macro_rules! stop_failure {
        ($word:literal) => {
            include_str!(concat!("../../../tests/fixtures/claude/hooks/StopFailure-", $word, ".json"))
        };
    }

    fn claim(word: &str, text: &str, http_status: Option<u16>) -> Claim {
        Failure { word, text, http_status }.claim(NOW)
    }

    fn category(claim: &Claim) -> ErrorCategory {
        match claim {
            Claim::Error(trouble) => trouble.category,
            Claim::Parked(parked) => parked.category,
            other => panic!("no trouble: {other:?}"),
        }
    }

    #[test]
    fn every_recorded_failure_has_its_category() {
        for (recording, expected) in [
            (stop_failure!("authentication_failed"), ErrorCategory::Unauthorized),
            (stop_failure!("billing_error"), ErrorCategory::OutOfCredits),
            (stop_failure!("invalid_request"), ErrorCategory::Other),
            (stop_failure!("max_output_tokens"), ErrorCategory::Other),
            (stop_failure!("rate_limit"), ErrorCategory::RateLimited),
            (stop_failure!("server_error"), ErrorCategory::ServerError),
            (stop_failure!("unknown"), ErrorCategory::Other),
        ] {
            let hook: Value = serde_json::from_str(recording).unwrap();
            let (word, text) = (hook["error"].as_str().unwrap(), hook["last_assistant_message"].as_str().unwrap());
            assert_eq!(category(&claim(word, text, None)), expected, "{word}: {text}");
        }
    }

    #[test]
    fn a_limit_with_a_reset_time_is_parked_until_then() {
        let session = claim("rate_limit", "You've hit your session limit · resets 3:33am (UTC)", Some(429));
        let usage = "API Error: 400 You have reached your specified API usage limits. \
                     You will regain access on 2026-12-01 at 00:00 UTC.";
        for (claim, expected) in
            [(session, "2026-11-16T03:33:00.000Z"), (claim("unknown", usage, Some(400)), "2026-12-01T00:00:00.000Z")]
        {
            let Claim::Parked(parked) = claim else { panic!("not parked: {claim:?}") };
            assert_eq!(parked.category, ErrorCategory::RateLimited);
            assert_eq!(parked.resume_at_epoch_ms.map(|at| EpochMs(at).iso8601()).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_limit_without_a_reset_time_is_parked_all_the_same() {
        let text = "API Error: Request rejected (429) · This request would exceed your rate limit.";
        let Claim::Parked(parked) = claim("rate_limit", text, Some(429)) else { panic!("not parked") };
        assert_eq!((parked.reason.as_str(), parked.resume_at_epoch_ms), (text, None));
    }

    #[test]
    fn a_server_out_of_reach_is_told_apart_from_one_that_fails() {
        let refused = "API Error: Unable to connect to API (ConnectionRefused)";
        assert_eq!(category(&claim("server_error", refused, None)), ErrorCategory::NoInternet);
        assert_eq!(
            category(&claim("unknown", "Unable to connect to API (ENOTFOUND)", None)),
            ErrorCategory::NoInternet
        );
        assert_eq!(category(&claim("server_error", refused, Some(502))), ErrorCategory::ServerError);
        assert_eq!(category(&claim("overloaded", "", None)), ErrorCategory::ServerError);
    }

    #[test]
    fn prose_does_not_decide_where_claude_has_a_word() {
        let text = "You asked about 429, credit balance, Unable to connect and 500";
        assert_eq!(category(&claim("invalid_request", text, Some(400))), ErrorCategory::Other);
        assert_eq!(category(&claim("unknown", text, Some(400))), ErrorCategory::Other);
        let too_long = "Prompt is too long · the request is ~210000 tokens";
        assert_eq!(category(&claim("invalid_request", too_long, Some(400))), ErrorCategory::ContextWindow);
    }

    #[test]
    fn an_unknown_word_is_sorted_by_the_status() {
        for (status, expected) in [
            (401, ErrorCategory::Unauthorized),
            (429, ErrorCategory::RateLimited),
            (529, ErrorCategory::ServerError),
            (404, ErrorCategory::Other),
        ] {
            assert_eq!(category(&claim("a_word_of_tomorrow", "oops", Some(status))), expected);
        }
    }
}
