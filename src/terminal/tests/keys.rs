//! Every name a key can have, and what it sends.

use super::super::{Modes, encode_key};

fn key(name: &str) -> String {
    let bytes = encode_key(name, &Modes::default()).unwrap_or_else(|error| panic!("{error}"));
    String::from_utf8(bytes).expect("keys are text")
}

#[test]
fn named_keys_in_any_case_and_spelling() {
    let all = [
        ("enter return ENTER", "\r"),
        ("tab", "\t"),
        ("shift-tab backtab Shift+Tab back-tab", "\x1b[Z"),
        ("escape esc", "\x1b"),
        ("space", " "),
        ("backspace shift-backspace", "\x7f"),
        ("delete del", "\x1b[3~"),
        ("insert ins", "\x1b[2~"),
        ("up Up", "\x1b[A"),
        ("down", "\x1b[B"),
        ("right", "\x1b[C"),
        ("left", "\x1b[D"),
        ("home", "\x1b[H"),
        ("end", "\x1b[F"),
        ("pageup page-up page_up pgup", "\x1b[5~"),
        ("pagedown page-down pgdn pgdown", "\x1b[6~"),
    ];
    for (names, bytes) in all {
        names.split(' ').for_each(|name| assert_eq!(key(name), bytes, "{name}"));
    }
}

#[test]
fn function_keys() {
    let codes = ["OP", "OQ", "OR", "OS", "[15~", "[17~", "[18~", "[19~", "[20~", "[21~", "[23~", "[24~", "[1;2P"];
    for (code, number) in codes.iter().zip(1..) {
        assert_eq!(key(&format!("f{number}")), format!("\x1b{code}"));
    }
    assert_eq!(
        (key("F24"), key("ctrl-f5"), key("alt-f1")),
        ("\x1b[24;2~".into(), "\x1b[15;5~".into(), "\x1b[1;3P".into())
    );
}

#[test]
fn control_characters() {
    for name in ["ctrl-c", "Ctrl+C", "c-c", "^c", "^C", "control-c", "ctrl-shift-c"] {
        assert_eq!(key(name), "\x03", "{name}");
    }
    let all = [("space", 0), ("@", 0), ("a", 1), ("z", 26), ("[", 27), ("\\", 28), ("]", 29), ("^", 30), ("_", 31)];
    for (name, code) in all {
        assert_eq!(key(&format!("ctrl-{name}")), char::from(code).to_string());
    }
    assert_eq!(key("ctrl-backspace"), "\x08");
}

#[test]
fn alt_sends_escape_first_and_keeps_the_case() {
    let all = [("alt-x", "\x1bx"), ("M-X", "\x1bX"), ("meta+é", "\x1bé"), ("alt-enter", "\x1b\r"), ("alt--", "\x1b-")];
    for (name, bytes) in all.into_iter().chain([("alt-backspace", "\x1b\x7f"), ("alt-ctrl-c", "\x1b\x03")]) {
        assert_eq!(key(name), bytes, "{name}");
    }
}

#[test]
fn modifiers_are_numbered_as_xterm_does() {
    let all = [("shift-up", "\x1b[1;2A"), ("alt-left", "\x1b[1;3D"), ("ctrl-right", "\x1b[1;5C")];
    for (name, bytes) in all.into_iter().chain([("ctrl-alt-shift-end", "\x1b[1;8F"), ("ctrl-delete", "\x1b[3;5~")]) {
        assert_eq!(key(name), bytes, "{name}");
    }
}

#[test]
fn application_cursor_mode_changes_plain_arrows_only() {
    let modes = Modes { application_cursor: true, ..Modes::default() };
    let key = |name| encode_key(name, &modes).unwrap_or_default();
    assert_eq!((key("up"), key("home")), (b"\x1bOA".to_vec(), b"\x1bOH".to_vec()));
    assert_eq!((key("ctrl-up"), key("pageup")), (b"\x1b[1;5A".to_vec(), b"\x1b[5~".to_vec()));
}

#[test]
fn the_names_of_tmux_are_known() {
    let pairs = [
        ("C-c", "ctrl-c"),
        ("M-x", "alt-x"),
        ("S-Up", "shift-up"),
        ("BSpace", "backspace"),
        ("BTab", "shift-tab"),
        ("PPage", "page-up"),
        ("NPage", "page-down"),
        ("IC", "insert"),
        ("DC", "delete"),
    ];
    for (theirs, ours) in pairs {
        assert_eq!(key(theirs), key(ours), "{theirs}");
    }
}

#[test]
fn a_single_character_names_itself() {
    for name in ["y", "Y", "1", "é", "日", "-", "+", "^", " "] {
        assert_eq!(key(name), name);
    }
    assert_eq!((key("shift-a"), key("shift-ä")), ("A".into(), "Ä".into()));
}

#[test]
fn what_no_key_sends_is_refused_with_examples() {
    let error = encode_key("foo", &Modes::default()).unwrap_err().to_string();
    let expected = "try enter, escape, tab, backspace, delete, up, page-up, home, f5, ctrl-c, alt-x, shift-tab or a single character";
    assert_eq!(error, format!("unknown key \"foo\": {expected}; text is typed by `coop input`"));
    let combined = encode_key("S-Enter", &Modes::default()).unwrap_err().to_string();
    assert_eq!(
        combined,
        "\"S-Enter\" is a combination that terminals have no code for: try the key alone, or with alt-"
    );
    for name in ["", "ctrl-", "ctrl", "f0", "f25", "ab", "\n", "\x1b", "ctrl-é", "shift-1", "ctrl-enter", "日本"] {
        assert!(encode_key(name, &Modes::default()).is_err(), "{name:?}");
    }
    let long = encode_key(&"日".repeat(1_000_000), &Modes::default()).unwrap_err();
    assert!(long.to_string().len() < 250);
}
