//! Every dialog of Claude Code 2.1.197: what an answer becomes, for a hook that waits and without one.

use std::sync::Arc;

use super::*;
use crate::agent::look::{Look, Tab};
use crate::agent::talk::Chosen;
use crate::agent::usage::Totals;
use crate::session::{Question, State};
use crate::terminal::Seq;

fn dialog(prompt: &Prompt, selected: Option<usize>) -> Dialog {
    Dialog {
        rule: String::new(),
        prompt: prompt.clone(),
        selected,
        menu: None,
        tabs: Vec::new(),
        free_text: None,
        free_text_focused: false,
        typed: String::new(),
        nth: None,
        rows: 0..0,
    }
}

fn view(prompt: &Prompt, is_held: bool) -> View {
    View {
        pid: Some(1),
        state: State::Prompt { prompt: Arc::new(prompt.clone()), trouble: None },
        cause: "".into(),
        idle_at: None,
        look: Look { dialog: Some(dialog(prompt, Some(0))), ..Look::default() },
        screen_seq: Seq(0),
        open_question: is_held,
        opens_until: None,
        hooks_speak: is_held,
        log_speaks: false,
        conversation: None,
        has_begun: false,
        log: None,
        usage: Totals::default(),
    }
}

fn prompt(kind: PromptKind, subtype: Option<&str>, options: &[&str]) -> Prompt {
    let options = options.iter().map(|&label| label.to_owned()).collect();
    Prompt { subtype: subtype.map(str::to_owned), options, ready: true, ..Prompt::new(kind) }
}

fn bash() -> Prompt {
    let options = ["Yes", "Yes, and always allow access to x/ from this project", "No"];
    let screen_lines = vec![" Esc to cancel · Tab to amend · ctrl+e to explain".to_owned()];
    Prompt { screen_lines, ..prompt(PromptKind::Permission, Some("tool"), &options) }
}

fn fetch() -> Prompt {
    let options = ["Yes", "Yes, and don't ask again for x", "No, and tell Claude what to do differently (esc)"];
    prompt(PromptKind::Permission, Some("tool"), &options)
}

fn plan_approval() -> Prompt {
    let options = ["Yes, and use auto mode", "Yes, manually approve edits", "Tell Claude what to change"];
    prompt(PromptKind::Plan, None, &options)
}

fn asks(question: &str, options: &[&str], multi_select: bool) -> Question {
    let options = options.iter().map(|&label| label.to_owned()).collect();
    Question { question: question.to_owned(), options, multi_select, ..Question::default() }
}

/// A dialog that asks these, and shows the first one with the rows that Claude adds.
fn asking(questions: Vec<Question>) -> Prompt {
    let mut options = questions[0].options.clone();
    options.extend(["Type something.".to_owned(), "Chat about this".to_owned()]);
    Prompt { options, questions, ..prompt(PromptKind::Question, None, &[]) }
}

fn database() -> Question {
    asks("Which database?", &["PostgreSQL", "SQLite", "MySQL"], false)
}

fn features() -> Question {
    asks("Which features?", &["Auth", "Search", "Export"], true)
}

fn accept(accept: bool) -> Answer {
    Answer { accept: Some(accept), ..Answer::default() }
}

fn option(option: u32) -> Answer {
    Answer { option: Some(option), ..Answer::default() }
}

fn text(text: &str) -> Answer {
    Answer { text: Some(text.to_owned()), ..Answer::default() }
}

fn reason(text: &str) -> Answer {
    Answer { text: Some(text.to_owned()), ..accept(false) }
}

fn all(answers: Vec<Chosen>) -> Answer {
    Answer { answers, ..Answer::default() }
}

fn one(option: u32) -> Chosen {
    Chosen { option: Some(option), ..Chosen::default() }
}

fn words(text: &str) -> Chosen {
    Chosen { text: Some(text.to_owned()), ..Chosen::default() }
}

