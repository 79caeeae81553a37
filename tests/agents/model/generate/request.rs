//! What is in a request to the generateContent API.

use serde_json::Value;

use crate::model::request::{Kind, ToolResult};

/// Text that the agent adds by itself, not the user.
const ADDED: [&str; 3] = ["<session_context>", "<state_snapshot>", "<hook_context>"];

/// What Gemini CLI 0.61.0 names the thing that it wants when it asks for a summary.
const SUMMARY: &str = "<state_snapshot>";

/// All parts with the role that they have.
fn parts(body: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let contents = body["contents"].as_array().into_iter().flatten();
    contents.flat_map(|content| {
        let role = content["role"].as_str().unwrap_or_default();
        content["parts"].as_array().into_iter().flatten().map(move |part| (role, part))
    })
}

/// What the request is for.
pub fn kind(body: &Value) -> Kind {
    if body["systemInstruction"].to_string().contains(SUMMARY) {
        return Kind::Summary;
    }
    if body["tools"].as_array().is_none_or(Vec::is_empty) { Kind::Side } else { Kind::Turn }
}

/// Every text of the conversation with the role that it has, what the agent adds included.
pub fn texts(body: &Value) -> Vec<(String, String)> {
    let texts = parts(body).filter(|(_, part)| part["thought"] != true);
    texts.filter_map(|(role, part)| Some((role.to_owned(), part["text"].as_str()?.to_owned()))).collect()
}

/// The user's own words, oldest first, exactly as they came.
pub fn said(body: &Value) -> Vec<String> {
    let own = |text: &String| !ADDED.iter().any(|added| text.trim_start().starts_with(added));
    let users = texts(body).into_iter().filter(|(role, _)| role == "user");
    users.map(|(_, text)| text).filter(own).collect()
}

/// What tools gave back, oldest first.
pub fn results(body: &Value) -> Vec<ToolResult> {
    let called = |name| parts(body).map(move |(_, part)| &part[name]).filter(|part| part.is_object());
    let results = called("functionResponse");
    results
        .map(|result| {
            let call = called("functionCall").find(|call| call["id"] == result["id"]);
            let response = &result["response"];
            let text = response["output"].as_str().or_else(|| response["error"].as_str());
            ToolResult {
                id: result["id"].as_str().unwrap_or_default().to_owned(),
                tool: result["name"].as_str().unwrap_or_default().to_owned(),
                input: call.map_or(Value::Null, |call| call["args"].clone()),
                text: text.map_or_else(|| response.to_string(), str::to_owned),
                is_error: !response["error"].is_null(),
            }
        })
        .collect()
}
