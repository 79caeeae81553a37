//! With one witness taken away, coop still tells the truth: what works goes on working, what is not known is said.

use serde_json::json;

use super::scenes::without_log;
use super::{Gemini, GeminiCli, Options, SMALL};
use crate::promises::degraded::does_its_work;
use crate::promises::keeps;

keeps!(GeminiCli: degraded {
    without_hooks,
    in_a_tmux_that_coop_has_not_started,
    hooks_that_stop_coming_do_not_stop_the_rest,
});

#[tokio::test]
async fn without_hooks_that_were_expected() {
    let options = Options::new().setting("hooksConfig", "enabled", json!(false)).size(SMALL);
    does_its_work(&Gemini::ready(options).await, "hooks").await;
}

#[tokio::test]
async fn without_the_title() {
    let options = Options::new().setting("ui", "hideWindowTitle", json!(true));
    does_its_work(&Gemini::ready(options).await, "title").await;
}

#[tokio::test]
async fn without_the_log() {
    let gemini = Gemini::ready(Options::new()).await;
    without_log(&gemini.house);
    does_its_work(&gemini, "log").await;
}
