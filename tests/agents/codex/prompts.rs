//! Permissions: what is accepted happens, what is refused does not, and the agent is told which.

use std::sync::Arc;

use serde_json::{Value, json};

use super::scenes::outside;
use super::{Codex, House, Options, SMALL, WIDE};
use crate::model::Script;

/// A session that asks for this script's first tool, and what it asks.
async fn asked(options: impl Into<Options>) -> (Codex, Value) {
    let codex = Codex::ready(options).await;
    codex.told("Do it").await;
    let prompt = codex.prompt("permission").await;
    (codex, prompt)
}

fn labels(prompt: &Value) -> Vec<&str> {
    prompt["options"].as_array().unwrap().iter().map(|label| label.as_str().unwrap()).collect()
}

/// What the first tool gave back.
fn result(codex: &Codex) -> String {
    codex.model.results().remove(0).text
}

#[tokio::test]
async fn an_accepted_command_runs() {
    for size in [WIDE, SMALL] {
        let script = Script::new().bash("touch marker && echo touched").text("Done.");
        let (codex, prompt) = asked(Options::script(script).size(size)).await;
        assert_eq!((&prompt["subtype"], &prompt["tool"]), (&json!("tool"), &json!("Bash")), "{prompt}");
        assert!(prompt["input"].as_str().unwrap().contains("touch marker"), "{prompt}");
        assert_eq!(labels(&prompt).len(), 3, "{prompt}");
        // No dialog is drawn while the hook waits.
        assert_eq!(prompt["options_fallback"], true);
        assert!(!codex.has("marker"));
        let answer = codex.answered(json!({"accept": true})).await;
        assert_eq!(answer["prompt_type"], "permission");
        codex.goes(["working", "idle"]).await;
        assert!(codex.has("marker") && result(&codex).ends_with("touched\n"), "{}", result(&codex));
    }
}

#[tokio::test]
async fn a_refused_command_does_not_run_and_the_turn_goes_on() {
    for size in [WIDE, SMALL] {
        let script = Script::new().bash("touch marker").text("I understand.");
        let (codex, _) = asked(Options::script(script).size(size)).await;
        let answer = codex.answered(json!({"accept": false})).await;
        assert_eq!(answer["receipt"]["witness"], "hooks: answered", "{answer}");
        assert_eq!(answer["ends_turn"], false, "{answer}");
        codex.goes(["working", "idle"]).await;
        codex.rests().await;
        assert!(!codex.has("marker") && result(&codex).contains("The user refused this."), "{}", result(&codex));
    }
}

#[tokio::test]
async fn words_with_a_refusal_reach_the_model_and_the_turn_goes_on() {
    for size in [WIDE, SMALL] {
        let script = Script::new().bash("touch marker").text("Another way then.");
        let (codex, _) = asked(Options::script(script).size(size)).await;
        let answer = codex.answered(json!({"accept": false, "text": "Not that file, \"another\" one"})).await;
        assert_eq!(answer["ends_turn"], false, "{answer}");
        codex.goes(["working", "idle"]).await;
        codex.rests().await;
        assert!(!codex.has("marker"));
        assert!(result(&codex).contains("Not that file, "), "{}", result(&codex));
    }
}

#[tokio::test]
async fn every_option_does_what_its_label_says() {
    for (option, runs) in [(1, true), (2, true), (3, false)] {
        let (codex, prompt) = asked(Script::new().bash("touch marker").text("Done.")).await;
        assert!(labels(&prompt)[1].starts_with("Yes, and don't ask again"), "{prompt}");
        codex.answered(json!({"option": option})).await;
        codex.until("idle").await;
        assert_eq!(codex.has("marker"), runs, "option {option}");
    }
}

#[tokio::test]
async fn the_second_option_is_remembered() {
    let script = Script::new().bash("touch one").text("One.").bash("touch one two").text("Two.");
    let (codex, _) = asked(script).await;
    codex.answered(json!({"option": 2})).await;
    codex.goes(["working", "idle"]).await;
    codex.told("Again").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert!(codex.has("one") && codex.has("two"));
}

/// Without hooks Codex's own dialog is there, and no other way.
#[tokio::test]
async fn the_dialog_itself_is_answered_where_no_hook_waits() {
    for (size, answer, runs) in [
        (WIDE, json!({"accept": true}), true),
        (WIDE, json!({"option": 1}), true),
        (WIDE, json!({"accept": false}), false),
        (SMALL, json!({"option": 2}), true),
        (SMALL, json!({"accept": false}), false),
    ] {
        let script = Script::new().bash("touch marker").text("Done.");
        let (codex, prompt) = asked(Options::script(script).size(size).untouched()).await;
        assert_eq!((&prompt["subtype"], &prompt["tool"]), (&json!("tool"), &json!("Bash")), "{prompt}");
        assert_eq!((labels(&prompt).len(), &prompt["options_fallback"]), (3, &json!(false)), "{prompt}");
        let words = codex.respond_with(json!({"accept": false, "text": "Because"})).await;
        assert_eq!(words.refused(), (400, "BAD_REQUEST".to_owned()), "nobody could be told");
        let answered = codex.answered(answer.clone()).await;
        assert!(!answered["receipt"]["witness"].as_str().unwrap().starts_with("hooks"), "{answered}");
        let ends_turn = if runs { Value::Null } else { json!(true) };
        assert_eq!(answered["ends_turn"], ends_turn, "{answered}");
        codex.until("idle").await;
        codex.rests().await;
        assert_eq!(codex.has("marker"), runs, "{answer}");
        assert_eq!(codex.model.results().len(), usize::from(runs), "refused by key, the turn ends");
    }
}