/// What would be done, in words.
fn done(view: &View, prompt: &Prompt, answer: &Answer) -> String {
    let open = || crate::agent::mind::Open {
        prompt: prompt.clone(),
        tool: "Bash".to_owned(),
        input: json!({}),
        can_be_answered: true,
    };
    match way(view, prompt, answer) {
        Ok(Way::Keys(keys)) => format!("{keys:?}"),
        Ok(Way::Undecided(keys)) => format!("undecided {keys:?}"),
        Ok(Way::Decision { decision, keys }) => {
            format!("{} or {keys:?}", decision(&open())["hookSpecificOutput"]["decision"])
        }
        Err(failure) => failure.to_string(),
    }
}

fn pressed(prompt: &Prompt, answer: &Answer) -> String {
    done(&view(prompt, false), prompt, answer)
}

fn told(prompt: &Prompt, answer: &Answer) -> String {
    done(&view(prompt, true), prompt, answer)
}

#[test]
fn a_permission_is_answered_by_one_digit() {
    for dialog in [bash(), fetch()] {
        assert_eq!(pressed(&dialog, &accept(true)), "[Choose(1)]");
        assert_eq!(pressed(&dialog, &accept(false)), "[Choose(3)]");
        assert_eq!(pressed(&dialog, &option(2)), "[Choose(2)]");
        assert_eq!(pressed(&dialog, &option(4)), "option 4: this dialog has options 1 to 3");
    }
    let trust = prompt(PromptKind::Permission, Some("trust"), &["Yes, I trust this folder", "No, exit"]);
    assert_eq!(pressed(&trust, &accept(true)), "[Choose(1)]");
    assert_eq!(pressed(&trust, &accept(false)), "[Choose(2)]");
    let undrawn = prompt(PromptKind::Permission, Some("tool"), &[]);
    assert_eq!(pressed(&undrawn, &accept(false)), "[Dismiss]");
    assert!(pressed(&undrawn, &accept(true)).contains("needs the agent's hooks"));
}

