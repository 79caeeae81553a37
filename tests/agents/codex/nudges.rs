//! Nudges: said to be delivered exactly when the model got exactly that message.

use coop::proto::v1::NudgeRequest;
use serde_json::{Value, json};

use super::{Codex, Options, SMALL, WIDE};
use crate::WITNESS_MS;
use crate::model::Script;

/// Tells the agent this and waits until it is idle again; what the model got for it.
async fn heard(codex: &Codex, message: &str) -> String {
    let before = codex.model.heard().len();
    codex.told(message).await;
    codex.goes(["working", "idle"]).await;
    let heard = codex.model.heard();
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
        "A family: 👩‍👩‍👧‍👦, a flag: 🇨🇭, right to left: שלום".to_owned(),
        "Quotes ' \" ` and \\ and $HOME and %s and <tag> & more".to_owned(),
        "# not a memory".to_owned(),
        "Use the $skill".to_owned(),
        "Write to a@b.c".to_owned(),
        "A backslash at the end \\".to_owned(),
        "Look at @nothing".to_owned(),
        "Look at @nothing.txt please".to_owned(),
        "? is a question mark".to_owned(),
    ];
    for size in [WIDE, SMALL] {
        let codex = Codex::ready(Options::new().size(size)).await;
        for message in &messages {
            assert_eq!(heard(&codex, message).await, *message);
        }
        codex.rests().await;
    }
}

#[tokio::test]
async fn decomposed_characters_arrive() {
    let codex = Codex::ready(Script::new()).await;
    let heard = heard(&codex, "Cafe\u{301} in two parts").await;
    assert!(["Cafe\u{301} in two parts", "Caf\u{e9} in two parts"].contains(&heard.as_str()), "{heard:?}");
}

#[tokio::test]
async fn a_message_that_looks_like_a_command_is_a_message() {
    let codex = Codex::ready(Script::new()).await;
    for message in ["/quit", "/compact now please", "/nonsense", "!touch marker", "/tmp/x is a path", "!", "/"] {
        assert_eq!(heard(&codex, message).await.trim_start_matches([' ', '\u{200b}']), message);
    }
    codex.rests().await;
    assert!(!codex.has("marker"));
}

#[tokio::test]
async fn a_command_runs_when_it_is_asked_for() {
    let codex = Codex::ready(Script::new().text("I see.")).await;
    codex.commanded("!touch marker").await;
    codex.shows("You ran touch marker").await;
    codex.settles().await;
    assert!(codex.has("marker"));
    assert_eq!(heard(&codex, "And now a message").await, "And now a message");
    codex.commanded("/compact").await;
    codex.goes(["working", "idle"]).await;
}

#[tokio::test]
async fn a_command_that_does_not_exist_is_not_said_to_be_delivered() {
    let codex = Codex::ready(Script::new()).await;
    let body = json!({"message": "/no-such-command-at-all", "command": true, "timeout_ms": 3000});
    let nudged = codex.nudge_with(body).await.ok();
    assert_eq!((&nudged["delivered"], &nudged["reason"]), (&json!(false), &json!("unknown command")), "{nudged}");
    codex.quiet().await;
    assert!(codex.model.heard().is_empty());
    assert_eq!(heard(&codex, "Still there?").await, "Still there?");
}

#[tokio::test]
async fn what_was_left_in_the_input_box_does_not_go_along() {
    let codex = Codex::ready(Script::new()).await;
    for left in ["left over", "several\nlines\nleft over", &"a long line that is left over ".repeat(20)] {
        codex.types(left).await;
        codex.shows("left over").await;
        assert_eq!(heard(&codex, "The message itself").await, "The message itself");
    }
    codex.types("!half a command").await;
    codex.shows("half a command").await;
    assert_eq!(heard(&codex, "No command").await, "No command");
}

