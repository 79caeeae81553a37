//! What Gemini CLI's sources tell together, played through the mind without an agent.

use std::sync::Arc;

use serde_json::json;

use super::Gemini;
use crate::agent::driver::Driver;
use crate::agent::evidence::{Claim, EpochMs, Evidence, Source};
use crate::agent::mind::Mind;

const START: u64 = 1_794_787_606_000;

fn at(ms: u64) -> EpochMs {
    EpochMs(START + ms)
}

/// The states that are told by so many milliseconds after the start.
fn told(mind: &mut Mind, ms: u64) -> Vec<&'static str> {
    let mut told = Vec::new();
    while let (Some(decided), _) = mind.decide(at(ms))
        && told.last() != Some(&decided.state.kind().word())
    {
        told.push(decided.state.kind().word());
    }
    told
}

#[test]
fn a_turn_that_was_interrupted_does_not_work_once_more_when_its_hook_comes_late() {
    let rules = Arc::new(Gemini.rules(None).expect("the rules that come with coop"));
    let mut mind = Mind::new(&Gemini, EpochMs(START), 0, Arc::default(), rules);
    mind.seen.expects_hooks = true;
    mind.hear("SessionStart", &json!({"source": "startup"}), at(100));
    mind.hear("BeforeAgent", &json!({"prompt": "Go"}), at(200));
    assert_eq!(told(&mut mind, 210), ["working"]);
    mind.seen.note(Evidence::new(Source::Log, "cancelled", Claim::Idle, at(1000)));
    mind.seen.note(Evidence::new(Source::Title, "Ready", Claim::Idle, at(1010)));
    mind.seen.note(Evidence::new(Source::Screen, "input box", Claim::Idle, at(1020)));
    assert_eq!(told(&mut mind, 3000), ["idle"]);
    mind.hear("AfterAgent", &json!({"prompt_response": ""}), at(3010));
    mind.stopped(false, at(3010));
    assert!(!told(&mut mind, 3020).contains(&"working"));
    mind.hear("BeforeAgent", &json!({"prompt": "Again"}), at(4000));
    mind.hear("AfterAgent", &json!({"prompt_response": "Done"}), at(4001));
    mind.stopped(false, at(4001));
    assert!(told(&mut mind, 4002).contains(&"working"), "a turn that nobody saw is told");
}
