//! A frame that is not drawn to its end never becomes a dialog with options missing.

use super::*;
use crate::child::Size;
use crate::terminal::{Seq, Terminal};

#[test]
fn a_dialog_whose_last_rows_are_not_drawn_yet_has_all_its_options_or_is_not_ready() {
    for (folder, cols, rows) in SIZES {
        for (name, recording) in recordings(folder, cols, rows) {
            let Some(whole) = recording.look().dialog else { continue };
            for drawn in 0..rows {
                let mut part = recording.clone();
                part.rows[drawn..].fill(String::new());
                let Some(seen) = part.look().dialog.filter(|dialog| dialog.prompt.ready) else { continue };
                assert_eq!(seen.prompt.options, whole.prompt.options, "{folder}/{name}, {drawn} rows drawn");
                assert_eq!(seen.rule, whole.rule, "{folder}/{name}, {drawn} rows drawn");
            }
        }
    }
}

/// Feeds a recorded stream byte by byte and lists the dialogs that were seen, one after the other.
fn dialogs(stream: &str) -> Vec<String> {
    let bytes = std::fs::read(fixtures().join("streams").join(stream)).unwrap();
    let mut terminal = Terminal::new(Size::new(80, 24).unwrap(), 0);
    let mut seen: Vec<String> = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        terminal.feed(&[*byte], Seq(at as u64));
        // Between two escape sequences nothing new can be read off the screen but the text that grows.
        if *byte == 0x1b || at + 1 == bytes.len() {
            let (screen, ansi) = (terminal.snapshot(), terminal.ansi_rows());
            let (rows, is_mid_frame) = (screen.lines.as_slice(), terminal.modes().synchronized_output);
            let sight = Sight { rows, ansi: Some(&ansi), cursor: Some(screen.cursor), cols: 80, is_mid_frame };
            let told = look(&OWN_RULES, sight).dialog.map(|dialog| {
                let Prompt { questions, question_current, .. } = &dialog.prompt;
                let question = questions.get(*question_current).map_or("", |it| it.question.as_str());
                format!("{} {question}{:?}", dialog.rule, dialog.prompt.options)
            });
            seen.extend(told.filter(|told| seen.last() != Some(told)));
        }
    }
    seen
}
