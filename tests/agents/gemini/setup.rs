//! Dialogs at the start: what coop passes by itself, what it leaves to others, and how those answer; and what it adds.

use serde_json::{Value, json};

use super::house::API_KEY;
use super::{Gemini, Options, SMALL, WIDE};
use crate::model::Script;
use crate::promises::gates::SERVER;
use crate::session::write_json;

/// Starts and waits for a dialog of this subtype.
async fn shown(options: Options, subtype: &str) -> (Gemini, Value) {
    let gemini = Gemini::start(options).await;
    let prompt = gemini.prompt(if subtype == "trust" { "permission" } else { "setup" }).await;
    assert_eq!(prompt["subtype"], subtype, "{prompt}");
    (gemini, prompt)
}

/// Talks to the agent, to show that it is really there.
async fn works(gemini: &Gemini) {
    gemini.told("Hello").await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    assert_eq!(gemini.model.heard(), ["Hello"]);
}

#[tokio::test]
async fn the_operators_own_workspace_is_trusted_by_itself() {
    for size in [WIDE, SMALL] {
        let gemini = Gemini::ready(Options::new().untrusted().size(size)).await;
        works(&gemini).await;
        let trusted = std::fs::read_to_string(gemini.house.config().join("trustedFolders.json")).unwrap();
        assert!(trusted.contains("TRUST_FOLDER"), "{trusted}");
    }
}

#[tokio::test]
async fn a_workspace_is_trusted_by_an_answer() {
    for (size, answer) in [(WIDE, json!({"accept": true})), (SMALL, json!({"option": 1}))] {
        let (gemini, prompt) = shown(Options::new().untrusted().groom("manual").size(size), "trust").await;
        assert_eq!(prompt["options"].as_array().unwrap().len(), 3, "{prompt}");
        gemini.rests().await;
        assert_eq!(gemini.state().await["prompt"]["id"], prompt["id"]);
        gemini.answered(answer).await;
        gemini.until("idle").await;
        works(&gemini).await;
    }
}

#[tokio::test]
async fn a_workspace_that_is_not_trusted_can_be_worked_in() {
    let (gemini, _) = shown(Options::new().untrusted().groom("manual"), "trust").await;
    gemini.answered(json!({"accept": false})).await;
    gemini.until("idle").await;
    works(&gemini).await;
    let trusted = std::fs::read_to_string(gemini.house.config().join("trustedFolders.json")).unwrap();
    assert!(trusted.contains("DO_NOT_TRUST"), "{trusted}");
    assert_eq!(gemini.state().await["detection_tier"], "hooks", "an extension's hooks run there too");
}

#[tokio::test]
async fn how_to_log_in_is_never_chosen_unasked() {
    let (gemini, prompt) = shown(Options::new().undecided(), "auth").await;
    gemini.rests().await;
    assert_eq!(gemini.state().await["prompt"]["id"], prompt["id"]);
    let unclear = gemini.respond_with(json!({"accept": true})).await;
    assert_eq!(unclear.refused(), (400, "BAD_REQUEST".to_owned()));
    gemini.answered(json!({"option": 2})).await;
    let prompt = gemini.prompt("setup").await;
    assert_eq!(prompt["subtype"], "api_key", "{prompt}");
    gemini.answered(json!({"accept": true})).await;
    gemini.until("idle").await;
    works(&gemini).await;
    assert_eq!(gemini.model.last().credential.as_deref(), Some(API_KEY));
}

#[tokio::test]
async fn a_key_is_typed_in_the_place_of_whatever_stands_there() {
    // One in the environment would be used instead, whatever is typed.
    let options = Options::new().undecided().variable("GEMINI_API_KEY", "").size(SMALL);
    let (gemini, _) = shown(options, "auth").await;
    gemini.answered(json!({"option": 2})).await;
    let prompt = gemini.prompt("setup").await;
    assert_eq!(prompt["subtype"], "api_key", "{prompt}");
    let nothing = gemini.respond_with(json!({"accept": true})).await.refused();
    assert_eq!(nothing, (400, "BAD_REQUEST".to_owned()), "there is no key to be accepted");
    let no_key = gemini.respond_with(json!({"text": "two words"})).await.refused();
    assert_eq!(no_key, (400, "BAD_REQUEST".to_owned()), "another key than this one would be sent");
    gemini.types("a-key-that-nobody-wants").await;
    gemini.shows("a-key-that-nobody-wants").await;
    gemini.answered(json!({"text": API_KEY})).await;
    gemini.until("idle").await;
    works(&gemini).await;
    assert_eq!(gemini.model.last().credential.as_deref(), Some(API_KEY));
}