#[tokio::test]
async fn a_message_cannot_break_out_of_the_input_box() {
    for message in ["a\u{1b}[201~\r!touch marker\r", "a\r!touch marker\r", "a\u{3}\u{3}b", "a\u{1b}\u{1b}b"] {
        let codex = Codex::ready(Script::new()).await;
        let nudged = codex.nudge_with(json!({"message": message, "timeout_ms": WITNESS_MS})).await;
        assert!([200, 400].contains(&nudged.status), "{}", nudged.text());
        let delivered = nudged.status == 200 && nudged.ok()["delivered"] == true;
        if delivered {
            codex.goes(["working", "idle"]).await;
        }
        codex.quiet().await;
        assert!(!codex.has("marker"), "{message:?}");
        assert_eq!(codex.model.heard().len(), usize::from(delivered), "{message:?}");
        assert_eq!(codex.state().await["state"], "idle", "{message:?}");
    }
}

#[tokio::test]
async fn two_nudges_at_once_do_not_mix() {
    let codex = Codex::ready(Script::new()).await;
    let messages = ["The first of two\nwith a second line", "The second of two\nwith a second line"];
    let (one, other) = tokio::join!(codex.nudge(messages[0]), codex.nudge(messages[1]));
    codex.quiet().await;
    let delivered: Vec<&str> = [one, other]
        .iter()
        .zip(messages)
        .filter(|(answer, _)| answer["delivered"] == true)
        .map(|(_, message)| message)
        .collect();
    assert!(!delivered.is_empty());
    let mut heard = codex.model.heard();
    heard.sort();
    assert_eq!(heard, delivered, "the first comes first in the alphabet too");
}

#[tokio::test]
async fn ten_nudges_one_after_the_other_are_ten_messages() {
    let codex = Codex::ready(Script::new()).await;
    for n in 0..10 {
        let message = format!("Message number {n}");
        assert_eq!(heard(&codex, &message).await, message);
    }
    assert_eq!(codex.model.heard().len(), 10);
}

#[tokio::test]
async fn a_confirmation_that_comes_late_still_comes() {
    let codex = Codex::ready(Script::new().text("Heard.")).await;
    let nudged = codex.nudge_with(json!({"message": "In a hurry", "timeout_ms": 1})).await.ok();
    assert_eq!((&nudged["delivered"], &nudged["reason"]), (&json!(false), &nudged["reason"]), "{nudged}");
    assert_ne!(nudged["receipt"]["phase"], "refused", "{nudged}");
    let id = nudged["receipt"]["id"].clone();
    let receipt = codex.told_of("receipt", |event| event["id"] == id && event["phase"] == "accepted").await;
    assert!(receipt["witness"].is_string(), "{receipt}");
    codex.goes(["working", "idle"]).await;
    assert_eq!(codex.model.heard(), ["In a hurry"]);
}

#[tokio::test]
async fn a_nudge_is_the_same_over_every_face() {
    let codex = Codex::ready(Script::new()).await;
    let mut ws = codex.coop.place.ws("/ws?mode=state").await;
    let told = ws.ask(json!({"event": "nudge", "message": "Over a WebSocket", "timeout_ms": WITNESS_MS})).await;
    assert_eq!((&told["event"], &told["delivered"]), (&json!("nudge:result"), &json!(true)), "{told}");
    codex.goes(["working", "idle"]).await;
    let request = NudgeRequest { message: "Over gRPC".into(), timeout_ms: Some(WITNESS_MS), ..Default::default() };
    let told = codex.coop.place.grpc().await.nudge(request).await.unwrap().into_inner();
    assert!(told.delivered, "{told:?}");
    codex.goes(["working", "idle"]).await;
    assert_eq!(codex.model.heard(), ["Over a WebSocket", "Over gRPC"]);
}

#[tokio::test]
async fn the_receipt_says_who_saw_it() {
    let codex = Codex::ready(Script::new()).await;
    let told = codex.told("Who saw this?").await;
    let receipt = &told["receipt"];
    assert!(receipt["witness"].as_str().is_some_and(|witness| !witness.is_empty()), "{receipt}");
    assert!(receipt["at_ms"].as_u64() > Some(0) && receipt["offset"].as_u64() > Some(0), "{receipt}");
    assert_eq!(told["state"], "working", "{told}");
    assert_eq!(told["reason"], Value::Null);
}
