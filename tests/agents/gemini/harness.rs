//! The ground that all other suites stand on: the CLI, the model and the terminal, without coop's knowledge of the agent.

use std::sync::Arc;

use serde_json::json;

use super::house::API_KEY;
use super::{Gemini, House, Options, SMALL, WIDE};
use crate::model::{Gate, Kind, Question, Script};

/// In the title when the agent listens.
const LISTENS: &str = "Ready";

/// Shown in the empty input box.
const EMPTY: &str = "Type your message";

/// Starts it without a driver and waits until it listens.
async fn started(options: impl Into<Options>) -> Gemini {
    let gemini = Gemini::start(options.into().plain()).await;
    gemini.titled(LISTENS).await;
    gemini.quiet().await;
    gemini
}

/// Pastes a message and sends it. Enter is a newline right after a paste, and nothing before the text is drawn.
async fn say(gemini: &Gemini, text: &str) {
    gemini.shows(EMPTY).await;
    gemini.types(&format!("\x1b[200~{text}\x1b[201~")).await;
    gemini.shows(text).await;
    gemini.quiet().await;
    gemini.keys(&["enter"]).await;
}

#[tokio::test]
async fn what_is_typed_is_what_the_model_gets() {
    for size in [WIDE, SMALL] {
        let gemini = started(Options::script(Script::new().text("Hello from the model.")).size(size)).await;
        say(&gemini, "Hello model").await;
        gemini.shows("Hello from the model.").await;
        assert_eq!(gemini.model.heard(), ["Hello model"]);
        assert_eq!(gemini.model.last().credential.as_deref(), Some(API_KEY));
    }
}

#[tokio::test]
async fn the_model_waits_at_its_gates() {
    let (before, midst) = (Gate::new(), Gate::new());
    let gemini = started(Script::new().hold(&before).slow("First words.", &midst, " Last words.")).await;
    say(&gemini, "Take your time").await;
    before.reached().await;
    assert!(!gemini.screen().await.contains("First words."));
    before.open();
    midst.reached().await;
    gemini.shows("First words.").await;
    assert!(!gemini.screen().await.contains("Last words."));
    midst.open();
    gemini.shows("Last words.").await;
}

#[tokio::test]
async fn tools_run_and_their_results_come_back() {
    let gemini = started(Script::new().bash("touch marker && echo touched").text("It is done.")).await;
    say(&gemini, "Touch it").await;
    gemini.shows("Allow execution of").await;
    assert!(!gemini.has("marker"));
    gemini.keys(&["1"]).await;
    gemini.shows("It is done.").await;
    assert!(gemini.has("marker"));
    let results = gemini.model.results();
    assert_eq!((results.len(), results[0].tool.as_str(), results[0].is_error), (1, "run_shell_command", false));
    assert!(results[0].text.contains("Output: touched"), "{results:?}");
}

#[tokio::test]
async fn files_are_written_and_changed_when_the_user_agrees() {
    let house = Arc::new(House::new());
    let script = Script::new().write(house.at("new.txt"), "alpha\n").edit(house.at("new.txt"), "alpha", "beta");
    let gemini = started(Options::script(script.text("It is done.")).house(&house)).await;
    say(&gemini, "Write it").await;
    gemini.shows("Apply this change?").await;
    assert!(!gemini.has("new.txt"));
    gemini.keys(&["1"]).await;
    gemini.model.until("the result of the writing", |model| model.results().len() == 1).await;
    assert_eq!(gemini.reads("new.txt"), "alpha\n");
    gemini.shows("alpha => beta").await;
    gemini.shows("Apply this change?").await;
    gemini.keys(&["1"]).await;
    gemini.shows("It is done.").await;
    assert_eq!(gemini.reads("new.txt"), "beta\n");
}

#[tokio::test]
async fn a_question_is_asked_and_its_answer_comes_back() {
    let question = Question::one("Which database should we use?", "Database", &["PostgreSQL", "SQLite"]);
    let gemini = started(Script::new().question(vec![question]).text("Thank you.")).await;
    say(&gemini, "Ask me").await;
    gemini.shows("Which database should we use?").await;
    gemini.shows("Enter to select").await;
    gemini.keys(&["2"]).await;
    gemini.shows("Thank you.").await;
    assert!(gemini.model.results()[0].text.contains("SQLite"), "{:?}", gemini.model.results());
}

