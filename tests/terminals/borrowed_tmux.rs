//! A pane of tmux served by coop: everything that it prints, everything that is typed, and never a mark left on it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::stand_in::StandIn;
use crate::support::{Coop, PATIENCE, Scratch, Seat, binary, finished, run_coop};
use crate::tmux::Tmux;

/// A coop that serves a target of this tmux.
fn served(tmux: &Tmux, target: &str) -> Coop {
    served_with(tmux, target, &[])
}

fn served_with(tmux: &Tmux, target: &str, flags: &[&str]) -> Coop {
    let socket = tmux.socket();
    let mut words = vec!["--port", "0", "--attach", target, "--tmux-socket", socket.to_str().unwrap()];
    words.extend(flags);
    Coop::start(&words, &[])
}

/// A shell that says nothing by itself.
const SHELL: [&str; 3] = ["bash", "--norc", "--noprofile"];

fn shell() -> Tmux {
    Tmux::running(80, 24, &["env", "PS1=$ ", SHELL[0], SHELL[1], SHELL[2]])
}

/// The rows as coop shows them.
async fn rows(coop: &Coop) -> Vec<String> {
    let screen = coop.get("/api/v1/screen").await.ok();
    screen["lines"].as_array().unwrap().iter().map(|row| row.as_str().unwrap().trim_end().to_owned()).collect()
}

/// The same with their colours.
async fn coloured(coop: &Coop) -> Vec<String> {
    let screen = coop.get("/api/v1/screen?format=ansi").await.ok();
    screen["lines"].as_array().unwrap().iter().map(|row| row.as_str().unwrap().to_owned()).collect()
}

