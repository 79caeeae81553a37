//! A frame that is not drawn to its end never becomes a dialog with options missing, nor a composer that nobody reads.

use super::*;
use crate::child::Size;
use crate::terminal::{Seq, Terminal};

#[test]
fn a_dialog_whose_last_rows_are_not_drawn_yet_has_all_its_options_or_is_not_ready() {
    for size in SIZES {
        for (name, recording) in GALLERY.recordings(size) {
            let Some(whole) = recording.look().dialog else { continue };
            for drawn in 0..size.2 {
                let mut part = recording.clone();
                part.rows[drawn..].fill(String::new());
                part.ansi.iter_mut().for_each(|ansi| ansi[drawn..].fill(String::new()));
                let about = format!("{}/{name}, {drawn} rows drawn", size.0);
                let seen = part.look();
                assert_eq!(seen.input_box, None, "{about}");
                let Some(seen) = seen.dialog.filter(|dialog| dialog.prompt.ready) else { continue };
                assert_eq!(seen.prompt.options, whole.prompt.options, "{about}");
                assert_eq!(seen.rule, whole.rule, "{about}");
            }
        }
    }
}

/// Feeds a recorded stream byte by byte and lists what was ready to be answered or typed to, one after the other.
fn seen_in(stream: &str) -> Vec<String> {
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
            let look = look(&OWN_RULES, sight);
            let dialog = look.dialog.filter(|dialog| dialog.prompt.ready);
            let told = dialog.map(|dialog| {
                let Prompt { questions, question_current, .. } = &dialog.prompt;
                let question = questions.get(*question_current).map_or("", |it| it.question.as_str());
                format!("{} {question}{:?}", dialog.rule, dialog.prompt.options)
            });
            let told = told.or_else(|| look.input_box.filter(|input| input.is_focused).map(|_| "composer".to_owned()));
            seen.extend(told.filter(|told| seen.last() != Some(told)));
        }
    }
    seen
}

#[test]
fn no_moment_of_a_start_shows_a_dialog_or_a_composer_that_was_not_there() {
    let expected = [r#"trust ["Trust and continue", "Quit"]"#, "composer"];
    assert_eq!(seen_in("start-80x24.bin"), expected);
}

#[test]
fn no_moment_of_permissions_and_questions_shows_a_dialog_that_was_not_there() {
    let seen = seen_in("permissions-and-questions-80x24.bin");
    let command = "[\"Yes, proceed (y)\", \"Yes, and don't ask again for commands that start with `echo one two` (p)\", \
                   \"No, and tell Codex what to do differently (esc)\"]";
    let edit = "[\"Yes, proceed (y)\", \"Yes, and don't ask again for these files (a)\", \
                \"No, and tell Codex what to do differently (esc)\"]";
    let expected = [
        "composer".to_owned(),
        format!("command {command}"),
        "composer".to_owned(),
        r#"question Which color should I use?["Red (Recommended)", "Green", "Blue", "None of the above"]"#.to_owned(),
        r#"question Which size?["Small", "Large", "None of the above"]"#.to_owned(),
        "composer".to_owned(),
        format!("edit {edit}"),
        "composer".to_owned(),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_message_of_the_user_is_no_composer_while_nothing_stands_below_it() {
    let rows: Vec<String> = ["", "› hello", "", "", "  Starting"].map(str::to_owned).to_vec();
    let mut ansi = rows.clone();
    for row in &mut ansi[..3] {
        let (mark, text) = row.split_at(row.chars().next().map_or(0, char::len_utf8));
        *row = format!("\x1b[0;2;48;5;238m{mark}\x1b[0;48;5;238m{text:<79}\x1b[0m");
    }
    let sight = Sight { rows: &rows, ansi: Some(&ansi), cursor: None, cols: 80, is_mid_frame: false };
    assert_eq!(describe(&look(&OWN_RULES, sight)), "nothing");
}