/// While a hook waits Codex draws no dialog, and somebody at a terminal must have one.
#[tokio::test]
async fn who_sits_at_a_terminal_sees_the_dialog() {
    for sits_there_before in [true, false] {
        let codex =
            Codex::ready(Script::new().bash("touch marker").text("Done.").bash("touch other").text("Done.")).await;
        let sit_down = async || {
            let mut terminal = codex.coop.place.ws("/api/v1/attach").await;
            terminal.say(json!({"event": "hello", "cols": 200, "rows": 50})).await;
            terminal.next_event("ready").await;
            terminal
        };
        let mut terminal = if sits_there_before { Some(sit_down().await) } else { None };
        codex.told("Do it").await;
        let prompt = codex.prompt("permission").await;
        if terminal.is_none() {
            terminal = Some(sit_down().await);
        }
        codex.shows("Would you like to run the following command?").await;
        assert_eq!(codex.state().await["prompt"]["id"], prompt["id"]);
        codex.keys(&["y"]).await;
        codex.goes(["working", "idle"]).await;
        assert!(codex.has("marker"));
        terminal.unwrap().close().await;
        codex.told("Once more").await;
        codex.prompt("permission").await;
        codex.answered(json!({"accept": false, "text": "Nobody is there"})).await;
        codex.goes(["working", "idle"]).await;
        assert!(!codex.has("other"));
    }
}

#[tokio::test]
async fn an_accepted_file_is_written() {
    for (size, untouched) in [(WIDE, false), (SMALL, true)] {
        let house = Arc::new(House::new());
        let script = Script::new().write(house.at("new.txt"), "line one\nline two\n").text("Done.");
        let options = Options::script(script).house(&house).size(size).word("--sandbox").word("read-only");
        let (codex, prompt) = asked(if untouched { options.untouched() } else { options }).await;
        assert_eq!((&prompt["subtype"], &prompt["tool"]), (&json!("edit"), &json!("apply_patch")), "{prompt}");
        assert!(!codex.has("new.txt"));
        codex.answered(json!({"accept": true})).await;
        codex.goes(["working", "idle"]).await;
        assert_eq!(codex.reads("new.txt"), "line one\nline two\n");
    }
}

/// Changes a word in a file.
fn edit(house: &Arc<House>) -> Options {
    edits(house, &["alpha", "beta"])
}

/// Makes each word in a file the next one, a turn for each.
fn edits(house: &Arc<House>, words: &[&str]) -> Options {
    std::fs::write(house.at("old.txt"), format!("{}\n", words[0])).unwrap();
    let change = |script: Script, pair: &[&str]| script.edit(house.at("old.txt"), pair[0], pair[1]).text("Done.");
    let script = words.windows(2).fold(Script::new(), change);
    Options::script(script).house(house).word("--sandbox").word("read-only")
}

#[tokio::test]
async fn an_edit_is_made_or_refused() {
    for (accept, text) in [(true, "beta\n"), (false, "alpha\n")] {
        let (codex, prompt) = asked(edit(&Arc::new(House::new()))).await;
        assert_eq!(prompt["subtype"], "edit", "{prompt}");
        codex.answered(json!({ "accept": accept })).await;
        codex.goes(["working", "idle"]).await;
        codex.rests().await;
        assert_eq!(codex.reads("old.txt"), text);
    }
}

#[tokio::test]
async fn an_edit_that_is_accepted_for_its_files_is_not_asked_about_again() {
    for untouched in [false, true] {
        let options = edits(&Arc::new(House::new()), &["alpha", "beta", "gamma"]);
        let (codex, prompt) = asked(if untouched { options.untouched() } else { options }).await;
        assert!(labels(&prompt)[1].starts_with("Yes, and don't ask again"), "{prompt}");
        codex.answered(json!({"option": 2})).await;
        codex.until("idle").await;
        codex.told("Again").await;
        codex.goes(["working", "idle"]).await;
        codex.rests().await;
        assert_eq!(codex.reads("old.txt"), "gamma\n");
    }
}

#[tokio::test]
async fn an_edit_is_refused_by_its_dialog_where_no_hook_waits() {
    for (size, answer) in [(WIDE, json!({"accept": false})), (SMALL, json!({"option": 3}))] {
        let (codex, prompt) = asked(edit(&Arc::new(House::new())).size(size).untouched()).await;
        assert_eq!((&prompt["subtype"], labels(&prompt).len()), (&json!("edit"), 3), "{prompt}");
        let answered = codex.answered(answer).await;
        assert_eq!(answered["ends_turn"], true, "{answered}");
        codex.until("idle").await;
        codex.rests().await;
        assert_eq!(codex.reads("old.txt"), "alpha\n");
        assert!(codex.model.results().is_empty(), "refused by key, the turn ends");
    }
}

#[tokio::test]
async fn two_commands_at_once_are_answered_each_for_itself() {
    let script = Script::new().tools(&[outside("touch one"), outside("touch two")]).text("Done.");
    let (codex, first) = asked(script).await;
    let sort_out = async |prompt: &Value| {
        let refuse = prompt["input"].as_str().unwrap().contains("touch one");
        let answer = if refuse { json!({"accept": false, "text": "Not one"}) } else { json!({"accept": true}) };
        codex.answered(answer).await;
    };
    sort_out(&first).await;
    let second = codex.prompt("permission").await;
    assert_ne!(first["id"], second["id"]);
    sort_out(&second).await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert!(!codex.has("one") && codex.has("two"));
    for result in codex.model.results() {
        assert_eq!(result.text.contains("Not one"), result.input["cmd"] == "touch one", "{result:?}");
    }
}
