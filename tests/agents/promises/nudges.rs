//! Nudges: said to be delivered exactly when the model got exactly that message.

use coop::proto::v1::NudgeRequest;
use serde_json::{Value, json};

use super::Kept;
use crate::WITNESS_MS;
use crate::model::{Gate, Script};
use crate::session::{Options, SMALL, Session, WIDE};

/// Tells the agent this and waits until it is idle again; what the model got for it.
pub async fn heard<A: Kept>(agent: &Session<A>, message: &str) -> String {
    let before = agent.model.heard().len();
    agent.told(message).await;
    agent.goes(["working", "idle"]).await;
    let heard = agent.model.heard();
    assert_eq!(heard.len(), before + 1, "one message for one nudge: {:?}", &heard[before..]);
    heard.into_iter().next_back().unwrap()
}

pub async fn a_message_arrives_as_it_was_given<A: Kept>() {
    let kilobytes =
        (0..120).map(|n| format!("Line {n} of a message that is longer than the screen.")).collect::<Vec<_>>();
    let kilobytes = kilobytes.join("\n");
    let wide = "A line that is far longer than the terminal is wide. ".repeat(8);
    let messages = [
        "One line.",
        "Two lines,\nof which this is the second.",
        "An empty line\n\nbetween two.",
        "x",
        "1",
        wide.trim_end(),
        &kilobytes,
        "Grüße – 你好 – 🦀 – naïve café",
        "A family: 👩‍👩‍👧‍👦, a flag: 🇨🇭, right to left: שלום",
        "Quotes ' \" ` and \\ and $HOME and %s and <tag> & more",
        "# not a memory",
        "Use the $skill",
        "Write to a@b.c",
        "A backslash at the end \\",
        "Look at @nothing",
        "Look at @nothing.txt please",
        "? is a question mark",
    ];
    for size in [WIDE, SMALL] {
        let agent = Session::<A>::ready(Options::new().size(size)).await;
        for message in messages.iter().chain(A::MESSAGES) {
            assert_eq!(heard(&agent, message).await, *message);
        }
        agent.rests().await;
        assert!(!agent.has("marker"));
    }
}

pub async fn decomposed_characters_arrive<A: Kept>() {
    let agent = Session::<A>::ready(Script::new()).await;
    let heard = heard(&agent, "Cafe\u{301} in two parts").await;
    assert!(["Cafe\u{301} in two parts", "Caf\u{e9} in two parts"].contains(&heard.as_str()), "{heard:?}");
}

pub async fn a_message_that_looks_like_a_command_is_a_message<A: Kept>() {
    let agent = Session::<A>::ready(Script::new()).await;
    for message in A::LIKE_COMMANDS {
        assert_eq!(heard(&agent, message).await, A::guarded(message));
    }
    agent.rests().await;
    assert!(!agent.has("marker"));
}

pub async fn a_command_that_does_not_exist_is_not_said_to_be_delivered<A: Kept>() {
    let agent = Session::<A>::ready(Script::new()).await;
    let body = json!({"message": "/no-such-command-at-all", "command": true, "timeout_ms": 3000});
    let nudged = agent.nudge_with(body).await.ok();
    assert_eq!((&nudged["delivered"], &nudged["reason"]), (&json!(false), &json!("unknown command")), "{nudged}");
    agent.quiet().await;
    assert!(agent.model.heard().is_empty());
    assert_eq!(heard(&agent, "Still there?").await, "Still there?");
}

pub async fn what_was_left_in_the_input_box_does_not_go_along<A: Kept>() {
    let agent = Session::<A>::ready(Script::new()).await;
    for left in ["left over", A::TYPED_LINES, &"a long line that is left over ".repeat(20)] {
        agent.types(left).await;
        agent.shows("left over").await;
        assert_eq!(heard(&agent, "The message itself").await, "The message itself");
    }
    agent.types("!half a command").await;
    agent.shows("half a command").await;
    assert_eq!(heard(&agent, "No command").await, "No command");
    agent.keys(&["!"]).await;
    agent.types("touch marker").await;
    agent.shows("touch marker").await;
    assert_eq!(heard(&agent, "No command either").await, "No command either");
    assert!(!agent.has("marker"));
}

pub async fn a_message_cannot_break_out_of_the_input_box<A: Kept>() {
    let agent = Session::<A>::ready(Script::new()).await;
    for message in ["a\u{1b}[201~\r!touch marker\r", "a\r!touch marker\r", "a\u{3}\u{3}b", "a\u{1b}\u{1b}b"] {
        let before = agent.model.heard().len();
        let nudged = agent.nudge_with(json!({"message": message, "timeout_ms": WITNESS_MS})).await;
        assert!([200, 400].contains(&nudged.status), "{}", nudged.text());
        let delivered = nudged.status == 200 && nudged.ok()["delivered"] == true;
        if delivered {
            agent.goes(["working", "idle"]).await;
        }
        agent.rests().await;
        assert!(!agent.has("marker"), "{message:?}");
        assert_eq!(agent.model.heard().len() - before, usize::from(delivered), "{message:?}");
        assert_eq!(agent.state().await["state"], "idle", "{message:?}");
    }
}

