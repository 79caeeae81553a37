//! What is made of sources that are odd, silent, or the only ones to speak.

use std::sync::Arc;

use serde_json::json;

use crate::agent::driver::{self, Driver};
use crate::agent::facts::{LogFacts, Said, StatusFacts};
use crate::agent::look::{Banner, Dialog, InputBox, Look, Nth};
use crate::agent::mind::Mind;
use crate::agent::{Claim, EpochMs, Evidence, Source};
use crate::child::Size;
use crate::config::Agent;
use crate::session::{ErrorCategory, Prompt, PromptKind, StateKind};
use crate::terminal::{Cursor, Seq, Snapshot};

fn mind() -> Mind {
    mind_of(Agent::Claude)
}

fn mind_of(agent: Agent) -> Mind {
    let driver: &dyn Driver = driver::of(agent).expect("it has a driver");
    let rules = Arc::new(driver.rules(None).expect("the rules that come with coop"));
    Mind::new(driver, EpochMs(0), 0, Arc::default(), rules)
}

/// The status file says this.
fn status(word: &'static str, claim: Option<Claim>, at: u64) -> StatusFacts {
    let unknown = claim.is_none().then(|| word.to_owned());
    let evidence = claim.map(|claim| Evidence::new(Source::Status, word, claim, EpochMs(at)));
    StatusFacts { evidence, unknown, session_id: None }
}

fn ailment(mind: &Mind, source: Source) -> String {
    mind.seen.ailing().filter(|(ailing, _)| *ailing == source).map(|(_, problem)| problem).collect()
}

/// Lets time pass.
fn at(mind: &mut Mind, now: u64) -> StateKind {
    mind.decide(EpochMs(now));
    mind.present().kind()
}

#[test]
fn a_status_word_that_nobody_knows_ends_the_one_before_and_is_told() {
    let mut mind = mind();
    mind.read_status(Some(status("busy", Some(Claim::Working), 10)));
    mind.read_status(Some(status("dreaming", None, 20)));
    assert_eq!(mind.seen.of(Source::Status), None);
    assert!(ailment(&mind, Source::Status).contains("dreaming"));
    mind.read_status(Some(status("idle", Some(Claim::Idle), 30)));
    assert_eq!(ailment(&mind, Source::Status), "");
}

#[test]
fn hooks_that_were_not_heard_in_a_whole_turn_are_said_to_be_silent() {
    let mut mind = mind();
    mind.seen.expects_hooks = true;
    for turn in [10_000, 30_000] {
        mind.read_status(Some(status("busy", Some(Claim::Working), turn)));
        assert_eq!(at(&mut mind, turn + 3000), StateKind::Working);
        mind.read_status(Some(status("idle", Some(Claim::Idle), turn + 4000)));
        assert_eq!(at(&mut mind, turn + 9000), StateKind::Idle);
        assert!(ailment(&mind, Source::Hooks).contains("none was heard"), "{turn}");
        mind.hear("Notification", &json!({}), EpochMs(turn + 10_000));
        assert_eq!(ailment(&mind, Source::Hooks), "");
    }
}

#[test]
fn an_arbiter_and_a_log_that_told_nothing_of_a_turn_are_said_to_be_silent() {
    for (agent, arbiter) in [(Agent::Codex, Source::Signal), (Agent::Gemini, Source::Title)] {
        let mut mind = mind_of(agent);
        let hook = |claim, at| Evidence::new(Source::Hooks, "hook", claim, EpochMs(at));
        mind.seen.note(hook(Claim::Working, 10_000));
        assert_eq!(at(&mut mind, 13_000), StateKind::Working);
        assert_eq!((ailment(&mind, arbiter), mind.log_is_missed()), (String::new(), None), "the turn is not over");
        mind.seen.note(hook(Claim::Idle, 14_000));
        assert_eq!(at(&mut mind, 30_000), StateKind::Idle);
        assert!(ailment(&mind, arbiter).contains("said nothing"), "{agent}");
        assert!(ailment(&mind, Source::Log).contains("said nothing"), "{agent}");
        mind.read_line(LogFacts::default(), EpochMs(31_000));
        assert_eq!(mind.log_is_missed(), None, "it was only late");
    }
}

#[test]
fn a_message_whose_hook_was_heard_before_the_log_said_that_it_waits_does_not_wait_for_ever() {
    let queued = |text: &str, at| LogFacts {
        at: Some(EpochMs(at)),
        said: Some(Said::Queued { text: text.to_owned() }),
        ..LogFacts::default()
    };
    let takes = |mind: &mut Mind, text: &str, at| {
        mind.hear("UserPromptSubmit", &json!({"prompt": text}), EpochMs(at));
    };
    let mut mind = mind();
    takes(&mut mind, "go on", 2000);
    mind.read_line(queued("go on", 1900), EpochMs(2100));
    assert_eq!(mind.seen.queued, 0, "it was taken meanwhile");
    mind.read_line(queued("another", 1950), EpochMs(2200));
    mind.read_line(queued("go on", 2300), EpochMs(2400));
    assert_eq!(mind.seen.queued, 2, "these still wait, though one has the same words");
    takes(&mut mind, "another", 2500);
    takes(&mut mind, "go on", 2600);
    assert_eq!(mind.seen.queued, 0);
}

