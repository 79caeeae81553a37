//! `coop attach` inside a real tmux: what the pane shows is what the session shows.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Coop, PATIENCE, Proxy, Scratch, binary};
use crate::tmux::Tmux;

/// Between two looks at both pictures; neither tells when it has changed.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// A session on a port; what runs in it finds nobody's configuration.
fn session(flags: &[&str], program: &[&str]) -> Coop {
    let flags = [&["--port", "0", "--env", "HOME=/nonexistent", "--env", "LC_ALL=C.UTF-8"], flags].concat();
    Coop::start(&flags, program)
}

/// Attaches, and stays when that is over.
const ATTACH_AND_STAY: &str = "echo before; stty -g; \"$@\"; stty -g; echo after; exec cat";

/// A pane that is attached to what is at this address.
fn attached_at(url: &str, cols: u16, rows: u16, more: &[&str]) -> Tmux {
    let binary = binary().display().to_string();
    let words = ["sh", "-c", ATTACH_AND_STAY, "sh", "env", "-u", "TMUX", &binary, "attach", "--url", url];
    Tmux::running(cols, rows, &[&words[..], more].concat())
}

fn attached(coop: &Coop, cols: u16, rows: u16, more: &[&str]) -> Tmux {
    attached_at(coop.listening["url"].as_str().unwrap(), cols, rows, more)
}

async fn screen(coop: &Coop) -> Value {
    coop.get("/api/v1/screen").await.ok()
}

/// The session's rows with their colours, and the number of what they show.
async fn coloured(coop: &Coop) -> (Vec<String>, Value) {
    let screen = coop.get("/api/v1/screen?format=ansi").await.ok();
    let rows = screen["lines"].as_array().unwrap().iter().filter_map(Value::as_str);
    (rows.map(str::to_owned).collect(), screen["seq"].clone())
}

fn lines(screen: &Value) -> Vec<String> {
    let lines = screen["lines"].as_array().unwrap().iter().filter_map(Value::as_str);
    lines.map(|line| line.trim_end().to_owned()).collect()
}

/// Waits until the pane shows exactly what the session shows, colours and cursor included, and the session stands still.
async fn same_picture(tmux: &Tmux, pane: &str, coop: &Coop) -> Vec<String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let before = screen(coop).await;
        let rows = tmux.picture(pane);
        let colours = tmux.coloured(pane);
        let cursor = tmux.does(&["display-message", "-p", "-t", pane, "#{cursor_y} #{cursor_x} #{cursor_flag}"]);
        let after = screen(coop).await;
        let (in_colour, seq) = coloured(coop).await;
        let wanted = lines(&after);
        let shown = rows.get(..wanted.len().min(rows.len())).unwrap_or_default().to_vec();
        let colours = colours.get(..in_colour.len().min(colours.len())).unwrap_or_default();
        let stands_still = before["seq"] == after["seq"] && after["seq"] == seq;
        let place = &after["cursor"];
        let at = format!("{} {} {}", place["row"], place["col"], u8::from(place["visible"] == json!(true)));
        let cursor_is_right = cursor.trim() == at || place["visible"] == json!(false) && cursor.trim().ends_with('0');
        if stands_still && shown == wanted && colours == in_colour && cursor_is_right {
            return rows;
        }
        assert!(
            Instant::now() < deadline,
            "the pane shows\n{}\nand the session\n{}\nat {at}, not {cursor}; in colour\n{colours:#?}\nand\n{in_colour:#?}",
            rows.join("\n"),
            wanted.join("\n")
        );
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}