pub async fn two_nudges_at_once_do_not_mix<A: Kept>() {
    let agent = Session::<A>::ready(Script::new()).await;
    let messages = ["The first of two\nwith a second line", "The second of two\nwith a second line"];
    let (one, other) = tokio::join!(agent.nudge(messages[0]), agent.nudge(messages[1]));
    let delivered: Vec<&str> = [one, other]
        .iter()
        .zip(messages)
        .filter(|(answer, _)| answer["delivered"] == true)
        .map(|(_, message)| message)
        .collect();
    assert!(!delivered.is_empty(), "one of them at least");
    agent.until("idle").await;
    agent.quiet().await;
    let mut heard = agent.model.heard();
    heard.sort();
    assert_eq!(heard, delivered, "the first comes first in the alphabet too");
}

pub async fn ten_nudges_one_after_the_other_are_ten_messages<A: Kept>() {
    let agent = Session::<A>::ready(Script::new()).await;
    for n in 0..10 {
        let message = format!("Message number {n}");
        assert_eq!(heard(&agent, &message).await, message);
    }
    assert_eq!(agent.model.heard().len(), 10);
}

pub async fn a_confirmation_that_comes_late_still_comes<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("Heard.")).await;
    let nudged = agent.nudge_with(json!({"message": "In a hurry", "timeout_ms": 1})).await.ok();
    assert_eq!(nudged["delivered"], false, "{nudged}");
    assert_ne!(nudged["receipt"]["phase"], "refused", "{nudged}");
    let id = nudged["receipt"]["id"].clone();
    let receipt = agent.told_of("receipt", |event| event["id"] == id && event["phase"] == "accepted").await;
    assert!(receipt["witness"].is_string(), "{receipt}");
    agent.goes(["working", "idle"]).await;
    assert_eq!(agent.model.heard(), ["In a hurry"]);
}

pub async fn a_queued_message_that_is_taken_back_is_not_delivered_and_can_be_given_again<A: Kept>() {
    let gate = Gate::new();
    let agent = Session::<A>::ready(Script::new().slow("Busy.", &gate, " Done.").text("Now that.")).await;
    agent.told("First").await;
    agent.goes(["working"]).await;
    gate.reached().await;
    let queue = json!({"message": "Go on", "queue": true, "timeout_ms": 1});
    let id = agent.nudge_with(queue).await.ok()["receipt"]["id"].clone();
    agent.told_of("receipt", |event| event["id"] == id && event["phase"] == "echoed").await;
    agent.shows(A::SHOWS_QUEUE).await;
    agent.keys(A::TAKE_BACK).await;
    agent.eventually("/api/v1/screen", |screen| !screen["lines"].to_string().contains(A::SHOWS_QUEUE)).await;
    gate.open();
    agent.goes(["idle"]).await;
    let is_over = |event: &Value| event["phase"] == "refused" || event["phase"] == "unconfirmed";
    agent.told_of("receipt", |event| event["id"] == id && is_over(event)).await;
    assert_eq!(agent.model.heard(), ["First"]);
    // The very same words: that the first were typed does not make them the ones that arrive.
    agent.told("Go on").await;
    agent.goes(["working", "idle"]).await;
    assert_eq!(agent.model.heard(), ["First", "Go on"]);
    let receipts = agent.record.events("receipt");
    assert!(!receipts.iter().any(|event| event["id"] == id && event["phase"] == "accepted"), "{receipts:?}");
}

pub async fn a_nudge_is_the_same_over_every_face<A: Kept>() {
    let agent = Session::<A>::ready(Script::new()).await;
    let mut ws = agent.coop.place.ws("/ws?mode=state").await;
    let told = ws.ask(json!({"event": "nudge", "message": "Over a WebSocket", "timeout_ms": WITNESS_MS})).await;
    assert_eq!((&told["event"], &told["delivered"]), (&json!("nudge:result"), &json!(true)), "{told}");
    agent.goes(["working", "idle"]).await;
    let request = NudgeRequest { message: "Over gRPC".into(), timeout_ms: Some(WITNESS_MS), ..Default::default() };
    let told = agent.coop.place.grpc().await.nudge(request).await.unwrap().into_inner();
    assert!(told.delivered, "{told:?}");
    agent.goes(["working", "idle"]).await;
    assert_eq!(agent.model.heard(), ["Over a WebSocket", "Over gRPC"]);
}

pub async fn the_receipt_says_who_saw_it<A: Kept>() {
    let agent = Session::<A>::ready(Script::new()).await;
    let told = agent.told("Who saw this?").await;
    let receipt = &told["receipt"];
    assert!(receipt["witness"].as_str().is_some_and(|witness| !witness.is_empty()), "{receipt}");
    assert!(receipt["at_ms"].as_u64() > Some(0) && receipt["offset"].as_u64() > Some(0), "{receipt}");
    assert_eq!(told["state"], "working", "{told}");
    assert_eq!(told["reason"], Value::Null);
}
