//! Random rounds: whatever is done in whatever order, what is said to be delivered is what the model got.
//!
//! `COOP_ROUNDS` says how many, `COOP_SEED` repeats those of an earlier run; a long run takes 200 rounds.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{Kept, after_a_refusal, which_database};
use crate::WITNESS_MS;
use crate::model::{Gate, Script};
use crate::session::{Options, Session};

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

#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Talk,
    Accept,
    Refuse,
    RefuseWithWords,
    Ask,
    Plan,
    Interrupt,
    InterruptEarly,
    Queue,
    Busy,
    LeftOver,
    NudgeAPrompt,
}

const ACTS: [Act; 12] = [
    Act::Talk,
    Act::Accept,
    Act::Refuse,
    Act::RefuseWithWords,
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
async fn play<A: Kept>(agent: &Session<A>, act: Act, round: u64, message: &str) -> Vec<String> {
    let gate = Gate::new();
    let file = format!("file-{round}");
    let touch = || Script::new().bash(&format!("touch {file}")).text("Done.");
    agent.model.plays(match act {
        Act::Talk | Act::LeftOver => Script::new().text("Heard."),
        Act::Accept | Act::Refuse | Act::RefuseWithWords | Act::NudgeAPrompt => touch(),
        Act::Ask => Script::new().question(vec![which_database()]).text("Thank you."),
        Act::Plan => return A::plans(agent, message).await,
        Act::Interrupt => Script::new().slow("I have begun.", &gate, "Never said."),
        Act::InterruptEarly => Script::new().hold(&gate).text("Never said."),
        Act::Queue | Act::Busy => Script::new().slow("At work.", &gate, " Done.").text("And that."),
    });
    if let Act::LeftOver = act {
        agent.types(&format!("left over from {round}")).await;
        agent.shows(&format!("left over from {round}")).await;
    }
    agent.told(message).await;
    // What the last tool of this round gave back; where a refusal ends the turn, it is told with the next message only.
    let result = || agent.model.results().pop().unwrap();
    match act {
        Act::Talk | Act::LeftOver => agent.goes(["working", "idle"]).await,
        Act::Accept => {
            agent.goes(["working", "prompt:permission"]).await;
            agent.answered(json!({"accept": true})).await;
            agent.goes(["working", "idle"]).await;
            assert!(agent.has(&file));
        }
        Act::Refuse | Act::NudgeAPrompt => {
            agent.goes(["working", "prompt:permission"]).await;
            if let Act::NudgeAPrompt = act {
                assert_eq!(agent.nudge("Not now").await["delivered"], false);
            }
            agent.answered(json!({"accept": false})).await;
            after_a_refusal(agent).await;
            assert!(!agent.has(&file));
        }
        Act::RefuseWithWords => {
            agent.goes(["working", "prompt:permission"]).await;
            agent.answered(json!({"accept": false, "text": format!("Not {file}")})).await;
            agent.goes(["working", "idle"]).await;
            assert!(!agent.has(&file) && result().text.contains(&format!("Not {file}")), "{:?}", result());
        }
        Act::Ask => {
            agent.goes(["working", "prompt:question"]).await;
            agent.answered(json!({"option": 1 + round % 3})).await;
            agent.goes(["working", "idle"]).await;
            let label = ["PostgreSQL", "SQLite", "MySQL"][(round % 3) as usize];
            assert!(result().text.contains(&A::chosen(label)), "{:?}", result());
        }
        Act::Plan => unreachable!("a plan is the agent's own round"),
        Act::Interrupt | Act::InterruptEarly => {
            agent.goes(["working"]).await;
            gate.reached().await;
            if let Act::Interrupt = act {
                agent.shows("I have begun.").await;
            }
            agent.keys(&["escape"]).await;
            agent.goes(["idle"]).await;
        }
        Act::Busy => {
            agent.goes(["working"]).await;
            gate.reached().await;
            assert_eq!(agent.nudge("Not now").await["delivered"], false);
            gate.open();
            agent.goes(["idle"]).await;
        }
        Act::Queue => {
            agent.goes(["working"]).await;
            gate.reached().await;
            let queued = format!("Queued in round {round}");
            let body = json!({"message": queued, "queue": true, "timeout_ms": WITNESS_MS});
            let open = async {
                agent.shows(&queued).await;
                gate.open();
            };
            let (answer, ()) = tokio::join!(agent.nudge_with(body), open);
            assert_eq!(answer.ok()["delivered"], true);
            agent.goes(["idle"]).await;
            return vec![message.to_owned(), queued];
        }
    }
    vec![message.to_owned()]
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

pub async fn what_is_said_to_be_delivered_is_what_the_model_got<A: Kept>() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let seed = number("COOP_SEED").unwrap_or(now).max(1);
    let rounds = number("COOP_ROUNDS").unwrap_or(A::ROUNDS);
    println!("COOP_SEED={seed} COOP_ROUNDS={rounds}");
    let known = |act: &Act| A::REFUSES_WITH_WORDS || *act != Act::RefuseWithWords;
    let acts: Vec<Act> = ACTS.into_iter().filter(known).collect();
    let mut dice = Dice(seed);
    let agent = Session::<A>::ready(A::asking(Options::new())).await;
    let mut expected: Vec<String> = Vec::new();
    for round in 0..rounds {
        let act = acts[dice.below(acts.len() as u64) as usize];
        let message = dice.message(round);
        println!("round {round}: {act:?}");
        expected.extend(play(&agent, act, round, &message).await);
        agent.rests().await;
        assert_eq!(agent.model.heard(), expected, "round {round}: {act:?}");
        assert_eq!(agent.state().await["prompt"], Value::Null, "round {round}: {act:?}");
    }
}
