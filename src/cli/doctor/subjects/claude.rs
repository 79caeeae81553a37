//! Claude Code: a config directory with an answered onboarding, and Anthropic's Messages API (2.1.197).

use std::ffi::OsString;
use std::io;

use axum::body::Body;
use axum::http::{Method, Response};
use serde_json::{Value, json};

use super::{API_KEY, Answers, Arbiter, Dialect, Hooks, Kind, Subject};
use crate::cli::doctor::house::House;
use crate::cli::doctor::model::{Reply, events, whole};
use crate::config::Agent;

/// Claude Code remembers a key by its end.
const KEY_TAIL_CHARS: usize = 20;

pub const SUBJECT: Subject = Subject {
    agent: Agent::Claude,
    program: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    hooks: Hooks {
        start: Some("SessionStart"),
        message: "UserPromptSubmit",
        stop: "Stop",
        permission: "PermissionRequest",
    },
    arbiter: Arbiter {
        source: "status",
        name: "status file",
        hint: "this version keeps no sessions/PID.json that coop knows: interruptions and refusals are seen later, on the \
               screen",
    },
    title_tells: true,
    answers: Answers::HookAndKeys,
    seed,
    variables,
    dialect: Dialect { kind, conversation: |request| &request["messages"], last_texts, answer },
};

fn seed(house: &House, _: &str) -> io::Result<()> {
    let workspace = house.workspace();
    let seed = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [&API_KEY[API_KEY.len() - KEY_TAIL_CHARS..]], "rejected": []},
        "projects": {workspace.to_string_lossy(): {"hasTrustDialogAccepted": true}},
    });
    // Later versions may choose a mode in which nothing is asked.
    let settings = json!({"permissions": {"defaultMode": "default"}});
    std::fs::write(house.at("config/settings.json"), settings.to_string())?;
    std::fs::write(house.at("config/.claude.json"), seed.to_string())
}

fn variables(house: &House, model_url: &str) -> Vec<(&'static str, OsString)> {
    vec![
        ("CLAUDE_CONFIG_DIR", house.at("config").into()),
        ("CLAUDE_CODE_TMPDIR", house.at("tmp").into()),
        ("ANTHROPIC_BASE_URL", model_url.into()),
        ("ANTHROPIC_API_KEY", API_KEY.into()),
        ("DISABLE_AUTOUPDATER", "1".into()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        ("CLAUDE_CODE_MAX_RETRIES", "0".into()),
        // Root may use every mode, as in containers.
        ("IS_SANDBOX", "1".into()),
    ]
}

fn kind(method: &Method, path: &str, request: &Value) -> Kind {
    match (method, path) {
        (&Method::HEAD, _) => Kind::Known(Response::default()),
        // A small request beside the conversation has no tools: it asks for a title.
        (&Method::POST, "/v1/messages") if request["tools"].as_array().is_none_or(Vec::is_empty) => Kind::Aside,
        (&Method::POST, "/v1/messages") => Kind::Turn,
        (&Method::POST, "/v1/messages/count_tokens") => Kind::Known(whole(200, &json!({"input_tokens": 100}))),
        _ => Kind::Strange,
    }
}

fn last_texts(request: &Value) -> Vec<&str> {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let message = messages.iter().rfind(|message| message["role"] == "user").map(|message| &message["content"]);
    match message {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(blocks)) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => Vec::new(),
    }
}

/// The reply as the Messages API gives it, streamed or whole.
fn answer(request: &Value, reply: &Reply) -> Response<Body> {
    let (block, delta, reason) = match reply {
        Reply::Ok => {
            let delta = json!({"type": "text_delta", "text": "ok"});
            (json!({"type": "text", "text": "ok"}), delta, "end_turn")
        }
        Reply::Run { command, id } => {
            let input = json!({"command": command, "description": "What coop doctor asked for"});
            let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
            let id = format!("toolu_{id}");
            (json!({"type": "tool_use", "id": id, "name": "Bash", "input": input}), delta, "tool_use")
        }
    };
    let usage = json!({"input_tokens": 10, "output_tokens": 2});
    let mut head = json!({
        "id": "msg_coop_doctor", "type": "message", "role": "assistant", "model": request["model"],
        "content": [block], "stop_reason": reason, "stop_sequence": null, "usage": usage,
    });
    if request["stream"] != true {
        return whole(200, &head);
    }
    let mut begun = head["content"][0].take();
    begun[if reason == "tool_use" { "input" } else { "text" }] =
        if reason == "tool_use" { json!({}) } else { json!("") };
    head["content"] = json!([]);
    head["stop_reason"] = Value::Null;
    events(&[
        json!({"type": "message_start", "message": head}),
        json!({"type": "content_block_start", "index": 0, "content_block": begun}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": usage}),
        json!({"type": "message_stop"}),
    ])
}
