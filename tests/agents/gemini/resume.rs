//! A conversation goes on after its agent has ended: in a new coop, and in the same one.
//!
//! No transcripts are numbered on, because none are kept (see `transcripts.rs`); the kinds of hints are one test.

use super::GeminiCli;
use crate::promises::keeps;
use crate::promises::resume::{ASKED, WORD, goes_on, held, leaves, noting, resuming};

keeps!(GeminiCli: resume {
    a_conversation_goes_on_where_the_agents_files_lie_elsewhere,
    what_does_not_exist_cannot_go_on,
    a_restart_goes_on_with_the_conversation_when_asked,
    a_restart_without_asking_begins_anew,
    a_restart_with_its_files_elsewhere_is_followed_there,
    a_restart_before_the_first_message_begins_anew_though_asked_to_go_on,
});

#[tokio::test]
async fn a_conversation_goes_on_by_every_kind_of_hint() {
    let (house, id) = held::<GeminiCli>(noting()).await;
    let mut said = vec![WORD];
    let log = house.logs().remove(0);
    for hint in ["latest", &id, log.to_str().unwrap(), house.workspace().to_str().unwrap()] {
        said.push(ASKED);
        let gemini = goes_on(resuming(&house, hint), &id, &said).await;
        let usage = gemini.eventually("/api/v1/session/usage", |usage| usage["request_count"] == said.len()).await;
        assert_eq!(usage["input_tokens"], 10 * said.len(), "each message counts once: {usage}");
        leaves(&gemini).await;
    }
}
