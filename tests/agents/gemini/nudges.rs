//! Nudges: said to be delivered exactly when the model got exactly that message.

use serde_json::json;

use super::{Gemini, Options, SMALL, WIDE};
use crate::WITNESS_MS;
use crate::model::Script;

/// Stands before a message that begins with a slash; see `nudge.rs` of the driver.
const GUARD: char = '\u{2060}';

/// Tells the agent this and waits until it is idle again; what the model got for it.
async fn heard(gemini: &Gemini, message: &str) -> String {
    let before = gemini.model.heard().len();
    gemini.told(message).await;
    gemini.goes(["working", "idle"]).await;
    let heard = gemini.model.heard();
    assert_eq!(heard.len(), before + 1, "one message for one nudge: {:?}", &heard[before..]);
    heard.into_iter().next_back().unwrap()
}

#[tokio::test]
async fn a_message_arrives_as_it_was_given() {
    let kilobytes =
        (0..120).map(|n| format!("Line {n} of a message that is longer than the screen.")).collect::<Vec<_>>();
    let messages = [
        "One line.".to_owned(),
        "Two lines,\nof which this is the second.".to_owned(),
        "An empty line\n\nbetween two.".to_owned(),
        "x".to_owned(),
        "1".to_owned(),
        "A line that is far longer than the terminal is wide. ".repeat(8).trim_end().to_owned(),
        kilobytes.join("\n"),
        "Grüße – 你好 – 🦀 – naïve café".to_owned(),
        "Quotes ' \" ` and \\ and $HOME and %s and <tag> & more".to_owned(),
        "# not a memory".to_owned(),
        "Look at @nothing.txt please".to_owned(),
        "? is a question mark".to_owned(),
        "!touch marker".to_owned(),
        "ends with a backslash \\".to_owned(),
        "ends with @nothing".to_owned(),
    ];
    for size in [WIDE, SMALL] {
        let gemini = Gemini::ready(Options::new().size(size)).await;
        for message in &messages {
            assert_eq!(heard(&gemini, message).await, *message);
        }
        gemini.rests().await;
        assert!(!gemini.has("marker"));
    }
}

#[tokio::test]
async fn a_message_that_looks_like_a_command_is_a_message() {
    let gemini = Gemini::ready(Script::new()).await;
    for message in ["/quit", "/compress now please", "/nonsense", "/tmp/x is a path", "/", "/ help"] {
        assert_eq!(heard(&gemini, message).await, format!("{GUARD}{message}"), "with a letter that nobody sees");
    }
    assert_eq!(heard(&gemini, "\u{200b}/quit").await, format!("{GUARD}/quit"));
    gemini.rests().await;
}

#[tokio::test]
async fn a_command_runs_when_it_is_asked_for() {
    let gemini = Gemini::ready(Script::new()).await;
    gemini.commanded("/about").await;
    gemini.shows("About Gemini CLI").await;
    gemini.settles().await;
    assert_eq!(gemini.state().await["state"], "idle");
    assert!(gemini.model.heard().is_empty());
}

#[tokio::test]
async fn files_that_a_message_names_go_along() {
    let gemini = Gemini::ready(Options::new().prepare(|house| {
        std::fs::write(house.at("notes.md"), "The word is swordfish.\n").unwrap();
    }))
    .await;
    gemini.told("Read @notes.md").await;
    gemini.goes(["working", "idle"]).await;
    assert!(gemini.model.last().mentions("The word is swordfish."));
}

#[tokio::test]
async fn what_was_left_in_the_input_box_does_not_go_along() {
    let gemini = Gemini::ready(Script::new()).await;
    let long = "a long line that is left over ".repeat(10);
    for left in ["left over", "\u{1b}[200~several\nlines\nleft over\u{1b}[201~", &long] {
        gemini.types(left).await;
        gemini.shows("left over").await;
        assert_eq!(heard(&gemini, "The message itself").await, "The message itself");
    }
    gemini.keys(&["!"]).await;
    gemini.types("touch marker").await;
    gemini.shows("touch marker").await;
    assert_eq!(heard(&gemini, "No command").await, "No command");
    assert!(!gemini.has("marker"));
}

#[tokio::test]
async fn a_message_cannot_break_out_of_the_input_box() {
    let gemini = Gemini::ready(Script::new()).await;
    for message in ["a\u{1b}[201~\r!touch marker\r", "a\r!touch marker\r", "a\u{3}\u{3}b", "a\u{1b}\u{1b}b"] {
        let before = gemini.model.heard().len();
        let nudged = gemini.nudge_with(json!({"message": message, "timeout_ms": WITNESS_MS})).await;
        assert!([200, 400].contains(&nudged.status), "{}", nudged.text());
        let delivered = nudged.status == 200 && nudged.ok()["delivered"] == true;
        if delivered {
            gemini.goes(["working", "idle"]).await;
        }
        gemini.rests().await;
        assert!(!gemini.has("marker"), "{message:?}");
        assert_eq!(gemini.model.heard().len() - before, usize::from(delivered), "{message:?}");
    }
}

#[tokio::test]
async fn two_nudges_at_once_do_not_mix() {
    let gemini = Gemini::ready(Script::new()).await;
    let nudge = |message: &'static str| gemini.nudge_with(json!({"message": message, "timeout_ms": WITNESS_MS}));
    let (one, two) = tokio::join!(nudge("The first of two"), nudge("The second of two"));
    let delivered = [one.ok(), two.ok()].iter().filter(|answer| answer["delivered"] == true).count();
    assert!(delivered >= 1, "one of them at least");
    gemini.until("idle").await;
    gemini.settles().await;
    let heard = gemini.model.heard();
    assert_eq!(heard.len(), delivered, "{heard:?}");
    assert!(heard.iter().all(|message| ["The first of two", "The second of two"].contains(&message.as_str())));
}
