//! The ground that all other suites stand on: the CLI, the model and the terminal, without coop's knowledge of the agent.

use std::sync::Arc;

use serde_json::json;

use super::house::API_KEY;
use super::{Codex, House, Options, SMALL, WIDE};
use crate::model::{Gate, Kind, Question, Script};

/// In the title when the agent has a session: the name of the directory. An input box is painted before.
const LISTENS: &str = "work";

/// Starts it without a driver and waits until it listens.
async fn started(options: impl Into<Options>) -> Codex {
    let codex = Codex::start(options.into().plain()).await;
    codex.titled(LISTENS).await;
    codex
}

/// Pastes a message and sends it when the agent rests: its title moves as long as it works.
async fn say(codex: &Codex, text: &str) {
    codex.quiet().await;
    codex.types(&format!("\x1b[200~{text}\x1b[201~\r")).await;
}

#[tokio::test]
async fn what_is_typed_is_what_the_model_gets() {
    for size in [WIDE, SMALL] {
        let codex = started(Options::script(Script::new().text("Hello from the model.")).size(size)).await;
        say(&codex, "Hello model").await;
        codex.shows("Hello from the model.").await;
        assert_eq!(codex.model.heard(), ["Hello model"]);
        assert_eq!(codex.model.last().credential, Some(format!("Bearer {API_KEY}")));
    }
}

#[tokio::test]
async fn the_model_waits_at_its_gates() {
    let (before, midst) = (Gate::new(), Gate::new());
    let codex = started(Script::new().hold(&before).slow("First words.", &midst, " Last words.")).await;
    say(&codex, "Take your time").await;
    before.reached().await;
    assert!(!codex.screen().await.contains("First words."));
    before.open();
    midst.reached().await;
    codex.shows("First words.").await;
    assert!(!codex.screen().await.contains("Last words."));
    midst.open();
    codex.shows("Last words.").await;
}

#[tokio::test]
async fn tools_run_and_their_results_come_back() {
    let codex = started(Script::new().bash("touch marker && echo touched").text("It is done.")).await;
    say(&codex, "Touch it").await;
    codex.shows("Would you like to run the following command?").await;
    assert!(!codex.has("marker"));
    codex.keys(&["y"]).await;
    codex.shows("It is done.").await;
    assert!(codex.has("marker"));
    let results = codex.model.results();
    assert_eq!((results.len(), results[0].tool.as_str(), results[0].is_error), (1, "exec_command", false));
    assert!(results[0].text.ends_with("touched\n"), "{results:?}");
}

#[tokio::test]
async fn files_are_written_and_changed_when_the_user_agrees() {
    let house = Arc::new(House::new());
    let script = Script::new().write(house.at("new.txt"), "alpha\n").edit(house.at("new.txt"), "alpha", "beta");
    let options = Options::script(script.text("It is done.")).house(&house);
    let codex = started(options.word("--sandbox").word("read-only")).await;
    say(&codex, "Write it").await;
    codex.shows("Would you like to make the following edits?").await;
    assert!(!codex.has("new.txt"));
    codex.keys(&["y"]).await;
    codex.model.until("the result of the writing", |model| model.results().len() == 1).await;
    codex.shows("Would you like to make the following edits?").await;
    assert_eq!(codex.reads("new.txt"), "alpha\n");
    codex.keys(&["y"]).await;
    codex.shows("It is done.").await;
    assert_eq!(codex.reads("new.txt"), "beta\n");
}

#[tokio::test]
async fn a_question_is_asked_and_its_answer_comes_back() {
    let question = Question::one("Which database should we use?", "Database", &["PostgreSQL", "SQLite"]);
    let codex = started(Options::script(Script::new().question(vec![question]).text("Thank you.")).asking()).await;
    say(&codex, "Ask me").await;
    codex.shows("Which database should we use?").await;
    codex.keys(&["2"]).await;
    codex.shows("Thank you.").await;
    assert!(codex.model.results()[0].text.contains("SQLite"), "{:?}", codex.model.results());
}

