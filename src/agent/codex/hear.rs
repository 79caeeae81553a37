//! What one hook event of Codex tells, as facts. Field names as seen in 0.166.0.

use std::path::PathBuf;

use serde_json::Value;

use crate::agent::evidence::Claim;
use crate::agent::heard::{Asked, Done, Heard, Wants, of_tool};
use crate::session::{Prompt, PromptKind, Question};

/// The tool that asks its user.
const QUESTION_TOOL: &str = "request_user_input";

/// The tool that changes files.
pub const PATCH_TOOL: &str = "apply_patch";

/// What can be answered while a hook waits and nothing is drawn, in the order of the dialog that would be.
pub const OPTIONS: [&str; 3] = [YES, YES_ALWAYS, NO];
pub const YES: &str = "Yes, proceed";
pub const YES_ALWAYS: &str = "Yes, and don't ask again";
pub const NO: &str = "No, and tell Codex what to do differently";

/// Reads one event. An event that is not known tells only where the conversation is.
pub fn hear(event: &str, payload: &Value) -> Heard {
    let text = |name: &str| payload.get(name).and_then(Value::as_str);
    // Subagents work on their own; what they do is no sign of the main conversation.
    let is_subagent = text("agent_id").is_some();
    let mut heard = Heard {
        conversation: text("session_id").map(str::to_owned),
        log: text("transcript_path").filter(|path| !path.is_empty()).map(PathBuf::from),
        ..Heard::default()
    };
    match event {
        // It comes with the first message, not when the agent is ready.
        "SessionStart" => heard.wants = Wants::Start { source: text("source").unwrap_or("startup").to_owned() },
        "UserPromptSubmit" => {
            heard.claim = Some(Claim::Working);
            heard.took = text("prompt").map(str::to_owned);
            heard.closes_questions = true;
        }
        "PreToolUse" if !is_subagent => {
            heard.claim = Some(Claim::Working);
            if let Some(Done { tool, input }) = used_tool(payload).filter(|used| used.tool == QUESTION_TOOL) {
                let prompt = prompt(&tool, &input);
                heard.claim = Some(Claim::Prompt(prompt.clone()));
                heard.wants = Wants::Answer(Box::new(Asked { prompt, tool, input, is_held: false }));
            }
        }
        "PostToolUse" => {
            heard.claim = (!is_subagent).then_some(Claim::Working);
            heard.done = used_tool(payload);
        }
        "PermissionRequest" => {
            if let Some(Done { tool, input }) = used_tool(payload) {
                let prompt = prompt(&tool, &input);
                heard.claim = Some(Claim::Prompt(prompt.clone()));
                heard.wants = Wants::Answer(Box::new(Asked { prompt, tool, input, is_held: true }));
            }
        }
        "PreCompact" => {
            heard.claim = Some(Claim::Working);
            heard.compacts = true;
        }
        // In the middle of a turn the turn goes on.
        "PostCompact" => {
            heard.claim = Some(if text("trigger") == Some("manual") { Claim::Idle } else { Claim::Working })
        }
        "Stop" => {
            heard.claim = Some(Claim::Idle);
            heard.last_message = text("last_assistant_message").map(str::to_owned);
            heard.wants = Wants::Stop { already_held: payload.get("stop_hook_active") == Some(&Value::Bool(true)) };
            heard.closes_questions = true;
        }
        "Interrupt" => {
            heard.claim = Some(Claim::Idle);
            heard.closes_questions = true;
        }
        _ => {}
    }
    heard
}

/// The tool and its input. A request for permission has the model's reason in it, which the tool itself never sees: it
/// would not be known again.
fn used_tool(payload: &Value) -> Option<Done> {
    let tool = payload.get("tool_name")?.as_str()?.to_owned();
    let mut input = payload.get("tool_input").cloned().unwrap_or(Value::Null);
    if let Some(input) = input.as_object_mut().filter(|input| input.contains_key("command")) {
        input.remove("description");
    }
    Some(Done { tool, input })
}

