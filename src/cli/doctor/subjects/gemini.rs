//! Gemini CLI: settings with a chosen login and a trusted folder, and the Gemini API (0.61.0).

use std::ffi::OsString;
use std::io;

use axum::body::Body;
use axum::http::{Method, Response};
use serde_json::{Value, json};

use super::{API_KEY, Answers, Arbiter, Dialect, Hooks, Kind, Subject};
use crate::cli::doctor::house::House;
use crate::cli::doctor::model::{Reply, events, whole};
use crate::config::Agent;

pub const SUBJECT: Subject = Subject {
    agent: Agent::Gemini,
    program: "gemini",
    install: "npm install -g @google/gemini-cli",
    hooks: Hooks {
        start: Some("SessionStart"),
        message: "BeforeAgent",
        stop: "AfterAgent",
        permission: "Notification",
    },
    arbiter: Arbiter {
        source: "title",
        name: "title",
        hint: "does a setting hide the window's title (ui.hideWindowTitle)? else this version writes it differently: coop goes \
               by hooks, log and screen",
    },
    title_tells: false,
    answers: Answers::Keys,
    seed,
    variables,
    dialect: Dialect { kind, conversation: |request| &request["contents"], last_texts, answer },
};

fn seed(house: &House, _: &str) -> io::Result<()> {
    let (dir, workspace) = (house.at("home/.gemini"), house.workspace());
    std::fs::create_dir(&dir)?;
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    });
    std::fs::write(dir.join("settings.json"), settings.to_string())?;
    let trusted = json!({workspace.to_string_lossy(): "TRUST_FOLDER"});
    std::fs::write(dir.join("trustedFolders.json"), trusted.to_string())
}

fn variables(_: &House, model_url: &str) -> Vec<(&'static str, OsString)> {
    vec![
        ("GEMINI_API_KEY", API_KEY.into()),
        ("GOOGLE_GEMINI_BASE_URL", model_url.into()),
        ("GEMINI_MODEL", "gemini-2.5-flash".into()),
        ("NO_BROWSER", "true".into()),
        ("COLORTERM", "truecolor".into()),
    ]
}

fn kind(method: &Method, path: &str, request: &Value) -> Kind {
    let call = path.rsplit(':').next().unwrap_or_default();
    match (method, call) {
        (&Method::POST, "countTokens") => Kind::Known(whole(200, &json!({"totalTokens": 100}))),
        (&Method::POST, "generateContent") => Kind::Aside,
        // Questions beside the conversation have no tools.
        (&Method::POST, "streamGenerateContent") if request["tools"].as_array().is_none_or(Vec::is_empty) => {
            Kind::Aside
        }
        (&Method::POST, "streamGenerateContent") => Kind::Turn,
        _ => Kind::Strange,
    }
}

fn last_texts(request: &Value) -> Vec<&str> {
    let contents = request["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let said = contents.iter().rfind(|content| content["role"] == "user").map(|content| &content["parts"]);
    let parts = said.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

/// The reply as the Gemini API gives it, streamed where a stream was asked for.
fn answer(request: &Value, reply: &Reply) -> Response<Body> {
    let wants_json = !request["generationConfig"]["responseMimeType"].is_null();
    let part = match reply {
        // Whoever asks for JSON gets an object without any of its fields, and does without.
        Reply::Ok if wants_json => json!({"text": "{}"}),
        Reply::Ok => json!({"text": "ok"}),
        Reply::Run { command, .. } => json!({"functionCall": {"name": "run_shell_command",
            "args": {"command": command, "description": "What coop doctor asked for"}}}),
    };
    let chunk = json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 12},
        "modelVersion": "coop-doctor", "responseId": "coop-doctor",
    });
    if wants_json { whole(200, &chunk) } else { events(&[chunk]) }
}