#[tokio::test]
async fn a_plan_is_offered_and_carried_out() {
    let codex = started(Script::new().plan("# The plan\n\n1. Do it").text("So be it.")).await;
    // It forgets a mode that it is told at once.
    codex.quiet().await;
    codex.keys(&["shift-tab"]).await;
    codex.shows("Plan mode (shift+tab to cycle)").await;
    say(&codex, "Make a plan").await;
    codex.shows("Implement this plan?").await;
    assert!(codex.screen().await.contains("Do it"));
    codex.keys(&["1"]).await;
    codex.shows("So be it.").await;
    assert_eq!(codex.model.heard(), ["Make a plan", "Implement the plan."]);
}

#[tokio::test]
async fn titles_and_summaries_are_told_apart_from_the_conversation() {
    let codex = started(Script::new().text("First answer.").text("Second answer.")).await;
    say(&codex, "Begin").await;
    codex.shows("First answer.").await;
    codex.model.until("a request for a title", |model| !model.requests(Kind::Side).is_empty()).await;
    say(&codex, "/compact").await;
    codex.shows("Context compacted").await;
    assert_eq!(codex.model.requests(Kind::Summary).len(), 1);
    say(&codex, "And again").await;
    codex.shows("Second answer.").await;
    assert!(codex.model.last().mentions("SUMMARY OF ALL BEFORE"));
    assert_eq!(codex.model.heard(), ["Begin", "And again"]);
}

#[tokio::test]
async fn errors_and_broken_connections_reach_the_agent() {
    let script = Script::new()
        .error(401, &[], "invalid_request_error", "Incorrect API key provided")
        .error(429, &[], "requests", "Rate limit reached")
        .error(500, &[], "server_error", "Something broke")
        .drop_mid_stream()
        .hang_up()
        .error_mid_stream("context_length_exceeded", "Your input exceeds the context window")
        .max_tokens()
        .refusal();
    let codex = started(script).await;
    for (message, banner) in [
        ("one", "401 Unauthorized"),
        ("two", "429 Too Many Requests"),
        ("three", "high demand"),
        ("four", "error decoding response body"),
        ("five", "error sending request"),
        ("six", "ran out of room"),
        ("seven", "max_output_tokens"),
        ("eight", "content_filter"),
    ] {
        say(&codex, message).await;
        codex.shows(banner).await;
    }
    assert_eq!(codex.model.heard(), ["one", "two", "three", "four", "five", "six", "seven", "eight"]);
}

#[tokio::test]
async fn a_used_up_limit_opens_its_dialog() {
    let headers = [
        ("x-codex-primary-used-percent", "100.0"),
        ("x-codex-primary-window-minutes", "300"),
        ("x-codex-primary-reset-at", "1894800000"),
    ];
    let script = Script::new()
        .error(429, &headers, "usage_limit_reached", "The usage limit has been reached")
        .fields(json!({"plan_type": "plus", "resets_at": 1_894_800_000, "resets_in_seconds": 18_000}));
    let codex = started(script).await;
    say(&codex, "Go on").await;
    codex.shows("You’ve hit your usage limit.").await;
    codex.shows("Approaching rate limits").await;
}

#[tokio::test]
async fn dialogs_at_the_start_can_be_reached() {
    for (options, phrase) in [
        (Options::new().untrusted(), "Trust this folder?"),
        (Options::new().logged_out(), "Sign in with ChatGPT"),
        (Options::new().model("gpt-5.5"), "Meet GPT-6 Sol"),
    ] {
        let codex = Codex::start(options.plain()).await;
        codex.shows(phrase).await;
    }
}

#[tokio::test]
async fn an_earlier_conversation_is_offered_again() {
    let codex = started(Script::new().text("Noted.")).await;
    say(&codex, "Remember this").await;
    codex.shows("Noted.").await;
    codex.shows("· A test").await;
    say(&codex, "/quit").await;
    codex.coop.exited().await;
    let options = Options::script(Script::new().text("Of course.")).house(&codex.house).word("resume").plain();
    let again = Codex::start(options).await;
    again.shows("Resume a previous session").await;
    again.shows("A test").await;
    again.keys(&["enter"]).await;
    again.titled(LISTENS).await;
    say(&again, "Do you remember?").await;
    again.shows("Of course.").await;
    assert_eq!(again.model.last().said(), ["Remember this", "Do you remember?"]);
}
