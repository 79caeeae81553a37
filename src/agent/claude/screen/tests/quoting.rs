//! Text that quotes a screen is not that screen.

use super::*;

/// How the conversation shows a text: what stands before its first row, and before the others.
const SHAPES: [(&str, &str, &str); 4] = [
    ("a message", "● ", "  "),
    ("a tool's output", "  ⎿ \u{a0}", "     "),
    ("a user's message", "❯ ", "  "),
    ("a shell command's output", "! cat dialog.txt\n  ⎿ \u{a0}", "     "),
];

/// What can stand below the input box.
const FOOTERS: [&str; 3] =
    ["  ? for shortcuts · ← for agents", "  COOP-STATUS", "  ⏵⏵ bypass permissions on (shift+tab to cycle)"];

/// The rows of a conversation that shows the quoted ones, wrapped as Claude wraps them.
fn quote(quoted: &[String], first: &str, next: &str, cols: usize) -> Vec<String> {
    let mut rows: Vec<String> = first.lines().map(str::to_owned).collect();
    let room = cols - next.chars().count();
    let mut is_first = true;
    for row in quoted {
        let characters: Vec<char> = row.chars().collect();
        let pieces: Vec<String> = characters.chunks(room).map(|piece| piece.iter().collect()).collect();
        for piece in if pieces.is_empty() { vec![String::new()] } else { pieces } {
            match rows.last_mut().filter(|_| std::mem::take(&mut is_first)) {
                Some(last) => last.push_str(&piece),
                None => rows.push(format!("{next}{piece}").trim_end().to_owned()),
            }
        }
    }
    rows
}

/// The last rows that the screen has room for.
fn on_screen(mut rows: Vec<String>, height: usize) -> Vec<String> {
    rows.drain(..rows.len().saturating_sub(height));
    rows.resize(height, String::new());
    rows
}

fn input_box(cols: usize, footer: &str) -> Vec<String> {
    let line = "─".repeat(cols);
    vec![line.clone(), "❯\u{a0}".to_owned(), line, footer.to_owned()]
}

fn look_at(rows: &[String], cols: usize) -> Look {
    look(&OWN_RULES, Sight { rows, ansi: None, cursor: None, cols, is_mid_frame: false })
}

fn blank() -> Vec<String> {
    vec![String::new()]
}

#[test]
fn a_screen_that_is_quoted_in_the_conversation_is_no_dialog() {
    for (folder, cols, height) in SIZES {
        for (name, recording) in recordings(folder, cols, height) {
            let end = recording.rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
            for (shape, first, next) in SHAPES {
                for footer in FOOTERS {
                    let done = vec![String::new(), "✻ Baked for 0s".to_owned(), String::new()];
                    let said = quote(&recording.rows[..end], first, next, cols);
                    let rows = on_screen([said, done, input_box(cols, footer)].concat(), height);
                    let seen = describe(&look_at(&rows, cols));
                    assert_eq!(seen, "box \"\"", "{folder}/{name} as {shape} over {footer:?}");
                }
            }
        }
    }
}

#[test]
fn a_screen_that_is_quoted_above_a_dialog_does_not_change_that_dialog() {
    let (folder, cols, height) = SIZES[1];
    let screens = recordings(folder, cols, height);
    for (name, under) in [("perm-bash", "bash"), ("ask-two-q1", "ask_tabs"), ("plan-approval", "plan")] {
        let rows = &screens[name].rows;
        let line = rows.iter().position(|row| row.starts_with("──")).unwrap();
        let dialog = &rows[line..];
        let end = dialog.iter().rposition(|row| !row.is_empty()).unwrap() + 1;
        let expected = screens[name].look().dialog.unwrap();
        for (quoted, recording) in &screens {
            let said = quote(&recording.rows, "● ", "  ", cols);
            let rows = on_screen([said, blank(), dialog[..end].to_vec()].concat(), height);
            let seen = look_at(&rows, cols).dialog.unwrap();
            assert_eq!(seen.rule, under, "{quoted} above {name}");
            assert_eq!(seen.prompt.options, expected.prompt.options, "{quoted} above {name}");
        }
    }
}

#[test]
fn a_command_that_quotes_the_trust_dialog_is_still_a_command() {
    for (folder, cols, height) in SIZES[..2].iter().copied() {
        let dialog = recordings(folder, cols, height)["perm-bash-quoting-trust"].look().dialog.unwrap();
        assert_eq!((dialog.rule.as_str(), dialog.prompt.tool.as_deref()), ("bash", Some("Bash")));
        assert_eq!(dialog.prompt.options.len(), 3);
    }
}

#[test]
fn a_dialog_that_is_quoted_in_the_transcript_view_is_none() {
    let (folder, cols, height) = SIZES[1];
    for (name, recording) in recordings(folder, cols, height) {
        let said = quote(&recording.rows, "● ", "  ", cols);
        let footer = "  Showing detailed transcript · ctrl+o to toggle · ctrl+e to show all   verbose";
        let rows = on_screen([said, blank(), vec!["─".repeat(cols), footer.to_owned()]].concat(), height);
        assert_eq!(describe(&look_at(&rows, cols)), "covered by transcript", "{name}");
    }
}
