//! Answers without hooks: each key is seen to have landed, and the model gets exactly the answer that was given.

use serde_json::{Value, json};

use super::{Claude, Options};
use crate::model::{Question, Script};
use crate::promises::{which_database, which_features, which_language};

async fn without_hooks(script: Script) -> Claude {
    let claude = Claude::ready(Options::script(script).groom("pristine")).await;
    claude.told("Go").await;
    claude
}

async fn asked(questions: Vec<Question>) -> Claude {
    let claude = without_hooks(Script::new().question(questions).text("Thank you.")).await;
    claude.prompt("question").await;
    claude
}

/// What the model was told, when the turn is over.
async fn learned(claude: &Claude) -> String {
    claude.until("idle").await;
    claude.settles().await;
    claude.model.results().remove(0).text
}

/// The page of the dialog with this number, which is a prompt of its own.
async fn page(claude: &Claude, number: u64) -> Value {
    let is_shown =
        move |state: &Value| state["prompt"]["question_current"] == number && state["prompt"]["ready"] == true;
    claude.eventually("/api/v1/agent/state", is_shown).await
}

#[tokio::test]
async fn a_question_is_answered_in_own_words() {
    for words in ["DuckDB, als Datei", "2"] {
        let claude = asked(vec![which_database()]).await;
        claude.answered(json!({"text": words})).await;
        let learned = learned(&claude).await;
        assert!(learned.contains(&format!("\"Which database should we use?\"=\"{words}\"")), "{learned}");
    }
}

#[tokio::test]
async fn two_questions_are_answered_one_by_one_and_sent() {
    let claude = asked(vec![which_database(), which_language()]).await;
    claude.answered(json!({"option": 2})).await;
    page(&claude, 1).await;
    claude.answered(json!({"option": 1})).await;
    page(&claude, 2).await;
    claude.answered(json!({"accept": true})).await;
    let learned = learned(&claude).await;
    assert!(learned.contains("=\"SQLite\"") && learned.contains("\"Which language?\"=\"Rust\""), "{learned}");
}

#[tokio::test]
async fn several_options_are_ticked_and_own_words_are_one_of_them() {
    let claude = asked(vec![which_features()]).await;
    claude.answered(json!({"answers": [{"options": [1, 3]}]})).await;
    assert!(learned(&claude).await.contains("\"Which features do you want?\"=\"Auth, Export\""));
    let claude = asked(vec![which_features()]).await;
    claude.answered(json!({"text": "2 kinds of billing"})).await;
    let learned = learned(&claude).await;
    assert!(learned.contains("\"Which features do you want?\"=\"2 kinds of billing\""), "{learned}");
}

#[tokio::test]
async fn a_question_can_be_talked_about_instead() {
    let claude = asked(vec![which_database()]).await;
    let options = claude.state().await["prompt"]["options"].as_array().unwrap().len();
    claude.answered(json!({"option": options})).await;
    learned(&claude).await;
    let screen = claude.screen().await;
    assert!(screen.contains("declined to answer") && screen.contains("Thank you."), "the turn goes on: {screen}");
}

#[tokio::test]
async fn a_refusal_tells_its_reason_and_the_turn_goes_on() {
    let claude = without_hooks(Script::new().bash("touch marker").text("Then not.")).await;
    claude.prompt("permission").await;
    let answer = claude.answered(json!({"accept": false, "text": "use 1 other file"})).await;
    assert_eq!(answer["ends_turn"], false, "{answer}");
    assert!(learned(&claude).await.contains("use 1 other file"));
    assert!(!claude.has("marker"));
}

#[tokio::test]
async fn a_refusal_without_a_reason_ends_the_turn() {
    let claude = without_hooks(Script::new().bash("touch marker").text("Never said.")).await;
    claude.prompt("permission").await;
    let answer = claude.answered(json!({"accept": false})).await;
    assert_eq!(answer["ends_turn"], true, "{answer}");
    claude.until("idle").await;
    assert!(claude.model.results().is_empty() && !claude.has("marker"));
}
