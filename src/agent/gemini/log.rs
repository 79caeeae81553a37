//! What one line of Gemini CLI's session log tells (0.61.0).
//!
//! A message is written again, under the same id, when the tools that it called have ended. A dialog is not in the log
//! while it is open, nor is the end of a turn: a message that calls tools looks like the last one until they have ended.
//! Behind a turn that was cancelled all that was said before is written once more, as if it were new: what users and
//! tools said means nothing for the state.

use serde_json::Value;

use super::hear::typed;
use super::trouble;
use crate::agent::facts::{BadLine, LogFacts, Said};
use crate::agent::usage::{MessageUsage, Tokens};
use crate::agent::{Claim, EpochMs};

/// The line that Gemini writes when its user stops it or refuses a tool; hooks are silent about the latter.
const CANCELLED: &str = "Request cancelled.";

/// How messages begin that Gemini says to itself.
const NO_TURN: [&str; 2] = ["<session_context>", "<hook_context>"];

/// Reads one line. `now` dates what the line tells when it has no time of its own.
pub fn read_line(line: &str, now: EpochMs) -> Result<LogFacts, BadLine> {
    let line: Value = serde_json::from_str(line)?;
    if !line.is_object() {
        return Err(BadLine::NotAnObject);
    }
    let at = line["timestamp"].as_str().and_then(EpochMs::from_iso8601);
    let word = |name: &str| line[name].as_str().map(str::to_owned);
    let mut facts = LogFacts { at, session_id: word("sessionId"), ..LogFacts::default() };
    let content = line["content"].as_str();
    match line["type"].as_str() {
        Some("user") => user(&line["content"], &mut facts),
        Some("gemini") => {
            facts.usage = usage(&line);
            facts.last_message = content.filter(|said| !said.is_empty()).map(str::to_owned);
            let calls = line["toolCalls"].as_array().map(Vec::as_slice).unwrap_or_default();
            if calls.iter().any(|call| call["status"] == "success" || call["status"] == "error") {
                facts.claim = Some(("toolCalls", Claim::Working));
            }
        }
        Some("error") => {
            facts.claim =
                content.and_then(|text| trouble::claim(text, at.unwrap_or(now))).map(|claim| ("error", claim));
        }
        Some("info") if content == Some(CANCELLED) => facts.claim = Some(("cancelled", Claim::Idle)),
        _ => {}
    }
    Ok(facts)
}

fn user(content: &Value, facts: &mut LogFacts) {
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    let text = content.as_str().map_or_else(|| texts.concat(), str::to_owned);
    if text.is_empty() || NO_TURN.iter().any(|beginning| text.starts_with(beginning)) {
        return;
    }
    facts.said = Some(Said::Prompt { text: typed(&text).to_owned(), queued: false });
}

/// What a message cost. What was read from the cache is part of the input, and thoughts are no part of the output.
fn usage(line: &Value) -> Option<MessageUsage> {
    let tokens = line["tokens"].as_object()?;
    let count = |name: &str| tokens.get(name).and_then(Value::as_u64).unwrap_or(0);
    let cache_read = count("cached");
    let tokens = Tokens {
        input: count("input").saturating_sub(cache_read).saturating_add(count("tool")),
        output: count("output").saturating_add(count("thoughts")),
        cache_read,
        cache_write: 0,
    };
    Some(MessageUsage { message_id: line["id"].as_str()?.to_owned(), tokens, cost_usd: None })
}

#[cfg(test)]
mod tests;
