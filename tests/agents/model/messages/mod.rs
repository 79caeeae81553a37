//! Anthropic's Messages API, as Claude Code 2.1.197 uses it.

mod reply;
mod request;

use axum::http::Method;
use serde_json::{Value, json};

use super::Dialect;
use super::dialect::Wanted;
use super::request::{Kind, Talk};
use super::turn::{Block, Fault, Intent, Message, Question};
use super::wire::{Speech, number};

pub struct Messages;

impl Dialect for Messages {
    fn wanted(&self, method: &Method, path: &str, body: &Value) -> Wanted {
        match (method, path) {
            (&Method::POST, "/v1/messages") => {
                Wanted::Words { kind: request::kind(body), streamed: body["stream"] == true }
            }
            (&Method::POST, "/v1/messages/count_tokens") => Wanted::Fact(200, json!({"input_tokens": 100})),
            (&Method::GET, "/v1/models") => {
                Wanted::Fact(200, json!({"data": [], "has_more": false, "first_id": null, "last_id": null}))
            }
            (_, path) => {
                let error = json!({"type": "not_found_error", "message": format!("nothing is served at {path}")});
                Wanted::Fact(404, json!({"type": "error", "error": error}))
            }
        }
    }

    fn read(&self, body: &Value) -> Talk {
        Talk { texts: request::texts(body), said: request::said(body), results: request::results(body) }
    }

    fn does(&self, intent: Intent, body: &Value) -> Vec<Vec<Block>> {
        match intent {
            Intent::Run(command) => {
                let input = json!({"command": command, "description": "A command of the test"});
                vec![Block::use_of("Bash", input)]
            }
            Intent::Write { path, text } => {
                vec![Block::use_of("Write", json!({"file_path": path, "content": text}))]
            }
            Intent::Edit { path, before, after } => {
                let change = json!({"file_path": path, "old_string": before, "new_string": after});
                vec![Block::use_of("Read", json!({"file_path": path})), Block::use_of("Edit", change)]
            }
            Intent::Ask(questions) => {
                let questions: Value = questions.iter().map(question).collect();
                vec![Block::use_of("AskUserQuestion", json!({"questions": questions}))]
            }
            Intent::Plan(plan) => {
                let path = request::plan_path(body).unwrap_or_else(|| "/nowhere/plans/unknown.md".to_owned());
                let file = Block::tool("Write", json!({"file_path": path, "content": plan}));
                vec![vec![file], Block::use_of("ExitPlanMode", json!({}))]
            }
        }
    }

    fn aside(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Summary => "<analysis>All.</analysis><summary>SUMMARY OF ALL BEFORE</summary>",
            _ => "{\"title\":\"A test\",\"isNewTopic\":false}",
        }
    }

    fn speech(&self, message: &Message, body: &Value, streamed: bool) -> Speech {
        match streamed {
            true => Speech::events(reply::stream(message, &body["model"])),
            false => Speech::whole(&message.blocks, &reply::whole(message, &body["model"])),
        }
    }

    fn refusal(&self, _status: u16, fault: &Fault) -> Value {
        let error = fault.object("type", "message");
        json!({"type": "error", "error": error, "request_id": format!("req_{}", number())})
    }
}

fn question(question: &Question) -> Value {
    json!({
        "question": question.question, "header": question.header,
        "multiSelect": question.several, "options": question.described(),
    })
}