/// Waits until coop shows what tmux shows, in the same colours.
async fn shows_the_same(coop: &Coop, tmux: &Tmux, pane: &str) -> Vec<String> {
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        let (ours, theirs) = (coloured(coop).await, tmux.coloured(pane));
        if ours == theirs {
            return rows(coop).await;
        }
        assert!(std::time::Instant::now() < deadline, "coop shows\n{ours:#?}\n--- and tmux\n{theirs:#?}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn what_stood_there_before_is_shown_and_what_comes_later_is_live() {
    let tmux = shell();
    tmux.does(&["send-keys", "-t", "main", "seq 100; echo begun", "Enter"]);
    tmux.shows("main", "begun");
    let coop = served(&tmux, "tmux:main");
    assert_eq!(coop.status().await["backend"], "tmux");
    shows_the_same(&coop, &tmux, "main").await;
    let scrolled = coop.get("/api/v1/screen?scrollback=30").await.ok();
    assert!(scrolled.to_string().contains("\"70\""), "{scrolled}");
    coop.types("echo $((20 + 22))").await;
    coop.shows("42").await;
    tmux.does(&["send-keys", "-t", "main", "echo by $((3 * 3)) hands", "Enter"]);
    coop.shows("by 9 hands").await;
    let cursor = coop.get("/api/v1/screen").await.ok()["cursor"].clone();
    let theirs = tmux.does(&["display-message", "-p", "-t", "main", "#{cursor_x} #{cursor_y}"]);
    assert_eq!(format!("{} {}", cursor["col"], cursor["row"]), theirs.trim());
}

/// A way in which a pane is served today, with what stands in for tmux there.
type Way = fn(&Tmux) -> (Coop, Option<StandIn>);

const WAYS: [Way; 2] = [
    |tmux| (served(tmux, "tmux:main"), None),
    |tmux| {
        let (coop, lame) = looked_at_today(tmux);
        (coop, Some(lame))
    },
];

/// A coop that serves it by looking, because control mode never works.
fn looked_at_today(tmux: &Tmux) -> (Coop, StandIn) {
    let lame = StandIn::of("tmux", "for word; do [ \"$word\" != -C ] || exit 1; done");
    let socket = tmux.socket();
    let words = ["--port", "0", "--attach", "tmux:main", "--tmux-socket", socket.to_str().unwrap()];
    let coop = Coop::start_with(&words, &[], |command| {
        command.env("PATH", lame.path());
    });
    (coop, lame)
}

#[tokio::test]
async fn colours_and_lines_of_before_and_of_later_are_those_of_the_pane() {
    // Each row goes on in the colours of the one before, which tmux does not tell again.
    let before =
        r"printf '\033[31;44mX\r\nred\r\n\033[0;1;38;5;200mY\033[0;48;2;1;2;3m  \033[0m\r\n\033(0qqq\r\nx\033(Bq\r\n'";
    let later = r"read line; printf '\033[H\033[7;93mZ\033[5;1H\033[0;4;101mlater\033[0m'; exec cat";
    for way in WAYS {
        let tmux = Tmux::running(40, 8, &["sh", "-c", &format!("stty -echo; {before}; echo drawn; {later}")]);
        tmux.shows("main", "drawn");
        let (coop, _stand_in) = way(&tmux);
        shows_the_same(&coop, &tmux, "main").await;
        let rows = coloured(&coop).await;
        let expected = [
            "\x1b[0;31;44mX\x1b[0m",
            "\x1b[0;31;44mred\x1b[0m",
            "\x1b[0;1;38;5;200mY\x1b[0;48;2;1;2;3m  \x1b[0m",
            "───",
            "│q",
            "drawn",
        ];
        assert_eq!(rows[..6], expected);
        coop.types("").await;
        coop.shows("later").await;
        shows_the_same(&coop, &tmux, "main").await;
        let rows = coloured(&coop).await;
        assert_eq!([&rows[0], &rows[4]], ["\x1b[0;7;93mZ\x1b[0m", "\x1b[0;4;101mlater\x1b[0m"]);
    }
}

#[tokio::test]
async fn every_byte_that_is_typed_arrives() {
    let tmux = Tmux::running(80, 30, &["sh", "-c", "stty raw opost -echo; echo ready; exec od -An -v -tx1 -w16"]);
    tmux.shows("main", "ready");
    let coop = served(&tmux, "tmux:main");
    let text = "a'b\"c\\d$HOME;#{x} é 日本 ^ %%";
    coop.post("/api/v1/input", json!({"text": text})).await.ok();
    coop.post("/api/v1/input/keys", json!({"keys": ["Enter", "Up", "Ctrl-C", "Escape", "F5"]})).await.ok();
    let raw: Vec<u8> = (0..=255).collect();
    coop.post("/api/v1/input/raw", json!({"data": STANDARD.encode(&raw)})).await.ok();
    let expected = [text.as_bytes(), b"\r\x1b[A\x03\x1b\x1b[15~", &raw[..]].concat();
    // od keeps what does not fill its last row.
    let hex: Vec<String> = expected[..expected.len() / 16 * 16].iter().map(|byte| format!("{byte:02x}")).collect();
    let all = |rows: &[String]| rows.join(" ").replace("ready", "");
    tmux.shows_that("main", |rows| {
        let words = all(rows).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        words.starts_with(&hex)
    });
}

#[tokio::test]
async fn what_is_typed_reaches_the_program_whatever_somebody_looks_at_there() {
    let tmux = shell();
    tmux.does(&["new-session", "-d", "-s", "other", "cat"]);
    let in_mode = || tmux.does(&["display-message", "-p", "-t", "main", "#{pane_mode}"]).trim().to_owned();
    for (number, way) in WAYS.into_iter().enumerate() {
        let (coop, _stand_in) = way(&tmux);
        for (command, mode) in
            [("choose-tree", "tree-mode"), ("clock-mode", "clock-mode"), ("customize-mode", "options-mode")]
        {
            tmux.does(&[command, "-t", "main"]);
            assert_eq!(in_mode(), mode);
            // In the tree this would kill the window.
            let typed = coop.post("/api/v1/input", json!({"text": "", "enter": true})).await.ok();
            assert_eq!(typed["receipt"]["phase"], "written", "{typed}");
            coop.types(&format!("echo xy $((42 + {number})) {mode}")).await;
            coop.shows(&format!("xy {} {mode}", 42 + number)).await;
            // A paste goes past a mode.
            tmux.does(&["copy-mode", "-q", "-t", "main"]);
        }
    }
}

#[tokio::test]
async fn what_a_pane_takes_no_input_of_is_refused_with_the_reason() {
    let tmux = shell();
    tmux.does(&["select-pane", "-d", "-t", "main"]);
    let (live, (polled, _old)) = (served(&tmux, "tmux:main"), looked_at(&tmux));
    for coop in [&live, &polled] {
        let refused = coop.post("/api/v1/input", json!({"text": "lost"})).await.ok()["receipt"].clone();
        assert_eq!(refused["phase"], "refused", "{refused}");
        assert!(refused["witness"].as_str().unwrap().contains("select-pane -e"), "{refused}");
    }
    tmux.does(&["select-pane", "-e", "-t", "main"]);
    for (number, coop) in [&live, &polled].into_iter().enumerate() {
        coop.types(&format!("echo taken $((42 + {number}))")).await;
        coop.shows(&format!("taken {}", 42 + number)).await;
        assert!(!coop.screen().await.contains("lost"));
    }
}

#[tokio::test]
async fn a_copy_mode_that_somebody_left_does_not_swallow_input() {
    let tmux = shell();
    tmux.does(&["copy-mode", "-t", "main"]);
    let coop = served(&tmux, "tmux:main");
    coop.types("echo out of $((6 * 7)) modes").await;
    coop.shows("out of 42 modes").await;
}

#[tokio::test]
async fn keys_follow_the_modes_that_the_program_set_before_coop_came() {
    let script = "stty raw -echo; printf '\\033[?1h\\033[?2004hready'; exec od -An -v -tx1";
    let tmux = Tmux::running(80, 24, &["sh", "-c", script]);
    tmux.shows("main", "ready");
    let coop = served(&tmux, "tmux:main");
    coop.post("/api/v1/input/keys", json!({"keys": ["Up", "Up", "Up", "Up", "Up", "Enter"]})).await.ok();
    coop.shows("1b 4f 41 1b 4f 41").await;
}

#[tokio::test]
async fn another_size_is_seen_by_the_program_and_undone_at_the_end() {
    let tmux = shell();
    let coop = served(&tmux, "tmux:main");
    assert_eq!(coop.status().await["terminal"], json!({"cols": 80, "rows": 24}));
    let resized = coop.post("/api/v1/resize", json!({"cols": 100, "rows": 30})).await.ok();
    assert_eq!(resized, json!({"cols": 100, "rows": 30}));
    assert_eq!(coop.status().await["terminal"], json!({"cols": 100, "rows": 30}));
    coop.types("stty size").await;
    coop.shows("30 100").await;
    // By somebody else's hand.
    tmux.does(&["resize-window", "-t", "main", "-x", "60", "-y", "15"]);
    // tmux tells the program a moment later.
    coop.types("clear; until [ \"$(stty size)\" = '15 60' ]; do sleep 0.1; done; echo sized $((6 * 7))").await;
    coop.shows("sized 42").await;
    assert_eq!(coop.status().await["terminal"], json!({"cols": 60, "rows": 15}));
    shows_the_same(&coop, &tmux, "main").await;
    drop(coop);
    let left = tmux.does(&["show-options", "-w", "-t", "main", "window-size"]);
    assert_eq!(left.trim(), "", "the window is sized as it was before");
}

/// What tmux knows of the window: its size, and how it was chosen if not by default.
fn window(tmux: &Tmux) -> (String, String) {
    let size = tmux.does(&["display-message", "-p", "-t", "main", "#{window_width}x#{window_height}"]);
    let chosen = tmux.does(&["show-options", "-w", "-t", "main", "window-size"]);
    (size.trim().to_owned(), chosen.trim().to_owned())
}

#[tokio::test]
async fn whoever_looks_through_coop_leaves_the_size_alone_unless_told_otherwise() {
    let tmux = shell();
    let coop = served(&tmux, "tmux:main");
    let mut seat = Seat::attached(&coop, 100, 41, &[]);
    seat.types("stty size\r").await;
    seat.shows("24 80").await;
    assert_eq!(window(&tmux), ("80x24".to_owned(), String::new()));
    drop((seat, coop));

    let coop = served_with(&tmux, "tmux:main", &["--attach-size", "latest"]);
    let mut seat = Seat::attached(&coop, 100, 41, &[]);
    seat.types("clear; until [ \"$(stty size)\" = '40 100' ]; do sleep 0.1; done; echo sized $((6 * 7))\r").await;
    seat.shows("sized 42").await;
}

#[tokio::test]
async fn a_pane_among_others_is_resized_only_as_far_as_they_let_it() {
    let tmux = shell();
    tmux.does(&["split-window", "-d", "-h", "-t", "main", "cat"]);
    let coop = served(&tmux, "tmux:main:0.0");
    let (status, code, message) = coop.post("/api/v1/resize", json!({"cols": 300, "rows": 90})).await.error();
    assert_eq!((status, code.as_str()), (409, "BORROWED"));
    assert!(message.contains("other panes"), "{message}");
    coop.post("/api/v1/resize", json!({"cols": 50, "rows": 24})).await.ok();
    assert_eq!(tmux.does(&["display-message", "-p", "-t", "main:0.0", "#{pane_width}"]).trim(), "50");
}

#[tokio::test]
async fn a_full_screen_program_looks_as_it_does_in_tmux() {
    let scratch = Scratch::new();
    let text: String = (1..200).map(|n| format!("line {n} – é 日本語 \t{}\n", "x".repeat(n % 90))).collect();
    let file = scratch.file("text", &text);
    let tmux = shell();
    tmux.does(&["send-keys", "-t", "main", &format!("clear; vim -u NONE -N {file}"), "Enter"]);
    tmux.shows("main", "line 5");
    // Begun before coop came, and after.
    let coop = served(&tmux, "tmux:main");
    shows_the_same(&coop, &tmux, "main").await;
    assert_eq!(coop.get("/api/v1/screen").await.ok()["alt_screen"], true);
    coop.post("/api/v1/input", json!({"text": ":set number hlsearch\r/line 150\r"})).await.ok();
    coop.shows("150 line 150").await;
    coop.post("/api/v1/input/keys", json!({"keys": ["PageDown", "PageDown", "Down", "Down"]})).await.ok();
    shows_the_same(&coop, &tmux, "main").await;
    coop.post("/api/v1/resize", json!({"cols": 100, "rows": 40})).await.ok();
    shows_the_same(&coop, &tmux, "main").await;
    coop.post("/api/v1/input", json!({"text": ":q!\r"})).await.ok();
    coop.wait(json!({"regex": r"^\$ *$"})).await;
    shows_the_same(&coop, &tmux, "main").await;
    assert_eq!(coop.get("/api/v1/screen").await.ok()["alt_screen"], false);
}

#[tokio::test]
async fn not_a_byte_of_a_flood_is_lost() {
    const LINES: usize = 20_000;
    let tmux = shell();
    let coop = served_with(&tmux, "tmux:main", &["--ring-size", "8M"]);
    coop.types(&format!("clear; for i in $(seq {LINES}); do echo \"line $i of the flood\"; done; echo over $((1+1))"))
        .await;
    coop.shows("over 2").await;
    let output = String::from_utf8_lossy(&coop.output().await).into_owned();
    let mut from = 0;
    for number in 1..=LINES {
        let line = format!("line {number} of the flood\r\n");
        let at = output[from..].find(&line).unwrap_or_else(|| panic!("line {number} is missing"));
        from += at + line.len();
    }
    assert_eq!(output.matches("of the flood\r\n").count(), LINES, "and none comes twice");
    shows_the_same(&coop, &tmux, "main").await;
}

#[tokio::test]
async fn questions_that_tmux_answers_are_not_answered_again() {
    let script = "stty raw opost -echo; printf 'ready\\033[6n\\033[c\\033[>q'; exec od -An -v -tx1 -w64";
    let tmux = Tmux::running(80, 24, &["sh", "-c", &format!("read line; {script}")]);
    let coop = served(&tmux, "tmux:main");
    coop.types("").await;
    coop.shows("ready").await;
    coop.post("/api/v1/input", json!({"text": "z".repeat(40)})).await.ok();
    coop.shows("7a 7a").await;
    let screen = rows(&coop).await.join("");
    assert_eq!(screen.matches("1b 5b 32 3b 36 52").count(), 1, "{screen}");
    let output = coop.output().await;
    assert!(!output.windows(4).any(|bytes| bytes == b"\x1b[6n"), "a terminal that is attached would answer it");
}

#[tokio::test]
async fn the_end_of_a_pane_that_stays_is_told_with_its_code() {
    for way in WAYS {
        let (_tmux, (coop, _stand_in)) = loop {
            let tmux = Tmux::running(80, 24, &["sh", "-c", "read line; exit 7"]);
            let (coop, stand_in) = way(&tmux);
            coop.types("").await;
            let exit = coop.exited().await;
            // One of fifteen times tmux 3.3a does not learn it either, when the terminal closes before the program is reaped.
            let told = tmux.does(&["display-message", "-p", "-t", "main", "#{pane_dead_status}"]);
            assert_eq!(exit["code"], told.trim().parse::<i32>().map_or(Value::Null, Value::from));
            if exit["code"] == 7 {
                break (tmux, (coop, stand_in));
            }
        };
        assert_eq!(coop.status().await["exit_code"], 7);
        let (status, code, message) = coop.post("/api/v1/input", json!({"text": "x"})).await.error();
        assert_eq!((status, code.as_str()), (410, "EXITED"));
        assert!(message.contains("--attach"), "{message}");
    }
}

#[tokio::test]
async fn the_end_of_a_session_is_told_with_what_is_known() {
    let tmux = shell();
    tmux.does(&["new-session", "-d", "-s", "other", "cat"]);
    let coop = served(&tmux, "tmux:main");
    tmux.does(&["kill-session", "-t", "main"]);
    let exit = coop.exited().await;
    assert_eq!((&exit["code"], &exit["signal"]), (&Value::Null, &Value::Null));
    assert!(exit["error"].as_str().unwrap().contains("the pane was closed"), "{exit}");

    let coop = served(&tmux, "tmux:other");
    tmux.does(&["kill-server"]);
    assert!(coop.exited().await["error"].as_str().unwrap().contains("the tmux server has ended"));
}

#[tokio::test]
async fn a_session_that_is_renamed_is_served_on() {
    let tmux = shell();
    let coop = served(&tmux, "tmux:main");
    tmux.does(&["rename-session", "-t", "main", "another name"]);
    coop.types("echo still $((50 - 8))").await;
    coop.shows("still 42").await;
}

#[tokio::test]
async fn a_pane_that_moves_to_another_session_is_served_on() {
    let tmux = shell();
    tmux.does(&["new-session", "-d", "-s", "other", "cat"]);
    let coop = served(&tmux, "tmux:main");
    tmux.does(&["move-window", "-s", "main:0", "-t", "other:5"]);
    coop.types("echo moved $((50 - 8))").await;
    coop.shows("moved 42").await;
}

#[tokio::test]
async fn a_client_that_is_thrown_out_comes_back() {
    let tmux = shell();
    let coop = served(&tmux, "tmux:main");
    tmux.does(&["detach-client", "-s", "main"]);
    coop.log_says("the connection to tmux was lost").await;
    tmux.does(&["send-keys", "-t", "main", "echo while $((5 * 8)) away", "Enter"]);
    coop.shows("while 40 away").await;
    coop.types("echo back $((50 - 8))").await;
    coop.shows("back 42").await;
}

#[tokio::test]
async fn coop_leaves_and_the_session_runs_on() {
    let tmux = shell();
    let coop = served(&tmux, "tmux:main");
    let mut ws = coop.place.ws("/ws?mode=state").await;
    coop.post("/api/v1/shutdown", json!({})).await.ok();
    let exit = ws.next_event("exit").await;
    assert!(exit["error"].as_str().unwrap().contains("let go of the tmux session main, which runs on"), "{exit}");
    assert!(coop.left().await.success());
    let killed = served(&tmux, "tmux:main");
    killed.signal(Signal::SIGKILL);
    killed.left().await;
    tmux.does(&["send-keys", "-t", "main", "echo alive $((50 - 8))", "Enter"]);
    tmux.shows("main", "alive 42");
    assert_eq!(tmux.does(&["list-clients"]), "", "no client is left");
}

#[tokio::test]
async fn signals_go_to_what_is_in_front() {
    let tmux = shell();
    tmux.does(&["send-keys", "-t", "main", "sleep 1000; echo woken by $?", "Enter"]);
    let in_front = |tmux: &Tmux| tmux.does(&["display-message", "-p", "-t", "main", "#{pane_current_command}"]);
    let deadline = std::time::Instant::now() + PATIENCE;
    while in_front(&tmux).trim() != "sleep" {
        assert!(std::time::Instant::now() < deadline);
    }
    let coop = served(&tmux, "tmux:main");
    coop.post("/api/v1/signal", json!({"signal": "TERM"})).await.ok();
    coop.shows("woken by 143").await;
}

#[tokio::test]
async fn a_restart_is_refused() {
    let tmux = shell();
    let coop = served(&tmux, "tmux:main");
    let (status, code, message) = coop.post("/api/v1/session/restart", json!({})).await.error();
    assert_eq!((status, code.as_str()), (409, "BORROWED"));
    assert!(message.contains("tmux session that somebody else started"), "{message}");
    coop.types("echo unharmed $((50 - 8))").await;
    coop.shows("unharmed 42").await;
}

#[tokio::test]
async fn what_cannot_be_found_is_told_with_what_there_is() {
    let tmux = shell();
    tmux.does(&["new-session", "-d", "-s", "mainly", "cat"]);
    let socket = tmux.socket();
    let socket = socket.to_str().unwrap();
    let complaint = async |target: &str, socket: &str| {
        let words = ["--port", "0", "--log-level", "error", "--attach", target, "--tmux-socket", socket];
        run_coop(&words, &[]).await.complaint().to_owned()
    };
    let none = complaint("tmux:nope", socket).await;
    assert!(none.contains("no tmux session \"nope\"") && none.contains("main, mainly"), "{none}");
    let beginning = complaint("tmux:mainl", socket).await;
    assert!(beginning.contains("no tmux session \"mainl\"") && beginning.contains("main, mainly"), "{beginning}");
    assert!(complaint("tmux:main:9", socket).await.contains("window \"9\""));
    assert!(complaint("tmux:%77", socket).await.contains("no tmux pane %77"));
    assert!(complaint("tmux:main", "/nowhere/tmux.sock").await.contains("no tmux server"));
    let words = ["--port", "0", "--log-level", "error", "--attach", "tmux:main"];
    let missing = run_coop(&words, &[("PATH", "/nowhere")]).await;
    assert!(missing.complaint().contains("tmux is not installed"), "{missing:?}");
}

#[tokio::test]
async fn another_users_tmux_is_told_to_be_that() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: only root can be another user");
        return;
    }
    let tmux = shell();
    let scratch = Scratch::new();
    // Where nobody may run it.
    let coop = scratch.path("coop");
    std::fs::copy(binary(), &coop).unwrap();
    let mut command = tokio::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=/nowhere"]).arg(coop);
    command.args(["--port", "0", "--log-level", "error", "--attach", "tmux:main", "--tmux-socket"]).arg(tmux.socket());
    let ended = finished(command).await;
    let complaint = ended.complaint();
    assert!(complaint.contains("may not be used by you") && complaint.contains("belongs to root"), "{complaint}");
}