/// Waits until the full-screen program has left: what is typed before that may be its last input.
async fn back_in_the_shell(coop: &Coop) {
    let deadline = Instant::now() + PATIENCE;
    while screen(coop).await["alt_screen"] == json!(true) {
        assert!(Instant::now() < deadline, "the program is still there");
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    coop.wait(json!({"quiet_ms": 200})).await;
}

#[tokio::test]
async fn a_shell_looks_the_same_with_and_without_a_status() {
    let coop = session(&[], &["bash", "--norc", "--noprofile"]);
    let tmux = attached(&coop, 80, 20, &[]);
    tmux.shows("main", "detaches");
    tmux.does(&["send-keys", "-t", "main", "seq 1 60; printf '\\e[31mred\\e[0m\\tafter a tab\\n'; stty size", "Enter"]);
    tmux.shows("main", "19 80");
    let rows = same_picture(&tmux, "main", &coop).await;
    assert!(rows[19].contains("bash") && rows[19].contains("ctrl-] detaches"), "{rows:?}");
    tmux.does(&["send-keys", "-t", "main", "C-]"]);
    tmux.shows("main", "it goes on");
    let bare = attached(&coop, 80, 20, &["--no-status"]);
    bare.does(&["send-keys", "-t", "main", "stty size", "Enter"]);
    bare.shows("main", "20 80");
    same_picture(&bare, "main", &coop).await;
}

#[tokio::test]
async fn vim_htop_and_less_look_the_same_while_they_are_used_and_resized() {
    let coop = session(&[], &["bash", "--norc", "--noprofile"]);
    let tmux = attached(&coop, 90, 25, &[]);
    tmux.shows("main", "detaches");
    let types = |words: &str| drop(tmux.does(&["send-keys", "-t", "main", words, "Enter"]));
    let presses = |key: &str| drop(tmux.does(&["send-keys", "-t", "main", key]));
    types("seq 1 300 | less");
    coop.wait(json!({"regex": "^23$"})).await;
    presses("Space");
    coop.wait(json!({"regex": "^46$"})).await;
    same_picture(&tmux, "main", &coop).await;
    tmux.does(&["resize-window", "-t", "main", "-x", "70", "-y", "18"]);
    coop.wait(json!({"regex": "^:"})).await;
    same_picture(&tmux, "main", &coop).await;
    presses("q");
    back_in_the_shell(&coop).await;
    let scratch = Scratch::new();
    let text = scratch.path("text");
    std::fs::write(&text, (1..200).map(|line| format!("line {line} of the text\n")).collect::<String>()).unwrap();
    types(&format!("vim -u NONE -N -n {}", text.display()));
    tmux.shows("main", "line 10 of the text");
    for key in ["C-d", "C-d", "i", "typed ", "日本語", "Escape", "3", "d", "d", "C-b"] {
        presses(key);
    }
    same_picture(&tmux, "main", &coop).await;
    tmux.does(&["resize-window", "-t", "main", "-x", "100", "-y", "30"]);
    coop.wait(json!({"quiet_ms": 300})).await;
    same_picture(&tmux, "main", &coop).await;
    types(":qa!");
    back_in_the_shell(&coop).await;
    types("htop -d 100");
    tmux.shows("main", "F10");
    same_picture(&tmux, "main", &coop).await;
    presses("Down");
    presses("t");
    coop.wait(json!({"quiet_ms": 300})).await;
    same_picture(&tmux, "main", &coop).await;
    presses("q");
    back_in_the_shell(&coop).await;
    types("echo back");
    coop.wait(json!({"regex": "^back$"})).await;
    same_picture(&tmux, "main", &coop).await;
}

#[tokio::test]
async fn wide_characters_and_combining_marks_look_the_same() {
    let text = "printf '日本語 한국어 🚀 x\\r\\n'; printf 'e\\314\\201 nai\\314\\210ve o\\314\\202x\\r\\n'; \
                printf '%076d日本' 0; printf '\\r\\nend a\\314\\210'; exec cat";
    let coop = session(&["--cols", "78", "--rows", "11"], &["bash", "-c", text]);
    let tmux = attached(&coop, 78, 12, &[]);
    tmux.shows("main", "end");
    let rows = same_picture(&tmux, "main", &coop).await;
    assert!(rows.iter().any(|row| row.contains("日本語 한국어 🚀 x")), "{rows:?}");
    assert!(rows.iter().any(|row| row.contains("e\u{301} nai\u{308}ve o\u{302}x")), "{rows:?}");
}

#[tokio::test]
async fn two_terminals_of_different_size_show_the_session_under_each_policy() {
    for policy in ["latest", "smallest", "fixed"] {
        let coop =
            session(&["--attach-size", policy, "--cols", "60", "--rows", "14"], &["bash", "--norc", "--noprofile"]);
        let large = attached(&coop, 100, 30, &[]);
        large.shows("main", "detaches");
        let other = attached(&coop, 70, 20, &[]);
        other.shows("main", "detaches");
        large.does(&["send-keys", "-t", "main", "seq 1 50", "Enter"]);
        large.shows("main", "50");
        large.does(&["send-keys", "-t", "main", "stty size", "Enter"]);
        let (size, clipped) = match policy {
            "latest" => ("29 100", true),
            "smallest" => ("19 70", false),
            _ => ("14 60", false),
        };
        large.shows("main", size);
        same_picture(&large, "main", &coop).await;
        if clipped {
            let rows = other.shows("main", "70x19 of 100x29");
            assert!(rows.iter().any(|row| row == size), "the part with the cursor: {rows:?}");
        } else {
            same_picture(&other, "main", &coop).await;
        }
    }
}

#[tokio::test]
async fn what_was_on_the_terminal_before_is_there_again() {
    let coop = session(&[], &["bash", "--norc", "-c", "printf '\\033[?1049h\\033[?1003h\\033[?25linside'; sleep 1000"]);
    let tmux = attached(&coop, 100, 20, &[]);
    tmux.shows("main", "inside");
    tmux.does(&["send-keys", "-t", "main", "C-]"]);
    let rows = tmux.shows("main", "after");
    assert_eq!((rows[0].as_str(), &rows[1]), ("before", &rows[3]), "{rows:?}");
    assert!(rows[2].ends_with("it goes on"), "{rows:?}");
    let flags = "#{alternate_on} #{mouse_any_flag} #{cursor_flag} #{keypad_cursor_flag} #{keypad_flag} #{wrap_flag}";
    assert_eq!(tmux.does(&["display-message", "-p", "-t", "main", flags]).trim(), "0 0 1 0 0 1");
}

// Looking at tmux blocks; the proxy must go on meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_broken_connection_the_picture_is_the_sessions_again() {
    let coop = session(&[], &["bash", "--norc", "--noprofile"]);
    let proxy = Proxy::to(&coop).await;
    let tmux = attached_at(&proxy.url, 80, 20, &[]);
    tmux.shows("main", "detaches");
    tmux.does(&["send-keys", "-t", "main", "seq 1 500 | less", "Enter"]);
    coop.wait(json!({"regex": "^18$"})).await;
    same_picture(&tmux, "main", &coop).await;
    proxy.cut();
    tmux.shows("main", "connection lost");
    tmux.does(&["send-keys", "-t", "main", "q"]);
    coop.post("/api/v1/input/keys", json!({"keys": ["space", "space"]})).await.ok();
    coop.wait(json!({"regex": "^54$"})).await;
    tmux.does(&["resize-window", "-t", "main", "-x", "90", "-y", "22"]);
    proxy.mend();
    tmux.shows_that("main", |rows| !rows[rows.len() - 1].contains("connection lost"));
    let rows = same_picture(&tmux, "main", &coop).await;
    assert!(rows.contains(&"54".to_owned()), "less still runs, the q was not sent: {rows:?}");
    coop.wait(json!({"quiet_ms": 300})).await;
    assert_eq!(coop.status().await["terminal"], json!({"cols": 90, "rows": 21}), "the size of meanwhile");
    tmux.does(&["send-keys", "-t", "main", "g"]);
    coop.wait(json!({"regex": "^1$"})).await;
    let rows = same_picture(&tmux, "main", &coop).await;
    assert_eq!((rows.len(), rows[0].as_str()), (22, "1"));
}
