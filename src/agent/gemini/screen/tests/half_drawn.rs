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

/// Feeds a recorded stream byte by byte and lists what was told at its moments, one after the other.
fn moments(stream: &str, tell: impl Fn(&Look) -> Option<String>) -> Vec<String> {
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
            let told = tell(&look(&OWN_RULES, sight));
            seen.extend(told.filter(|told| seen.last() != Some(told)));
        }
    }
    seen
}

fn dialogs(stream: &str) -> Vec<String> {
    moments(stream, |look| {
        let Dialog { rule, prompt: Prompt { questions, question_current, options, .. }, .. } = look.dialog.as_ref()?;
        let question = questions.get(*question_current).map_or("", |it| it.question.as_str());
        Some(format!("{rule} {question}{options:?}"))
    })
}

#[test]
fn no_moment_of_a_start_shows_a_dialog_that_was_not_there() {
    let expected = [
        r#"trust ["Trust folder (project)", "Trust parent folder (dev)", "Don't trust"]"#,
        r#"auth ["Sign in with Google", "Use Gemini API Key", "Vertex AI"]"#,
        "api_key []",
    ];
    assert_eq!(dialogs("start-80x24.bin"), expected);
}

#[test]
fn no_moment_of_permissions_and_questions_shows_a_dialog_that_was_not_there() {
    let expected = [
        r#"shell ["Allow once", "Allow for this session", "No, suggest changes (esc)"]"#,
        // The first frame of a list shows one option of it.
        r#"ask Which database should we use?["PostgreSQL"]"#,
        r#"ask Which database should we use?["PostgreSQL", "SQLite", "MySQL"]"#,
        r#"ask Deploy now?["Yes", "No", "Enter a custom value"]"#,
        "ask_review []",
        r#"edit ["Allow once", "Allow for this session", "Modify with external editor", "No, suggest changes (esc)"]"#,
    ];
    assert_eq!(dialogs("permissions-and-questions-80x24.bin"), expected);
}

#[test]
fn no_moment_shows_a_text_in_the_box_that_was_never_typed() {
    let texts = moments("permissions-and-questions-80x24.bin", |look| Some(look.input_box.as_ref()?.text.clone()));
    assert_eq!(texts, ["", "go fake:shell", "", "go fake:ask3", "", "go fake:replace", ""]);
}
