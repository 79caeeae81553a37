//! Promises about what is typed.

use super::*;

fn keyboard(key: &str) -> Keyboard {
    Keyboard::new(DetachKey::parse(key).unwrap())
}

fn manner() -> Manner {
    Manner { bracketed_paste: true, rows: 24, cols: 80, row: 0, col: 0 }
}

/// What comes of these portions; what is sent stands as text.
fn typed(keyboard: &mut Keyboard, portions: &[&str], manner: Manner) -> Vec<String> {
    let acts = portions.iter().flat_map(|portion| keyboard.read(portion.as_bytes(), manner)).collect::<Vec<_>>();
    acts.into_iter()
        .map(|act| match act {
            Act::Send(bytes) => String::from_utf8(bytes).unwrap(),
            other => format!("{other:?}"),
        })
        .collect()
}

#[test]
fn keys_pass_as_they_are() {
    let keys = "ls\r\x03\x1a\x1b[A\x1bOP\x1bx\x1b[1;5Cé\x1b[24~";
    assert_eq!(typed(&mut keyboard("ctrl-]"), &[keys], manner()).concat(), keys);
    let mut escape = keyboard("ctrl-]");
    assert!(typed(&mut escape, &["\x1b"], manner()).is_empty());
    assert_eq!(escape.release(), [Act::Send(b"\x1b".to_vec())]);
    assert_eq!(typed(&mut keyboard("none"), &["\x1d\x1d"], manner()), ["\x1d\x1d"]);
}

#[test]
fn the_detach_key_asks_and_twice_it_is_sent_once() {
    assert_eq!(typed(&mut keyboard("ctrl-]"), &["a\x1d"], manner()), ["a", "Asked"]);
    assert_eq!(typed(&mut keyboard("ctrl-]"), &["\x1d\x1d"], manner()), ["Asked", "\x1d"]);
    assert_eq!(typed(&mut keyboard("ctrl-]"), &["\x1d", "\x1d", "b"], manner()), ["Asked", "\x1d", "b"]);
    assert_eq!(typed(&mut keyboard("ctrl-]"), &["\x1d", "x"], manner()), ["Asked", "Leave"]);
    assert_eq!(typed(&mut keyboard("ctrl-b"), &["\x02", "\x02"], manner()), ["Asked", "\x02"]);
    assert_eq!(typed(&mut keyboard("f12"), &["\x1b[24~"], manner()), ["Asked"]);
    assert_eq!(typed(&mut keyboard("alt-d"), &["\x1bd"], manner()), ["Asked"]);
}

#[test]
fn the_detach_key_is_known_in_newer_encodings_too() {
    for pressed in ["\x1b[93;5u", "\x1b[93;5:1u", "\x1b[93:125;69u", "\x1b[27;5;93~"] {
        assert_eq!(typed(&mut keyboard("ctrl-]"), &[pressed], manner()), ["Asked"], "{pressed:?}");
    }
    let press_and_release = ["\x1b[93;5:1u", "\x1b[93;5:3u", "\x1b[93;5u", "\x1b[93;5:3u"];
    assert_eq!(typed(&mut keyboard("ctrl-]"), &press_and_release, manner()), ["Asked", "\x1d"]);
    assert_eq!(typed(&mut keyboard("ctrl-]"), &["\x1b[93u\x1b[99;5u"], manner()), ["\x1b[93u\x1b[99;5u"]);
}

#[test]
fn a_paste_that_holds_the_key_does_not_detach_however_it_arrives() {
    let pasted = "\x1b[200~a\x1d\x1b[93;5ub\x1b[201~";
    for cut in 1..pasted.len() {
        let (first, second) = pasted.split_at(cut);
        let mut keyboard = keyboard("ctrl-]");
        assert_eq!(typed(&mut keyboard, &[first, second], manner()).concat(), pasted, "cut at {cut}");
        assert_eq!(typed(&mut keyboard, &["\x1d"], manner()), ["Asked"], "the paste is over");
    }
}

#[test]
fn the_end_of_a_paste_may_take_its_time() {
    let (pasted, end) = ("\x1b[200~a", "\x1b[201~");
    for cut in 1..end.len() {
        let mut keyboard = keyboard("ctrl-]");
        let (first, second) = end.split_at(cut);
        typed(&mut keyboard, &[pasted, first], manner());
        assert!(!keyboard.holds(), "nothing of it is given up, cut at {cut}");
        assert_eq!(typed(&mut keyboard, &[second], manner()), [end], "cut at {cut}");
        assert_eq!(typed(&mut keyboard, &["\x1d"], manner()), ["Asked"], "the paste is over, cut at {cut}");
    }
}

#[test]
fn a_program_that_knows_no_pastes_gets_the_text_alone() {
    let plain = Manner { bracketed_paste: false, ..manner() };
    let portions = ["x\x1b[200~one\x1d\x1b[20", "1~y"];
    assert_eq!(typed(&mut keyboard("ctrl-]"), &portions, plain).concat(), "xone\x1dy");
}

#[test]
fn a_sequence_whose_end_never_comes_is_what_was_typed() {
    let mut keyboard = keyboard("ctrl-]");
    assert!(typed(&mut keyboard, &["\x1b[1;"], manner()).is_empty() && keyboard.holds());
    assert_eq!(keyboard.release(), [Act::Send(b"\x1b[1;".to_vec())]);
    let long = format!("\x1b[{}", "1;".repeat(SEQUENCE_BYTES_MAX));
    assert_eq!(typed(&mut keyboard, &[&long], manner()).concat(), long);
}

#[test]
fn the_mouse_points_at_the_sessions_cells_and_not_beside_them() {
    let panned = Manner { row: 10, col: 5, ..manner() };
    assert_eq!(typed(&mut keyboard("none"), &["\x1b[<0;3;4M"], panned), ["\x1b[<0;8;14M"]);
    assert!(typed(&mut keyboard("none"), &["\x1b[<0;3;25M\x1b[<0;3;25m"], manner()).is_empty());
}
