//! Dialogs at the start and about the account: what coop passes by itself, what it leaves to others, and how those answer.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::house::API_KEY;
use super::scenes::{LIMIT_ENDS, limit};
use super::{Codex, CodexCli, House, Options, SMALL, WIDE};
use crate::model::{Gate, Script};
use crate::promises::degraded::is_said_to_ail;
use crate::session::program;

/// A model that 0.166.0 offers a newer one for.
const OLD_MODEL: &str = "gpt-5.5";

/// Starts and waits for a dialog of this subtype.
async fn shown(options: Options, subtype: &str) -> (Codex, Value) {
    let codex = Codex::start(options).await;
    let prompt = codex.prompt(if subtype == "trust" { "permission" } else { "setup" }).await;
    assert_eq!(prompt["subtype"], subtype, "{prompt}");
    (codex, prompt)
}

/// Talks to the agent, to show that it is really there.
async fn works(codex: &Codex) {
    codex.told("Hello").await;
    codex.goes(["working", "idle"]).await;
    assert_eq!(codex.model.heard(), ["Hello"]);
}

/// `accept` could mean too much here, and is refused; nothing happens.
async fn takes_no_bare_yes(codex: &Codex, prompt: &Value) {
    let refused = codex.respond_with(json!({"accept": true})).await.refused();
    assert_eq!(refused, (400, "BAD_REQUEST".to_owned()));
    codex.rests().await;
    assert_eq!(codex.state().await["prompt"]["id"], prompt["id"]);
}

fn config(house: &House) -> String {
    std::fs::read_to_string(house.config().join("config.toml")).unwrap()
}

#[tokio::test]
async fn a_workspace_is_trusted_by_an_answer() {
    for (size, answer) in [(WIDE, json!({"accept": true})), (SMALL, json!({"option": 1}))] {
        let options = Options::new().untrusted().groom("manual").size(size);
        let (codex, prompt) = shown(options, "trust").await;
        assert_eq!(prompt["options"].as_array().unwrap().len(), 2, "{prompt}");
        codex.answered(answer).await;
        codex.until("idle").await;
        works(&codex).await;
        assert!(config(&codex.house).contains("trusted"));
    }
}

#[tokio::test]
async fn a_workspace_that_is_not_trusted_ends_the_agent() {
    let (codex, _) = shown(Options::new().untrusted().groom("manual"), "trust").await;
    codex.answered(json!({"accept": false})).await;
    codex.ended().await;
    assert!(!config(&codex.house).contains("trusted"));
}

#[tokio::test]
async fn the_operators_own_workspace_is_trusted_by_itself() {
    for size in [WIDE, SMALL] {
        let codex = Codex::ready(Options::new().untrusted().size(size)).await;
        works(&codex).await;
        codex.rests().await;
    }
}

#[tokio::test]
async fn the_model_stays_what_it_is() {
    for size in [WIDE, SMALL] {
        let codex = Codex::ready(Options::new().model(OLD_MODEL).size(size)).await;
        works(&codex).await;
        assert!(config(&codex.house).contains(&format!("model = \"{OLD_MODEL}\"")), "{}", config(&codex.house));
    }
}

#[tokio::test]
async fn the_offer_of_a_newer_model_is_answered_by_whom_it_concerns() {
    for (size, answer, is_kept) in [
        (WIDE, json!({"accept": false}), true),
        (SMALL, json!({"option": 2}), true),
        (SMALL, json!({"option": 1}), false),
    ] {
        let options = Options::new().model(OLD_MODEL).groom("manual").size(size);
        let (codex, prompt) = shown(options, "model_migration").await;
        takes_no_bare_yes(&codex, &prompt).await;
        codex.answered(answer.clone()).await;
        codex.until("idle").await;
        works(&codex).await;
        let kept = config(&codex.house).contains(&format!("model = \"{OLD_MODEL}\""));
        assert_eq!(kept, is_kept, "{answer}: {}", config(&codex.house));
    }
}

/// A newer version is known of. The agent's own npm finds nothing, should it be asked.
fn outdated(options: Options) -> Options {
    let prepare = |house: &House| {
        let version = json!({"latest_version": "9.9.9", "last_checked_at": "2099-01-01T00:00:00Z"});
        std::fs::write(house.config().join("version.json"), version.to_string()).unwrap();
        let npm = house.beside("bin").join("npm");
        std::fs::write(&npm, format!("#!/bin/sh\ntouch {}\n", house.at("updated").display())).unwrap();
        std::fs::set_permissions(&npm, Permissions::from_mode(0o755)).unwrap();
        let asks = config(house).replace("check_for_update_on_startup = false", "check_for_update_on_startup = true");
        std::fs::write(house.config().join("config.toml"), asks).unwrap();
    };
    options.prepare(prepare)
}