/// A coop that serves it by looking, because its tmux is as a release without `send-keys -H` would be.
fn looked_at(tmux: &Tmux) -> (Coop, StandIn) {
    let old = "for word; do\ncase \"$word\" in -V) echo 'tmux 2.6'; exit;; -C) exit 1;; esac\ndone";
    let (old, socket) = (StandIn::of("tmux", old), tmux.socket());
    let words = ["--port", "0", "--attach", "tmux:main", "--tmux-socket", socket.to_str().unwrap()];
    let coop = Coop::start_with(&words, &[], |command| {
        command.env("PATH", old.path());
    });
    (coop, old)
}

#[tokio::test]
async fn a_size_that_was_set_while_only_looking_is_undone_at_the_end() {
    let tmux = shell();
    let (coop, _lame) = looked_at_today(&tmux);
    coop.post("/api/v1/resize", json!({"cols": 100, "rows": 30})).await.ok();
    assert_eq!(window(&tmux), ("100x30".to_owned(), "window-size manual".to_owned()));
    coop.post("/api/v1/shutdown", json!({})).await.ok();
    coop.left().await;
    assert_eq!(window(&tmux).1, "", "the window is sized as it was before");
}

#[tokio::test]
async fn what_is_typed_while_only_looking_touches_nobodys_buffers() {
    let tmux = shell();
    tmux.does(&["set-buffer", "-b", "coop", "mine"]);
    let (coop, _old) = looked_at(&tmux);
    coop.types("echo typed $((50 - 8))").await;
    coop.shows("typed 42").await;
    assert_eq!(tmux.does(&["list-buffers", "-F", "#{buffer_name} #{buffer_sample}"]).trim(), "coop mine");
}

