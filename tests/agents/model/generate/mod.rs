//! Google's generateContent API, as Gemini CLI 0.61.0 uses it with a key.

mod reply;
mod request;

use axum::http::Method;
use serde_json::{Value, json};

use super::Dialect;
use super::dialect::Wanted;
use super::request::{Kind, Talk};
use super::turn::{Block, Fault, Intent, Message, Question};
use super::wire::Speech;

pub struct Generate;

/// The name of the file that a plan is written to; the agent knows where plans belong.
const PLAN: &str = "plan-of-the-test.md";

impl Dialect for Generate {
    fn wanted(&self, method: &Method, path: &str, body: &Value) -> Wanted {
        let act = path.rsplit(':').next().unwrap_or_default();
        match (method, act) {
            (&Method::POST, "streamGenerateContent") => Wanted::Words { kind: request::kind(body), streamed: true },
            (&Method::POST, "generateContent") => Wanted::Words { kind: request::kind(body), streamed: false },
            (&Method::POST, "countTokens") => Wanted::Fact(200, json!({"totalTokens": 100})),
            (_, path) => {
                let message = format!("nothing is served at {path}");
                Wanted::Fact(404, json!({"error": {"code": 404, "status": "NOT_FOUND", "message": message}}))
            }
        }
    }

    fn read(&self, body: &Value) -> Talk {
        Talk { texts: request::texts(body), said: request::said(body), results: request::results(body) }
    }

    fn does(&self, intent: Intent, _body: &Value) -> Vec<Vec<Block>> {
        let (name, input) = match intent {
            // Commands that only look, such as `echo` and `ls`, run without a question.
            Intent::Run(command) => {
                ("run_shell_command", json!({"command": command, "description": "A command of the test"}))
            }
            Intent::Write { path, text } => ("write_file", json!({"file_path": path, "content": text})),
            Intent::Edit { path, before, after } => (
                "replace",
                json!({
                    "file_path": path, "instruction": "A change of the test",
                    "old_string": before, "new_string": after,
                }),
            ),
            Intent::Ask(questions) => {
                let questions: Value = questions.iter().map(question).collect();
                ("ask_user", json!({"questions": questions}))
            }
            Intent::Plan(plan) => {
                let file = Block::use_of("write_file", json!({"file_path": PLAN, "content": plan}));
                return vec![file, Block::use_of("exit_plan_mode", json!({"plan_filename": PLAN}))];
            }
        };
        vec![Block::use_of(name, input)]
    }

    fn aside(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Summary => "<state_snapshot>SUMMARY OF ALL BEFORE</state_snapshot>",
            _ => "{\"next_speaker\":\"user\",\"reasoning\":\"A test\",\"summary\":\"A test\"}",
        }
    }

    fn speech(&self, message: &Message, _body: &Value, streamed: bool) -> Speech {
        match streamed {
            true => Speech::events(reply::stream(message)),
            false => Speech::whole(&message.blocks, &reply::whole(message)),
        }
    }

    fn refusal(&self, status: u16, fault: &Fault) -> Value {
        reply::error(status, fault)
    }
}

fn question(question: &Question) -> Value {
    json!({
        "question": question.question, "header": question.header, "type": "choice",
        "multiSelect": question.several, "options": question.described(),
    })
}
