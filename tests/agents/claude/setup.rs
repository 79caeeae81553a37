//! Dialogs at the start and about the account: what coop passes by itself, what it leaves to others, and how those answer.

use serde_json::{Value, json};

use super::house::API_KEY;
use super::scenes::{LIMIT_ENDS, limit};
use super::{Claude, Credential, House, Options, SMALL, WIDE};
use crate::model::Script;
use crate::session::write_json;

const BYPASS: &str = "--dangerously-skip-permissions";

/// Starts and waits for a dialog of this subtype.
async fn shown(options: Options, kind: &str, subtype: &str) -> (Claude, Value) {
    let claude = Claude::start(options).await;
    let prompt = claude.prompt(kind).await;
    assert_eq!(prompt["subtype"], subtype, "{prompt}");
    (claude, prompt)
}

/// The settings of the user are replaced.
fn settings(settings: Value) -> impl FnOnce(&House) + Send + 'static {
    move |house| {
        std::fs::create_dir_all(house.config()).unwrap();
        write_json(&house.config().join("settings.json"), &settings);
    }
}

/// Talks to the agent, to show that it is really there.
async fn works(claude: &Claude) {
    claude.told("Hello").await;
    claude.goes(["working", "idle"]).await;
    assert_eq!(claude.model.heard(), ["Hello"]);
}

#[tokio::test]
async fn a_workspace_is_trusted_by_an_answer() {
    for size in [WIDE, SMALL] {
        let options = Options::new().untrusted().groom("manual").size(size);
        let (claude, prompt) = shown(options, "permission", "trust").await;
        assert_eq!(prompt["options"].as_array().unwrap().len(), 2, "{prompt}");
        claude.answered(json!({"accept": true})).await;
        claude.until("idle").await;
        works(&claude).await;
    }
}

#[tokio::test]
async fn a_workspace_that_is_not_trusted_ends_the_agent() {
    let (claude, _) = shown(Options::new().untrusted().groom("manual"), "permission", "trust").await;
    claude.answered(json!({"accept": false})).await;
    assert_eq!(claude.ended().await["code"], 1);
}

#[tokio::test]
async fn an_agent_that_ended_at_a_dialog_of_its_start_comes_back_to_it() {
    let options = Options::new().untrusted().groom("manual").flag("--restart", "on-failure");
    let (claude, _) = shown(options, "permission", "trust").await;
    claude.answered(json!({"accept": false})).await;
    claude.goes(["exited", "restarting", "starting"]).await;
    assert_eq!(claude.prompt("permission").await["subtype"], "trust");
    claude.answered(json!({"accept": true})).await;
    claude.until("idle").await;
    works(&claude).await;
}

#[tokio::test]
async fn the_operators_own_workspace_is_trusted_by_itself() {
    for size in [WIDE, SMALL] {
        let claude = Claude::ready(Options::new().untrusted().size(size)).await;
        works(&claude).await;
        claude.rests().await;
    }
}

#[tokio::test]
async fn the_bypass_is_accepted_when_the_command_line_asks_for_it() {
    let script = Script::new().bash("touch marker").text("Done.");
    let claude = Claude::ready(Options::script(script).word(BYPASS)).await;
    claude.told("Touch it").await;
    claude.goes(["working", "idle"]).await;
    assert!(claude.has("marker"));
}

#[tokio::test]
async fn the_bypass_is_not_accepted_when_only_a_file_asks_for_it() {
    let wanted = settings(json!({"permissions": {"defaultMode": "bypassPermissions"}}));
    let (claude, prompt) = shown(Options::new().prepare(wanted), "setup", "bypass").await;
    claude.rests().await;
    assert_eq!(claude.state().await["prompt"]["id"], prompt["id"]);
    claude.answered(json!({"accept": false})).await;
    claude.ended().await;
}

#[tokio::test]
async fn the_bypass_is_accepted_by_an_answer() {
    for (size, answer) in [(WIDE, json!({"accept": true})), (SMALL, json!({"option": 2}))] {
        let (claude, _) = shown(Options::new().word(BYPASS).groom("manual").size(size), "setup", "bypass").await;
        claude.answered(answer).await;
        claude.until("idle").await;
        works(&claude).await;
    }
}

