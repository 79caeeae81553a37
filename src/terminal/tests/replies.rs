//! What a program hears when it asks, and what the session is told.

use super::super::{Note, Seq};
use super::{fed, terminal};

fn reply(input: &str) -> String {
    String::from_utf8(fed(input).1.replies).expect("replies are text")
}

#[test]
fn the_cursor_is_told_as_it_was_when_asked() {
    assert_eq!(reply("ab\x1b[6ncd\r\n\x1b[?6n\x1b[3;5H\x1b[6n"), "\x1b[1;3R\x1b[?2;1R\x1b[3;5R");
}

#[test]
fn a_cursor_about_to_wrap_is_told_in_the_last_column() {
    assert_eq!(reply("12345678901234567890\x1b[6n"), "\x1b[1;20R");
}

#[test]
fn programs_that_ask_at_their_start_get_answers_in_order() {
    assert_eq!(reply("\x1b[5n\x1b[c\x1b[0c\x1b[>c"), "\x1b[0n\x1b[?62;22c\x1b[?62;22c\x1b[>0;276;0c");
    assert_eq!(reply("\x1b[>0q"), format!("\x1bP>|coop({})\x1b\\", env!("CARGO_PKG_VERSION")));
}

#[test]
fn colours_are_told_with_the_terminator_of_the_question() {
    assert_eq!(reply("\x1b]10;?\x07"), "\x1b]10;rgb:dddd/dddd/dddd\x07");
    assert_eq!(reply("\x1b]11;?\x1b\\"), "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\");
    assert_eq!(reply("\x1b]11;#000000\x07"), "");
}

#[test]
fn modes_are_told_as_they_are() {
    assert_eq!(reply("\x1b[?2004$p\x1b[?2004h\x1b[?2004$p"), "\x1b[?2004;2$y\x1b[?2004;1$y");
    assert_eq!(reply("\x1b[?1049h\x1b[?1049$p\x1b[?12345$p"), "\x1b[?1049;1$y\x1b[?12345;0$y");
}

#[test]
fn the_kitty_keyboard_query_stays_unanswered_so_that_programs_expect_legacy_keys() {
    assert_eq!(reply("\x1b[>1u\x1b[?u"), "");
}

#[test]
fn a_question_cut_in_two_is_answered_once() {
    let mut terminal = terminal(20, 4);
    assert_eq!(terminal.feed(b"x\x1b[6", Seq(1)).replies, b"");
    assert_eq!(terminal.feed(b"n", Seq(2)).replies, b"\x1b[1;2R");
    assert_eq!(terminal.feed(b"n", Seq(3)).replies, b"");
}

#[test]
fn notes_tell_bells_titles_and_what_agents_announce() {
    let (terminal, fed) =
        fed("\x07\x1b]0;one\x07\x1b]0;one\x07\x1b]9;4;1;50\x07\x1b]7501;{\"a\":1}\x1b\\\x1b]52;c;eA==\x07");
    let osc = |code, text: &str| Note::Osc { code, text: text.to_owned() };
    let expected = [Note::Bell, Note::Title("one".to_owned()), osc(9, "4;1;50"), osc(7501, "{\"a\":1}")];
    assert_eq!(fed.notes, expected);
    assert_eq!(terminal.title(), Some("one"));
}

#[test]
fn long_texts_are_cut_at_a_character() {
    let (_, fed) = fed(&format!("\x1b]0;{0}\x07\x1b]777;{0}\x07", "日".repeat(10_000)));
    let lengths = fed.notes.iter().map(|note| match note {
        Note::Title(text) | Note::Osc { text, .. } => text.len(),
        Note::Bell => 0,
    });
    assert_eq!(lengths.collect::<Vec<_>>(), [1023, 4095]);
}

#[test]
fn an_editor_puts_the_title_back() {
    let (terminal, fed) = fed("\x1b]2;shell\x07\x1b[22;0t\x1b]2;vim\x07\x1b[23;0t");
    assert_eq!(terminal.title(), Some("shell"));
    assert_eq!(fed.notes.len(), 3);
}
