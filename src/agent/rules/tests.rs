//! Promises of the rules: what is refused and why, what replaces what, where phrases must stand.

use serde_json::{Value, json};

use super::*;

fn own(rules: &Value) -> String {
    json!({"version": 1, "agent": "test", "seen_in": "1.0", "rules": rules}).to_string()
}

fn trust(name: &str) -> Value {
    json!({"name": name, "phrases": {"title": "Accessing", "options": ["Yes"]},
           "means": {"prompt": {"kind": "permission", "subtype": name}}})
}

fn with(mut rule: Value, field: &str, value: Value) -> Value {
    rule[field] = value;
    rule
}

fn complaint(rule: Value) -> String {
    Rules::read(&own(&json!([rule])), None).unwrap_err().to_string()
}

fn parts() -> Parts {
    let options = Some(vec!["Yes, I do".to_owned(), "No".to_owned()]);
    Parts { title: "Accessing workspace:".into(), options, ..Parts::default() }
}

#[test]
fn a_rule_that_cannot_be_read_is_named_with_its_field() {
    let wrong = [
        (with(trust("a"), "colour", json!("red")), "screen rule a: colour: unknown field"),
        (with(trust("b"), "regex", json!("(")), "screen rule b: regex: regex parse error"),
        (with(trust("c"), "means", json!({"prompt": {"kind": "riddle"}})), "screen rule c: means.prompt.kind: unknown"),
        (with(trust("d"), "phrases", json!({"title": "One"})), "screen rule d: phrases: needs 2 or more"),
        (with(trust("e"), "means", json!("working")), "screen rule e: place: prompts are told by dialogs"),
        (json!({"phrases": {}}), "screen rule number 1: "),
    ];
    for (rule, expected) in wrong {
        let complaint = complaint(rule);
        assert!(complaint.starts_with(expected), "{complaint}");
    }
}

#[test]
fn a_file_of_another_layout_is_refused() {
    let file = own(&json!([])).replace("\"version\":1", "\"version\":2");
    assert_eq!(Rules::read(&file, None).unwrap_err().to_string(), "screen rules: version: 2 is not 1");
}

#[test]
fn the_operators_rules_come_first_and_replace_those_of_the_same_name() {
    let config =
        json!({"screen": {"rules": [with(trust("trust"), "phrases", json!({"title": "Other", "options": ["Yes"]}))]}});
    let rules = Rules::read(&own(&json!([trust("trust"), trust("second")])), Some(&config)).unwrap();
    let found = rules.dialog(&parts()).map(|(rule, _)| rule.name.as_str());
    assert_eq!(found, Some("second"), "the agent's own rule is gone");
}

#[test]
fn unknown_words_about_the_screen_are_refused() {
    let complaint = |config: Value| Patterns::of_operator(Some(&json!({"screen": config}))).unwrap_err().to_string();
    assert!(complaint(json!({"promt": []})).starts_with("screen rules: screen.promt: unknown field"));
    assert!(complaint(json!({"error": ["ok", "["]})).starts_with("screen rules: screen.error[1]: regex parse error"));
    assert!(Patterns::of_operator(Some(&json!({"stop": {}}))).is_ok(), "other parts are for others to read");
}

#[test]
fn phrases_count_only_in_their_part_and_in_their_order() {
    let rule = json!({"name": "a", "means": {"prompt": {"kind": "setup"}},
        "phrases": {"title": "Accessing", "body": ["one", "two"], "options": ["Yes", "No"], "footer": ["Esc"]}});
    let rules = Rules::read(&own(&json!([rule])), None).unwrap();
    let fitting = Parts { body: "one and two".into(), footer: "Esc to cancel".into(), ..parts() };
    assert!(rules.dialog(&fitting).is_some());
    let others = [
        Parts { title: "Not Accessing".into(), ..fitting.clone() },
        Parts { body: "two and one".into(), ..fitting.clone() },
        Parts { body: "one and two Esc".into(), footer: String::new(), ..fitting.clone() },
        Parts { options: Some(vec!["No".into(), "Yes".into()]), ..fitting.clone() },
        Parts { options: None, ..fitting.clone() },
    ];
    for parts in others {
        assert!(rules.dialog(&parts).is_none(), "{parts:?}");
    }
}

#[test]
fn a_rule_about_the_screen_looks_at_its_last_rows_only() {
    let rule = json!({"name": "a", "place": "screen", "rows_max": 2, "phrases": {"text": ["lost"]}, "means": {"error": {"category": "no_internet"}}});
    let rules = Rules::read(&own(&json!([rule])), None).unwrap();
    let rows = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(rules.find_on_screen(&rows("fine\nconnection\nlost\n\n")).is_some());
    assert!(rules.find_on_screen(&rows("lost\nfound\nagain")).is_none());
}

