//! Questions: the model gets exactly the answer that was given.

use serde_json::{Value, json};

use super::{Gemini, Options, SMALL, WIDE};
use crate::model::{Question, Script};
use crate::promises::{which_database, which_features, which_language};

/// Lets the agent ask these questions; the dialog.
async fn asks(gemini: &Gemini, questions: Vec<Question>) -> Value {
    gemini.asked(Script::new().question(questions).text("Thank you."), "question").await
}

/// Answers, and what the model was told when the turn is over.
async fn learned(gemini: &Gemini, answer: Value) -> String {
    gemini.answered(answer).await;
    over(gemini).await
}

async fn over(gemini: &Gemini) -> String {
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    gemini.learned()
}

#[tokio::test]
async fn one_question_is_answered_in_every_way() {
    for size in [WIDE, SMALL] {
        let gemini = Gemini::ready(Options::new().size(size)).await;
        let prompt = asks(&gemini, vec![which_database()]).await;
        assert_eq!((&prompt["tool"], &prompt["question_current"]), (&json!("ask_user"), &json!(0)));
        let question = &prompt["questions"][0];
        assert_eq!(question["question"], "Which database should we use?");
        assert_eq!((&question["header"], &question["multi_select"]), (&json!("Database"), &json!(false)));
        assert_eq!(question["options"], json!(["PostgreSQL", "SQLite", "MySQL"]));
        assert_eq!(question["descriptions"][1], "About SQLite");
        assert!(learned(&gemini, json!({"option": 2})).await.contains("SQLite"));
        for words in ["DuckDB, als Datei – gern später", "2", "n"] {
            asks(&gemini, vec![which_database()]).await;
            let learned = learned(&gemini, json!({"text": words})).await;
            assert!(learned.contains(&format!("\"{words}\"")), "{words}: {learned}");
        }
        asks(&gemini, vec![which_database()]).await;
        assert!(learned(&gemini, json!({"answers": [{"option": 3}]})).await.contains("MySQL"));
        asks(&gemini, vec![which_database()]).await;
        gemini.shows("Enter to select").await;
        gemini.keys(&["1"]).await;
        assert!(over(&gemini).await.contains("PostgreSQL"), "by hand");
    }
}

#[tokio::test]
async fn several_questions_take_words_and_options_in_order() {
    for size in [WIDE, SMALL] {
        let gemini = Gemini::ready(Options::new().size(size)).await;
        let prompt = asks(&gemini, vec![which_database(), which_language(), which_features()]).await;
        assert_eq!(prompt["questions"].as_array().unwrap().len(), 3);
        let answers = json!({"answers": [{"text": "None at all"}, {"option": 2}, {"options": [2, 3]}]});
        let learned = learned(&gemini, answers).await;
        for answer in ["None at all", "Go", "Search, Export"] {
            assert!(learned.contains(answer), "{answer} in {learned}");
        }
        asks(&gemini, vec![which_features(), which_language()]).await;
        let learned = self::learned(&gemini, json!({"answers": [{"text": "A 3rd one"}, {"option": 1}]})).await;
        assert!(learned.contains("A 3rd one") && learned.contains("Rust"), "{learned}");
    }
}

#[tokio::test]
async fn several_options_of_one_question_are_chosen_or_own_words_are_given() {
    for size in [WIDE, SMALL] {
        let gemini = Gemini::ready(Options::new().size(size)).await;
        let prompt = asks(&gemini, vec![which_features()]).await;
        assert_eq!(prompt["questions"][0]["multi_select"], true);
        let learned = learned(&gemini, json!({"answers": [{"options": [1, 3]}]})).await;
        assert!(learned.contains("Auth, Export"), "{learned}");
        for words in ["2 kinds of billing", "none of these"] {
            asks(&gemini, vec![which_features()]).await;
            let learned = self::learned(&gemini, json!({"text": words})).await;
            assert!(learned.contains(&format!("\"{words}\"")), "{words} alone: {learned}");
        }
    }
}

#[tokio::test]
async fn yes_or_no_and_a_text_are_questions_too() {
    let gemini = Gemini::ready(Script::new()).await;
    let ask = |question: Value| Script::new().tool("ask_user", json!({"questions": [question]})).text("Thank you.");
    let now = json!({"question": "Deploy now?", "header": "Deploy", "type": "yesno"});
    let prompt = gemini.asked(ask(now), "question").await;
    assert_eq!(prompt["questions"][0]["options"], json!(["Yes", "No"]), "{prompt}");
    assert!(learned(&gemini, json!({"option": 2})).await.contains("No"));
    let name = json!({"question": "What is its name?", "header": "Name", "type": "text", "placeholder": "my-app"});
    let prompt = gemini.asked(ask(name), "question").await;
    assert_eq!(prompt["questions"][0]["options"], json!([]), "{prompt}");
    assert!(learned(&gemini, json!({"text": "Grünspan 3"})).await.contains("Grünspan 3"));
}

#[tokio::test]
async fn a_question_can_be_declined_and_a_wrong_answer_leaves_the_dialog() {
    let gemini = Gemini::ready(Script::new()).await;
    let prompt = asks(&gemini, vec![which_database()]).await;
    for wrong in [json!({"option": 0}), json!({"option": 9}), json!({"answers": [{"option": 9}]})] {
        let refused = gemini.respond_with(wrong.clone()).await.refused();
        assert_eq!(refused, (400, "BAD_REQUEST".to_owned()), "{wrong}");
    }
    gemini.rests().await;
    assert_eq!(gemini.state().await["prompt"]["id"], prompt["id"]);
    gemini.answered(json!({"accept": false})).await;
    gemini.goes(["idle"]).await;
    gemini.rests().await;
    assert!(gemini.model.results().is_empty(), "the model is not asked again");
}
