//! What a terminal promises, one case each.

use super::super::{Cursor, MouseEncoding, MouseReports, Seq};
use super::{fed, size, terminal};

#[test]
fn a_snapshot_shows_rows_cursor_title_and_screen() {
    let (terminal, fed) = fed("\x1b]2;t\x07one  \r\n  two\x1b[?25l");
    let snapshot = terminal.snapshot();
    assert!(fed.changed);
    assert_eq!(snapshot.lines, ["one", "  two", "", ""]);
    assert_eq!(snapshot.cursor, Cursor { row: 1, col: 5, visible: false });
    assert_eq!((snapshot.seq, snapshot.size), (Seq(1), size(20, 4)));
    assert_eq!((snapshot.alt_screen, snapshot.title.as_deref()), (false, Some("t")));
}

#[test]
fn only_visible_changes_move_the_screen_on() {
    let mut terminal = terminal(20, 4);
    let mut changed = |input: &[u8], seq| (terminal.feed(input, Seq(seq)).changed, terminal.screen_seq());
    assert_eq!(changed(b"x", 1), (true, Seq(1)));
    assert_eq!(changed(b"\x1b[?2004h\x1b[31m\x07\x1b[c", 2), (false, Seq(1)));
    assert_eq!(changed(b"\x1b[2;2H", 3), (true, Seq(3)));
    assert_eq!(changed(b"\x1b[?25l", 4), (true, Seq(4)));
    assert_eq!(changed(b"\x1b]2;t\x07", 5), (true, Seq(5)));
    assert_eq!(changed(b"\x1b[?1049h", 6), (true, Seq(6)));
    assert_eq!(changed(b"", 7), (false, Seq(6)));
}

#[test]
fn changed_rows_are_few_and_unknown_pasts_get_the_whole_screen() {
    let mut terminal = terminal(20, 4);
    terminal.feed(b"a\r\nb\r\nc", Seq(10));
    terminal.feed(b"\x1b[2;1H\x1b[31mB", Seq(11));
    assert_eq!(terminal.changed_rows(Seq(10)), Some(vec![(1, "\x1b[0;31mB\x1b[0m".to_owned())]));
    assert_eq!(terminal.changed_rows(Seq(11)), Some(vec![]));
    assert_eq!(terminal.changed_rows(Seq(12)), None, "nobody can have seen what is still to come");
    assert_eq!(terminal.changed_rows(Seq(9)), None, "that was another child's terminal");
    terminal.resize(size(20, 5), Seq(13));
    assert_eq!(terminal.changed_rows(Seq(11)), None, "the rows have moved");
}

#[test]
fn a_resize_to_the_same_size_changes_nothing() {
    let (mut terminal, _) = fed("x");
    terminal.resize(size(20, 4), Seq(2));
    assert_eq!(terminal.screen_seq(), Seq(1));
}

#[test]
fn scrolled_off_rows_are_kept_up_to_the_limit_oldest_first() {
    let mut terminal = super::Terminal::new(size(20, 2), 3);
    for n in 0..10 {
        terminal.feed(format!("{n}\r\n").as_bytes(), Seq(n));
    }
    assert_eq!(terminal.scrollback_text(99), ["6", "7", "8"]);
    assert_eq!(terminal.scrollback_text(2), ["7", "8"]);
    terminal.feed(b"\x1b[?1049hfull screen", Seq(11));
    assert_eq!(terminal.scrollback_text(1), ["8"], "the primary screen's rows, whatever is shown");
}

#[test]
fn a_child_that_clears_its_scrollback_is_obeyed() {
    let mut terminal = terminal(20, 2);
    terminal.feed(b"1\r\n2\r\n3\r\n\x1b[H\x1b[2J\x1b[3J", Seq(1));
    assert_eq!(terminal.scrollback_text(99), [""; 0]);
    terminal.feed(b"a\r\nb\r\nc", Seq(2));
    assert_eq!(terminal.scrollback_text(99), ["a"]);
    terminal.resize(size(30, 2), Seq(3));
    assert_eq!(terminal.scrollback_text(99), ["a"]);
}

#[test]
fn leaving_the_alternate_screen_brings_the_primary_back() {
    for mode in [47, 1047, 1049] {
        let (mut terminal, _) = fed(&format!("shell\x1b[?{mode}h\x1b[Hvim"));
        assert!(terminal.snapshot().alt_screen && terminal.modes().alt_screen);
        assert_eq!(terminal.snapshot().lines[0], "vim");
        terminal.resize(size(10, 3), Seq(2));
        terminal.feed(format!("\x1b[?{mode}l").as_bytes(), Seq(3));
        assert!(!terminal.snapshot().alt_screen && !terminal.modes().alt_screen);
        assert_eq!(terminal.snapshot().lines[0], "shell");
    }
}

