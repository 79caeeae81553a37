//! Permissions: what is accepted happens, what is refused does not, and the agent is told which.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Claude, House, Options, SMALL, WIDE};
use crate::model::Script;

/// How Claude Code 2.1.197 tells the model that the user said no.
const REFUSED: &str = "The user doesn't want to proceed with this tool use.";

/// A session that shows the permission dialog of this script's first tool, and the dialog.
async fn asked(options: impl Into<Options>) -> (Claude, Value) {
    let claude = Claude::ready(options).await;
    claude.told("Do it").await;
    let prompt = claude.prompt("permission").await;
    (claude, prompt)
}

fn labels(prompt: &Value) -> Vec<&str> {
    prompt["options"].as_array().unwrap().iter().map(|label| label.as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_accepted_command_runs() {
    for size in [WIDE, SMALL] {
        let script = Script::new().bash("touch marker && echo touched").text("Done.");
        let (claude, prompt) = asked(Options::script(script).size(size)).await;
        assert_eq!((&prompt["subtype"], &prompt["tool"]), (&json!("tool"), &json!("Bash")), "{prompt}");
        assert!(prompt["input"].as_str().unwrap().contains("touch marker"), "{prompt}");
        assert_eq!(labels(&prompt).len(), 3, "{prompt}");
        assert_eq!((labels(&prompt)[0], labels(&prompt)[2]), ("Yes", "No"));
        assert_eq!(prompt["options_fallback"], false);
        assert!(!claude.has("marker"));
        let answer = claude.answered(json!({"accept": true})).await;
        assert_eq!(answer["prompt_type"], "permission");
        claude.goes(["working", "idle"]).await;
        assert!(claude.has("marker"));
        assert_eq!(claude.model.results()[0].text, "touched");
    }
}

#[tokio::test]
async fn a_refused_command_does_not_run_and_ends_the_turn() {
    for size in [WIDE, SMALL] {
        let script = Script::new().bash("touch marker").text("I understand.");
        let (claude, _) = asked(Options::script(script).size(size)).await;
        claude.answered(json!({"accept": false})).await;
        claude.goes(["idle"]).await;
        claude.rests().await;
        assert!(!claude.has("marker"));
        assert!(claude.model.results().is_empty(), "the model is not asked again");
        claude.told("Leave it").await;
        claude.goes(["working", "idle"]).await;
        assert!(claude.model.results()[0].text.starts_with(REFUSED));
        assert!(!claude.has("marker"));
    }
}

#[tokio::test]
async fn words_with_a_refusal_reach_the_model_and_the_turn_goes_on() {
    for size in [WIDE, SMALL] {
        let script = Script::new().bash("touch marker").text("Another way then.");
        let (claude, _) = asked(Options::script(script).size(size)).await;
        claude.answered(json!({"accept": false, "text": "Not that file, another one"})).await;
        claude.goes(["working", "idle"]).await;
        claude.rests().await;
        assert!(!claude.has("marker"));
        let result = &claude.model.results()[0];
        assert!(result.is_error && result.text.contains("Not that file, another one"), "{result:?}");
    }
}

#[tokio::test]
async fn words_with_a_yes_reach_the_model_beside_what_the_command_said() {
    let script = || Options::script(Script::new().bash("touch marker && echo touched").text("And tested."));
    for options in [script().size(WIDE), script().size(SMALL), script().groom("pristine")] {
        let (claude, _) = asked(options).await;
        let answer = claude.answered(json!({"accept": true, "text": "then run the 2 tests"})).await;
        assert_ne!(answer["ends_turn"], true, "{answer}");
        claude.until("idle").await;
        claude.rests().await;
        assert!(claude.has("marker"));
        let result = &claude.model.results()[0];
        assert!(!result.is_error && result.text.contains("touched"), "{result:?}");
        assert!(claude.model.last().mentions("then run the 2 tests"), "{}", claude.model.summary());
    }
}

#[tokio::test]
async fn every_option_does_what_its_label_says() {
    for (option, runs) in [(1, true), (2, true), (3, false)] {
        let (claude, prompt) = asked(Script::new().bash("touch marker").text("Done.")).await;
        assert!(labels(&prompt)[1].starts_with("Yes, and"), "{prompt}");
        claude.answered(json!({"option": option})).await;
        claude.until("idle").await;
        assert_eq!(claude.has("marker"), runs, "option {option}");
    }
}

#[tokio::test]
async fn the_second_option_is_remembered() {
    let script = Script::new().bash("touch one").text("One.").bash("touch two").text("Two.");
    let (claude, _) = asked(script).await;
    claude.answered(json!({"option": 2})).await;
    claude.goes(["working", "idle"]).await;
    claude.told("Again").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert!(claude.has("one") && claude.has("two"));
}

#[tokio::test]
async fn an_accepted_file_is_written() {
    for size in [WIDE, SMALL] {
        let house = Arc::new(House::new());
        let script = Script::new().write(house.at("new.txt"), "line one\nline two\n").text("Done.");
        let (claude, prompt) = asked(Options::script(script).house(&house).size(size)).await;
        assert_eq!((&prompt["subtype"], &prompt["tool"]), (&json!("edit"), &json!("Write")), "{prompt}");
        assert!(!claude.has("new.txt"));
        claude.answered(json!({"accept": true})).await;
        claude.goes(["working", "idle"]).await;
        assert_eq!(claude.reads("new.txt"), "line one\nline two\n");
    }
}

#[tokio::test]
async fn a_refused_file_is_not_written() {
    let house = Arc::new(House::new());
    let script = Script::new().write(house.at("new.txt"), "text\n");
    let (claude, _) = asked(Options::script(script).house(&house)).await;
    claude.answered(json!({"accept": false})).await;
    claude.goes(["idle"]).await;
    claude.rests().await;
    assert!(!claude.has("new.txt"));
}

/// Reads a file and changes a word in it.
fn edit(house: &Arc<House>) -> Options {
    std::fs::write(house.at("old.txt"), "alpha\n").unwrap();
    Options::script(Script::new().edit(house.at("old.txt"), "alpha", "beta").text("Done.")).house(house)
}

#[tokio::test]
async fn an_accepted_edit_is_made() {
    for size in [WIDE, SMALL] {
        let (claude, prompt) = asked(edit(&Arc::new(House::new())).size(size)).await;
        assert_eq!((&prompt["subtype"], &prompt["tool"]), (&json!("edit"), &json!("Edit")), "{prompt}");
        claude.answered(json!({"accept": true})).await;
        claude.goes(["working", "idle"]).await;
        assert_eq!(claude.reads("old.txt"), "beta\n");
    }
}

#[tokio::test]
async fn an_edit_can_be_refused() {
    let (claude, _) = asked(edit(&Arc::new(House::new()))).await;
    claude.answered(json!({"accept": false})).await;
    claude.goes(["idle"]).await;
    claude.rests().await;
    assert_eq!(claude.reads("old.txt"), "alpha\n");
}

/// Fetches from a port at which nobody listens, without asking its maker whether the address is good.
fn fetch(paths: &[&str]) -> Options {
    let call =
        |path: &&str| ("WebFetch", json!({"url": format!("http://127.0.0.1:9/{path}"), "prompt": "What is it?"}));
    let calls: Vec<_> = paths.iter().map(call).collect();
    let options = Options::script(Script::new().tools(&calls).text("Done."));
    options.agent_config(json!({"settings": {"skipWebFetchPreflight": true}}))
}

#[tokio::test]
async fn an_accepted_fetch_is_tried() {
    let (claude, prompt) = asked(fetch(&["a"])).await;
    assert_eq!((&prompt["subtype"], &prompt["tool"]), (&json!("tool"), &json!("WebFetch")), "{prompt}");
    assert_eq!(labels(&prompt).len(), 3);
    claude.answered(json!({"accept": true})).await;
    claude.goes(["working", "idle"]).await;
    assert!(!claude.model.results()[0].text.starts_with(REFUSED), "{:?}", claude.model.results());
}

#[tokio::test]
async fn a_refused_fetch_is_not_tried() {
    let (claude, _) = asked(fetch(&["a"])).await;
    claude.answered(json!({"accept": false})).await;
    claude.goes(["idle"]).await;
    claude.rests().await;
    assert!(claude.model.results().is_empty());
}

#[tokio::test]
async fn every_option_of_a_fetch_does_what_its_label_says() {
    for (option, label, is_tried) in [(1, "Yes", true), (2, "Yes, and don't ask again", true), (3, "No, and", false)] {
        let (claude, prompt) = asked(fetch(&["a"])).await;
        assert!(labels(&prompt)[option - 1].replace('’', "'").starts_with(label), "{prompt}");
        claude.answered(json!({"option": option})).await;
        claude.until("idle").await;
        claude.rests().await;
        let results = claude.model.results();
        assert_eq!(results.first().is_some_and(|result| !result.text.starts_with(REFUSED)), is_tried, "{results:?}");
    }
}

/// Refuses a, with words, and accepts b, whichever is asked after the one that was answered; gives its id.
async fn sort_out(claude: &Claude, answered: &Value) -> Value {
    let asks = |state: &Value| state["prompt"]["ready"] == true && state["prompt"]["id"] != *answered;
    loop {
        let prompt = claude.eventually("/api/v1/agent/state", asks).await["prompt"].clone();
        let refuse = prompt["input"].as_str().unwrap().contains("127.0.0.1:9/a");
        let url = if refuse { "127.0.0.1:9/a" } else { "127.0.0.1:9/b" };
        assert!(prompt["screen_lines"].to_string().contains(url), "what is told must be what is drawn: {prompt}");
        let mut answer = if refuse { json!({"accept": false, "text": "Not a"}) } else { json!({"accept": true}) };
        answer["prompt_id"] = prompt["id"].clone();
        answer["timeout_ms"] = json!(crate::WITNESS_MS);
        let told = claude.respond_with(answer).await;
        // It may draw the other in its place at any moment; then nothing was typed.
        if told.status == 409 {
            continue;
        }
        assert_eq!(told.ok()["delivered"], true);
        return prompt["id"].clone();
    }
}

#[tokio::test]
async fn two_dialogs_at_once_are_answered_each_for_itself() {
    // The agent asks for both in the same moment and draws one; which comes first is its own affair.
    let (claude, _) = asked(fetch(&["a", "b"])).await;
    let first = sort_out(&claude, &Value::Null).await;
    sort_out(&claude, &first).await;
    claude.until("idle").await;
    claude.rests().await;
    let results = claude.model.results();
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(result.text.contains("Not a"), result.input["url"] == "http://127.0.0.1:9/a", "{result:?}");
    }
}
