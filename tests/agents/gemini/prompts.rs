//! Permissions: what is accepted happens, what is refused does not, and the agent is told which.

use std::sync::Arc;

use serde_json::{Value, json};

use super::scenes::labels;
use super::{Gemini, House, Options, SMALL, WIDE};
use crate::model::Script;

#[tokio::test]
async fn an_accepted_command_runs_and_a_refused_one_does_not() {
    for size in [WIDE, SMALL] {
        let gemini = Gemini::ready(Options::new().size(size)).await;
        let prompt = gemini.asked(Script::new().bash("touch marker && echo touched").text("Done."), "permission").await;
        assert_eq!((&prompt["subtype"], &prompt["tool"]), (&json!("tool"), &json!("run_shell_command")), "{prompt}");
        assert!(prompt["input"].as_str().unwrap().contains("touch marker"), "{prompt}");
        assert_eq!(labels(&prompt), ["Allow once", "Allow for this session", "No, suggest changes (esc)"]);
        assert_eq!(prompt["options_fallback"], false);
        assert!(!gemini.has("marker"));
        let answer = gemini.answered(json!({"accept": true})).await;
        assert_eq!((&answer["prompt_type"], &answer["ends_turn"]), (&json!("permission"), &Value::Null), "{answer}");
        gemini.goes(["working", "idle"]).await;
        assert!(gemini.has("marker") && gemini.learned().contains("touched"), "{}", gemini.learned());

        gemini.asked(Script::new().bash("touch refused"), "permission").await;
        let answer = gemini.answered(json!({"accept": false})).await;
        assert_eq!(answer["ends_turn"], true, "{answer}");
        gemini.goes(["idle"]).await;
        gemini.rests().await;
        assert!(!gemini.has("refused"));
        assert_eq!(gemini.model.results().len(), 1, "the model is not asked again");
        gemini.model.plays(Script::new().text("I understand."));
        gemini.told("Leave it").await;
        gemini.goes(["working", "idle"]).await;
        assert_eq!(gemini.model.results().len(), 1, "nor told of it: what was refused is taken out of its memory");
        assert!(!gemini.has("refused"));
    }
}

#[tokio::test]
async fn words_cannot_go_with_a_refusal_and_nothing_is_typed() {
    let gemini = Gemini::ready(Script::new()).await;
    let prompt = gemini.asked(Script::new().bash("touch marker"), "permission").await;
    let refused = gemini.respond_with(json!({"accept": false, "text": "Another one"})).await;
    assert!(refused.text().contains("next message"), "{}", refused.text());
    assert_eq!(refused.refused(), (400, "BAD_REQUEST".to_owned()));
    gemini.rests().await;
    assert_eq!(gemini.state().await["prompt"]["id"], prompt["id"]);
    let answer = gemini.answered(json!({"option": 3})).await;
    assert_eq!(answer["ends_turn"], true, "{answer}");
    gemini.goes(["idle"]).await;
    assert!(!gemini.has("marker"));
}

#[tokio::test]
async fn the_second_option_is_remembered() {
    let gemini = Gemini::ready(Script::new()).await;
    gemini.asked(Script::new().bash("touch one").text("One.").bash("touch two").text("Two."), "permission").await;
    gemini.answered(json!({"option": 2})).await;
    gemini.goes(["working", "idle"]).await;
    gemini.told("Again").await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    assert!(gemini.has("one") && gemini.has("two"));
}

#[tokio::test]
async fn an_accepted_file_is_written_and_a_refused_edit_is_not_made() {
    for size in [WIDE, SMALL] {
        let house = Arc::new(House::new());
        let gemini = Gemini::ready(Options::new().house(&house).size(size)).await;
        let write = Script::new().write(house.at("new.txt"), "alpha\n").text("Done.");
        let prompt = gemini.asked(write, "permission").await;
        assert_eq!((&prompt["subtype"], &prompt["tool"]), (&json!("edit"), &json!("write_file")), "{prompt}");
        assert_eq!(labels(&prompt).len(), 4, "{prompt}");
        assert!(!gemini.has("new.txt"));
        gemini.answered(json!({"accept": true})).await;
        gemini.goes(["working", "idle"]).await;
        assert_eq!(gemini.reads("new.txt"), "alpha\n");

        let edit = || Script::new().edit(house.at("new.txt"), "alpha", "beta").text("Done.");
        let prompt = gemini.asked(edit(), "permission").await;
        assert_eq!((&prompt["subtype"], &prompt["tool"]), (&json!("edit"), &json!("replace")), "{prompt}");
        let editor = gemini.respond_with(json!({"option": 3})).await;
        assert_eq!(editor.refused(), (400, "BAD_REQUEST".to_owned()), "nobody sees an editor");
        gemini.answered(json!({"accept": false})).await;
        gemini.goes(["idle"]).await;
        gemini.rests().await;
        assert_eq!(gemini.reads("new.txt"), "alpha\n");
        gemini.asked(edit(), "permission").await;
        gemini.answered(json!({"accept": true})).await;
        gemini.goes(["working", "idle"]).await;
        assert_eq!(gemini.reads("new.txt"), "beta\n");
    }
}

#[tokio::test]
async fn a_fetch_is_tried_when_it_is_accepted() {
    let gemini = Gemini::ready(Script::new()).await;
    // Nobody listens at that port of this machine.
    let fetch = || Script::new().tool("web_fetch", json!({"prompt": "Read http://127.0.0.1:9/a"})).text("Done.");
    let prompt = gemini.asked(fetch(), "permission").await;
    assert_eq!((&prompt["subtype"], &prompt["tool"]), (&json!("tool"), &json!("web_fetch")), "{prompt}");
    assert!(prompt["input"].as_str().unwrap().contains("127.0.0.1:9/a"), "{prompt}");
    gemini.answered(json!({"accept": false})).await;
    gemini.goes(["idle"]).await;
    gemini.rests().await;
    assert!(gemini.model.results().is_empty(), "the model is not asked again");
    gemini.asked(fetch(), "permission").await;
    gemini.answered(json!({"accept": true})).await;
    gemini.goes(["working", "idle"]).await;
    assert_eq!(gemini.model.results().len(), 1, "{:?}", gemini.model.results());
}

/// Refuses a command that names a, and accepts others.
async fn sort_out(gemini: &Gemini, prompt: &Value) {
    let name = if prompt["input"].as_str().unwrap().contains("touch a") { "touch a" } else { "touch b" };
    let shown = prompt["screen_lines"].to_string();
    assert!(shown.contains(name), "the dialog that is told must be the one that is drawn: {prompt}");
    gemini.answered(json!({"accept": name == "touch b", "prompt_id": prompt["id"]})).await;
}

#[tokio::test]
async fn of_two_dialogs_the_one_that_is_drawn_is_told() {
    let call = |name: &str| ("run_shell_command", json!({"command": format!("touch {name}"), "description": name}));
    let gemini = Gemini::ready(Script::new()).await;
    let first = gemini.asked(Script::new().tools(&[call("b"), call("a")]), "permission").await;
    sort_out(&gemini, &first).await;
    let second = gemini.prompt("permission").await;
    assert_ne!(first["id"], second["id"]);
    sort_out(&gemini, &second).await;
    gemini.until("idle").await;
    gemini.rests().await;
    assert!(!gemini.has("a"), "it was refused");
}