#[test]
fn modes_follow_the_child() {
    let (mut terminal, _) = fed("\x1b[?1;1002;1006;1004;2004;2026h\x1b=\x1b[?25l\x1b[5 q\x1b[>4;2m\x1b[>1u\x1b[>3u");
    let modes = terminal.modes();
    assert!(modes.application_cursor && modes.application_keypad && !modes.cursor_visible);
    assert!(modes.bracketed_paste && modes.focus_reporting && modes.synchronized_output);
    assert_eq!((modes.mouse, modes.mouse_encoding), (MouseReports::Drags, MouseEncoding::Sgr));
    assert_eq!((modes.cursor_shape, modes.modify_other_keys, modes.kitty_flags()), (5, 2, 3));
    terminal.feed(b"\x1b[<u\x1b[?1049h", Seq(2));
    assert_eq!(terminal.modes().kitty_flags(), 0, "the alternate screen has its own flags");
    terminal.feed(b"\x1b[?1049l", Seq(3));
    assert_eq!(terminal.modes().kitty_flags(), 1);
    terminal.feed(b"\x1b[!p", Seq(4));
    assert!(!terminal.modes().application_cursor && terminal.modes().cursor_visible);
    terminal.feed(b"\x1bc", Seq(5));
    assert_eq!(terminal.modes(), super::terminal(1, 1).modes());
}

#[test]
fn a_redraw_needs_no_rare_sequences() {
    let (terminal, _) = fed("\x1b[38;5;200m=========\x1b[48;2;1;2;3m日日日日日日\x1b[3g\x1b[1;5H\x1bH");
    let redraw = String::from_utf8(terminal.redraw()).expect("all characters are complete");
    assert!(redraw.contains("38;5;200") && redraw.contains("48;2;1;2;3") && redraw.contains("========="));
    for rare in ["38:", "48:", "\x1bc", "W"] {
        assert!(!redraw.contains(rare), "{rare:?} in {redraw:?}");
    }
    assert!(!redraw.contains("\x1b[8b"), "{redraw:?}");
}

#[test]
fn a_redraw_in_the_middle_of_a_character_or_sequence_lets_the_rest_complete_it() {
    for (first, rest) in [(&b"\xe6\x97"[..], &b"\xa5"[..]), (b"\x1b[3", b"1mx"), (b"\x1b]2;ti", b"tle\x07")] {
        let (mut original, mut copy) = (terminal(20, 4), terminal(20, 4));
        original.feed(first, Seq(1));
        copy.feed(&original.redraw(), Seq(1));
        original.feed(rest, Seq(2));
        copy.feed(rest, Seq(2));
        assert_eq!((copy.ansi_rows(), copy.title()), (original.ansi_rows(), original.title()));
    }
}

#[test]
fn a_redraw_undoes_whatever_was_left_behind() {
    let leftovers = [
        "\x1b[2;3r",                   // margins
        "\x1b[2;3r\x1b[?6h",           // origin mode
        "\x1b[44m",                    // a colour
        "\x1b[4h",                     // insert mode
        "\x1b[20h",                    // new line mode
        "\x1b[?7l",                    // no wrapping
        "\x1b(0",                      // line drawing
        "\x1b)0\x0e",                  // line drawing, the other way
        "\x1b[3g",                     // no tab stops
        "\x1b[?1049h\x1b[2;2H\x1b7",   // the alternate screen, with a saved cursor
        "\x1b[3;3H\x1b[31m\x1b7",      // a saved cursor
        "\x1b[?1;25;1003;1006;2004h",  // modes
        "\x1b[>3u\x1b[?1047h\x1b[>5u", // keyboard flags on both screens
        "\x1b]2;unfinished",
        "\x1b[3",
        "\x1bPunfinished",
    ];
    let later = "\t1\x1b7\r\n\x1b[4;1H2\n3\x1b8\x1b[?1047h\x1b8x\x1b[?1047l4567890123456789012345678";
    for leftover in leftovers {
        let (mut original, _) = fed("\x1b[32mshown\r\n");
        let (mut copy, _) = fed(leftover);
        copy.feed(&original.redraw(), Seq(2));
        assert_eq!((copy.modes(), copy.title()), (original.modes(), original.title()), "{leftover:?}");
        for terminal in [&mut original, &mut copy] {
            terminal.feed(later.as_bytes(), Seq(3));
        }
        assert_eq!(copy.ansi_rows(), original.ansi_rows(), "{leftover:?}");
        assert_eq!(copy.cursor(), original.cursor(), "{leftover:?}");
    }
}

#[test]
fn a_redraw_does_not_repeat_controls_that_were_obeyed_inside_a_sequence() {
    let (original, _) = fed("one\x1b[\r\n3");
    let mut copy = terminal(20, 4);
    copy.feed(&original.redraw(), Seq(1));
    assert_eq!(copy.cursor(), original.cursor());
}

#[test]
fn a_combining_mark_takes_no_column_and_is_not_lost() {
    let mut terminal = terminal(10, 2);
    terminal.feed("e\u{301}x\x1b[3Gy".as_bytes(), Seq(1));
    assert_eq!(terminal.snapshot().lines[0], "e\u{301}xy");
    terminal.feed("\r\n123456789a\u{308}\u{323}".as_bytes(), Seq(2));
    assert_eq!((terminal.snapshot().lines[1].as_str(), terminal.cursor().col), ("123456789a\u{308}\u{323}", 9));
    terminal.feed("b".as_bytes(), Seq(3));
    assert_eq!(terminal.snapshot().lines[1], "b", "it had filled the row, and the next wraps");
    terminal.feed("\x1b[2J\x1b[H\u{301}日\u{301}\u{100000}".as_bytes(), Seq(4));
    assert_eq!(terminal.snapshot().lines[0], "日\u{100000}", "no base, or one that cannot be marked");
    let mut copy = super::terminal(10, 2);
    terminal.feed("a\u{308}".as_bytes(), Seq(5));
    copy.feed(&terminal.redraw(), Seq(1));
    assert_eq!(copy.snapshot().lines, terminal.snapshot().lines);
}
