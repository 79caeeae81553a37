//! `coop attach` in a real terminal: the picture, the keys, every way out, and a terminal that is what it was before.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

use coop::child::Signal;
use coop::terminal::{Modes, MouseReports};
use serde_json::json;

use crate::support::{Claude, Coop, Proxy, Scratch, Seat, bash, binary, descendants, run_coop, sh, stopped};

/// Asks its terminal for everything a program can ask for, then shows what it reads.
const DEMANDING: &str = "stty raw -echo; printf '\\033[?1049h\\033[?1h\\033[?25l\\033[?1003;1006;1004;2004h\\033=\\033[>4;2m\
                         \\033[>7u\\033[5 q\\033]2;inside\\007\\033[2;5r\\033[1;31mdemanding'; exec cat";

/// What a shell tells after the word.
fn told(seat: &Seat, word: &str) -> String {
    let rows = seat.rows();
    let row = rows.iter().find_map(|row| row.strip_prefix(word));
    row.unwrap_or_else(|| panic!("no {word} in\n{}", rows.join("\n"))).trim().to_owned()
}

/// The terminal is what it was before attach, and the shell has its exit code.
async fn restored(seat: &mut Seat, code: &str) {
    seat.until("the shell is back", |seat| seat.rows().iter().any(|row| row.starts_with("code "))).await;
    assert_eq!(told(seat, "code"), code, "{}", seat.rows().join("\n"));
    assert_eq!(told(seat, "after"), told(seat, "before"), "the terminal's settings");
    assert_eq!(*seat.shown.modes(), Modes::default(), "the terminal's modes");
    assert_eq!((seat.shown.title(), seat.shown.alt_screen()), (Some("before"), false));
    let after = seat.bytes.rsplit(|byte| *byte == 0x1b).next().unwrap();
    assert!(String::from_utf8_lossy(after).starts_with("[?25h"), "the last word is the cursor's");
}

#[tokio::test]
async fn the_terminal_shows_the_session_and_types_into_it() {
    let coloured = r"printf '\033[31;44mshown  \033[0m\r\n'";
    let coop =
        Coop::run(&sh(&format!("stty -echo; {coloured}; while read line; do echo \"got $line\"; stty size; done")));
    coop.shows("shown").await;
    let mut seat = Seat::attached(&coop, 60, 12, &[]);
    seat.shows("ctrl-] detaches").await;
    seat.shows_the_session(&coop).await;
    assert!(seat.shown.ansi_rows()[0].starts_with("\x1b[0;31;44mshown  \x1b[0m"), "{:?}", seat.shown.ansi_rows());
    seat.types("words\r").await;
    seat.shows("got words").await;
    seat.shows("11 60").await;
    seat.shows_the_session(&coop).await;
    assert!(seat.rows()[11].contains("sh"), "the last row is the status: {:?}", seat.rows());
    assert!(seat.shown.cursor().visible && seat.shown.cursor().row < 11);
}

#[tokio::test]
async fn a_session_is_not_shown_in_itself() {
    let coop = Coop::run(&["bash", "--norc"]);
    let inside = format!("{} attach; echo \"code $?.\"", binary().display());
    coop.post("/api/v1/input", json!({"text": inside, "enter": true})).await.ok();
    coop.shows("coop: this terminal is inside").await;
    coop.shows("code 1.").await;
    assert_eq!(coop.status().await["terminal"], json!({"cols": 80, "rows": 24}), "nor has it another size");
}

#[tokio::test]
async fn whoever_was_attached_at_the_end_is_told_what_is_left() {
    let coop = Coop::run(&sh("read line"));
    let mut seat = Seat::attached(&coop, 160, 12, &[]);
    seat.shows("ctrl-] detaches").await;
    seat.types("\r").await;
    // Wherever the words are typed, they mean this session: there may be others, and one around the terminal.
    let socket = coop.socket.as_ref().unwrap().display();
    seat.shows(&format!("`coop restart --socket {socket}` starts it again")).await;
    coop.post("/api/v1/session/restart", json!({})).await.ok();
    let mut seat = Seat::attached(&coop, 90, 12, &[]);
    seat.shows("ctrl-] detaches").await;
    coop.post("/api/v1/shutdown", json!({})).await.ok();
    seat.shows("the session has ended with it").await;
}

