//! What goes wrong in Gemini CLI, sorted by what the server answered (0.61.0).

use serde_json::Value;

use crate::agent::{Claim, EpochMs};
use crate::session::{ErrorCategory, Parked, Trouble};

/// What Gemini puts around what a server answered, or around its own words for what went wrong.
const API_ERROR: &str = "[API Error: ";

/// Its own words where nobody answered: node's fetch has these.
const UNREACHABLE: [&str; 5] = ["terminated", "fetch failed", "ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT"];

/// How its own words for a limit begin.
const LIMITS: [&str; 2] = ["You have exhausted your", "You have reached your"];

/// The error that a line tells of; `None` when it is about something else than the model's server.
pub fn claim(text: &str, now: EpochMs) -> Option<Claim> {
    let inner = text.strip_prefix(API_ERROR)?;
    let (body, _) = inner.rsplit_once(']').unwrap_or((inner, ""));
    let answered: Option<Value> = serde_json::from_str(body).ok();
    let error = answered.as_ref().map_or(&Value::Null, |answered| &answered["error"]);
    let category = if error.is_object() { by_status(error) } else { by_words(body) };
    let detail = error["message"].as_str().unwrap_or(body).to_owned();
    if category == ErrorCategory::RateLimited {
        let resume_at_epoch_ms = retry_ms(error).map(|ms| now.plus(ms).0);
        return Some(Claim::Parked(Parked { reason: detail, resume_at_epoch_ms, category }));
    }
    Some(Claim::Error(Trouble { category, detail, resume_at_epoch_ms: None }))
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
        () if UNREACHABLE.iter().any(|word| words.contains(word)) => ErrorCategory::NoInternet,
        () => ErrorCategory::Other,
    }
}

fn details(error: &Value) -> impl Iterator<Item = &Value> {
    error["details"].as_array().into_iter().flatten()
}

/// How long the server asks to wait: `"retryDelay":"2.5s"`.
fn retry_ms(error: &Value) -> Option<u64> {
    let delay = details(error).find_map(|detail| detail["retryDelay"].as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some((seconds * 1000.0) as u64)
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
        assert_eq!(category("[API Error: terminated]"), ErrorCategory::NoInternet);
        assert_eq!(category("[API Error: exception TypeError: fetch failed]"), ErrorCategory::NoInternet);
        let daily = "[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later.";
        assert_eq!(category(daily), ErrorCategory::RateLimited);
        assert_eq!(category("[API Error: models/x is not found for API version v1beta.]"), ErrorCategory::Other);
        assert_eq!(claim("The model returned an empty response.", NOW), None);
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
    }
}