#[test]
fn an_agent_that_prints_what_it_does_has_nothing_else_to_tell() {
    let mut mind = mind_of(Agent::Codex);
    for (claim, now) in [(Claim::Working, 10_000), (Claim::Idle, 14_000)] {
        mind.seen.note(Evidence::new(Source::Jsonl, "line", claim, EpochMs(now)));
        at(&mut mind, now + 3000);
    }
    assert_eq!(mind.seen.ailing().count(), 0);
}

/// A screen at rest that shows an error.
fn refused(is_limit: bool) -> Look {
    let text = "You've hit your session limit · resets 3:33am (UTC)".to_owned();
    let category = ErrorCategory::RateLimited;
    let banner = Banner { rule: "limit".to_owned(), text, category, is_limit, resets: Some("3:33am (UTC)".to_owned()) };
    let input_box = InputBox {
        text: String::new(),
        suggestion: None,
        is_shell: false,
        is_focused: true,
        is_cut: false,
        first_row: 0,
        last_row: 0,
    };
    Look { error_banner: Some(banner), input_box: Some(input_box), ..Look::default() }
}

#[test]
fn an_error_on_the_screen_counts_where_nobody_else_could_have_told_of_it() {
    for (is_limit, kind) in [(false, StateKind::Error), (true, StateKind::Parked)] {
        let mut mind = mind();
        mind.see_banner(&refused(is_limit), EpochMs(5));
        mind.read_status(Some(status("idle", Some(Claim::Idle), 10)));
        assert_eq!(at(&mut mind, 8000), StateKind::Idle, "what a conversation ended with before is no news");
        mind.read_status(Some(status("busy", Some(Claim::Working), 10_000)));
        assert_eq!(at(&mut mind, 13_000), StateKind::Working);
        mind.read_status(Some(status("idle", Some(Claim::Idle), 14_000)));
        assert_eq!(at(&mut mind, 19_000), kind);
        mind.see_banner(&Look::default(), EpochMs(19_500));
        assert_eq!(at(&mut mind, 20_000), StateKind::Idle, "it went");
    }
}

#[test]
fn an_error_on_the_screen_does_not_count_where_the_log_speaks() {
    let mut mind = mind();
    let line = |claim| LogFacts { claim: Some(("line", claim)), ..LogFacts::default() };
    mind.read_line(line(Claim::Working), EpochMs(10_000));
    assert_eq!(at(&mut mind, 13_000), StateKind::Working);
    mind.read_line(line(Claim::Idle), EpochMs(14_000));
    mind.see_banner(&refused(false), EpochMs(14_100));
    assert_eq!(at(&mut mind, 19_000), StateKind::Idle, "a model may say such a thing");
}

#[test]
fn why_an_agent_tries_again_is_not_guessed() {
    let rows = include_str!("../../../tests/fixtures/claude/screens-80x24/retrying.txt");
    let mut lines: Vec<String> = rows.lines().map(str::to_owned).collect();
    lines.resize(24, String::new());
    let screen = Snapshot {
        seq: Seq(0),
        size: Size::new(80, 24).expect("a size"),
        lines,
        cursor: Cursor { row: 18, col: 2, visible: true },
        alt_screen: false,
        title: None,
        signal: None,
        mid_frame: false,
    };
    let mut mind = mind();
    mind.read_status(Some(status("busy", Some(Claim::Working), 1000)));
    mind.see(&screen, EpochMs(1100));
    assert_eq!(at(&mut mind, 5000), StateKind::Parked);
    let parked = mind.present().parked().expect("it waits");
    assert_eq!((parked.category, parked.resume_at_epoch_ms), (ErrorCategory::Other, Some(2100)));
}

/// The screen shows a dialog with these rows.
fn draws(mind: &mut Mind, rows: &[&str], now: u64) {
    let screen_lines = rows.iter().map(|&row| row.to_owned()).collect();
    let prompt = Prompt { screen_lines, ready: true, ..Prompt::new(PromptKind::Permission) };
    let shown = Evidence::new(Source::Screen, "dialog", Claim::Prompt(prompt.clone()), EpochMs(now));
    mind.seen.look(Some(shown), EpochMs(now));
    mind.look = Look { dialog: Some(Dialog::new("dialog", prompt, 0..rows.len())), ..Look::default() };
}

