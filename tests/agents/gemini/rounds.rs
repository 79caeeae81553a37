//! Random rounds: whatever is done in whatever order, what is said to be delivered is what the model got.
//!
//! `COOP_ROUNDS` says how many, `COOP_SEED` repeats those of an earlier run.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::Gemini;
use super::scenes::which_database;
use crate::WITNESS_MS;
use crate::model::{Gate, Script};

/// A few minutes' worth; a long run takes 200.
const ROUNDS: u64 = 15;

/// Numbers that depend on nothing but the seed: xorshift64*.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end
    }

    /// A message that no other round has.
    fn message(&mut self, round: u64) -> String {
        let lines = if self.below(3) == 0 { 1 + self.below(12) } else { 1 };
        let word = ["harbour", "Grüße", "🦀 crab", "1", "$(date)", "yes", "a \"quoted\" word", "/path/to"];
        let line = |dice: &mut Self, n: u64| {
            let words: Vec<&str> = (0..=dice.below(20)).map(|_| word[dice.below(8) as usize]).collect();
            format!("Round {round} line {n}: {}", words.join(" "))
        };
        (0..lines).map(|n| line(self, n)).collect::<Vec<_>>().join("\n")
    }
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Talk,
    Accept,
    Refuse,
    Ask,
    Plan,
    Interrupt,
    InterruptEarly,
    Queue,
    Busy,
    LeftOver,
    NudgeAPrompt,
}

const ACTS: [Act; 11] = [
    Act::Talk,
    Act::Accept,
    Act::Refuse,
    Act::Ask,
    Act::Plan,
    Act::Interrupt,
    Act::InterruptEarly,
    Act::Queue,
    Act::Busy,
    Act::LeftOver,
    Act::NudgeAPrompt,
];

/// One round; the messages that must have arrived when it is over.
async fn play(gemini: &Gemini, act: Act, round: u64, message: &str) -> Vec<String> {
    let gate = Gate::new();
    let file = format!("file-{round}");
    let touch = || Script::new().bash(&format!("touch {file}")).text("Done.");
    gemini.model.plays(match act {
        Act::Talk | Act::LeftOver => Script::new().text("Heard."),
        Act::Accept | Act::Refuse | Act::NudgeAPrompt => touch(),
        Act::Ask => Script::new().question(vec![which_database()]).text("Thank you."),
        Act::Plan => {
            let script = Script::new().tool("enter_plan_mode", json!({"reason": "It is complex"}));
            script.plan("# Plan\n\n1. Go\n").text("Planned.")
        }
        Act::Interrupt => Script::new().slow("I have begun.", &gate, "Never said."),
        Act::InterruptEarly => Script::new().hold(&gate).text("Never said."),
        Act::Queue | Act::Busy => Script::new().slow("At work.", &gate, " Done.").text("And that."),
    });
    if let Act::LeftOver = act {
        gemini.types(&format!("left over from {round}")).await;
        gemini.shows(&format!("left over from {round}")).await;
    }
    gemini.told(message).await;
    // What the last tool of this round gave back; a refusal is told with the next message only.
    let result = || gemini.model.results().pop().unwrap();
    match act {
        Act::Talk | Act::LeftOver => gemini.goes(["working", "idle"]).await,
        Act::Accept => {
            gemini.goes(["working", "prompt:permission"]).await;
            gemini.answered(json!({"accept": true})).await;
            gemini.goes(["working", "idle"]).await;
            assert!(gemini.has(&file));
        }
        Act::Refuse | Act::NudgeAPrompt => {
            gemini.goes(["working", "prompt:permission"]).await;
            if let Act::NudgeAPrompt = act {
                assert_eq!(gemini.nudge("Not now").await["delivered"], false);
            }
            gemini.answered(json!({"accept": false})).await;
            gemini.goes(["idle"]).await;
            assert!(!gemini.has(&file));
        }
        Act::Ask => {
            gemini.goes(["working", "prompt:question"]).await;
            gemini.answered(json!({"option": 1 + round % 3})).await;
            gemini.goes(["working", "idle"]).await;
            let label = ["PostgreSQL", "SQLite", "MySQL"][(round % 3) as usize];
            assert!(result().text.contains(&label.to_string()), "{:?}", result());
        }
        Act::Plan => {
            gemini.goes(["working", "prompt:permission"]).await;
            gemini.answered(json!({"accept": true})).await;
            gemini.goes(["working", "prompt:plan"]).await;
            gemini.answered(json!({"option": 2})).await;
            gemini.goes(["working", "idle"]).await;
        }
        Act::Interrupt | Act::InterruptEarly => {
            gemini.goes(["working"]).await;
            gate.reached().await;
            if let Act::Interrupt = act {
                gemini.shows("I have begun.").await;
            }
            gemini.keys(&["escape"]).await;
            gemini.goes(["idle"]).await;
        }
        Act::Busy => {
            gemini.goes(["working"]).await;
            gate.reached().await;
            assert_eq!(gemini.nudge("Not now").await["delivered"], false);
            gate.open();
            gemini.goes(["idle"]).await;
        }
        Act::Queue => {
            gemini.goes(["working"]).await;
            gate.reached().await;
            let queued = format!("Queued in round {round}");
            let body = json!({"message": queued, "queue": true, "timeout_ms": WITNESS_MS});
            let open = async {
                gemini.shows(&queued).await;
                gate.open();
            };
            let (answer, ()) = tokio::join!(gemini.nudge_with(body), open);
            assert_eq!(answer.ok()["delivered"], true);
            gemini.goes(["idle"]).await;
            return vec![message.to_owned(), queued];
        }
    }
    vec![message.to_owned()]
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

#[tokio::test]
async fn what_is_said_to_be_delivered_is_what_the_model_got() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let seed = number("COOP_SEED").unwrap_or(now).max(1);
    let rounds = number("COOP_ROUNDS").unwrap_or(ROUNDS);
    println!("COOP_SEED={seed} COOP_ROUNDS={rounds}");
    let mut dice = Dice(seed);
    let gemini = Gemini::ready(Script::new()).await;
    let mut expected: Vec<String> = Vec::new();
    for round in 0..rounds {
        let act = ACTS[dice.below(ACTS.len() as u64) as usize];
        let message = dice.message(round);
        println!("round {round}: {act:?}");
        expected.extend(play(&gemini, act, round, &message).await);
        gemini.rests().await;
        assert_eq!(gemini.model.heard(), expected, "round {round}: {act:?}");
        assert_eq!(gemini.state().await["prompt"], Value::Null, "round {round}: {act:?}");
    }
}