#[tokio::test]
async fn whoever_was_attached_at_the_end_is_told_that_coop_starts_it_again() {
    let coop = Coop::start(&["--port", "0", "--restart", "always"], &sh("read line"));
    let mut seat = Seat::attached(&coop, 160, 12, &[]);
    seat.shows("ctrl-] detaches").await;
    seat.types("\r").await;
    seat.shows("coop starts it again by itself").await;
}

#[tokio::test]
async fn without_a_status_the_program_has_every_row() {
    let coop = Coop::run(&sh("while read line; do stty size; done"));
    let mut seat = Seat::attached(&coop, 60, 12, &["--no-status"]);
    seat.types("\r").await;
    seat.shows("12 60").await;
    seat.shows_the_session(&coop).await;
    assert!(!seat.rows().iter().any(|row| row.contains("detaches")));
}

#[tokio::test]
async fn the_detach_key_leaves_a_terminal_that_is_what_it_was_and_a_session_that_goes_on() {
    let coop = Coop::run(&sh(DEMANDING));
    coop.shows("demanding").await;
    let mut seat = Seat::attached_from_shell(&coop, 120, 12, &[]);
    seat.shows("demanding").await;
    seat.until("the outer terminal does as the program asks", |seat| {
        let modes = seat.shown.modes();
        let keys = (modes.application_cursor, modes.application_keypad, modes.modify_other_keys, modes.kitty_flags());
        keys == (true, true, 2, 7) && seat.shown.title() == Some("inside") && modes.focus_reporting
    })
    .await;
    assert!(!seat.shown.cursor().visible);
    // As a terminal sends it while kitty's flags are set.
    seat.types("\x1b[93;5u").await;
    restored(&mut seat, "0").await;
    seat.shows("it goes on").await;
    assert_eq!(coop.status().await["state"], "running");
}

#[tokio::test]
async fn pressed_twice_the_key_goes_to_the_program_once_and_in_a_paste_it_is_text() {
    let coop = Coop::run(&sh("stty raw -echo; printf '\\033[?2004hready\\r\\n'; exec cat -v"));
    coop.shows("ready").await;
    let mut seat = Seat::attached(&coop, 80, 12, &[]);
    seat.shows("ready").await;
    seat.types("a\x1d\x1db").await;
    seat.shows("a^]b").await;
    seat.types("\x1b[200~p\x1dq\x1b[201~").await;
    seat.shows("^[[200~p^]q^[[201~").await;
    let mut other = Seat::attached(&coop, 80, 12, &["--detach-key", "ctrl-b"]);
    other.shows("ctrl-b detaches").await;
    other.types("c\x1dd").await;
    other.shows("c^]d").await;
    other.types("\x02").await;
    assert_eq!(other.ended().await.code(), Some(0));
}

#[tokio::test]
async fn the_programs_end_is_told_and_its_code_is_ours() {
    let coop = Coop::run(&sh("read line; exit 5"));
    let mut seat = Seat::attached_from_shell(&coop, 120, 12, &[]);
    seat.shows("detaches").await;
    seat.types("\r").await;
    restored(&mut seat, "5").await;
    seat.shows("exit code 5").await;
    let mut late = Seat::attached_from_shell(&coop, 120, 12, &[]);
    restored_plainly(&mut late, "5").await;
    late.shows("exit code 5").await;
}

/// The same for a terminal that was never taken over.
async fn restored_plainly(seat: &mut Seat, code: &str) {
    seat.until("the shell is back", |seat| seat.rows().iter().any(|row| row.starts_with("code "))).await;
    assert_eq!((told(seat, "code").as_str(), told(seat, "after")), (code, told(seat, "before")));
}

#[tokio::test]
async fn signals_and_the_end_of_coop_leave_the_terminal_as_it_was() {
    let coop = Coop::run(&sh(DEMANDING));
    coop.shows("demanding").await;
    for (signal, code) in [(Signal::SIGTERM, "143"), (Signal::SIGHUP, "129"), (Signal::SIGINT, "130")] {
        let mut seat = Seat::attached_from_shell(&coop, 120, 12, &["--no-status"]);
        seat.shows("demanding").await;
        let attached = descendants(seat.pid()).into_iter().find(|pid| *pid != seat.pid());
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(attached.unwrap()), signal).unwrap();
        restored(&mut seat, code).await;
    }
    let scratch = Scratch::new();
    let socket = scratch.path("coop.sock");
    let coop = Coop::start(&["--socket", socket.to_str().unwrap()], &sh(DEMANDING));
    coop.shows("demanding").await;
    let mut seat = Seat::attached_from_shell(&coop, 120, 12, &[]);
    seat.shows("demanding").await;
    coop.signal(Signal::SIGKILL);
    restored(&mut seat, "1").await;
    seat.shows("is lost").await;
}

