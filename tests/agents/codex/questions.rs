//! Questions: the model gets exactly the answer that was given.

use serde_json::{Value, json};

use super::{Codex, Options, SMALL, WIDE};
use crate::model::{Question, Script};
use crate::promises::{which_database, which_language};

/// A session that shows these questions, and the dialog.
async fn asked(questions: Vec<Question>, size: (u16, u16)) -> (Codex, Value) {
    let script = Script::new().question(questions).text("Thank you.").text("Go on then.");
    let codex = Codex::ready(Options::script(script).size(size).asking()).await;
    codex.told("Ask me").await;
    let prompt = codex.prompt("question").await;
    (codex, prompt)
}

/// What the model was told, question by question, when the turn is over.
async fn learned(codex: &Codex) -> Vec<Value> {
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    let result = codex.model.results().remove(0);
    let told: Value = serde_json::from_str(&result.text).unwrap_or_else(|_| panic!("{result:?}"));
    let answers = told["answers"].as_object().unwrap();
    (0..answers.len()).map(|number| answers[&format!("question_{number}")]["answers"].clone()).collect()
}

#[tokio::test]
async fn one_question_is_answered_by_option() {
    for size in [WIDE, SMALL] {
        let (codex, prompt) = asked(vec![which_database()], size).await;
        assert_eq!(prompt["tool"], "request_user_input");
        assert_eq!(prompt["question_current"], 0);
        let question = &prompt["questions"][0];
        assert_eq!(question["question"], "Which database should we use?");
        assert_eq!((&question["header"], &question["multi_select"]), (&json!("Database"), &json!(false)));
        assert_eq!(question["options"], json!(["PostgreSQL", "SQLite", "MySQL"]));
        assert_eq!(question["descriptions"][1], "About SQLite");
        let answer = codex.answered(json!({"option": 2})).await;
        assert_eq!(answer["prompt_type"], "question");
        assert_eq!(learned(&codex).await, [json!(["SQLite"])]);
    }
}

#[tokio::test]
async fn one_question_is_answered_in_own_words() {
    for (size, words) in [(WIDE, "DuckDB, als Datei – gern später"), (SMALL, "2")] {
        let (codex, _) = asked(vec![which_database()], size).await;
        codex.answered(json!({"text": words})).await;
        assert_eq!(learned(&codex).await, [json!(["None of the above", format!("user_note: {words}")])]);
    }
}

#[tokio::test]
async fn one_question_is_answered_as_a_list_of_one() {
    let (codex, _) = asked(vec![which_database()], WIDE).await;
    codex.answered(json!({"answers": [{"option": 3}]})).await;
    assert_eq!(learned(&codex).await, [json!(["MySQL"])]);
}

#[tokio::test]
async fn several_questions_are_answered_in_order() {
    for size in [WIDE, SMALL] {
        let (codex, prompt) = asked(vec![which_database(), which_language()], size).await;
        assert_eq!(prompt["questions"].as_array().unwrap().len(), 2);
        codex.answered(json!({"answers": [{"option": 2}, {"option": 1}]})).await;
        assert_eq!(learned(&codex).await, [json!(["SQLite"]), json!(["Rust"])]);
    }
}

#[tokio::test]
async fn several_questions_take_words_and_options() {
    for answers in [json!([{"text": "None at all"}, {"option": 2}]), json!([{"option": 2}, {"text": "None at all"}])] {
        let (codex, _) = asked(vec![which_database(), which_language()], WIDE).await;
        codex.answered(json!({ "answers": answers })).await;
        let own = json!(["None of the above", "user_note: None at all"]);
        let expected = if answers[0]["text"].is_string() { [own, json!(["Go"])] } else { [json!(["SQLite"]), own] };
        assert_eq!(learned(&codex).await, expected);
    }
}

#[tokio::test]
async fn a_question_can_be_declined_which_ends_the_turn() {
    let (codex, _) = asked(vec![which_database()], WIDE).await;
    codex.answered(json!({"accept": false})).await;
    codex.until("idle").await;
    codex.rests().await;
    assert!(codex.model.results().is_empty(), "the model is not asked again");
    codex.told("Then without").await;
    codex.goes(["working", "idle"]).await;
    assert!(codex.model.results()[0].text.contains("aborted"), "{:?}", codex.model.results());
}

#[tokio::test]
async fn a_question_answered_by_hand_is_over() {
    let (codex, _) = asked(vec![which_database()], WIDE).await;
    codex.keys(&["3"]).await;
    assert_eq!(learned(&codex).await, [json!(["MySQL"])]);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_refused_and_the_dialog_stays() {
    let (codex, prompt) = asked(vec![which_database()], WIDE).await;
    for wrong in [json!({"option": 0}), json!({"option": 9}), json!({"answers": [{"option": 9}]})] {
        let refused = codex.respond_with(wrong.clone()).await.refused();
        assert_eq!(refused, (400, "BAD_REQUEST".to_owned()), "{wrong}");
    }
    codex.answered(json!({"option": 1, "prompt_id": prompt["id"]})).await;
    assert_eq!(learned(&codex).await, [json!(["PostgreSQL"])]);
}
