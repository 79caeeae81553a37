//! What holds for any output of any child.

use super::super::{Note, Seq, Terminal};
use super::{output, portions, size, sizes};
use proptest::prelude::*;

/// All that can be seen of a terminal, but for the sequence number.
fn seen(terminal: &Terminal) -> String {
    let mut snapshot = terminal.snapshot();
    snapshot.seq = Seq(0);
    format!("{snapshot:?} {:?} {:?}", terminal.ansi_rows(), terminal.modes())
}

fn feed_in_portions(terminal: &mut Terminal, bytes: &[u8], sizes: &[usize]) -> (Vec<u8>, Vec<Note>) {
    let (mut replies, mut notes) = (Vec::new(), Vec::new());
    for (portion, seq) in portions(bytes, sizes).into_iter().zip(1..) {
        let fed = terminal.feed(portion, Seq(seq));
        replies.extend(fed.replies);
        notes.extend(fed.notes);
    }
    (replies, notes)
}

proptest! {
    #[test]
    fn any_split_of_the_output_gives_the_same_picture_replies_and_notes(
        bytes in output(),
        size in sizes(),
        cuts in proptest::collection::vec(1usize..9, 1..6),
    ) {
        let (mut whole, mut split) = (Terminal::new(size, 5), Terminal::new(size, 5));
        let fed = whole.feed(&bytes, Seq(1));
        prop_assert_eq!(feed_in_portions(&mut split, &bytes, &cuts), (fed.replies, fed.notes));
        prop_assert_eq!(seen(&split), seen(&whole));
        prop_assert_eq!(split.scrollback_text(9), whole.scrollback_text(9));
        prop_assert_eq!(split.redraw(), whole.redraw());
    }

    #[test]
    fn old_rows_with_the_changed_ones_put_in_are_the_new_rows(
        size in sizes(),
        outputs in proptest::collection::vec(output(), 1..5),
        remembered in 0usize..4,
    ) {
        let mut terminal = Terminal::new(size, 5);
        let mut old = (terminal.screen_seq(), terminal.ansi_rows());
        for (n, (bytes, seq)) in outputs.iter().zip(1..).enumerate() {
            let (screen, before) = (terminal.screen_seq(), seen(&terminal));
            let fed = terminal.feed(bytes, Seq(seq));
            prop_assert_eq!(terminal.screen_seq(), if fed.changed { Seq(seq) } else { screen });
            if !fed.changed {
                let same_but_modes = |seen: &str| seen.split(" Modes").next().map(str::to_owned);
                prop_assert_eq!(same_but_modes(&before), same_but_modes(&seen(&terminal)));
            }
            if n == remembered {
                old = (terminal.screen_seq(), terminal.ansi_rows());
            }
        }
        if let Some(changed) = terminal.changed_rows(old.0) {
            for (row, painted) in changed {
                old.1[row] = painted;
            }
            prop_assert_eq!(old.1, terminal.ansi_rows());
        }
    }

    #[test]
    fn a_redraw_makes_any_terminal_show_this_picture_and_follow_what_comes(
        size in sizes(),
        shown in output(),
        used in output(),
        later in output(),
    ) {
        let (mut original, mut copy) = (Terminal::new(size, 5), Terminal::new(size, 5));
        original.feed(&shown, Seq(1));
        copy.feed(&used, Seq(1));
        copy.feed(&original.redraw(), Seq(2));
        prop_assert_eq!(seen(&copy), seen(&original));
        original.feed(&later, Seq(3));
        copy.feed(&later, Seq(3));
        prop_assert_eq!(copy.ansi_rows(), original.ansi_rows());
        prop_assert_eq!(copy.cursor(), original.cursor());
    }

    #[test]
    fn no_output_and_no_resize_breaks_the_terminal(
        first in sizes(),
        steps in proptest::collection::vec((output(), sizes()), 1..6),
    ) {
        let mut terminal = Terminal::new(first, 3);
        for ((bytes, size), seq) in steps.iter().zip(1..) {
            terminal.feed(bytes, Seq(2 * seq));
            terminal.resize(*size, Seq(2 * seq + 1));
            let snapshot = terminal.snapshot();
            prop_assert_eq!(snapshot.lines.len(), usize::from(size.rows()));
            prop_assert!(snapshot.cursor.row < usize::from(size.rows()));
            prop_assert!(snapshot.cursor.col < usize::from(size.cols()));
            prop_assert!(terminal.scrollback_text(usize::MAX).len() <= 3);
            terminal.redraw();
        }
    }
}

#[test]
fn the_largest_terminal_survives_the_smallest_size_and_back() {
    let mut terminal = Terminal::new(size(1000, 1000), 10);
    terminal.feed("日本\x1b[?1049h🚀\x1b[999;999Hx\x1b[65535b\x1b[65535S\x1b[65535L".as_bytes(), Seq(1));
    terminal.resize(size(1, 1), Seq(2));
    terminal.feed("日本\x1b[?1049l🚀".as_bytes(), Seq(3));
    terminal.resize(size(1000, 1000), Seq(4));
    assert_eq!(terminal.snapshot().lines.len(), 1000);
}
