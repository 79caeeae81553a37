//! What is in a request to the Messages API.

use serde_json::Value;

use crate::model::request::{Kind, ToolResult, plain};

/// Text that the agent adds by itself, not the user.
const ADDED: [&str; 7] = [
    "<system-reminder>",
    "<command-",
    "<local-command-",
    "<bash-",
    "[Request interrupted",
    "Caveat: ",
    "Output token limit hit.",
];

/// The words with which Claude Code 2.1.197 asks for a summary.
const SUMMARY: [&str; 2] = ["CRITICAL: Respond with TEXT ONLY", "summary of the conversation"];

/// How Claude Code 2.1.197 hands over what was typed while a tool ran.
const TYPED_MEANWHILE: &str = "The user sent a new message while you were working:\n";
const TYPED_MEANWHILE_END: &str = "\n\nIMPORTANT: After completing your current task";

fn messages(body: &Value) -> &[Value] {
    body["messages"].as_array().map_or(&[], Vec::as_slice)
}

/// What the request is for.
pub fn kind(body: &Value) -> Kind {
    let texts = texts(body);
    let last = texts.iter().rev().find(|(role, _)| role == "user").map_or("", |(_, text)| text);
    if SUMMARY.iter().any(|words| last.contains(words)) {
        return Kind::Summary;
    }
    if body["tools"].as_array().is_none_or(Vec::is_empty) { Kind::Side } else { Kind::Turn }
}

/// Every text of the conversation with the role that it has, what the agent adds included.
pub fn texts(body: &Value) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for message in messages(body) {
        let role = message["role"].as_str().unwrap_or_default();
        match &message["content"] {
            Value::String(text) => texts.push((role.to_owned(), text.clone())),
            content => {
                let blocks = content.as_array().into_iter().flatten();
                let words: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
                let last = words.len().saturating_sub(1);
                // Claude Code 2.1.197 sends messages that follow each other as one, each but the last with a newline.
                let own = |(index, text): (usize, &&str)| match index < last {
                    true => text.strip_suffix('\n').unwrap_or(text).to_owned(),
                    false => (*text).to_owned(),
                };
                texts.extend(words.iter().enumerate().map(own).map(|text| (role.to_owned(), text)));
            }
        }
    }
    texts
}

/// The user's own words, oldest first, exactly as they came.
pub fn said(body: &Value) -> Vec<String> {
    let mut said = Vec::new();
    for (role, text) in texts(body) {
        match role.as_str() {
            "user" if !ADDED.iter().any(|added| text.trim_start().starts_with(added)) => said.push(text),
            "system" => {
                let typed = text.split(TYPED_MEANWHILE).skip(1);
                said.extend(typed.map(|rest| rest.split(TYPED_MEANWHILE_END).next().unwrap().to_owned()));
            }
            _ => {}
        }
    }
    said
}

/// What tools gave back, oldest first.
pub fn results(body: &Value) -> Vec<ToolResult> {
    let blocks = || messages(body).iter().flat_map(|message| message["content"].as_array().into_iter().flatten());
    let call = |id: &Value| blocks().find(|block| block["type"] == "tool_use" && block["id"] == *id);
    let results = blocks().filter(|block| block["type"] == "tool_result");
    results
        .map(|block| {
            let call = call(&block["tool_use_id"]);
            let field = |name: &str| call.map_or(Value::Null, |call| call[name].clone());
            ToolResult {
                id: block["tool_use_id"].as_str().unwrap_or_default().to_owned(),
                tool: field("name").as_str().unwrap_or_default().to_owned(),
                input: field("input"),
                text: plain(&block["content"]),
                is_error: block["is_error"] == true,
            }
        })
        .collect()
}

/// Where the agent told the model to write its plan.
pub fn plan_path(body: &Value) -> Option<String> {
    let text = body["messages"].to_string();
    let paths = regex::Regex::new(r#"/[^\\\s"`]+/plans/[^\\\s"`]+\.md"#).unwrap();
    paths.find_iter(&text).last().map(|path| path.as_str().to_owned())
}
