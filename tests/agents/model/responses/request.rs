//! What is in a request to the Responses API.

use serde_json::Value;

use crate::model::request::{Kind, ToolResult, plain};

/// Text that the agent adds by itself, not the user.
const ADDED: [&str; 6] = [
    "<environment_context>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<hook_prompt",
    "# AGENTS.md",
    "Another language model started to solve this problem",
];

/// The words with which Codex CLI 0.166.0 asks for a summary.
const SUMMARY: &str = "You are performing a CONTEXT CHECKPOINT COMPACTION.";

fn items(body: &Value) -> &[Value] {
    body["input"].as_array().map_or(&[], Vec::as_slice)
}

/// What the request is for. Codex CLI 0.166.0 asks for a title with every message of the user, in a conversation of its own
/// and as an object.
pub fn kind(body: &Value) -> Kind {
    let texts = texts(body);
    let last = texts.iter().rev().find(|(role, _)| role == "user").map_or("", |(_, text)| text);
    if last.starts_with(SUMMARY) {
        return Kind::Summary;
    }
    if body["text"]["format"]["type"] == "json_schema" { Kind::Side } else { Kind::Turn }
}

/// Every text of the conversation with the role that it has, what the agent adds included.
pub fn texts(body: &Value) -> Vec<(String, String)> {
    let messages = items(body).iter().filter(|item| item["type"] == "message");
    let role = |item: &Value| item["role"].as_str().unwrap_or_default().to_owned();
    messages.map(|item| (role(item), plain(&item["content"]))).collect()
}

/// The user's own words, oldest first, exactly as they came.
pub fn said(body: &Value) -> Vec<String> {
    let own = |text: &String| !ADDED.iter().any(|added| text.trim_start().starts_with(added));
    let users = texts(body).into_iter().filter(|(role, _)| role == "user");
    users.map(|(_, text)| text).filter(own).collect()
}

/// What tools gave back, oldest first.
pub fn results(body: &Value) -> Vec<ToolResult> {
    let of_type = |ending: &'static str| {
        items(body).iter().filter(move |item| item["type"].as_str().is_some_and(|kind| kind.ends_with(ending)))
    };
    let results = of_type("_call_output");
    results
        .map(|item| {
            let call = of_type("_call").find(|call| call["call_id"] == item["call_id"]);
            let field = |name: &str| call.and_then(|call| call[name].as_str()).unwrap_or_default();
            let arguments = serde_json::from_str(field("arguments"));
            let text = plain(&item["output"]);
            ToolResult {
                id: item["call_id"].as_str().unwrap_or_default().to_owned(),
                tool: field("name").to_owned(),
                input: arguments.unwrap_or_else(|_| field("input").into()),
                is_error: failed(&text),
                text,
            }
        })
        .collect()
}

/// The API has no word for it; Codex CLI 0.166.0 says how a command ended in the text, after which comes what it printed.
fn failed(text: &str) -> bool {
    let head = text.split("Output:").next().unwrap_or_default();
    let code = head.split("Process exited with code ").nth(1).or_else(|| head.split("Exit code: ").nth(1));
    code.is_some_and(|rest| !rest.starts_with('0'))
}