/// What a tool's request asks.
pub fn prompt(tool: &str, input: &Value) -> Prompt {
    let base = |kind| of_tool(kind, tool, input);
    if tool == QUESTION_TOOL {
        let questions: Vec<Question> =
            input.get("questions").and_then(Value::as_array).into_iter().flatten().map(question).collect();
        let options = questions.first().map(|first| first.options.clone()).unwrap_or_default();
        return Prompt { options, questions, ..base(PromptKind::Question) };
    }
    Prompt {
        subtype: Some(if tool == PATCH_TOOL { "edit" } else { "tool" }.to_owned()),
        options: OPTIONS.map(str::to_owned).to_vec(),
        options_fallback: true,
        // Nothing will be drawn: all that can be known is known.
        ready: true,
        ..base(PromptKind::Permission)
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
        multi_select: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! heard {
        ($event:literal, $name:literal) => {
            hear(
                $event,
                &serde_json::from_str(include_str!(concat!("../../../tests/fixtures/codex/hooks/", $name, ".json")))
                    .unwrap(),
            )
        };
    }

    #[test]
    fn every_event_tells_where_the_conversation_is() {
        let heard = heard!("UserPromptSubmit", "UserPromptSubmit");
        assert_eq!(heard.conversation.as_deref(), Some("01a1e196-1234-7032-9692-0029c2bfea9c"));
        assert!(heard.log.is_some_and(|log| {
            log.ends_with("2026/11/15/rollout-2026-11-15T23-41-11-01a1e196-1234-7032-9692-0029c2bfea9c.jsonl")
        }));
        assert_eq!((heard.claim, heard.took.as_deref()), (Some(Claim::Working), Some("hello there")));
    }

    #[test]
    fn a_permission_is_held_and_known_again_when_its_tool_was_used() {
        let Wants::Answer(asked) = heard!("PermissionRequest", "PermissionRequest.Bash").wants else { panic!("asks") };
        assert!(asked.is_held && asked.prompt.ready && asked.prompt.options_fallback);
        assert_eq!((asked.prompt.subtype.as_deref(), asked.prompt.options.len()), (Some("tool"), 3));
        let used = heard!("PreToolUse", "PreToolUse.Bash");
        assert_eq!(used.claim, Some(Claim::Working));
        let input: Value = serde_json::from_str(r#"{"command":"echo hi > /etc/codexlab_probe"}"#).unwrap();
        assert_eq!(asked.input, input);
        let Wants::Answer(patch) = heard!("PermissionRequest", "PermissionRequest.apply_patch").wants else {
            panic!("asks")
        };
        assert_eq!((patch.tool.as_str(), patch.prompt.subtype.as_deref()), ("apply_patch", Some("edit")));
        let done = heard!("PostToolUse", "PostToolUse.apply_patch").done.unwrap();
        assert_eq!((done.tool, done.input), (patch.tool, patch.input));
    }

    #[test]
    fn a_question_is_known_by_its_hook_and_answered_in_its_dialog() {
        let Wants::Answer(asked) = heard!("PreToolUse", "PreToolUse.request_user_input").wants else { panic!("asks") };
        assert!(!asked.is_held && !asked.prompt.ready);
        assert_eq!(asked.prompt.questions[0].options, ["Red (Recommended)", "Green", "Blue"]);
        let done = heard!("PostToolUse", "PostToolUse.request_user_input").done.unwrap();
        assert_eq!(done.input, asked.input);
    }

    #[test]
    fn a_turn_ends_by_its_stop_or_an_interruption() {
        let stop = heard!("Stop", "Stop");
        assert_eq!(stop.wants, Wants::Stop { already_held: false });
        assert_eq!(stop.last_message.as_deref(), Some("Hello from the fake model."));
        let interrupt = heard!("Interrupt", "Interrupt");
        assert!(interrupt.claim == Some(Claim::Idle) && interrupt.closes_questions);
    }

    #[test]
    fn a_start_is_no_sign_of_rest_because_it_comes_with_the_first_message() {
        for heard in [
            heard!("SessionStart", "SessionStart.startup"),
            heard!("SessionStart", "SessionStart.resume"),
            heard!("SessionStart", "SessionStart.compact"),
        ] {
            assert!(heard.claim.is_none() && matches!(heard.wants, Wants::Start { .. }));
        }
    }

    #[test]
    fn a_compaction_is_told_before_it_happens() {
        assert!(heard!("PreCompact", "PreCompact").compacts);
        assert_eq!(heard!("PostCompact", "PostCompact").claim, Some(Claim::Idle), "a user asked for it");
        let auto = serde_json::json!({"trigger": "auto"});
        assert_eq!(hear("PostCompact", &auto).claim, Some(Claim::Working), "the turn goes on");
    }

    #[test]
    fn strange_payloads_tell_nothing() {
        for payload in [serde_json::json!({}), serde_json::json!({"tool_name": 7, "session_id": []})] {
            for event in ["PermissionRequest", "PreToolUse", "PostToolUse", "Other"] {
                assert_eq!(hear(event, &payload).wants, Wants::Nothing);
            }
        }
    }
}
