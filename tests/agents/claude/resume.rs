//! A conversation goes on after its agent has ended: in a new coop, and in the same one.

use super::{ClaudeCode, Options};
use crate::model::Script;
use crate::promises::keeps;
use crate::promises::resume::{ASKED, WORD, goes_on, held, noting};

keeps!(ClaudeCode: resume {
    the_latest_conversation_goes_on,
    a_conversation_goes_on_by_its_name,
    a_conversation_goes_on_by_its_log,
    a_conversation_goes_on_by_its_workspace,
    a_conversation_goes_on_where_the_agents_files_lie_elsewhere,
    what_does_not_exist_cannot_go_on,
    a_restart_goes_on_with_the_conversation_when_asked,
    a_restart_without_asking_begins_anew,
    a_restart_with_its_files_elsewhere_is_followed_there,
    a_restart_before_the_first_message_begins_anew_though_asked_to_go_on,
    transcripts_are_numbered_on,
});

#[tokio::test]
async fn a_conversation_goes_on_by_the_agents_own_flag() {
    let (house, id) = held::<ClaudeCode>(noting()).await;
    let options = Options::script(Script::new().text("Swordfish.")).house(&house).word("--continue");
    let claude = goes_on(options, &id, &[WORD, ASKED]).await;
    let [log] = &house.logs()[..] else { panic!("one log: {:?}", house.logs()) };
    let lines = std::fs::read_to_string(log).unwrap();
    assert!(lines.contains(WORD) && lines.contains(ASKED), "it is written on in the same file");
    let usage = claude.eventually("/api/v1/session/usage", |usage| usage["request_count"] == 2).await;
    assert_eq!(usage["input_tokens"], 20, "coop reads it from its beginning: {usage}");
}
