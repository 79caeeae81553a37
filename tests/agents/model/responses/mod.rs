//! OpenAI's Responses API, as Codex CLI 0.166.0 uses it with a provider of its configuration.

mod reply;
mod request;

use std::path::Path;

use axum::http::Method;
use serde_json::{Value, json};

use super::Dialect;
use super::dialect::Wanted;
use super::request::{Kind, Talk};
use super::turn::{Block, Fault, Intent, Message, Question};
use super::wire::Speech;

pub struct Responses;

impl Dialect for Responses {
    fn wanted(&self, method: &Method, path: &str, body: &Value) -> Wanted {
        match (method, path) {
            (&Method::POST, "/v1/responses") => Wanted::Words { kind: request::kind(body), streamed: true },
            (_, path) => {
                let error = json!({"type": "invalid_request_error", "message": format!("nothing is served at {path}")});
                Wanted::Fact(404, json!({"error": error}))
            }
        }
    }

    fn read(&self, body: &Value) -> Talk {
        Talk { texts: request::texts(body), said: request::said(body), results: request::results(body) }
    }

    fn does(&self, intent: Intent, _body: &Value) -> Vec<Vec<Block>> {
        let blocks = match intent {
            // A command for the sandbox runs without a question; this one is for outside of it.
            Intent::Run(command) => Block::use_of(
                "exec_command",
                json!({
                    "cmd": command, "sandbox_permissions": "require_escalated",
                    "justification": "Shall the command of the test run?",
                }),
            ),
            Intent::Write { path, text } => {
                let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
                patch(&format!("*** Add File: {}\n{lines}", path.display()))
            }
            Intent::Edit { path, before, after } => patch(&update(&path, &before, &after)),
            Intent::Ask(questions) => {
                let questions: Value = questions.iter().enumerate().map(question).collect();
                Block::use_of("request_user_input", json!({"questions": questions}))
            }
            Intent::Plan(plan) => vec![Block::said(&format!("<proposed_plan>\n{plan}\n</proposed_plan>\n"))],
        };
        vec![blocks]
    }

    fn aside(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Summary => "SUMMARY OF ALL BEFORE",
            _ => "{\"title\":\"A test\"}",
        }
    }

    fn speech(&self, message: &Message, _body: &Value, _streamed: bool) -> Speech {
        Speech::events(reply::stream(message))
    }

    fn refusal(&self, _status: u16, fault: &Fault) -> Value {
        json!({"error": fault.object("type", "message")})
    }
}

/// The use of the tool that changes files; its input is text.
fn patch(change: &str) -> Vec<Block> {
    Block::use_of("apply_patch", format!("*** Begin Patch\n{change}*** End Patch").into())
}

fn update(path: &Path, before: &str, after: &str) -> String {
    format!("*** Update File: {}\n@@\n-{before}\n+{after}\n", path.display())
}

/// There is no question with several answers; the user is asked for one.
fn question((index, question): (usize, &Question)) -> Value {
    json!({
        "id": format!("question_{index}"), "question": question.question,
        "header": question.header, "options": question.described(),
    })
}
