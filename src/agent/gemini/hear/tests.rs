//! What the hooks of a real Gemini CLI told, as facts.

use super::*;
use crate::agent::heard::Heard;

macro_rules! hook {
    ($name:literal) => {
        serde_json::from_str::<Value>(include_str!(concat!("../../../../tests/fixtures/gemini/hooks/", $name, ".json")))
            .unwrap()
    };
}

fn heard(payload: &Value) -> Heard {
    hear(payload["hook_event_name"].as_str().unwrap(), payload)
}

fn asked_by(payload: &Value, begun: &[Done]) -> Asked {
    match heard(payload).wants {
        Wants::Answer(asked) => completed(*asked, begun, begun),
        other => panic!("nothing is asked: {other:?}"),
    }
}

fn asked_about(details: &Value, begun: &[Done]) -> Asked {
    let event = json!({"hook_event_name": "Notification", "notification_type": "ToolPermission", "details": details});
    asked_by(&event, begun)
}

fn tool(tool: &str, input: Value) -> Done {
    Done { tool: tool.to_owned(), input }
}

#[test]
fn a_turn_begins_with_the_message_as_it_was_typed() {
    let heard = heard(&hook!("BeforeAgent"));
    assert_eq!((heard.claim, heard.took.as_deref()), (Some(Claim::Working), Some("do fake:plan")));
    assert!(heard.closes_questions);
    let read = "read @a.md\n--- Content from referenced files ---\nContent from @a.md:\nx\n--- End of content ---";
    assert_eq!(typed(read), "read @a.md");
}

#[test]
fn a_turn_ends_and_says_whether_it_was_held_back_before() {
    let mut payload = hook!("AfterAgent");
    assert_eq!(heard(&payload).wants, Wants::Stop { already_held: false });
    payload["stop_hook_active"] = true.into();
    let heard = heard(&payload);
    assert_eq!((heard.claim, heard.wants), (Some(Claim::Idle), Wants::Stop { already_held: true }));
}

#[test]
fn a_start_names_the_log_unless_it_goes_on_with_another() {
    let mut payload = hook!("SessionStart");
    let started = heard(&payload);
    assert_eq!(started.wants, Wants::Start { source: "startup".into() });
    assert!(started.log.is_some_and(|log| log.ends_with("session-2026-11-15T23-44-fa07ff90.jsonl")));
    payload["source"] = "resume".into();
    let resumed = heard(&payload);
    assert_eq!((resumed.log, resumed.redraws, started.redraws), (None, true, false));
    let ended = heard(&hook!("SessionEnd"));
    assert_eq!((ended.claim, ended.ends), (None, true));
    assert!(!hear("SessionEnd", &json!({"reason": "clear"})).ends);
}

