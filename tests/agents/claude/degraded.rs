//! With one witness taken away, coop still tells the truth: what works goes on working, what is not known is said.

use super::scenes::{without_log, without_status};
use super::{Claude, ClaudeCode, House, Options};
use crate::model::{Gate, Script};
use crate::promises::degraded::{does_its_work, is_said_to_ail, says_nothing_that_is_not_known};
use crate::promises::keeps;

keeps!(ClaudeCode: degraded {
    without_hooks,
    in_a_tmux_that_coop_has_not_started,
    hooks_that_stop_coming_do_not_stop_the_rest,
});

#[tokio::test]
async fn without_the_status_file() {
    let claude = Claude::ready(Options::new().prepare(without_status)).await;
    does_its_work(&claude, "status").await;
    is_said_to_ail(&claude, "status").await;
}

#[tokio::test]
async fn without_the_log() {
    let claude = Claude::ready(Options::new().prepare(without_log)).await;
    does_its_work(&claude, "log").await;
    is_said_to_ail(&claude, "log").await;
}

#[tokio::test]
async fn with_nothing_but_the_screen_no_message_is_said_to_be_delivered_that_was_not() {
    let blind = |house: &House| {
        without_status(house);
        without_log(house);
    };
    let claude = Claude::ready(Options::new().groom("pristine").prepare(blind)).await;
    says_nothing_that_is_not_known(&claude).await;
}

#[tokio::test]
async fn a_status_file_that_vanishes_does_not_stop_the_rest() {
    let gate = Gate::new();
    let claude = Claude::ready(Script::new().text("Hello.").slow("I have begun.", &gate, "Never said.")).await;
    std::fs::remove_dir_all(claude.house.config().join("sessions")).unwrap();
    without_status(&claude.house);
    claude.told("First").await;
    claude.goes(["working", "idle"]).await;
    claude.told("Second").await;
    claude.goes(["working"]).await;
    claude.shows("I have begun.").await;
    claude.keys(&["escape"]).await;
    claude.goes(["idle"]).await;
    claude.rests().await;
}