#[tokio::test]
async fn a_key_is_never_used_unasked() {
    for (size, answer) in [(WIDE, json!({"accept": false})), (SMALL, json!({"option": 2}))] {
        let options = Options::new().credential(Credential::UnknownKey).size(size);
        let (claude, prompt) = shown(options, "setup", "api_key").await;
        assert_eq!(prompt["options"].as_array().unwrap().len(), 2, "{prompt}");
        claude.rests().await;
        claude.answered(answer).await;
        claude.until("idle").await;
        claude.rests().await;
        assert!(claude.screen().await.contains("Not logged in"));
    }
}

#[tokio::test]
async fn a_key_is_used_when_the_answer_says_so() {
    for (size, answer) in [(SMALL, json!({"accept": true})), (WIDE, json!({"option": 1}))] {
        let options = Options::new().credential(Credential::UnknownKey).size(size);
        let (claude, _) = shown(options, "setup", "api_key").await;
        claude.answered(answer).await;
        claude.until("idle").await;
        works(&claude).await;
        assert_eq!(claude.model.last().credential.as_deref(), Some(API_KEY));
    }
}

#[tokio::test]
async fn broken_settings_are_told_and_can_be_left_aside() {
    for size in [WIDE, SMALL] {
        let broken = settings(json!({"permissions": {"allow": "not a list"}}));
        let (claude, prompt) = shown(Options::new().prepare(broken).size(size), "setup", "settings_error").await;
        let last = prompt["options"].as_array().unwrap().len();
        claude.rests().await;
        claude.answered(json!({"option": last})).await;
        claude.until("idle").await;
        works(&claude).await;
    }
}

#[tokio::test]
async fn the_choice_of_an_old_conversation_can_be_left() {
    let first = Claude::ready(Script::new().text("Noted.")).await;
    first.told("Remember this").await;
    first.goes(["working", "idle"]).await;
    first.commanded("/exit").await;
    first.ended().await;
    for size in [WIDE, SMALL] {
        let options = Options::new().house(&first.house).word("--resume").size(size);
        let (claude, _) = shown(options, "setup", "resume_picker").await;
        claude.answered(json!({"accept": false})).await;
        assert_eq!(claude.ended().await["code"], 1);
    }
}

#[tokio::test]
async fn the_dialog_of_a_used_up_limit_is_answered_and_the_limit_stays_known() {
    for size in [WIDE, SMALL] {
        let script = limit().text("Back again.");
        let options = Options::script(script).credential(Credential::Subscription).size(size);
        let claude = Claude::ready(options).await;
        claude.told("Go on").await;
        let prompt = claude.prompt("setup").await;
        assert_eq!(prompt["subtype"], "rate_limit_options", "{prompt}");
        let state = claude.state().await;
        assert_eq!(state["error_category"], "rate_limited", "a dialog hides no error: {state}");
        let refused = claude.nudge("Are you there?").await;
        assert_eq!((&refused["delivered"], &refused["state"]), (&json!(false), &json!("prompt")), "{refused}");
        claude.answered(json!({"option": 1})).await;
        claude.until("parked").await;
        claude.rests().await;
        let state = claude.state().await;
        assert_eq!(state["resume_at_epoch_ms"], LIMIT_ENDS * 1000, "{state}");
        assert!(state["parked_reason"].is_string(), "{state}");
        assert_eq!(claude.model.heard(), ["Go on"]);
    }
}

#[tokio::test]
async fn nothing_is_passed_when_nothing_may_be_touched() {
    for way in ["manual", "pristine"] {
        let claude = Claude::start(Options::new().untrusted().groom(way)).await;
        let prompt = claude.prompt("permission").await;
        claude.rests().await;
        assert_eq!(claude.state().await["prompt"]["id"], prompt["id"]);
    }
}

#[tokio::test]
async fn a_pristine_agent_gets_not_one_word_more_than_it_was_given() {
    let claude = Claude::ready(Options::new().groom("pristine").word("--verbose")).await;
    let pid = claude.coop.child_pid().await;
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).skip(1).filter(|word| !word.is_empty()).collect();
    assert_eq!(words, [b"--verbose".as_slice()]);
}