#[tokio::test]
async fn a_server_with_a_name_of_its_own_is_found_by_it() {
    let tmux = shell();
    let below = tmux.known_as("mine");
    let words = ["--port", "0", "--attach", "tmux:main", "--tmux-socket", "mine"];
    let coop = Coop::start_with(&words, &[], |command| {
        command.env("TMUX_TMPDIR", below);
    });
    coop.types("echo named $((50 - 8))").await;
    coop.shows("named 42").await;
    shows_the_same(&coop, &tmux, "main").await;
}

#[tokio::test]
async fn a_look_or_an_input_that_fails_ends_nothing() {
    let tmux = shell();
    let (coop, old) = looked_at(&tmux);
    coop.shows("$").await;
    old.fail();
    coop.log_says("it is looked at again").await;
    let refused = coop.post("/api/v1/input", json!({"text": "lost"})).await.ok();
    assert_eq!(refused["receipt"]["phase"], "refused", "{refused}");
    old.recover();
    coop.types("echo back $((50 - 8))").await;
    coop.shows("back 42").await;
    assert!(!coop.screen().await.contains("lost"));
}

#[tokio::test]
async fn a_tmux_that_cannot_be_followed_is_looked_at() {
    let tmux = shell();
    let (coop, _old) = looked_at(&tmux);
    coop.log_says("looked at again and again").await;
    coop.types("echo \"seen 'é' $((50 - 8))\"").await;
    coop.shows("seen 'é' 42").await;
    shows_the_same(&coop, &tmux, "main").await;
    tmux.does(&["kill-session", "-t", "main"]);
    coop.exited().await;
}

