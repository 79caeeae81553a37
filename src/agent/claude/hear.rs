//! What one hook event of Claude Code tells, as facts. Field names as seen in 2.1.197.

use std::path::PathBuf;

use serde_json::Value;

use super::trouble::Failure;
use crate::agent::evidence::{Claim, EpochMs};
use crate::agent::heard::{Asked, Done, Heard, Wants, cut, of_tool};
use crate::session::{Prompt, PromptKind, Question};

/// How much of a plan is shown with its prompt.
const SUMMARY_CHARS_MAX: usize = 4000;

/// Reads one event. An event that is not known tells only where the conversation is.
pub fn hear(event: &str, payload: &Value, now: EpochMs) -> Heard {
    let text = |name: &str| payload.get(name).and_then(Value::as_str);
    // Subagents work on their own; what they do is no sign of the main conversation.
    let is_subagent = text("agent_id").is_some();
    let mut heard = Heard {
        conversation: text("session_id").map(str::to_owned),
        log: text("transcript_path").filter(|path| !path.is_empty()).map(PathBuf::from),
        ..Heard::default()
    };
    match event {
        "UserPromptSubmit" => {
            heard.claim = Some(Claim::Working);
            heard.took = text("prompt").map(str::to_owned);
            heard.closes_questions = true;
        }
        "PreToolUse" => {
            heard.claim = (!is_subagent).then_some(Claim::Working);
            heard.begins = asked_tool(payload);
        }
        "PostToolUse" | "PostToolUseFailure" => {
            heard.claim = (!is_subagent).then_some(Claim::Working);
            heard.done = asked_tool(payload);
        }
        "PermissionRequest" => {
            if let Some(Done { tool, input }) = asked_tool(payload) {
                let prompt = prompt(&tool, &input);
                heard.claim = Some(Claim::Prompt(prompt.clone()));
                heard.wants = Wants::Answer(Box::new(Asked { prompt, tool, input, is_held: true }));
            }
        }
        "Stop" => {
            heard.claim = Some(Claim::Idle);
            heard.last_message = text("last_assistant_message").map(str::to_owned);
            heard.wants = Wants::Stop { already_held: payload.get("stop_hook_active") == Some(&Value::Bool(true)) };
            heard.closes_questions = true;
        }
        "StopFailure" => {
            let message = text("last_assistant_message").unwrap_or_default();
            let failure = Failure { word: text("error").unwrap_or_default(), text: message, http_status: None };
            heard.claim = Some(failure.claim(now));
            heard.last_message = Some(message.to_owned()).filter(|message| !message.is_empty());
            heard.closes_questions = true;
        }
        "PreCompact" => {
            heard.claim = Some(Claim::Working);
            heard.compacts = true;
        }
        // In the middle of a turn the turn goes on.
        "PostCompact" => heard.claim = Some(if text("trigger") == Some("auto") { Claim::Working } else { Claim::Idle }),
        "SessionStart" => {
            let source = text("source").unwrap_or("startup").to_owned();
            // After compaction the turn goes on.
            heard.claim = (source != "compact").then_some(Claim::Idle);
            heard.closes_questions = source != "compact";
            heard.wants = Wants::Start { source };
        }
        _ => {}
    }
    heard
}

fn asked_tool(payload: &Value) -> Option<Done> {
    let tool = payload.get("tool_name")?.as_str()?.to_owned();
    Some(Done { tool, input: payload.get("tool_input").cloned().unwrap_or(Value::Null) })
}

/// The dialog that a tool's request opens.
pub fn prompt(tool: &str, input: &Value) -> Prompt {
    let base = |kind| of_tool(kind, tool, input);
    match tool {
        "AskUserQuestion" => {
            let questions: Vec<Question> =
                input.get("questions").and_then(Value::as_array).into_iter().flatten().map(question).collect();
            let options = questions.first().map(|first| first.options.clone()).unwrap_or_default();
            Prompt { options, ready: !questions.is_empty(), questions, ..base(PromptKind::Question) }
        }
        "ExitPlanMode" => {
            let plan = input.get("plan").and_then(Value::as_str);
            Prompt { summary: plan.map(|plan| cut(plan, SUMMARY_CHARS_MAX)), ..base(PromptKind::Plan) }
        }
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => {
            Prompt { subtype: Some("edit".to_owned()), ..base(PromptKind::Permission) }
        }
        _ => Prompt { subtype: Some("tool".to_owned()), ..base(PromptKind::Permission) },
    }
}

fn question(value: &Value) -> Question {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let options = value.get("options").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    Question {
        question: text(value, "question"),
        header: value.get("header").and_then(Value::as_str).map(str::to_owned),
        options: options.iter().map(|option| text(option, "label")).collect(),
        descriptions: options.iter().map(|option| text(option, "description")).collect(),
        multi_select: value.get("multiSelect").and_then(Value::as_bool).unwrap_or_default(),
    }
}