#[tokio::test]
async fn a_plan_is_offered_and_carried_out() {
    let script = Script::new().plan("# The plan\n\n1. Do it\n").text("So be it.");
    let gemini = started(Options::script(script).planning()).await;
    say(&gemini, "Make a plan").await;
    gemini.shows("Ready to start implementation?").await;
    gemini.shows("Do it").await;
    gemini.shows("Yes, automatically accept edits").await;
    gemini.keys(&["1"]).await;
    gemini.shows("So be it.").await;
    assert!(gemini.model.results()[1].text.contains("approved"), "{:?}", gemini.model.results());
}

#[tokio::test]
async fn summaries_are_told_apart_from_the_conversation() {
    // It goes by what the service says that the conversation costs: one that is cheaper than its summary stays as it is.
    let script = Script::new().text("First answer.").text("Second answer.").usage(9000, 5, 0, 0).text("Third answer.");
    let gemini = started(script).await;
    for (message, answer) in [("Begin", "First answer."), ("Go on", "Second answer.")] {
        say(&gemini, message).await;
        gemini.shows(answer).await;
    }
    say(&gemini, "/compress").await;
    gemini.model.until("a request for a summary", |model| !model.requests(Kind::Summary).is_empty()).await;
    gemini.shows("compressed").await;
    say(&gemini, "And again").await;
    gemini.shows("Third answer.").await;
    assert!(gemini.model.last().mentions("SUMMARY OF ALL BEFORE"));
    assert_eq!(gemini.model.heard(), ["Begin", "Go on", "And again"]);
}

#[tokio::test]
async fn errors_and_broken_connections_reach_the_agent() {
    let script = Script::new()
        .error(400, &[], "INVALID_ARGUMENT", "Something is wrong with it")
        .error(401, &[], "UNAUTHENTICATED", "Nobody knows this key")
        .error(403, &[], "PERMISSION_DENIED", "This is not allowed")
        .drop_mid_stream()
        .max_tokens()
        .refusal()
        .error_mid_stream("INTERNAL", "Something broke on the way")
        .hang_up()
        .text("Here I am again.");
    let gemini = started(script).await;
    for (message, banner) in [
        ("one", "Something is wrong with it"),
        ("two", "Nobody knows this key"),
        ("three", "This is not allowed"),
        ("four", "terminated"),
        ("five", "truncated"),
        ("six", "safety"),
        // After these it asks again without a word.
        ("seven", "Here I am again."),
    ] {
        say(&gemini, message).await;
        gemini.shows(banner).await;
        gemini.quiet().await;
    }
    assert_eq!(gemini.model.heard(), ["one", "two", "three", "four", "five", "six", "seven"]);
}

#[tokio::test]
async fn a_used_up_quota_opens_its_dialog() {
    let script =
        Script::new().error(429, &[], "RESOURCE_EXHAUSTED", "You exceeded your current quota.").fields(json!({
            "details": [{
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [{
                    "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
                    "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
                    "quotaValue": "50",
                }],
            }],
        }));
    let gemini = started(script).await;
    say(&gemini, "Go on").await;
    gemini.shows("Usage limit reached for").await;
    gemini.shows("Keep trying").await;
}

#[tokio::test]
async fn a_model_that_is_not_there_opens_its_dialog() {
    let gemini = started(Script::new().error(404, &[], "NOT_FOUND", "models/x is not found.")).await;
    say(&gemini, "Go on").await;
    gemini.shows("was not found or is invalid").await;
}

#[tokio::test]
async fn a_service_that_stays_busy_opens_its_dialog() {
    let script = Script::new().error(503, &[], "UNAVAILABLE", "The model is overloaded.").times(2);
    let gemini = started(Options::script(script).gives_up_after(2)).await;
    say(&gemini, "Go on").await;
    gemini.shows("We are currently experiencing high demand").await;
}

#[tokio::test]
async fn dialogs_at_the_start_can_be_reached() {
    for (options, phrase) in [
        (Options::new().untrusted(), "Do you trust the files in this folder?"),
        (Options::new().undecided(), "How would you like to authenticate for this project?"),
    ] {
        let gemini = Gemini::start(options.plain()).await;
        gemini.shows(phrase).await;
    }
}

#[tokio::test]
async fn an_earlier_conversation_goes_on() {
    let gemini = started(Script::new().text("Noted.")).await;
    say(&gemini, "Remember this").await;
    gemini.shows("Noted.").await;
    say(&gemini, "/quit").await;
    gemini.coop.exited().await;
    let options = Options::script(Script::new().text("Of course.")).house(&gemini.house);
    let again = started(options.word("--resume").word("latest")).await;
    // Until it has read its log it has an input box now and then, and loses what is typed.
    again.shows("Noted.").await;
    say(&again, "Do you remember?").await;
    again.shows("Of course.").await;
    assert_eq!(again.model.last().said(), ["Remember this", "Do you remember?"]);
}