/// A process that is called claude runs in the pane.
fn begins_claude(tmux: &Tmux) {
    tmux.does(&["send-keys", "-t", "main", "(exec -a claude sleep 1000)", "Enter"]);
    let in_front = || tmux.does(&["display-message", "-p", "-t", "main", "#{pane_current_command}"]);
    let deadline = std::time::Instant::now() + PATIENCE;
    while in_front().trim() != "claude" {
        assert!(std::time::Instant::now() < deadline, "{}", in_front());
    }
}

#[tokio::test]
async fn an_agent_in_a_pane_is_known_by_its_own_files_and_its_end_is_no_rest() {
    let home = Scratch::new();
    std::fs::create_dir_all(home.path(".claude/sessions")).unwrap();
    let variable = format!("HOME={}", home.dir().display());
    let tmux =
        Tmux::running(80, 24, &["env", "-u", "CLAUDE_CONFIG_DIR", &variable, "PS1=$ ", SHELL[0], SHELL[1], SHELL[2]]);
    begins_claude(&tmux);
    let coop = served(&tmux, "tmux:main");
    let status = coop.status().await;
    assert_eq!((&status["agent"], &status["command"][0]), (&json!("claude"), &json!("claude")));
    let says = |pid: i32, word: &str| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        let text = json!({"status": word, "statusUpdatedAt": u64::try_from(now).unwrap()}).to_string();
        home.file(&format!(".claude/sessions/{pid}.json"), text);
    };
    let pid = coop.child_pid().await;
    says(pid, "busy");
    coop.wait(json!({"states": ["working"]})).await;
    says(pid, "idle");
    coop.wait(json!({"states": ["idle"]})).await;
    let explained = coop.get("/api/v1/agent/state?explain=true").await.ok();
    assert!(explained["disagreement"].as_str().unwrap().contains("could give it no hooks"), "{explained}");

    coop.post("/api/v1/input/keys", json!({"keys": ["ctrl-c"]})).await.ok();
    coop.wait(json!({"states": ["unknown"]})).await;
    assert_ne!(coop.child_pid().await, pid, "the shell is left");
    begins_claude(&tmux);
    coop.wait(json!({"states": ["starting"]})).await;
    let another = coop.child_pid().await;
    assert_ne!(another, pid);
    says(another, "busy");
    coop.wait(json!({"states": ["working"]})).await;
}
