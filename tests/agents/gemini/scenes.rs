//! Scripts and surroundings that several suites use.

use serde_json::{Value, json};

use super::{Gemini, House};
use crate::model::Script;

/// How often Gemini CLI 0.61.0 asks for an answer that is none before it gives up, the first time included.
const NO_ANSWER_TRIES: usize = 4;

/// No answer is given, for as often as the agent asks for it.
pub fn blocked() -> Script {
    Script::new().blocked().times(NO_ANSWER_TRIES)
}

/// A quota of the day is used up, as the service says it.
pub fn used_up() -> Script {
    let quota = json!({"details": [{
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
            "quotaValue": "50",
        }],
    }]});
    Script::new().error(429, &[], "RESOURCE_EXHAUSTED", "You exceeded your current quota.").fields(quota)
}

/// The logs that the agent has begun become a device that is always full: it goes on without one.
pub fn without_log(house: &House) {
    let logs = house.logs();
    assert!(!logs.is_empty(), "it has begun one");
    for log in logs {
        std::fs::remove_file(&log).unwrap();
        std::os::unix::fs::symlink("/dev/full", &log).unwrap();
    }
}

/// The labels of a dialog.
pub fn labels(prompt: &Value) -> Vec<&str> {
    prompt["options"].as_array().unwrap().iter().map(|label| label.as_str().unwrap()).collect()
}

impl Gemini {
    /// Lets the model play this, tells the agent to go on and waits for a dialog of this kind.
    pub async fn asked(&self, script: Script, kind: &str) -> Value {
        self.model.plays(script);
        self.told("Go on").await;
        self.goes(["working"]).await;
        self.prompt(kind).await
    }

    /// The text of the last result that a tool gave back.
    pub fn learned(&self) -> String {
        self.model.results().pop().map(|result| result.text).unwrap_or_default()
    }
}
