//! The ground that all other suites stand on: the CLI, the model and the terminal, without coop's knowledge of the agent.

use serde_json::json;

use super::house::API_KEY;
use super::scenes::{MAX_TOKENS_TRIES, helper, limit, without_log, without_status};
use super::{Claude, Credential, House, Options, SMALL, WIDE};
use crate::model::{Gate, Kind, Script};
use crate::session::write_json;

/// Types a message as a person would, and sends it.
async fn say(claude: &Claude, text: &str) {
    claude.types(text).await;
    claude.shows(text).await;
    claude.keys(&["enter"]).await;
}

/// The same for one that waits until the turn before it is over; what is typed earlier waits in a queue.
async fn say_then(claude: &Claude, text: &str) {
    claude.shows("? for shortcuts").await;
    say(claude, text).await;
}

#[tokio::test]
async fn what_is_typed_is_what_the_model_gets() {
    for size in [WIDE, SMALL] {
        let script = Script::new().text("Hello from the model.");
        let claude = Claude::start(Options::script(script).size(size)).await;
        claude.shows("? for shortcuts").await;
        say(&claude, "Hello model").await;
        claude.shows("Hello from the model.").await;
        assert_eq!(claude.model.heard(), ["Hello model"]);
        assert_eq!(claude.model.last().credential.as_deref(), Some(API_KEY));
    }
}

#[tokio::test]
async fn the_model_waits_at_its_gates() {
    let (before, midst) = (Gate::new(), Gate::new());
    let script = Script::new().hold(&before).slow("First words.", &midst, " Last words.");
    let claude = Claude::start(script).await;
    claude.shows("? for shortcuts").await;
    say(&claude, "Take your time").await;
    before.reached().await;
    assert!(!claude.screen().await.contains("First words."));
    before.open();
    midst.reached().await;
    assert!(!claude.screen().await.contains("Last words."));
    midst.open();
    claude.shows("Last words.").await;
}

#[tokio::test]
async fn tools_run_and_their_results_come_back() {
    let claude = Claude::start(Script::new().bash("touch marker && echo touched").text("It is done.")).await;
    claude.shows("? for shortcuts").await;
    say(&claude, "Touch it").await;
    claude.shows("Do you want to proceed?").await;
    assert!(!claude.has("marker"));
    claude.keys(&["1"]).await;
    claude.shows("It is done.").await;
    assert!(claude.has("marker"));
    let results = claude.model.results();
    assert_eq!((results.len(), results[0].tool.as_str(), results[0].is_error), (1, "Bash", false));
    assert_eq!(results[0].text, "touched");
}

#[tokio::test]
async fn a_plan_is_written_where_the_agent_wants_it() {
    let script = Script::new().plan("# The plan\n\n1. Do it\n").text("Planned.");
    let claude = Claude::start(Options::script(script).planning()).await;
    claude.shows("plan mode on").await;
    say(&claude, "Make a plan").await;
    claude.shows("Would you like to proceed?").await;
    assert!(claude.screen().await.contains("1. Do it"));
    claude.keys(&["2"]).await;
    claude.shows("Planned.").await;
    assert!(claude.model.results()[1].text.contains("User has approved your plan"));
}

#[tokio::test]
async fn subagents_and_summaries_are_told_apart_from_the_conversation() {
    let script = Script::new()
        .tool("Agent", helper("Look for it"))
        .helper("Look for it", Script::new().text("Found it."))
        .text("The helper is back.")
        .text("Second answer.");
    let claude = Claude::start(script).await;
    claude.shows("? for shortcuts").await;
    say(&claude, "Send a helper").await;
    claude.shows("The helper is back.").await;
    say_then(&claude, "And again").await;
    claude.shows("Second answer.").await;
    say_then(&claude, "/compact").await;
    claude.model.until("a request for a summary", |model| !model.requests(Kind::Summary).is_empty()).await;
    claude.shows("Compacted").await;
    assert_eq!(claude.model.heard(), ["Send a helper", "And again"]);
    assert_eq!(claude.model.requests(Kind::Helper).len(), 1);
}

#[tokio::test]
async fn errors_and_broken_connections_reach_the_agent() {
    let script = Script::new()
        .error(529, &[], "overloaded_error", "Overloaded")
        .drop_mid_stream()
        .hang_up()
        .error_mid_stream("overloaded_error", "Overloaded")
        .max_tokens()
        .times(MAX_TOKENS_TRIES)
        .refusal();
    let claude = Claude::start(script).await;
    for (message, banner) in [
        ("one", "529"),
        ("two", "closed mid-response"),
        ("three", "ECONNRESET"),
        ("four", "API Error: Overloaded"),
        ("five", "output token maximum"),
        ("six", "Usage Policy"),
    ] {
        say_then(&claude, message).await;
        claude.shows(banner).await;
    }
    assert_eq!(claude.model.heard(), ["one", "two", "three", "four", "five", "six"]);
}

#[tokio::test]
async fn dialogs_at_the_start_can_be_reached() {
    let broken_settings = |house: &House| {
        std::fs::create_dir_all(house.config()).unwrap();
        write_json(&house.config().join("settings.json"), &json!({"permissions": {"allow": "not a list"}}));
    };
    for (options, phrase) in [
        (Options::new().untrusted(), "Is this a project you created or one you trust?"),
        (Options::new().credential(Credential::UnknownKey), "Do you want to use this API key?"),
        (Options::new().word("--dangerously-skip-permissions"), "Bypass Permissions mode"),
        (Options::new().prepare(broken_settings), "Settings Error"),
    ] {
        let claude = Claude::start(options.groom("manual")).await;
        claude.shows(phrase).await;
    }
}

#[tokio::test]
async fn an_earlier_conversation_is_offered_again() {
    let claude = Claude::start(Script::new().text("Noted.")).await;
    claude.shows("? for shortcuts").await;
    say(&claude, "Remember this").await;
    claude.shows("Noted.").await;
    say(&claude, "/exit").await;
    claude.coop.exited().await;
    let again = Claude::start(Options::new().house(&claude.house).word("--resume")).await;
    again.shows("Resume session").await;
}

#[tokio::test]
async fn a_limit_of_the_subscription_opens_its_dialog() {
    let claude = Claude::start(Options::script(limit()).credential(Credential::Subscription)).await;
    claude.shows("? for shortcuts").await;
    say(&claude, "Go on").await;
    claude.shows("You've hit your session limit").await;
    claude.shows("Stop and wait for limit to reset").await;
}

#[tokio::test]
async fn the_agent_works_without_its_status_and_log() {
    for take_away in [without_status, without_log] {
        let claude = Claude::start(Options::script(Script::new().text("Still here.")).prepare(take_away)).await;
        claude.shows("? for shortcuts").await;
        say(&claude, "Are you there").await;
        claude.shows("Still here.").await;
    }
}
