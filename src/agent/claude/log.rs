//! What one line of Claude Code's session log tells (2.1.197).

use serde_json::Value;

use super::message::{has_tool_result, text, texts, usage, word};
use super::trouble::Failure;
use crate::agent::facts::{BadLine, LogFacts, Said};
use crate::agent::{Claim, EpochMs};

/// The lines that Claude writes when a user stops it; they are the only sign of it in the log.
const INTERRUPTED: [&str; 2] = ["[Request interrupted by user]", "[Request interrupted by user for tool use]"];

/// How lines of user messages begin that are commands and what they printed, not turns of the conversation.
const NO_TURN: [&str; 4] = ["<command-name>", "<command-message>", "<local-command-", "<bash-"];

/// Reads one line. `now` dates what the line tells when it has no time of its own.
pub fn read_line(line: &str, now: EpochMs) -> Result<LogFacts, BadLine> {
    let line: Value = serde_json::from_str(line)?;
    if !line.is_object() {
        return Err(BadLine::NotAnObject);
    }
    let at = line["timestamp"].as_str().and_then(EpochMs::from_iso8601);
    let mut facts =
        LogFacts { at, session_id: word(&line, "sessionId"), cwd: word(&line, "cwd"), ..LogFacts::default() };
    let subagent = line["isSidechain"] == true;
    match line["type"].as_str() {
        Some("assistant") => {
            facts.usage = usage(&line["message"], &line["costUSD"]);
            if !subagent {
                assistant(&line, at.unwrap_or(now), &mut facts);
            }
        }
        _ if subagent => {}
        Some("user") => user(&line, &mut facts),
        Some("system") => match line["subtype"].as_str() {
            Some("turn_duration") => facts.claim = Some(("turn_duration", Claim::Idle)),
            Some("compact_boundary") => facts.compacted = true,
            _ => {}
        },
        Some("queue-operation") => facts.said = queue_operation(&line),
        Some("attachment") if line["attachment"]["type"] == "queued_command" => {
            facts.said = text(&line["attachment"]["prompt"]).map(|text| Said::TakenInTurn { text });
        }
        _ => {}
    }
    Ok(facts)
}

fn assistant(line: &Value, at: EpochMs, facts: &mut LogFacts) {
    let message = &line["message"];
    let said = text(&message["content"]);
    if line["isApiErrorMessage"] == true {
        let failure = Failure {
            word: line["error"].as_str().unwrap_or_default(),
            text: said.as_deref().unwrap_or_default(),
            http_status: line["apiErrorStatus"].as_u64().and_then(|status| u16::try_from(status).ok()),
        };
        facts.claim = Some(("api_error", failure.claim(at)));
        return;
    }
    facts.last_message = said;
    // One message is split over several lines, one for each block, and all carry the reason why the message ended.
    facts.claim = match message["stop_reason"].as_str() {
        Some("end_turn") => Some(("end_turn", Claim::Idle)),
        Some("tool_use") => Some(("tool_use", Claim::Working)),
        _ => None,
    };
}

fn user(line: &Value, facts: &mut LogFacts) {
    let content = &line["message"]["content"];
    let texts = texts(content);
    let begins = |beginning: &&str| texts.first().is_some_and(|text| text.starts_with(*beginning));
    if line["isMeta"] == true || line["isCompactSummary"] == true || NO_TURN.iter().any(begins) {
        return;
    }
    // What somebody typed has a source, even when it is the same words.
    let source = line["promptSource"].as_str();
    if source.is_none() && texts.iter().any(|text| INTERRUPTED.contains(text)) {
        facts.claim = Some(("interrupted", Claim::Idle));
    } else if has_tool_result(content) {
        facts.claim = Some(("tool_result", Claim::Working));
    } else if !content.is_null() {
        facts.claim = Some(("prompt", Claim::Working));
        // Claude tells itself when a background task ends; nobody said that.
        if source != Some("system") {
            let queued = source == Some("queued");
            facts.said = text(content).map(|text| Said::Prompt { text, queued });
        }
    }
}

fn queue_operation(line: &Value) -> Option<Said> {
    let text = word(line, "content");
    match line["operation"].as_str()? {
        "enqueue" => text.map(|text| Said::Queued { text }),
        "dequeue" => Some(Said::Dequeued),
        "remove" => Some(Said::Removed),
        "popAll" => text.map(|text| Said::Withdrawn { text }),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
