//! A window of GNU screen served by coop: looked at again and again, typed into, and left as it was.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::screen::Screen;
use crate::stand_in::StandIn;
use crate::support::{Coop, Scratch, binary, finished, run_coop};
use crate::tmux::Tmux;

fn served(screen: &Screen, target: &str) -> Coop {
    let directory = screen.directory();
    Coop::start_with(&["--port", "0", "--attach", target], &[], |command| {
        command.env("SCREENDIR", directory);
    })
}

fn shell() -> Screen {
    Screen::running(&["env", "PS1=$ ", "bash", "--norc", "--noprofile"])
}

#[tokio::test]
async fn what_a_window_shows_is_followed() {
    let screen = shell();
    let coop = served(&screen, "screen:main");
    assert_eq!(coop.status().await["backend"], "screen");
    assert_eq!(coop.status().await["terminal"], json!({"cols": 80, "rows": 24}));
    coop.types("echo $((20 + 22)) and 'q\"^\\$HOME é'").await;
    coop.shows("42 and q\"^\\$HOME é").await;
    screen.does(&["-S", "main", "-p", "0", "-X", "stuff", "echo by $((3 * 3)) hands\\015"]);
    coop.shows("by 9 hands").await;
    let cursor = coop.get("/api/v1/screen").await.ok()["cursor"].clone();
    assert_eq!(cursor["col"], 2, "behind the prompt: {cursor}");
}

#[tokio::test]
async fn every_byte_that_is_typed_arrives() {
    let screen = Screen::running(&["sh", "-c", "stty raw opost -echo; echo ready; exec od -An -v -tx1 -w16"]);
    let coop = served(&screen, "screen:main");
    coop.shows("ready").await;
    let raw: Vec<u8> = (0..=255).collect();
    coop.post("/api/v1/input/raw", json!({"data": STANDARD.encode(raw)})).await.ok();
    for from in (0..256).step_by(16) {
        let row: Vec<String> = (from..from + 16).map(|byte| format!("{byte:02x}")).collect();
        coop.shows(&row.join(" ")).await;
    }
}

#[tokio::test]
async fn a_size_that_screen_does_not_give_is_told_and_one_that_it_gives_is_seen() {
    let screen = shell();
    let coop = served(&screen, "screen:main");
    let (status, code, message) = coop.post("/api/v1/resize", json!({"cols": 100, "rows": 30})).await.error();
    assert_eq!((status, code.as_str()), (409, "BORROWED"), "nothing shows it: {message}");
    // While a terminal shows it, screen changes its size.
    let directory = format!("SCREENDIR={}", screen.directory().display());
    let tmux = Tmux::running(120, 40, &["env", &directory, "screen", "-x", "main"]);
    tmux.shows("main", "$");
    coop.post("/api/v1/resize", json!({"cols": 100, "rows": 30})).await.ok();
    assert_eq!(coop.status().await["terminal"], json!({"cols": 100, "rows": 30}));
    assert!(screen.does(&["-S", "main", "-p", "0", "-Q", "info"]).contains("(100,30)"));
    let shown = tmux.picture("main").join("\n");
    assert!(!shown.contains("Screen image"), "nobody is told of the looking:\n{shown}");
}

#[tokio::test]
async fn a_look_or_an_input_that_fails_ends_nothing() {
    let screen = shell();
    let (busy, directory) = (StandIn::of("screen", ""), screen.directory());
    let coop = Coop::start_with(&["--port", "0", "--attach", "screen:main"], &[], |command| {
        command.env("SCREENDIR", directory).env("PATH", busy.path());
    });
    coop.shows("$").await;
    busy.fail();
    coop.log_says("it is looked at again").await;
    let refused = coop.post("/api/v1/input", json!({"text": "lost"})).await.ok();
    assert_eq!(refused["receipt"]["phase"], "refused", "{refused}");
    busy.recover();
    coop.types("echo back $((50 - 8))").await;
    coop.shows("back 42").await;
    assert!(!coop.screen().await.contains("lost"));
}

