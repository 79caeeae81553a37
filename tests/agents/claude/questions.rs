//! Questions: the model gets exactly the answer that was given.

use serde_json::{Value, json};

use super::{Claude, Options, SMALL, WIDE};
use crate::model::{Question, Script};
use crate::promises::{which_database, which_features, which_language};

/// A session that shows these questions, and the dialog.
async fn asked(questions: Vec<Question>, size: (u16, u16)) -> (Claude, Value) {
    let script = Script::new().question(questions).text("Thank you.").text("Go on then.");
    let claude = Claude::ready(Options::script(script).size(size)).await;
    claude.told("Ask me").await;
    let prompt = claude.prompt("question").await;
    (claude, prompt)
}

/// What the model was told, when the turn is over.
async fn learned(claude: &Claude) -> String {
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    let result = claude.model.results().remove(0);
    assert!(!result.is_error, "{result:?}");
    result.text
}

#[tokio::test]
async fn one_question_is_answered_by_option() {
    for size in [WIDE, SMALL] {
        let (claude, prompt) = asked(vec![which_database()], size).await;
        assert_eq!(prompt["tool"], "AskUserQuestion");
        assert_eq!(prompt["question_current"], 0);
        let question = &prompt["questions"][0];
        assert_eq!(question["question"], "Which database should we use?");
        assert_eq!((&question["header"], &question["multi_select"]), (&json!("Database"), &json!(false)));
        assert_eq!(question["options"], json!(["PostgreSQL", "SQLite", "MySQL"]));
        assert_eq!(question["descriptions"][1], "About SQLite");
        let answer = claude.answered(json!({"option": 2})).await;
        assert_eq!(answer["prompt_type"], "question");
        assert!(learned(&claude).await.contains("\"Which database should we use?\"=\"SQLite\""));
    }
}

#[tokio::test]
async fn one_question_is_answered_in_own_words() {
    for (size, words) in [(WIDE, "DuckDB, als Datei – gern später"), (SMALL, "DuckDB"), (WIDE, "2"), (WIDE, "n")] {
        let (claude, _) = asked(vec![which_database()], size).await;
        claude.answered(json!({"text": words})).await;
        let expected = format!("\"Which database should we use?\"=\"{words}\"");
        let learned = learned(&claude).await;
        assert!(learned.contains(&expected), "{learned}");
    }
}

#[tokio::test]
async fn one_question_is_answered_as_a_list_of_one() {
    let (claude, _) = asked(vec![which_database()], WIDE).await;
    claude.answered(json!({"answers": [{"option": 3}]})).await;
    assert!(learned(&claude).await.contains("=\"MySQL\""));
}

#[tokio::test]
async fn several_questions_are_answered_in_order() {
    for size in [WIDE, SMALL] {
        let (claude, prompt) = asked(vec![which_database(), which_language()], size).await;
        assert_eq!(prompt["questions"].as_array().unwrap().len(), 2);
        claude.answered(json!({"answers": [{"option": 2}, {"option": 1}]})).await;
        let learned = learned(&claude).await;
        assert!(learned.contains("\"Which database should we use?\"=\"SQLite\""), "{learned}");
        assert!(learned.contains("\"Which language?\"=\"Rust\""), "{learned}");
    }
}

#[tokio::test]
async fn several_questions_take_words_and_options() {
    let (claude, _) = asked(vec![which_database(), which_language(), which_features()], WIDE).await;
    claude.answered(json!({"answers": [{"text": "None at all"}, {"option": 2}, {"options": [2, 3]}]})).await;
    let learned = learned(&claude).await;
    for answer in ["=\"None at all\"", "\"Which language?\"=\"Go\"", "=\"Search, Export\""] {
        assert!(learned.contains(answer), "{answer} in {learned}");
    }
}

#[tokio::test]
async fn several_options_of_one_question_are_chosen() {
    for size in [WIDE, SMALL] {
        let (claude, prompt) = asked(vec![which_features()], size).await;
        assert_eq!(prompt["questions"][0]["multi_select"], true);
        claude.answered(json!({"answers": [{"options": [1, 3]}]})).await;
        assert!(learned(&claude).await.contains("\"Which features do you want?\"=\"Auth, Export\""));
    }
}

#[tokio::test]
async fn a_question_can_be_declined() {
    let (claude, _) = asked(vec![which_database()], WIDE).await;
    claude.answered(json!({"accept": false})).await;
    claude.goes(["idle"]).await;
    claude.rests().await;
    assert!(claude.model.results().is_empty(), "the model is not asked again");
    claude.told("Then without").await;
    claude.goes(["working", "idle"]).await;
    assert!(claude.model.results()[0].is_error);
}

#[tokio::test]
async fn a_question_answered_by_hand_is_over() {
    let (claude, _) = asked(vec![which_database()], WIDE).await;
    claude.keys(&["3"]).await;
    assert!(learned(&claude).await.contains("=\"MySQL\""));
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_refused_and_the_dialog_stays() {
    let (claude, prompt) = asked(vec![which_database()], WIDE).await;
    for wrong in [json!({"option": 0}), json!({"option": 9}), json!({"answers": [{"option": 9}]})] {
        let refused = claude.respond_with(wrong.clone()).await.refused();
        assert_eq!(refused, (400, "BAD_REQUEST".to_owned()), "{wrong}");
    }
    claude.answered(json!({"option": 1, "prompt_id": prompt["id"]})).await;
    assert!(learned(&claude).await.contains("=\"PostgreSQL\""));
}
