//! Codex: a configuration with a provider of the doctor's own, and OpenAI's Responses API (0.166.0).

use std::ffi::OsString;
use std::io;

use axum::body::Body;
use axum::http::{Method, Response};
use serde_json::{Value, json};

use super::{API_KEY, Answers, Arbiter, Dialect, Hooks, Kind, Subject};
use crate::cli::doctor::house::House;
use crate::cli::doctor::model::{Reply, events};
use crate::config::Agent;

pub const SUBJECT: Subject = Subject {
    agent: Agent::Codex,
    program: "codex",
    install: "npm install -g @openai/codex",
    hooks: Hooks {
        // It tells of its start with the first message only.
        start: None,
        message: "UserPromptSubmit",
        stop: "Stop",
        permission: "PermissionRequest",
    },
    arbiter: Arbiter {
        source: "signal",
        name: "signal (OSC 7501)",
        hint: "this version does not tell its state in its output: coop goes by hooks, log and screen, and is slower",
    },
    title_tells: true,
    answers: Answers::Hook,
    seed,
    variables,
    dialect: Dialect { kind, conversation: |request| &request["input"], last_texts, answer },
};

fn seed(house: &House, model_url: &str) -> io::Result<()> {
    let workspace = house.workspace();
    // Without coop's words Codex would start a server that outlives it. A string of JSON is one of TOML, too.
    let text = |text: &str| Value::from(text).to_string();
    let config = format!(
        "model = \"gpt-6-sol\"\nmodel_provider = \"doctor\"\ncheck_for_update_on_startup = false\n\
         approval_policy = \"on-request\"\nsandbox_mode = \"workspace-write\"\n\
         [model_providers.doctor]\nname = \"coop doctor\"\nbase_url = {}\nenv_key = \"COOP_DOCTOR_KEY\"\n\
         wire_api = \"responses\"\n[features]\ndaemon_auto_start = false\n[projects.{}]\ntrust_level = \"trusted\"\n",
        text(&format!("{model_url}/v1")),
        text(&workspace.to_string_lossy()),
    );
    std::fs::write(house.at("config/config.toml"), config)
}

fn variables(house: &House, _: &str) -> Vec<(&'static str, OsString)> {
    vec![("CODEX_HOME", house.at("config").into()), ("COOP_DOCTOR_KEY", API_KEY.into())]
}

fn kind(method: &Method, path: &str, request: &Value) -> Kind {
    match (method, path) {
        (&Method::POST, "/v1/responses") if asks_for_title(request) => Kind::Aside,
        (&Method::POST, "/v1/responses") => Kind::Turn,
        _ => Kind::Strange,
    }
}

/// With every message Codex asks beside the conversation for a title.
fn asks_for_title(request: &Value) -> bool {
    last_texts(request).iter().any(|text| text.contains("task title"))
        || request["instructions"].as_str().is_some_and(|text| text.contains("task title"))
}

fn last_texts(request: &Value) -> Vec<&str> {
    let items = request["input"].as_array().map(Vec::as_slice).unwrap_or_default();
    let said = items.iter().rfind(|item| item["role"] == "user").map(|item| &item["content"]);
    match said {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => Vec::new(),
    }
}

/// The reply as the Responses API streams it.
fn answer(_: &Value, reply: &Reply) -> Response<Body> {
    let item = match reply {
        Reply::Ok => json!({"type": "message", "id": "msg_coop_doctor", "role": "assistant",
            "content": [{"type": "output_text", "text": "ok", "annotations": []}]}),
        Reply::Run { command, id } => {
            let arguments = json!({"cmd": command, "sandbox_permissions": "require_escalated",
                "justification": "What coop doctor asked for"});
            json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"),
                "name": "exec_command", "arguments": arguments.to_string()})
        }
    };
    let usage = json!({"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 12});
    events(&[
        json!({"type": "response.created", "response": {"id": "resp_coop_doctor", "status": "in_progress"}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed",
            "response": {"id": "resp_coop_doctor", "status": "completed", "usage": usage}}),
    ])
}