#[test]
fn a_hook_that_waits_is_told_a_plain_yes_and_a_no_with_its_reason() {
    for yes in [accept(true), option(1)] {
        assert_eq!(told(&bash(), &yes), r#"{"behavior":"allow"} or Some([Choose(1)])"#);
    }
    for no in [reason("use ls"), Answer { text: Some("use ls".to_owned()), ..option(3) }] {
        let told = told(&bash(), &no);
        assert!(told.starts_with(r#"{"behavior":"deny","interrupt":false,"message":"use ls"} or Some("#), "{told}");
    }
    assert_eq!(told(&bash(), &option(2)), "[Choose(2)]", "only the dialog knows what that means");
    let undrawn = prompt(PromptKind::Permission, Some("tool"), &[]);
    assert_eq!(told(&undrawn, &option(1)), r#"{"behavior":"allow"} or None"#);
}

#[test]
fn without_a_hook_a_reason_is_typed_where_the_mark_is_seen_on_the_no() {
    let keys = r#"[Reach("❯3.No"), Key("\t"), Stand("❯3.No"), Type("use ls")]"#;
    assert_eq!(pressed(&bash(), &reason("use ls")), keys);
    assert_eq!(pressed(&bash(), &Answer { text: Some("use ls".to_owned()), ..option(3) }), keys);
    assert!(pressed(&fetch(), &reason("no net")).contains("needs the agent's hooks"), "Tab does nothing there");
}

#[test]
fn a_yes_takes_words_where_the_mark_is_seen_on_it() {
    for yes in [accept(true), option(1)] {
        let answer = Answer { text: Some("then test it".to_owned()), ..yes };
        for told in [pressed(&bash(), &answer), told(&bash(), &answer)] {
            assert_eq!(
                told, r#"[Reach("❯1.Yes"), Key("\t"), Stand("❯1.Yes"), Type("then test it")]"#,
                "no hook could be told the words"
            );
        }
        assert!(pressed(&fetch(), &answer).contains("goes with accept:false"), "Tab does nothing there");
    }
}

#[test]
fn words_are_never_dropped() {
    let always = Answer { text: Some("but be careful".to_owned()), ..option(2) };
    for told in [pressed(&bash(), &always), told(&bash(), &always)] {
        assert!(told.contains("goes with a plain yes, or with accept:false"), "{told}");
    }
    assert!(pressed(&asking(vec![database()]), &reason("because")).contains("declines"));
    assert!(pressed(&bash(), &Answer { option: Some(1), ..accept(false) }).contains("not both"));
    assert!(pressed(&bash(), &all(vec![one(1)])).contains("asks no questions"));
}

#[test]
fn a_plan_is_accepted_carefully_or_sent_back_with_words() {
    assert_eq!(pressed(&plan_approval(), &accept(true)), "[Choose(2)]", "the first one would ask less");
    assert_eq!(pressed(&plan_approval(), &option(1)), "[Choose(1)]");
    assert_eq!(pressed(&plan_approval(), &accept(false)), "[Dismiss]");
    for smaller in [text("smaller"), reason("smaller"), Answer { text: Some("smaller".to_owned()), ..option(3) }] {
        assert_eq!(pressed(&plan_approval(), &smaller), r#"[Focus(3), Type("smaller")]"#);
    }
    assert!(pressed(&plan_approval(), &option(3)).contains("needs text"));
    let empty = prompt(PromptKind::Plan, Some("no_plan"), &["Yes", "No"]);
    assert_eq!(pressed(&empty, &accept(true)), "[Choose(1)]");
    assert_eq!(pressed(&empty, &option(2)), "[Choose(2)]");
}

#[test]
fn one_question_takes_an_option_own_words_or_none_of_them() {
    let prompt = asking(vec![database()]);
    assert_eq!(pressed(&prompt, &option(2)), "[Choose(2)]");
    assert_eq!(pressed(&prompt, &text("DuckDB")), r#"[Focus(4), Type("DuckDB")]"#);
    assert_eq!(pressed(&prompt, &accept(false)), "[Dismiss]");
    assert_eq!(pressed(&prompt, &option(5)), "[Choose(5)]", "it is listed, and talks about it");
    assert_eq!(told(&prompt, &option(5)), "[Choose(5)]");
    assert!(pressed(&prompt, &option(4)).contains("options 1 to 3"), "own words are given as text");
}

#[test]
fn several_options_are_ticked_and_own_words_stay_ticked() {
    let prompt = asking(vec![features()]);
    let ticks = all(vec![Chosen { options: vec![1, 3], ..Chosen::default() }]);
    assert_eq!(pressed(&prompt, &ticks), "[Tick(1), Tick(3), Next, Choose(1)]");
    let expected = r#"[Reach("❯4.[]Typesomething"), Fill("Billing"), Reach("❯Submit"), Enter, Choose(1)]"#;
    assert_eq!(pressed(&prompt, &text("Billing")), expected);
    let two = asking(vec![features(), database()]);
    let told = pressed(&two, &all(vec![words("Billing"), one(2)]));
    assert!(told.ends_with(r#"Reach("❯Next"), Enter, Choose(2), Choose(1)]"#), "{told}");
}

#[test]
fn answers_go_on_from_the_question_that_is_shown() {
    let mut prompt = asking(vec![database(), asks("Which language?", &["Rust", "Go"], false)]);
    let both = all(vec![one(2), one(1)]);
    assert_eq!(pressed(&prompt, &both), "[Choose(2), Choose(1), Choose(1)]");
    prompt.question_current = 1;
    assert_eq!(pressed(&prompt, &both), "[Choose(1), Choose(1)]", "the first one has its answer");
    let mut passed_over = view(&prompt, false);
    let tabs = vec![Tab { header: "Database".to_owned(), is_answered: false }; 2];
    passed_over.look.dialog.as_mut().unwrap().tabs = tabs;
    assert!(done(&passed_over, &prompt, &both).contains("question 0 has no answer"));
    prompt.question_current = 2;
    for submit in [accept(true), both.clone()] {
        assert_eq!(pressed(&prompt, &submit), "[Choose(1)]");
    }
    assert_eq!(told(&prompt, &both), "[Choose(1)]", "a hook would be told other answers than those that stand there");
    prompt.question_current = 0;
    let told = told(&prompt, &both);
    assert!(told.contains(r#""Which database?":"SQLite","Which language?":"Rust""#), "{told}");
}

#[test]
fn without_hooks_the_questions_of_a_dialog_are_answered_one_by_one() {
    let mut prompt = asking(vec![database(), Question::default()]);
    assert_eq!(pressed(&prompt, &option(2)), "[Choose(2)]");
    assert!(pressed(&prompt, &all(vec![one(2), one(1)])).contains("answer it alone"));
    prompt.questions = vec![Question::default(), features()];
    prompt.question_current = 1;
    let ticks = all(vec![Chosen { options: vec![2], ..Chosen::default() }]);
    assert_eq!(pressed(&prompt, &ticks), "[Tick(2), Next]");
    prompt.questions = vec![Question::default(); 2];
    prompt.question_current = 2;
    assert_eq!(pressed(&prompt, &accept(true)), "[Choose(1)]", "they are sent");
    assert!(pressed(&prompt, &option(1)).contains("give accept"));
}

#[test]
fn enter_is_only_sent_where_it_is_known_to_do_no_harm() {
    for subtype in ["security_notes", "login_success"] {
        assert_eq!(pressed(&prompt(PromptKind::Setup, Some(subtype), &[]), &accept(true)), "[Enter]");
    }
    for subtype in ["resume_picker", "oauth_login", "dialog"] {
        let prompt = prompt(PromptKind::Setup, Some(subtype), &[]);
        assert!(pressed(&prompt, &accept(true)).contains("not known"), "{subtype}");
        assert_eq!(pressed(&prompt, &accept(false)), "[Dismiss]");
    }
}

#[test]
fn dialogs_of_the_start_are_accepted_by_their_yes_or_by_number() {
    let bypass = prompt(PromptKind::Setup, Some("bypass"), &["No, exit", "Yes, I accept"]);
    assert_eq!(pressed(&bypass, &accept(true)), "[Choose(2)]");
    let key = prompt(PromptKind::Setup, Some("api_key"), &["Yes", "No (recommended)"]);
    assert_eq!(pressed(&key, &accept(true)), "[Choose(1)]");
    for (subtype, options) in [
        ("theme_picker", &["Auto", "Dark mode"][..]),
        ("login_method", &["Claude account", "Anthropic Console", "3rd-party platform"]),
        ("settings_error", &["Fix with Claude", "Exit and fix manually", "Continue without these settings"]),
        ("mcp_server", &["Use this MCP server", "Continue without using this MCP server"]),
        ("rate_limit_options", &["Stop and wait for limit to reset", "Upgrade your plan"]),
    ] {
        let prompt = prompt(PromptKind::Setup, Some(subtype), options);
        assert!(pressed(&prompt, &accept(true)).contains("needs an option, 1 to"), "{subtype}");
        assert_eq!(pressed(&prompt, &option(2)), "[Choose(2)]", "{subtype}");
        assert!(pressed(&prompt, &text("x")).contains("takes none"), "{subtype}");
    }
}

#[test]
fn coop_itself_passes_only_what_does_no_harm() {
    let passed = |subtype: &str, options: &[&str], bypass_was_asked| {
        let kind = if subtype == "trust" { PromptKind::Permission } else { PromptKind::Setup };
        groom_steps(&dialog(&prompt(kind, Some(subtype), options), Some(1)), bypass_was_asked)
    };
    let digit = |option| Some(vec![Step::Choose(option)]);
    assert_eq!(passed("theme_picker", &["Auto", "Dark mode"], false), digit(2), "the one that is marked");
    assert_eq!(passed("security_notes", &[], false), Some(vec![Step::Enter]));
    assert_eq!(passed("login_success", &[], false), Some(vec![Step::Enter]));
    assert_eq!(passed("terminal_setup", &["Yes, use recommended settings", "No, maybe later"], false), digit(2));
    assert_eq!(passed("trust", &["Yes, I trust this folder", "No, exit"], false), digit(1));
    let bypass = ["No, exit", "Yes, I accept"];
    assert_eq!((passed("bypass", &bypass, true), passed("bypass", &bypass, false)), (digit(2), None));
    for never in
        ["api_key", "login_method", "oauth_login", "settings_error", "mcp_server", "rate_limit_options", "dialog"]
    {
        assert_eq!(passed(never, &["Yes", "No"], true), None, "{never}");
    }
}