#[tokio::test]
async fn the_way_back_is_left_by_a_no() {
    let gemini = Gemini::ready(Script::new().text("Hello.")).await;
    works(&gemini).await;
    gemini.keys(&["escape"]).await;
    gemini.shows("Press Esc again").await;
    gemini.keys(&["escape"]).await;
    let prompt = gemini.prompt("setup").await;
    assert_eq!(prompt["subtype"], "rewind", "{prompt}");
    let refused = gemini.respond_with(json!({"accept": true})).await.refused();
    assert_eq!(refused, (400, "BAD_REQUEST".to_owned()), "what Enter would take back is not known");
    gemini.answered(json!({"accept": false})).await;
    gemini.until("idle").await;
    gemini.rests().await;
    gemini.told("And now?").await;
    gemini.goes(["working", "idle"]).await;
    assert_eq!(gemini.model.last().said(), ["Hello", "And now?"], "nothing was taken back");
}

#[tokio::test]
async fn a_pristine_agent_gets_not_one_word_more_than_it_was_given() {
    let gemini = Gemini::ready(Options::new().groom("pristine").word("--screen-reader=false")).await;
    let pid = gemini.coop.child_pid().await;
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).filter(|word| !word.is_empty()).collect();
    assert_eq!(words.last(), Some(&b"--screen-reader=false".as_slice()));
    assert!(!words.iter().any(|word| word.starts_with(b"--session-id")), "{words:?}");
    assert!(!gemini.house.config().join("extensions").exists());
    works(&gemini).await;
}

#[tokio::test]
async fn the_extension_does_nothing_to_an_agent_without_coop() {
    let first = Gemini::ready(Script::new()).await;
    works(&first).await;
    first.commanded("/quit").await;
    first.ended().await;
    assert!(first.house.config().join("extensions/coop/hooks/hooks.json").exists(), "it stays");
    let options = Options::script(Script::new().text("I am alone.")).house(&first.house).groom("pristine");
    let alone = Gemini::ready(options).await;
    works(&alone).await;
    assert!(alone.record.events("start").is_empty(), "no hook has called");
}

/// Gemini takes settings for one session from a place that is root's alone; other users cannot have them, and are told.
#[tokio::test]
async fn servers_and_settings_of_the_orchestrator_reach_this_session() {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let state = std::path::PathBuf::from(format!("/run/coop-test-{}", std::process::id()));
    let options = Options::new().prepare(|house| {
        std::fs::write(house.beside("server.py"), SERVER).unwrap();
        write_json(&house.beside("seen"), &json!(null));
    });
    let house = std::sync::Arc::new(super::House::new());
    let server = json!({"command": "python3", "args": [house.beside("server.py"), house.beside("started")]});
    let hook = json!([{"hooks": [{"type": "command", "command": "touch hook-start"}]}]);
    let config = json!({"mcp": {"test": server}, "settings": {"hooks": {"SessionStart": hook}}});
    let options = options.house(&house).agent_config(config);
    if !is_root || std::fs::create_dir(&state).is_err() {
        let gemini = Gemini::ready(options).await;
        works(&gemini).await;
        assert!(gemini.coop.place.log.text().contains("not given to Gemini CLI"));
        return;
    }
    let gemini = Gemini::ready(options.variable("XDG_STATE_HOME", state.to_str().unwrap())).await;
    assert!(!house.config().join("extensions").exists(), "nothing stays in the user's directory");
    let poke = Script::new().tool("mcp_test_poke", json!({"what": "it"})).text("Done.");
    let prompt = gemini.asked(poke, "permission").await;
    assert_eq!((&prompt["subtype"], &prompt["tool"]), (&json!("mcp"), &json!("mcp_test_poke")), "{prompt}");
    gemini.answered(json!({"accept": true})).await;
    gemini.goes(["working", "idle"]).await;
    assert!(gemini.learned().contains("poked it"), "{}", gemini.learned());
    assert!(house.beside("started").exists() && gemini.has("hook-start"));
    drop(gemini);
    let _ = std::fs::remove_dir_all(&state);
}