#[tokio::test]
async fn an_update_is_never_offered_to_an_agent_that_coop_has_started() {
    let codex = Codex::ready(outdated(Options::new())).await;
    works(&codex).await;
    codex.rests().await;
    assert!(!codex.has("updated"));
}

#[tokio::test]
async fn an_update_is_skipped_where_it_is_offered_all_the_same() {
    let options = outdated(Options::new().word("-c").word("check_for_update_on_startup=true"));
    let codex = Codex::ready(options).await;
    works(&codex).await;
    assert!(!codex.has("updated"));
}

#[tokio::test]
async fn an_update_is_never_made_by_a_bare_yes() {
    for size in [WIDE, SMALL] {
        let options = outdated(Options::new().word("-c").word("check_for_update_on_startup=true")).groom("manual");
        let (codex, prompt) = shown(options.size(size), "update").await;
        assert_eq!(prompt["options"].as_array().unwrap().len(), 3, "{prompt}");
        takes_no_bare_yes(&codex, &prompt).await;
        codex.answered(json!({"accept": false})).await;
        codex.until("idle").await;
        works(&codex).await;
        assert!(!codex.has("updated"));
    }
}

#[tokio::test]
async fn nobody_is_logged_in_unasked() {
    for size in [WIDE, SMALL] {
        let (codex, prompt) = shown(Options::new().logged_out().size(size), "login_method").await;
        // What is drawn beside it moves for ever.
        let refused = codex.respond_with(json!({"accept": true})).await.refused();
        assert_eq!(refused, (400, "BAD_REQUEST".to_owned()));
        let labels = prompt["options"].as_array().unwrap();
        let own_key = labels.iter().position(|label| label.as_str().unwrap().contains("OpenAI API key")).unwrap();
        codex.answered(json!({"option": own_key + 1})).await;
        let prompt = codex.prompt("setup").await;
        assert_eq!(prompt["subtype"], "api_key", "{prompt}");
        codex.answered(json!({ "text": API_KEY })).await;
        codex.until("idle").await;
        let auth = std::fs::read_to_string(codex.house.config().join("auth.json")).unwrap_or_default();
        assert!(auth.contains(API_KEY));
    }
}

/// A hook that the user has not seen, in the user's own configuration.
fn with_a_strange_hook(options: Options) -> Options {
    options.prepare(|house| {
        let hook = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"touch strange\"\n";
        std::fs::write(house.config().join("config.toml"), format!("{}\n{hook}", config(house))).unwrap();
    })
}

#[tokio::test]
async fn hooks_that_nobody_has_seen_are_not_trusted_by_coop() {
    for (size, answer, runs) in [(WIDE, json!({"accept": false}), false), (SMALL, json!({"option": 2}), true)] {
        let (codex, prompt) = shown(with_a_strange_hook(Options::new().size(size)), "hooks_review").await;
        takes_no_bare_yes(&codex, &prompt).await;
        assert!(codex.coop.place.log.text().contains("hooks_review"), "it is told in the log");
        codex.answered(answer.clone()).await;
        codex.until("idle").await;
        works(&codex).await;
        codex.rests().await;
        assert_eq!(codex.has("strange"), runs, "{answer}");
        // Coop's own are trusted in any case.
        assert_eq!(codex.state().await["detection_tier"], "hooks");
    }
}

/// Starts Codex with other hashes than those that it was given; its own place is put in.
const OTHER_HASHES: &str = r#"#!/bin/sh
for word; do
    shift
    set -- "$@" "$(printf %s "$word" | sed 's/sha256:[0-9a-f]*/sha256:0/g')"
done
exec 'CODEX' "$@"
"#;

/// A Codex that is like one which knows hooks in another way than the one that was measured.
fn of_other_hashes(house: &House) -> PathBuf {
    let path = house.beside("bin").join("codex");
    let real = program::<CodexCli>().display().to_string();
    std::fs::write(&path, OTHER_HASHES.replace("CODEX", &real)).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path
}