#[tokio::test]
async fn a_terminal_that_takes_nothing_keeps_nobody_from_leaving() {
    let coop = Coop::run(&sh("echo begun; while :; do seq 1 500; done"));
    let mut seat = Seat::attached(&coop, 200, 60, &[]);
    seat.shows("detaches").await;
    // From here on nobody reads: far more is printed than a terminal holds.
    let before = coop.output().await.len();
    while coop.status().await["bytes_read"].as_u64().unwrap() < before as u64 + (4 << 20) {
        tokio::task::yield_now().await;
    }
    seat.signal(Signal::SIGTERM);
    assert_eq!(seat.ended_unread().await.code(), Some(143));
}

#[tokio::test]
async fn the_last_row_follows_the_agent_and_is_yellow_while_somebody_is_waited_for() {
    let claude = Claude::start(&["--label", "name=red"]).await;
    claude.hook("SessionStart", json!({})).await;
    let mut seat = Seat::attached(&claude, 100, 12, &[]);
    let row = |seat: &Seat| seat.rows()[11].clone();
    let is_yellow = |seat: &Seat| seat.shown.ansi_rows()[11].contains("43");
    seat.until("it is idle", |seat| row(seat).contains("red  claude  idle")).await;
    assert!(!is_yellow(&seat));
    let (hook, _) = claude.asks("Bash", json!({"command": "make test"})).await;
    seat.until("it asks", |seat| row(seat).contains("prompt: permission") && row(seat).contains("Bash")).await;
    assert!(is_yellow(&seat));
    claude.hook("PostToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "make test"}})).await;
    hook.ended().await;
    seat.until("it works", |seat| row(seat).contains("red  claude  working")).await;
    assert!(!is_yellow(&seat));
}

#[tokio::test]
async fn who_only_looks_neither_types_nor_sizes_and_ctrl_c_leaves() {
    let coop =
        Coop::run(&sh("stty -echo; printf '\\033[?1000h'; echo shown; while read line; do echo \"got $line\"; done"));
    coop.shows("shown").await;
    let mut seat = Seat::attached_from_shell(&coop, 100, 12, &["--view"]);
    seat.shows("view only").await;
    seat.shows("80x11 of 80x24").await;
    seat.types("secretly\r").await;
    seat.resize(100, 11);
    coop.types("openly").await;
    seat.shows("got openly").await;
    assert!(!coop.screen().await.contains("secretly"));
    assert_eq!(coop.status().await["terminal"], json!({"cols": 80, "rows": 24}));
    assert_eq!(seat.shown.modes().mouse, MouseReports::Off, "the mouse stays the viewer's own");
    seat.types("\x03").await;
    restored(&mut seat, "0").await;
}

#[tokio::test]
async fn a_suspended_terminal_is_the_shells_and_comes_back_whole() {
    let coop = Coop::run(&sh("printf '\\033[?1049h\\033[?1000hinside'; sleep 1000"));
    coop.shows("inside").await;
    let mut seat = Seat::attached(&coop, 60, 12, &[]);
    seat.shows("inside").await;
    seat.signal(Signal::SIGTSTP);
    seat.until("the shell's screen", |seat| !seat.shown.alt_screen()).await;
    assert_eq!(*seat.shown.modes(), Modes::default());
    // A shell goes on with what has stopped, and only then.
    stopped(seat.pid()).await;
    seat.resize(61, 10);
    seat.signal(Signal::SIGCONT);
    seat.shows("inside").await;
    seat.shows("detaches").await;
    coop.wait(json!({"text": "inside"})).await;
    seat.until("its new size", |seat| seat.rows().len() == 10 && seat.rows()[9].contains("detaches")).await;
}

#[tokio::test]
async fn queries_are_answered_once_however_many_terminals_are_attached() {
    let ask = "stty -icanon -echo; read -r go; printf '\\033[6n'; IFS= read -r -t 15 -d R answer && echo answered; \
               if IFS= read -r -t 1 -d R more; then echo twice; else echo once; fi; sleep 1000";
    let coop = Coop::run(&bash(ask));
    let mut first = Seat::attached(&coop, 60, 12, &[]);
    let mut second = Seat::attached(&coop, 60, 12, &[]);
    first.shows("detaches").await;
    second.shows("detaches").await;
    first.types("\n").await;
    second.shows("answered").await;
    first.shows("once").await;
    for seat in [&first, &second] {
        assert!(!seat.bytes.windows(4).any(|bytes| bytes == b"\x1b[6n"), "the outer terminal is never asked");
    }
}

#[tokio::test]
async fn without_a_terminal_the_alternatives_are_named() {
    let coop = Coop::run(&["cat"]);
    let complaint = coop.verb(&["attach"]).await;
    assert!(complaint.complaint().contains("needs a terminal on stdin and stdout: `coop screen`"), "{complaint:?}");
    assert!(complaint.complaint().contains("coop logs --output --follow"));
    let wrong = run_coop(&["attach", "--detach-key", "x"], &[]).await;
    assert!(wrong.code == Some(2) && wrong.err.contains("typed too often"), "{wrong:?}");
}

#[tokio::test]
async fn a_session_is_found_by_its_label_and_several_are_introduced() {
    let scratch = Scratch::new();
    let runtime = scratch.path("runtime");
    std::fs::create_dir(&runtime).unwrap();
    set_permissions(&runtime, Permissions::from_mode(0o700)).unwrap();
    let start = |label: &str, text: &str| {
        Coop::start_with(&["--label", label, "--cwd", "/usr"], &sh(&format!("echo {text}; sleep 1000")), |command| {
            command.env("XDG_RUNTIME_DIR", &runtime);
        })
    };
    let (_red, blue) = (start("team=red", "this is red"), start("team=blue", "this is blue"));
    let attach = |words: &[&str]| {
        let mut argv = vec!["env".into(), format!("XDG_RUNTIME_DIR={}", runtime.display()).into()];
        argv.push(binary().into_os_string());
        argv.extend(["attach"].iter().chain(words).map(Into::into));
        Seat::running(200, 12, argv)
    };
    let mut lost = attach(&[]);
    lost.shows("several sessions run: say which by its number, such as --session ").await;
    lost.shows(&format!("{} (sh in /usr, team=blue)", blue.pid)).await;
    let mut seat = attach(&["team=blue"]);
    seat.shows("this is blue").await;
    seat.types("\x1d").await;
    assert_eq!(seat.ended().await.code(), Some(0));
    let mut seat = attach(&[&blue.pid.to_string()]);
    seat.shows("this is blue").await;
    let mut none = attach(&["green"]);
    none.shows("no session is called \"green\"").await;
}

#[tokio::test]
async fn a_lost_connection_is_told_made_again_and_what_was_typed_meanwhile_is_not_sent() {
    let coop = Coop::run(&sh("stty -echo; echo shown; while read line; do echo \"got $line\"; done"));
    coop.shows("shown").await;
    let proxy = Proxy::to(&coop).await;
    let argv = [binary().to_str().unwrap(), "attach", "--url", &proxy.url].map(Into::into).to_vec();
    let mut seat = Seat::running(100, 12, argv);
    seat.shows("shown").await;
    proxy.cut();
    seat.shows("connection lost").await;
    seat.types("unseen\r").await;
    coop.types("meanwhile").await;
    coop.shows("got meanwhile").await;
    // The next try has been refused, so what was typed has been read.
    seat.shows("keys are not sent").await;
    seat.until("another try", |seat| seat.rows()[11].contains("try ")).await;
    proxy.mend();
    seat.shows("got meanwhile").await;
    seat.until("the status is back", |seat| !seat.rows()[11].contains("connection lost")).await;
    seat.types("seen\r").await;
    seat.shows("got seen").await;
    seat.shows_the_session(&coop).await;
    assert!(!coop.screen().await.contains("unseen"));
    proxy.cut();
    seat.shows("connection lost").await;
    seat.types("\x1d").await;
    assert_eq!(seat.ended().await.code(), Some(0), "the way out is open meanwhile");
}