#[test]
fn a_command_is_asked_about_with_what_its_tool_was_told() {
    let begun = [
        tool("run_shell_command", json!({"command": "touch aa", "description": "first"})),
        tool("run_shell_command", json!({"command": "touch bb", "description": "second"})),
    ];
    let asked = asked_by(&hook!("Notification-perm-shell"), &begun);
    assert_eq!((asked.tool.as_str(), &asked.input), ("run_shell_command", &begun[0].input), "not the newest");
    assert_eq!((asked.prompt.kind, asked.prompt.subtype.as_deref()), (PromptKind::Permission, Some("tool")));
    assert!(!asked.is_held && !asked.prompt.ready);
    let alone = asked_by(&hook!("Notification-perm-shell"), &[]);
    assert_eq!(alone.prompt.input.as_deref(), Some(r#"{"command":"touch aa"}"#));
}

#[test]
fn an_edit_is_asked_about_by_the_tool_that_makes_it() {
    let begun = [
        tool("write_file", json!({"file_path": "fake_out.txt", "content": "x"})),
        tool("replace", json!({"file_path": "fake_edit.txt"})),
    ];
    let asked = asked_by(&hook!("Notification-perm-write"), &begun);
    assert_eq!((asked.tool.as_str(), asked.prompt.subtype.as_deref()), ("write_file", Some("edit")));
    let asked = asked_by(&hook!("Notification-perm-replace"), &begun);
    assert_eq!(asked.tool, "replace");
    let alone = asked_by(&hook!("Notification-perm-write"), &[]);
    assert_eq!(alone.prompt.subtype.as_deref(), Some("edit"));
}

#[test]
fn of_tools_that_began_together_none_is_asked_about_in_the_place_of_another() {
    let fetch = tool("web_fetch", json!({"prompt": "Read https://a.example/"}));
    let info = json!({"type": "info", "title": "Confirm Web Fetch", "prompt": "Read https://a.example/"});
    for other in [
        tool("run_shell_command", json!({"command": "rm -rf build"})),
        tool("read_file", json!({"file_path": "a.txt"})),
        tool("web_fetch", json!({"prompt": "Read https://b.example/"})),
    ] {
        let asked = asked_about(&info, &[fetch.clone(), other.clone()]);
        assert_eq!((asked.tool, asked.input), (fetch.tool.clone(), fetch.input.clone()), "beside {other:?}");
    }
}

#[test]
fn of_two_edits_of_one_file_the_one_is_told_that_makes_this_change() {
    let edit = |old: &str, new: &str| {
        tool("replace", json!({"file_path": "fake_edit.txt", "old_string": old, "new_string": new}))
    };
    let (this, other) = (edit("beta", "gamma"), edit("alpha", "delta"));
    for begun in [[this.clone(), other.clone()], [other.clone(), this.clone()]] {
        assert_eq!(asked_by(&hook!("Notification-perm-replace"), &begun).input, this.input);
    }
}

#[test]
fn where_nothing_tells_two_tools_apart_only_the_announcement_is_told() {
    let details = json!({"type": "mcp", "serverName": "files", "toolName": "delete"});
    let delete = |path: &str| tool("mcp_files_delete", json!({"path": path}));
    let asked = asked_about(&details, &[delete("a"), delete("b")]);
    assert_eq!(asked.prompt.input.as_deref(), Some(r#"{"server":"files","tool":"delete"}"#));
    assert_eq!(asked.input, json!({"server": "files", "tool": "delete"}));
    let elsewhere = tool("mcp_trash_delete", json!({"path": "c"}));
    assert_eq!(asked_about(&details, &[elsewhere, delete("a")]).input, json!({"path": "a"}));
}

#[test]
fn questions_come_from_the_tool_that_asks_them() {
    let input = json!({"questions": [
        {"question": "Which?", "header": "DB", "type": "choice",
         "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}], "multiSelect": true},
        {"question": "Name?", "header": "Name", "type": "text", "placeholder": "x"},
        {"question": "Now?", "header": "Now", "type": "yesno"},
    ]});
    let Asked { prompt, .. } = asked_by(&hook!("Notification-ask-choice"), &[tool("ask_user", input)]);
    assert_eq!((prompt.kind, prompt.questions.len()), (PromptKind::Question, 3));
    let [choice, name, now] = &prompt.questions[..] else { panic!("three") };
    assert_eq!((choice.options.join(" "), choice.descriptions.join(" ")), ("A B".into(), "a b".into()));
    assert!(choice.multi_select && name.options.is_empty());
    assert_eq!(now.options, ["Yes", "No"]);
    assert!(asked_by(&hook!("Notification-ask-choice"), &[]).prompt.questions.is_empty());
}

#[test]
fn a_plan_comes_with_the_text_that_was_written_to_its_file() {
    let entry = asked_by(&hook!("Notification-plan-enter"), &[tool("enter_plan_mode", json!({"reason": "Complex"}))]);
    assert_eq!((entry.tool.as_str(), entry.prompt.subtype.as_deref()), ("enter_plan_mode", Some("plan_entry")));
    let begun = [
        tool("write_file", json!({"file_path": "plans/fake-plan.md", "content": "# Plan"})),
        tool("exit_plan_mode", json!({"plan_filename": "fake-plan.md"})),
    ];
    let details = json!({"type": "exit_plan_mode", "title": "Plan Approval"});
    let payload = json!({"hook_event_name": "Notification", "notification_type": "ToolPermission", "details": details});
    let Asked { prompt, .. } = asked_by(&payload, &begun);
    assert_eq!((prompt.kind, prompt.summary.as_deref()), (PromptKind::Plan, Some("# Plan")));
}

#[test]
fn other_tools_and_other_notifications_are_told_apart() {
    let of = |details: Value, kind: &str| {
        hear("Notification", &json!({"notification_type": kind, "details": details})).wants
    };
    let mcp = json!({"type": "mcp", "serverName": "files", "toolName": "delete"});
    let Wants::Answer(asked) = of(mcp, "ToolPermission") else { panic!("asked") };
    let begun = [tool("mcp_files_delete", json!({"path": "x"}))];
    let asked = completed(*asked, &begun, &begun);
    assert_eq!((asked.tool.as_str(), asked.prompt.subtype.as_deref()), ("mcp_files_delete", Some("mcp")));
    let Wants::Answer(asked) = of(json!({"type": "info", "prompt": "Fetch x"}), "ToolPermission") else {
        panic!("asked")
    };
    let begun = [tool("web_fetch", json!({"prompt": "Fetch x"}))];
    let asked = completed(*asked, &begun, &begun);
    assert_eq!((asked.tool.as_str(), asked.prompt.subtype.as_deref()), ("web_fetch", Some("tool")));
    assert_eq!(of(Value::Null, "Other"), Wants::Nothing);
    assert!(matches!(of(Value::Null, "ToolPermission"), Wants::Answer(_)), "nothing is known, but something is asked");
}

#[test]
fn tools_begin_and_end() {
    let begins = heard(&hook!("BeforeTool"));
    assert_eq!(begins.begins.map(|done| done.tool).as_deref(), Some("enter_plan_mode"));
    let done = heard(&hook!("AfterTool"));
    assert_eq!(done.done.map(|done| done.input), Some(json!({"reason": "Complex task"})));
    assert_eq!(hear("Unheard", &json!({"session_id": "x"})).conversation.as_deref(), Some("x"));
    assert_eq!(hear("BeforeTool", &json!(7)).begins, None);
}
