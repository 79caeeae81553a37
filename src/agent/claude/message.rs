//! The parts of a message that the session log and the stream on stdout share (Claude Code 2.1.197).

use serde_json::Value;

use crate::agent::usage::{MessageUsage, Tokens};

/// The model that Claude names in messages of its own making, such as errors; nobody pays for them.
const SYNTHETIC: &str = "<synthetic>";

/// The texts of a message's content, which is a text or a list of blocks.
pub fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => {
            blocks.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str()).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a message's content holds the result of a tool.
pub fn has_tool_result(content: &Value) -> bool {
    content.as_array().is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "tool_result"))
}

/// The text of a message, its blocks as paragraphs; `None` when it has none.
pub fn text(content: &Value) -> Option<String> {
    let texts = texts(content);
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// What the request behind an assistant's message cost, as far as this line of it knows.
pub fn usage(message: &Value, cost_usd: &Value) -> Option<MessageUsage> {
    let usage = message["usage"].as_object()?;
    if message["model"] == SYNTHETIC {
        return None;
    }
    let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
    Some(MessageUsage {
        message_id: message["id"].as_str()?.to_owned(),
        tokens: Tokens {
            input: count("input_tokens"),
            output: count("output_tokens"),
            cache_read: count("cache_read_input_tokens"),
            cache_write: count("cache_creation_input_tokens"),
        },
        cost_usd: cost_usd.as_f64().filter(|usd| usd.is_finite() && *usd >= 0.0),
    })
}

/// A field that holds a text.
pub fn word(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().map(str::to_owned)
}