fn patterns(screen: Value) -> Patterns {
    Patterns::of_operator(Some(&json!({ "screen": screen }))).unwrap()
}

/// What patterns say of a screen whose last line has the cursor.
fn judged(patterns: &Patterns, text: &str) -> Option<(Sign, String)> {
    let rows: Vec<String> = text.lines().map(str::to_owned).collect();
    let told = patterns.judge(&rows, rows.last().map_or("", String::as_str))?;
    Some((told.sign, told.rule))
}

#[test]
fn a_prompt_counts_where_the_cursor_is_and_work_counts_most() {
    let patterns = patterns(json!({"prompt": ["^> $"], "working": ["^Thinking"], "error": ["(?i)^error"]}));
    let judge = |text: &str| judged(&patterns, text);
    assert_eq!(judge("> earlier\nanswer\n> "), Some((Sign::Idle, "prompt[0]".into())));
    assert_eq!(judge("> \ntext"), None, "a prompt that was left is none");
    assert_eq!(judge("Error: no\nThinking\n> "), Some((Sign::Working, "working[0]".into())));
    assert_eq!(judge("ERROR: no\n> "), Some((Sign::Error, "error[0]".into())));
    assert_eq!(judge(&format!("Thinking\n{}> ", "text\n\n".repeat(12))), Some((Sign::Idle, "prompt[0]".into())));
}

#[test]
fn whoever_is_told_only_the_prompt_takes_all_else_for_work() {
    let patterns = patterns(json!({"prompt": ["^> $"]}));
    assert_eq!(judged(&patterns, "text"), Some((Sign::Working, "no prompt".into())));
    assert_eq!(judged(&patterns, "text\n> "), Some((Sign::Idle, "prompt[0]".into())));
    assert!(Patterns::default().is_empty());
}

#[test]
fn patterns_and_rules_are_each_for_their_own_programs() {
    let of_unknown = Patterns::of_operator(Some(&json!({"screen": {"rules": [trust("a")]}}))).unwrap_err().to_string();
    assert!(of_unknown.contains("screen.rules") && of_unknown.contains("prompt, working and error"), "{of_unknown}");
    let config = json!({"screen": {"working": ["x"]}});
    let of_agent = Rules::read(&own(&json!([])), Some(&config)).unwrap_err().to_string();
    assert!(of_agent.contains("screen.working") && of_agent.contains("screen.rules"), "{of_agent}");
}

/// The README's patterns for a program, as its table has them or, where that says so, its example.
fn documented(program: &str) -> Patterns {
    let readme = include_str!("../../../README.md");
    let (_, example) = readme.split_once("```json\n{\"screen\": ").expect("the README has an example");
    let example = example.lines().next().and_then(|line| line.strip_suffix('}')).expect("the example is one line");
    let row =
        readme.lines().find(|line| line.starts_with(&format!("| {program} "))).expect("the README's table has it");
    let cell = row.split(" | ").nth(1).unwrap_or_default().trim_end_matches(" |");
    let screen = match cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`')) {
        Some(fields) => format!("{{{fields}}}"),
        None => example.to_owned(),
    };
    patterns(serde_json::from_str(&screen).expect(program))
}

#[test]
fn the_patterns_of_the_readme_know_their_programs() {
    let screens = [
        ("opencode", "  ┃  ", Sign::Idle),
        ("opencode", "   ■■■⬝⬝⬝  esc interrupt\n  ┃  ", Sign::Working),
        ("opencode", "  ┃  Unauthorized: the key is wrong\n  ┃  ", Sign::Error),
        ("aider", "Tokens: 2.4k sent, 12 received.\n> ", Sign::Idle),
        ("aider", "ask> ", Sign::Idle),
        ("aider", "multi> ", Sign::Idle),
        ("aider", "architect multi> ", Sign::Idle),
        ("aider", "> say hello\n░█        Waiting for openai/gpt-4o", Sign::Working),
        ("aider", "litellm.AuthenticationError: OpenAIException - Incorrect API key\n> ", Sign::Error),
        ("goose", "( O)> ", Sign::Idle),
        ("goose", "error: the provider did not answer\n( O)> ", Sign::Error),
        ("goose", "─── text_editor | developer ──────", Sign::Working),
        ("a shell", "dev@host:~/project$ ", Sign::Idle),
        ("a shell", "make: Entering directory", Sign::Working),
    ];
    for (program, screen, expected) in screens {
        let told = judged(&documented(program), screen).map(|(sign, _)| sign);
        assert_eq!(told, Some(expected), "{program}: {screen:?}");
    }
}
