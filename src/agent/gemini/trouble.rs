//! What goes wrong in Gemini CLI, sorted by what the server answered (0.61.0).

use serde_json::Value;

use super::resets::{reset_time, tells_of_wait, wait_ms};
use crate::agent::{Claim, EpochMs};
use crate::session::{ErrorCategory, Parked, Trouble};

/// What Gemini puts around what a server answered, or around its own words for what went wrong.
const API_ERROR: &str = "[API Error: ";

/// How it says that an answer was blocked, empty, or broken in itself. Each was asked for four times by then.
const NO_ANSWER: [&str; 5] = [
    "The model response was blocked ",
    "The model returned ",
    "Model stream ended ",
    "Model response was truncated ",
    "Invalid stream received from model",
];

/// Its own words where nobody answered: node's fetch has these.
const UNREACHABLE: [&str; 6] = ["fetch failed", "ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "ENETUNREACH"];

/// All that node says of an answer that broke off.
const BROKEN_OFF: &str = "terminated";

/// A server's words where it could not answer now, when Gemini keeps nothing else of what it said.
const BUSY: [&str; 3] = ["overloaded", "UNAVAILABLE", "An internal error"];

/// How its own words for a limit begin.
const LIMITS: [&str; 2] = ["You have exhausted your", "You have reached your"];

/// How the advice begins that it gives behind an answer with status 429, whatever that answer said.
const LIMIT_ADVICE: [&str; 2] = ["Please wait and try again later", "Possible quota limitations"];

/// The error that a line tells of. `None` when no turn has failed: commands that go wrong are logged as errors as well,
/// and the agent is none the worse for them.
pub fn claim(text: &str, now: EpochMs) -> Option<Claim> {
    let Some(inner) = text.strip_prefix(API_ERROR) else { return no_answer(text) };
    let (body, advice) = inner.rsplit_once(']').unwrap_or((inner, ""));
    let answered: Option<Value> = serde_json::from_str(body).ok();
    let error = answered.as_ref().map_or(&Value::Null, |answered| &answered["error"]);
    let is_limit = LIMIT_ADVICE.iter().any(|beginning| advice.trim_start().starts_with(beginning));
    let category = match error.is_object() {
        true => by_status(error),
        false if is_limit => ErrorCategory::RateLimited,
        false => by_words(body),
    };
    let detail = error["message"].as_str().unwrap_or(body).to_owned();
    if category == ErrorCategory::RateLimited {
        let ends = retry_ms(error).map(|ms| now.plus(ms)).or_else(|| reset_time(body, now));
        let resume_at_epoch_ms = ends.map(|at| at.0);
        return Some(Claim::Parked(Parked { reason: detail, resume_at_epoch_ms, category }));
    }
    Some(Claim::Error(Trouble { category, detail, resume_at_epoch_ms: None }))
}

/// An answer that was none. One that is cut short has words, and is an answer: Gemini only adds a warning to it, as it
/// does to each attempt that it repeats.
fn no_answer(text: &str) -> Option<Claim> {
    let is_told = NO_ANSWER.iter().any(|beginning| text.starts_with(beginning));
    let trouble =
        || Trouble { category: ErrorCategory::Other, detail: text.trim().to_owned(), resume_at_epoch_ms: None };
    is_told.then(|| Claim::Error(trouble()))
}

fn by_status(error: &Value) -> ErrorCategory {
    let reason = |name: &str| details(error).any(|detail| detail["reason"] == name);
    match error["code"].as_u64() {
        Some(401 | 403) => ErrorCategory::Unauthorized,
        Some(400) if reason("API_KEY_INVALID") => ErrorCategory::Unauthorized,
        Some(400) if is_too_long(error) => ErrorCategory::ContextWindow,
        Some(402) => ErrorCategory::OutOfCredits,
        Some(429) => ErrorCategory::RateLimited,
        Some(500..) => ErrorCategory::ServerError,
        _ => ErrorCategory::Other,
    }
}

/// A conversation that is larger than the model can read: `The input token count (N) exceeds the maximum number of
/// tokens allowed (M).`
fn is_too_long(error: &Value) -> bool {
    error["message"].as_str().is_some_and(|message| message.starts_with("The input token count"))
}

fn by_words(words: &str) -> ErrorCategory {
    match () {
        () if LIMITS.iter().any(|beginning| words.starts_with(beginning)) => ErrorCategory::RateLimited,
        () if tells_of_wait(words) => ErrorCategory::RateLimited,
        () if words == BROKEN_OFF || BUSY.iter().any(|word| words.contains(word)) => ErrorCategory::ServerError,
        () if UNREACHABLE.iter().any(|word| words.contains(word)) => ErrorCategory::NoInternet,
        () => ErrorCategory::Other,
    }
}

fn details(error: &Value) -> impl Iterator<Item = &Value> {
    error["details"].as_array().into_iter().flatten()
}

/// How long the server asks to wait: `"retryDelay":"2.5s"`.
fn retry_ms(error: &Value) -> Option<u64> {
    wait_ms(details(error).find_map(|detail| detail["retryDelay"].as_str())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: EpochMs = EpochMs(1_000_000);

    fn category(text: &str) -> ErrorCategory {
        match claim(text, NOW) {
            Some(Claim::Error(trouble)) => trouble.category,
            Some(Claim::Parked(parked)) => parked.category,
            other => panic!("no trouble: {other:?}"),
        }
    }

    fn answered(code: u16, message: &str, details: &str) -> String {
        format!(r#"[API Error: {{"error":{{"code":{code},"message":"{message}","details":[{details}]}}}}]"#)
    }

    #[test]
    fn what_a_server_answered_decides() {
        for (code, expected) in [
            (401, ErrorCategory::Unauthorized),
            (403, ErrorCategory::Unauthorized),
            (429, ErrorCategory::RateLimited),
            (500, ErrorCategory::ServerError),
            (503, ErrorCategory::ServerError),
            (404, ErrorCategory::Other),
            (400, ErrorCategory::Other),
        ] {
            assert_eq!(category(&answered(code, "Not 429 nor 500.", "")), expected, "{code}");
        }
        assert_eq!(category(&answered(400, "x", r#"{"reason":"API_KEY_INVALID"}"#)), ErrorCategory::Unauthorized);
        let long = "The input token count (9) exceeds the maximum number of tokens allowed (8).";
        assert_eq!(category(&answered(400, long, "")), ErrorCategory::ContextWindow);
    }

    #[test]
    fn where_nobody_answered_its_own_words_do() {
        assert_eq!(category("[API Error: terminated]"), ErrorCategory::ServerError, "somebody had begun to answer");
        assert_eq!(
            category("[API Error: The model is overloaded. Please try again later.]"),
            ErrorCategory::ServerError
        );
        assert_eq!(category("[API Error: exception TypeError: fetch failed]"), ErrorCategory::NoInternet);
        let daily = "[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later.";
        assert_eq!(category(daily), ErrorCategory::RateLimited);
        assert_eq!(category("[API Error: models/x is not found for API version v1beta.]"), ErrorCategory::Other);
    }

    #[test]
    fn an_answer_that_was_none_is_an_error_and_a_command_that_failed_is_not() {
        for words in [
            "The model response was blocked due to safety settings.",
            "The model response was blocked due to recitation/copyright filters.",
            "The model returned an empty response with no text or thoughts. Please try again.",
            "The model returned reasoning thoughts but no final response text.",
            "Model stream ended with malformed function call.",
            "Model response was truncated because it exceeded the token limit.",
            "Invalid stream received from model",
        ] {
            assert_eq!(category(words), ErrorCategory::Other, "{words}");
            let Some(Claim::Error(trouble)) = claim(words, NOW) else { panic!("no error: {words}") };
            assert_eq!(trouble.detail, words);
        }
        for words in
            ["No saved checkpoint found with tag: x.", "Unknown command: /x.", "Error refreshing memory: x", ""]
        {
            assert_eq!(claim(words, NOW), None, "{words}");
        }
    }

    #[test]
    fn a_limit_is_parked_until_the_server_lets_it_try_again() {
        let Some(Claim::Parked(parked)) = claim(&answered(429, "Slow.", r#"{"retryDelay":"2.5s"}"#), NOW) else {
            panic!("not parked")
        };
        assert_eq!((parked.reason.as_str(), parked.resume_at_epoch_ms), ("Slow.", Some(1_002_500)));
        let Some(Claim::Parked(parked)) = claim(&answered(429, "Slow.", r#"{"retryDelay":"-1s"}"#), NOW) else {
            panic!("not parked")
        };
        assert_eq!(parked.resume_at_epoch_ms, None);
        let advice = "Please wait and try again later. To increase your limits, request a quota increase.";
        for (words, until) in [("Slow down.\nSuggested retry after 400s.", Some(1_400_000)), ("Slow down.", None)] {
            let Some(Claim::Parked(parked)) = claim(&format!("[API Error: {words}]\n{advice}"), NOW) else {
                panic!("not parked: {words}")
            };
            assert_eq!((parked.reason.as_str(), parked.resume_at_epoch_ms), (words, until));
        }
    }
}