#[tokio::test]
async fn a_window_named_by_its_title_is_the_one_that_is_served_and_signalled() {
    let screen = shell();
    let wait = "trap 'echo hit; exit' TERM; echo waiting; while :; do sleep 0.1; done";
    screen.does(&["-S", "main", "-X", "screen", "-t", "logs", "bash", "-c", wait]);
    let coop = served(&screen, "screen:main:logs");
    coop.shows("waiting").await;
    assert_eq!(coop.status().await["command"][2], wait);
    screen.does(&["-S", "main", "-p", "logs", "-X", "title", "renamed"]);
    coop.post("/api/v1/signal", json!({"signal": "TERM"})).await.ok();
    let exit = coop.exited().await;
    assert!(exit["error"].as_str().unwrap().contains("the window was closed"), "{exit}");
    assert!(screen.lists("main"), "the other window runs on");
}

#[tokio::test]
async fn a_screen_that_appends_its_hardcopies_is_seen_as_it_is() {
    let screen = shell();
    screen.does(&["-S", "main", "-X", "hardcopy_append", "on"]);
    let coop = served(&screen, "screen:main");
    coop.types("clear; echo seen $((50 - 8))").await;
    coop.shows("seen 42").await;
    coop.types("clear; echo alone").await;
    coop.wait(json!({"regex": "^alone$"})).await;
    assert_eq!(coop.screen().await.matches("seen 42").count(), 0);
}

#[tokio::test]
async fn the_end_and_a_new_name_are_noticed() {
    let screen = shell();
    let coop = served(&screen, "screen:main");
    screen.does(&["-S", "main", "-X", "sessionname", "renamed"]);
    coop.types("echo still $((50 - 8))").await;
    coop.shows("still 42").await;
    coop.types("exit").await;
    let exit = coop.exited().await;
    assert!(exit["error"].as_str().unwrap().contains("the screen session has ended"), "{exit}");
}

#[tokio::test]
async fn coop_leaves_and_the_session_runs_on() {
    let screen = shell();
    let coop = served(&screen, "screen:main");
    let (status, code, _) = coop.post("/api/v1/session/restart", json!({})).await.error();
    assert_eq!((status, code.as_str()), (409, "BORROWED"));
    coop.post("/api/v1/shutdown", json!({})).await.ok();
    assert!(coop.left().await.success());
    assert!(screen.lists("main"));
}

#[tokio::test]
async fn an_agent_in_a_window_is_known_by_its_own_files_and_coop_says_what_it_lacks() {
    let home = Scratch::new();
    std::fs::create_dir_all(home.path(".claude/sessions")).unwrap();
    let variable = format!("HOME={}", home.dir().display());
    let begin = "exec -a claude sleep 1000";
    let screen = Screen::running(&["env", "-u", "CLAUDE_CONFIG_DIR", &variable, "bash", "--norc", "-c", begin]);
    let coop = served(&screen, "screen:main");
    assert_eq!(coop.status().await["agent"], "claude");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let text = json!({"status": "busy", "statusUpdatedAt": u64::try_from(now).unwrap()}).to_string();
    home.file(&format!(".claude/sessions/{}.json", coop.child_pid().await), text);
    coop.wait(json!({"states": ["working"]})).await;
    let explained = coop.get("/api/v1/agent/state?explain=true").await.ok();
    assert!(explained["disagreement"].as_str().unwrap().contains("could give it no hooks"), "{explained}");
}

#[tokio::test]
async fn another_users_directory_is_told_to_be_that() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: only root can be another user");
        return;
    }
    let (screen, scratch) = (shell(), Scratch::new());
    // Where nobody may run it.
    let coop = scratch.path("coop");
    std::fs::copy(binary(), &coop).unwrap();
    let mut command = tokio::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=/nowhere"]).arg(coop);
    command
        .args(["--port", "0", "--log-level", "error", "--attach", "screen:main"])
        .env("SCREENDIR", screen.directory());
    let ended = finished(command).await;
    let complaint = ended.complaint();
    assert!(complaint.contains("may not be used by you"), "{complaint}");
}

#[tokio::test]
async fn what_cannot_be_found_is_told_with_what_there_is() {
    let screen = shell();
    let directory = screen.directory();
    let words = ["--port", "0", "--log-level", "error", "--attach", "screen:nope"];
    let none = run_coop(&words, &[("SCREENDIR", directory.to_str().unwrap())]).await;
    let complaint = none.complaint();
    assert!(complaint.contains("no screen session \"nope\"") && complaint.contains(".main"), "{complaint}");
    let missing = run_coop(&words, &[("PATH", "/nowhere")]).await;
    assert!(missing.complaint().contains("screen is not installed"), "{missing:?}");
}
