//! With one witness taken away, coop still tells the truth: what works goes on working, what is not known is said.

use super::scenes::without_log;
use super::{Codex, CodexCli, Options};
use crate::promises::degraded::{does_its_work, is_said_to_ail, says_nothing_that_is_not_known};
use crate::promises::keeps;

keeps!(CodexCli: degraded {
    without_hooks,
    in_a_tmux_that_coop_has_not_started,
    hooks_that_stop_coming_do_not_stop_the_rest,
});

#[tokio::test]
async fn without_the_log() {
    let codex = Codex::ready(Options::new().prepare(without_log).asking()).await;
    does_its_work(&codex, "log").await;
    is_said_to_ail(&codex, "log").await;
}

#[tokio::test]
async fn with_nothing_but_the_screen_no_message_is_said_to_be_delivered_that_was_not() {
    let codex = Codex::ready(Options::new().untouched().prepare(without_log)).await;
    says_nothing_that_is_not_known(&codex).await;
}
