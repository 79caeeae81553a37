//! An answer becomes what the hook is told, or one key; never an Enter that could mean something else.

use std::sync::Arc;

use super::*;
use crate::agent::look::Look;
use crate::agent::talk::Chosen;
use crate::agent::usage::Totals;
use crate::session::{Question, State};
use crate::terminal::Seq;

fn view(prompt: &Prompt, is_held: bool) -> View {
    View {
        pid: Some(1),
        state: State::Prompt { prompt: Arc::new(prompt.clone()), trouble: None },
        cause: "".into(),
        idle_at: None,
        look: Look::default(),
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

fn prompt(kind: PromptKind, subtype: &str, options: &[&str]) -> Prompt {
    let options = options.iter().map(|&label| label.to_owned()).collect();
    Prompt { subtype: Some(subtype.to_owned()), options, ready: true, ..Prompt::new(kind) }
}

fn command() -> Prompt {
    prompt(PromptKind::Permission, "tool", &["Yes, proceed", "Yes, and don't ask again for `x`", "No, and tell Codex"])
}

fn accept(accept: bool) -> Answer {
    Answer { accept: Some(accept), ..Answer::default() }
}

fn option(option: u32) -> Answer {
    Answer { option: Some(option), ..Answer::default() }
}

fn reason(text: &str) -> Answer {
    Answer { text: Some(text.to_owned()), ..accept(false) }
}

/// What would be done, in words.
fn told(prompt: &Prompt, is_held: bool, answer: &Answer) -> String {
    let open = || crate::agent::mind::Open {
        prompt: prompt.clone(),
        tool: "Bash".to_owned(),
        input: Value::Null,
        can_be_answered: true,
    };
    match way(&view(prompt, is_held), prompt, answer) {
        Ok(Way::Keys(keys)) => format!("{keys:?}"),
        Ok(Way::Undecided(keys)) => format!("undecided {keys:?}"),
        Ok(Way::Decision { decision, keys }) => {
            format!("{} or {keys:?}", decision(&open())["hookSpecificOutput"]["decision"])
        }
        Err(failure) => failure.to_string(),
    }
}

#[test]
fn a_hook_that_waits_is_told() {
    let prompt = command();
    for yes in [accept(true), option(1)] {
        let expected = r#"{"behavior":"allow"} or Some([ChooseLike("Yes, proceed")])"#;
        assert_eq!(told(&prompt, true, &yes), expected);
    }
    for no in [accept(false), option(3)] {
        assert!(told(&prompt, true, &no).starts_with(r#"{"behavior":"deny","message":"The user refused this."}"#));
    }
    assert_eq!(told(&prompt, true, &reason("use ls")), r#"{"behavior":"deny","message":"use ls"} or None"#);
    assert_eq!(told(&prompt, true, &option(2)), r#"undecided [ChooseLike("Yes, and don't ask again")]"#);
    assert!(told(&prompt, true, &option(4)).contains("options 1 to 3"));
}

#[test]
fn without_a_hook_one_key_answers_and_words_are_refused() {
    let prompt = command();
    assert_eq!(told(&prompt, false, &accept(true)), "[Choose(1)]");
    assert_eq!(told(&prompt, false, &accept(false)), "[Choose(3)]");
    assert_eq!(told(&prompt, false, &option(2)), "[Choose(2)]");
    assert!(told(&prompt, false, &reason("use ls")).contains("ends the turn"));
    let bare = Prompt::new(PromptKind::Permission);
    assert_eq!(told(&bare, false, &accept(false)), "[Dismiss]");
    assert!(told(&bare, false, &accept(true)).contains("option"));
}

#[test]
fn a_plan_is_taken_as_it_is_or_left() {
    let options = ["Yes, implement this plan", "Yes, clear context and implement", "No, stay in Plan mode"];
    let prompt = prompt(PromptKind::Plan, "", &options);
    assert_eq!(told(&prompt, false, &accept(true)), "[Choose(1)]");
    assert_eq!(told(&prompt, false, &accept(false)), "[Choose(3)]");
    assert!(told(&prompt, false, &reason("smaller")).contains("nudge"));
}

#[test]
fn questions_are_answered_by_digits_or_own_words() {
    let question = |options: &[&str]| Question {
        question: "Which?".to_owned(),
        options: options.iter().map(|&label| label.to_owned()).collect(),
        ..Question::default()
    };
    let mut prompt = prompt(PromptKind::Question, "", &[]);
    prompt.questions = vec![question(&["Red", "Green"])];
    assert_eq!(told(&prompt, false, &option(2)), "[Choose(2)]");
    assert_eq!(told(&prompt, false, &accept(false)), "[Dismiss]");
    let own = Answer { text: Some("blue".to_owned()), ..Answer::default() };
    let down = r#"Key("\u{1b}[B")"#;
    assert_eq!(told(&prompt, false, &own), format!(r#"[{down}, {down}, Key("\t"), Type("blue")]"#));
    prompt.questions.push(question(&["Small", "None of the above"]));
    let both = vec![
        Chosen { option: Some(1), ..Chosen::default() },
        Chosen { text: Some("mid".to_owned()), ..Chosen::default() },
    ];
    let both = Answer { answers: both, ..Answer::default() };
    assert_eq!(told(&prompt, false, &both), format!(r#"[Choose(1), {down}, Key("\t"), Type("mid")]"#));
}

#[test]
fn answers_go_on_from_the_question_that_is_shown() {
    let question = |label: &str| Question {
        question: format!("{label}?"),
        options: vec![label.to_owned(), "other".to_owned()],
        ..Question::default()
    };
    let mut prompt = prompt(PromptKind::Question, "", &["small", "other", "None of the above"]);
    prompt.questions = vec![question("red"), question("small")];
    prompt.question_current = 1;
    let both = [1, 2].map(|option| Chosen { option: Some(option), ..Chosen::default() });
    let both = Answer { answers: both.into(), ..Answer::default() };
    assert_eq!(told(&prompt, false, &both), "[Choose(2)]", "the first one has its answer");
    prompt.questions[0] = Question::default();
    assert_eq!(told(&prompt, false, &option(2)), "[Choose(2)]", "only the second one is known");
    assert!(told(&prompt, false, &both).contains("answer it alone"));
    prompt.questions.remove(0);
    prompt.question_current = 0;
    assert_eq!(told(&prompt, false, &option(3)), "[Choose(3)]", "what is listed can be chosen");
    assert!(told(&prompt, false, &reason("because")).contains("declines"));
}

#[test]
fn accept_is_never_an_enter_that_updates_or_changes_the_model() {
    for (subtype, options) in [
        ("update", &["Update now", "Skip"][..]),
        ("model_migration", &["Try new model", "Use existing model"]),
        ("rate_limit_options", &["Switch to x", "Keep current model"]),
        ("hooks_review", &["Review hooks", "Trust all and continue", "Continue without trusting"]),
        ("login_method", &["Sign in with ChatGPT"]),
        ("resume_picker", &[]),
        ("dialog", &[]),
    ] {
        let prompt = prompt(PromptKind::Setup, subtype, options);
        let told = told(&prompt, false, &accept(true));
        assert!(!told.contains("Enter]") && !told.starts_with('['), "{subtype}: {told}");
    }
}

#[test]
fn a_refusal_keeps_things_as_they_are() {
    let setup = |subtype, options: &[&str]| told(&prompt(PromptKind::Setup, subtype, options), false, &accept(false));
    assert_eq!(setup("update", &["Update now", "Skip"]), "[Dismiss]");
    assert_eq!(setup("hooks_review", &["Review hooks"]), "[Dismiss]");
    assert_eq!(setup("model_migration", &["Try new model", "Use existing model"]), "[Select(2), Enter]");
    assert_eq!(setup("rate_limit_options", &["Switch to x", "Keep current model"]), "[Select(2), Enter]");
    assert_eq!(setup("trust", &["Trust and continue", "Quit"]), "[Select(2), Enter]");
}

#[test]
fn an_option_of_the_start_is_marked_then_confirmed() {
    let trust = prompt(PromptKind::Permission, "trust", &["Trust and continue", "Quit"]);
    assert_eq!(told(&trust, false, &accept(true)), "[Select(1), Enter]");
    assert_eq!(told(&trust, false, &option(2)), "[Select(2), Enter]");
    let login = prompt(PromptKind::Setup, "login_method", &["Sign in with ChatGPT", "Device", "API key"]);
    assert_eq!(told(&login, false, &option(3)), "[Choose(3)]");
    let key = Answer { text: Some("sk-1".to_owned()), ..Answer::default() };
    assert_eq!(told(&prompt(PromptKind::Setup, "api_key", &[]), false, &key), r#"[Type("sk-1")]"#);
    assert!(told(&trust, false, &key).contains("takes none"));
}

#[test]
fn coop_itself_passes_only_what_changes_nothing() {
    let passed = |subtype, options: &[&str]| {
        let prompt = prompt(PromptKind::Setup, subtype, options);
        let dialog = Dialog { selected: Some(0), ..Dialog::new("", prompt, 0..0) };
        groom_steps(&dialog)
    };
    assert_eq!(passed("trust", &["Trust and continue", "Quit"]), Some(vec![Step::Select(1), Step::Enter]));
    let migration = ["Try new model", "Use existing model"];
    assert_eq!(passed("model_migration", &migration), Some(vec![Step::Select(2), Step::Enter]));
    assert_eq!(passed("update", &["Update now", "Skip"]), Some(vec![Step::Dismiss]));
    for never in ["hooks_review", "login_method", "api_key", "resume_picker", "dialog"] {
        assert_eq!(passed(never, &["Trust all and continue"]), None, "{never}");
    }
}