#[tokio::test]
async fn where_the_hash_of_coops_own_hooks_is_not_right_the_agent_works_without_them_and_that_is_said() {
    // A trust that is given there does not help: what the command line says of a hook counts more.
    for answer in [json!({"accept": false}), json!({"option": 2})] {
        let house = Arc::new(House::new());
        let options = Options::new().house(&house).program(of_other_hashes(&house));
        let (codex, prompt) = shown(options, "hooks_review").await;
        takes_no_bare_yes(&codex, &prompt).await;
        assert!(codex.coop.place.log.text().contains("hooks_review"), "it is told in the log");
        codex.answered(answer.clone()).await;
        codex.until("idle").await;
        // Without hooks a turn must last for a moment to be seen.
        let gate = Gate::new();
        codex.model.plays(Script::new().hold(&gate).text("Done."));
        codex.told("Hello").await;
        codex.until("working").await;
        gate.open();
        codex.until("idle").await;
        codex.rests().await;
        let state = codex.state().await;
        assert_ne!(state["detection_tier"], "hooks", "{answer}: {state}");
        is_said_to_ail(&codex, "hooks").await;
    }
}

#[tokio::test]
async fn the_choice_of_an_old_conversation_can_be_left() {
    let first = Codex::ready(Script::new().text("Noted.")).await;
    first.told("Remember this").await;
    first.goes(["working", "idle"]).await;
    first.commanded("/quit").await;
    first.ended().await;
    for size in [WIDE, SMALL] {
        let options = Options::new().house(&first.house).word("resume").size(size);
        let (codex, prompt) = shown(options, "resume_picker").await;
        takes_no_bare_yes(&codex, &prompt).await;
        codex.answered(json!({"accept": false})).await;
        codex.until("idle").await;
        works(&codex).await;
    }
}

#[tokio::test]
async fn the_choice_of_an_old_conversation_that_a_command_opens_can_be_left_too() {
    let codex = Codex::ready(Script::new().text("Noted.").text("Still here.")).await;
    codex.told("Remember this").await;
    codex.goes(["working", "idle"]).await;
    codex.commanded("/resume").await;
    let prompt = codex.prompt("setup").await;
    assert_eq!(prompt["subtype"], "resume_picker", "{prompt}");
    takes_no_bare_yes(&codex, &prompt).await;
    codex.answered(json!({"accept": false})).await;
    codex.until("idle").await;
    codex.told("Are you there?").await;
    codex.goes(["working", "idle"]).await;
    assert_eq!(codex.model.heard(), ["Remember this", "Are you there?"]);
}

#[tokio::test]
async fn the_dialog_of_a_used_up_limit_is_answered_and_the_limit_stays_known() {
    for (size, answer) in [(WIDE, json!({"accept": false})), (SMALL, json!({"option": 2}))] {
        let codex = Codex::ready(Options::script(limit().text("Back again.")).groom("manual").size(size)).await;
        codex.told("Go on").await;
        let prompt = codex.prompt("setup").await;
        assert_eq!(prompt["subtype"], "rate_limit_options", "{prompt}");
        takes_no_bare_yes(&codex, &prompt).await;
        let refused = codex.nudge("Are you there?").await;
        assert_eq!((&refused["delivered"], &refused["state"]), (&json!(false), &json!("prompt")), "{refused}");
        codex.answered(answer).await;
        codex.until("parked").await;
        codex.rests().await;
        let state = codex.state().await;
        assert_eq!(state["resume_at_epoch_ms"], LIMIT_ENDS * 1000, "{state}");
        assert!(!codex.screen().await.contains("luna"), "the model stays what it is");
        assert_eq!(codex.model.heard(), ["Go on"]);
    }
}

#[tokio::test]
async fn the_model_is_not_changed_because_a_limit_is_used_up() {
    let codex = Codex::ready(Options::script(limit().text("Back again."))).await;
    codex.told("Go on").await;
    codex.until("prompt").await;
    codex.until("parked").await;
    codex.rests().await;
    assert!(!config(&codex.house).contains("luna"), "{}", config(&codex.house));
}

#[tokio::test]
async fn nothing_is_passed_when_nothing_may_be_touched() {
    for options in [Options::new().untrusted().groom("manual"), Options::new().untrusted().untouched()] {
        let (codex, prompt) = shown(options, "trust").await;
        codex.rests().await;
        assert_eq!(codex.state().await["prompt"]["id"], prompt["id"]);
    }
}

#[tokio::test]
async fn a_pristine_agent_gets_not_one_word_more_than_it_was_given() {
    let codex = Codex::ready(Options::new().untouched()).await;
    let pid = codex.coop.child_pid().await;
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).filter(|word| !word.is_empty()).collect();
    assert_eq!(words.last(), Some(&b"--no-daemon".as_slice()));
    assert!(!words.iter().any(|word| word.starts_with(b"hooks=")));
}