#[test]
fn questions_whose_dialogs_are_drawn_late_are_not_forgotten() {
    let mut mind = mind_of(Agent::Gemini);
    mind.seen.note(Evidence::new(Source::Screen, "working", Claim::Working, EpochMs(900)));
    for (name, now) in [("one", 1000), ("two", 1300)] {
        let details = json!({"type": "exec", "command": format!("touch {name}")});
        let payload = json!({"notification_type": "ToolPermission", "details": details});
        mind.hear("Notification", &payload, EpochMs(now));
        at(&mut mind, now);
    }
    // On a busy machine.
    for now in [1900, 2400, 2900, 3400] {
        at(&mut mind, now);
    }
    for (name, now) in [("one", 3500), ("two", 4500)] {
        draws(&mut mind, &[&format!("? Shell  touch {name}"), "1. Allow once"], now);
        at(&mut mind, now);
        let told = mind.present().prompt().and_then(|prompt| prompt.input.clone()).unwrap_or_default();
        assert!(told.contains(&format!("touch {name}")), "{name}: {told:?}");
    }
}

#[test]
fn a_dialog_that_says_it_is_the_second_is_not_told_before_the_first_has_had_its_time() {
    let asks = |mind: &mut Mind, name: &str, now| {
        let details = json!({"type": "exec", "command": format!("touch {name}")});
        let payload = json!({"notification_type": "ToolPermission", "details": details});
        mind.hear("Notification", &payload, EpochMs(now));
    };
    let draws_nth = |mind: &mut Mind, name: &str, number, now| {
        draws(mind, &[&format!("? Shell  touch {name}"), "1. Allow once"], now);
        mind.look.dialog.as_mut().unwrap().nth = Some(Nth { number, of: 2 });
        mind.see_order(EpochMs(now));
    };
    let told = |mind: &mut Mind, now| {
        at(mind, now);
        mind.present().prompt().and_then(|prompt| prompt.input.clone()).unwrap_or_default()
    };
    let mut mind = mind_of(Agent::Gemini);
    asks(&mut mind, "two", 1500);
    draws_nth(&mut mind, "two", 2, 1600);
    assert_eq!(told(&mut mind, 1700), "");
    asks(&mut mind, "one", 1800);
    draws_nth(&mut mind, "two", 2, 2400);
    assert_eq!(told(&mut mind, 2400), "", "the first is known to come");
    draws_nth(&mut mind, "one", 1, 2500);
    assert!(told(&mut mind, 2500).contains("touch one"));
    draws_nth(&mut mind, "two", 2, 2700);
    assert!(told(&mut mind, 2700).contains("touch two"), "it is its turn");
    let mut alone = mind_of(Agent::Gemini);
    asks(&mut alone, "two", 1500);
    draws_nth(&mut alone, "two", 2, 1600);
    assert_eq!(told(&mut alone, 2200), "");
    assert!(told(&mut alone, 2400).contains("touch two"), "the first needed no answer");
}

#[test]
fn of_questions_that_were_heard_in_any_order_none_is_told_before_its_dialog_is_drawn() {
    let mut mind = mind_of(Agent::Gemini);
    for (name, now) in [("one", 1000), ("two", 1010)] {
        let payload = json!({"tool_name": "run_shell_command", "tool_input": {"command": format!("touch {name}")}});
        mind.hear("BeforeTool", &payload, EpochMs(now));
    }
    for (name, now) in [("two", 1500), ("one", 1510)] {
        let details = json!({"type": "exec", "command": format!("touch {name}")});
        let payload = json!({"notification_type": "ToolPermission", "details": details});
        mind.hear("Notification", &payload, EpochMs(now));
    }
    let told = |mind: &mut Mind, now| {
        at(mind, now);
        mind.present().prompt().map(|prompt| prompt.input.clone().unwrap_or_default())
    };
    assert_eq!(told(&mut mind, 1600), None, "nothing is drawn that is known");
    mind.seen.note(Evidence::new(Source::Title, "Action Required", Claim::Waiting, EpochMs(1700)));
    assert_eq!(told(&mut mind, 1700), None, "whichever it is");
    draws(&mut mind, &["? Shell"], 1800);
    assert_eq!(told(&mut mind, 1900), None, "too little is drawn");
    draws(&mut mind, &["? Shell  touch one", "1. Allow once"], 2000);
    assert!(told(&mut mind, 2000).is_some_and(|input| input.contains("touch one")));
}

#[test]
fn a_dialog_that_has_just_left_the_screen_is_not_followed_by_one_that_nobody_can_name() {
    let mut mind = mind_of(Agent::Gemini);
    let title = |rule: &'static str, claim, now| Evidence::new(Source::Title, rule, claim, EpochMs(now));
    mind.seen.note(title("Action Required", Claim::Waiting, 1000));
    draws(&mut mind, &["? Shell  touch marker", "1. Allow once"], 1000);
    assert_eq!(at(&mut mind, 3000), StateKind::Prompt);
    let name = mind.present().prompt().map(|prompt| prompt.id.clone());
    // It was answered; a frame in which nothing is known comes before the title.
    mind.seen.look(None, EpochMs(5000));
    mind.look = Look::default();
    assert_eq!(at(&mut mind, 5010), StateKind::Prompt);
    assert_eq!(mind.present().prompt().map(|prompt| prompt.id.clone()), name, "there is no other dialog");
    mind.seen.note(title("Working", Claim::Working, 5300));
    assert_eq!(at(&mut mind, 5300), StateKind::Working);
}
