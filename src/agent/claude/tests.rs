//! What Claude Code's sources tell together, played through the mind without an agent.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Claude;
use crate::agent::driver::Driver;
use crate::agent::evidence::{Claim, EpochMs};
use crate::agent::mind::{Effect, Mind};
use crate::child::Size;
use crate::session::StateKind;
use crate::terminal::{Cursor, Seq, Snapshot};

const START: u64 = 1_794_787_606_000;
const SIZE: (u16, u16) = (120, 30);

fn fetch(path: &str) -> Value {
    json!({"tool_name": "WebFetch", "tool_input": {"url": format!("http://127.0.0.1:9/{path}"), "prompt": "What is it?"}})
}

/// The dialog of such a fetch, as Claude Code 2.1.197 draws it.
fn dialog(path: &str) -> Snapshot {
    let rule = "─".repeat(usize::from(SIZE.0));
    let url = format!("   url: \"http://127.0.0.1:9/{path}\", prompt: \"What is it?\"");
    let rows = [
        "❯ Do it",
        "● Fetch(http://127.0.0.1:9/a)",
        "● Fetch(http://127.0.0.1:9/b)",
        &rule,
        " Fetch",
        "",
        &url,
        "   Claude wants to fetch content from 127.0.0.1",
        "",
        " Do you want to allow Claude to fetch this content?",
        " ❯ 1. Yes",
        "   2. Yes, and don't ask again for 127.0.0.1",
        "   3. No, and tell Claude what to do differently (esc)",
    ];
    let mut lines: Vec<String> = rows.map(str::to_owned).into();
    lines.resize(SIZE.1.into(), String::new());
    Snapshot {
        seq: Seq(1),
        size: Size::new(SIZE.0.into(), SIZE.1.into()).expect("a size"),
        lines,
        cursor: Cursor { row: 10, col: 1, visible: false },
        alt_screen: false,
        title: None,
        signal: None,
        mid_frame: false,
    }
}

/// What is told of the dialog that stands there, so many milliseconds after the start.
fn told(mind: &mut Mind, ms: u64) -> Option<String> {
    mind.decide(EpochMs(START + ms));
    mind.present().prompt().and_then(|prompt| prompt.input.clone())
}

#[test]
fn a_question_is_not_told_with_the_dialog_of_another_whose_hook_is_late() {
    let rules = Arc::new(Claude.rules(None).expect("the rules that come with coop"));
    let mut mind = Mind::new(&Claude, EpochMs(START), 0, Arc::default(), rules);
    mind.seen.expects_hooks = true;
    mind.hear("UserPromptSubmit", &json!({"prompt": "Do it"}), EpochMs(START + 100));
    told(&mut mind, 100);
    for path in ["a", "b"] {
        mind.hear("PreToolUse", &fetch(path), EpochMs(START + 200));
    }
    mind.see(&dialog("a"), EpochMs(START + 300));
    mind.hear("PermissionRequest", &fetch("b"), EpochMs(START + 320));
    assert_eq!(told(&mut mind, 321), None, "a is drawn, and only b has asked");
    mind.hear("PermissionRequest", &fetch("a"), EpochMs(START + 330));
    assert!(told(&mut mind, 331).is_some_and(|input| input.contains("/a")));
}

#[test]
fn a_question_whose_dialog_is_drawn_otherwise_is_told_all_the_same() {
    let rules = Arc::new(Claude.rules(None).expect("the rules that come with coop"));
    let mut mind = Mind::new(&Claude, EpochMs(START), 0, Arc::default(), rules);
    mind.hear("UserPromptSubmit", &json!({"prompt": "Do it"}), EpochMs(START + 100));
    mind.hear("PreToolUse", &fetch("a"), EpochMs(START + 200));
    mind.hear("PreToolUse", &fetch("b"), EpochMs(START + 210));
    mind.see(&dialog("a"), EpochMs(START + 300));
    mind.hear("PermissionRequest", &fetch("b"), EpochMs(START + 320));
    assert!(told(&mut mind, 2000).is_some_and(|input| input.contains("/b")), "nobody else asks");
}

#[test]
fn a_short_work_after_an_answer_is_told() {
    let rules = Arc::new(Claude.rules(None).expect("the rules that come with coop"));
    let mut mind = Mind::new(&Claude, EpochMs(START), 0, Arc::default(), rules);
    mind.hear("UserPromptSubmit", &json!({"prompt": "Do it"}), EpochMs(START + 100));
    told(&mut mind, 101);
    mind.hear("PermissionRequest", &fetch("a"), EpochMs(START + 200));
    assert!(told(&mut mind, 700).is_some());
    mind.hear("Stop", &json!({"last_assistant_message": "Done."}), EpochMs(START + 800));
    mind.stopped(false, EpochMs(START + 800));
    let (decided, _) = mind.decide(EpochMs(START + 801));
    assert_eq!(decided.map(|decided| decided.state.kind()), Some(StateKind::Working));
}

#[test]
fn a_short_work_after_an_answer_is_told_once_also_where_the_log_is_quicker_than_the_hook() {
    let rules = Arc::new(Claude.rules(None).expect("the rules that come with coop"));
    let mut mind = Mind::new(&Claude, EpochMs(START), 0, Arc::default(), rules);
    mind.hear("UserPromptSubmit", &json!({"prompt": "Do it"}), EpochMs(START + 100));
    told(&mut mind, 101);
    let asked = mind.hear("PermissionRequest", &fetch("a"), EpochMs(START + 200));
    let Some(Effect::Asked { id }) = asked.first() else { panic!("{asked:?}") };
    assert!(told(&mut mind, 700).is_some());
    mind.answered(id, EpochMs(START + 750));
    let line = json!({"type": "assistant", "uuid": "u", "timestamp": "2026-11-16T00:06:46.780Z", "message": {
        "id": "m", "model": "x", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Done."}]}});
    let facts = Claude.read_line(&line.to_string(), EpochMs(START + 780)).expect("a line");
    mind.read_line(facts, EpochMs(START + 790));
    let mut states = Vec::new();
    for ms in 791..2000 {
        if ms == 800 {
            mind.hear("Stop", &json!({"last_assistant_message": "Done."}), EpochMs(START + ms));
            mind.stopped(false, EpochMs(START + ms));
        }
        mind.decide(EpochMs(START + ms));
        states.push(mind.present().kind());
    }
    states.dedup();
    assert_eq!(states, [StateKind::Working, StateKind::Idle]);
}

#[test]
fn a_compaction_in_the_middle_of_a_turn_is_not_its_end() {
    let claimed = |trigger: &str| Claude.hear("PostCompact", &json!({"trigger": trigger}), EpochMs(START)).claim;
    assert_eq!(claimed("manual"), Some(Claim::Idle));
    assert_eq!(claimed("auto"), Some(Claim::Working));
}
