//! The web page before the real Claude Code: a window on a desk, one on a phone and a terminal watch it, and one of them
//! answers.
//!
//! The windows are driven by `tests/interop/page/real.mjs`; what came of it is checked here. With `COOP_BLESS` the
//! pictures of the README are made anew.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use tokio::process::Command;

use crate::LIMIT;
use crate::claude::{Claude, House, Options};
use crate::model::Script;
use crate::support::Seat;

/// What the page is told to send.
const MESSAGE: &str = "Run the tests and fix what fails.";

/// Where the browser's tools were put by `tests/agents/run`.
fn tools() -> PathBuf {
    let named = std::env::var_os("COOP_TEST_PAGE").map(PathBuf::from);
    named.expect("COOP_TEST_PAGE names no directory: run tests/agents/run, which makes it ready")
}

/// A project that a picture can show, as `~/shop`.
fn project(options: Options) -> Options {
    options.house(&Arc::new(House::with_workspace("home/shop"))).prepare(|house| {
        std::fs::write(house.workspace().join("Makefile"), "test:\n\t@echo '3 passed, 0 failed' | tee result.txt\n")
            .unwrap();
    })
}

#[tokio::test]
async fn a_message_and_an_answer_from_the_page_reach_claude_code() {
    let script = Script::new().bash("make test").text("All three tests pass. Nothing had to be fixed.");
    let claude = Claude::ready(project(Options::script(script))).await;
    let mut terminal = Seat::attached(&claude.coop, 120, 40, &["--view"]);
    terminal.shows("view only").await;
    let pictures = match std::env::var_os("COOP_BLESS") {
        Some(_) => Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images"),
        None => claude.house.beside("pictures"),
    };
    std::fs::create_dir_all(&pictures).unwrap();
    let driver = Command::new("node")
        .arg(tools().join("real.mjs"))
        .args([&format!("http://{}", claude.coop.place.host()), MESSAGE])
        .arg(&pictures)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let driven = tokio::time::timeout(LIMIT, driver).await.expect("the windows are driven in time").unwrap();
    let said = [driven.stdout, driven.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).join("");
    assert!(driven.status.success(), "{said}");
    claude.goes(["working", "prompt:permission", "working", "idle"]).await;
    assert_eq!(claude.model.heard(), [MESSAGE]);
    assert!(claude.has("result.txt"), "the command that was allowed has run");
    assert_eq!(claude.model.results()[0].text, "3 passed, 0 failed");
    terminal.shows("Nothing had to be fixed.").await;
    for picture in ["web-dark.png", "web-light.png", "web-phone.png"] {
        assert!(pictures.join(picture).metadata().unwrap().len() > 10_000, "{picture}");
    }
}
