//! Text that quotes a screen is not that screen.

use super::*;

/// How the conversation shows a text: what stands before its first row, and before the others.
const SHAPES: [(&str, &str, &str); 4] = [
    ("a message", "• ", "  "),
    ("a user's message", "› ", "  "),
    ("a tool's output", "• Ran cat dialog.txt\n  └ ", "    "),
    ("a decision", "✔ You approved codex to run ", "  "),
];

/// What can stand below the composer.
const FOOTERS: [&str; 3] = [
    "  GPT-6-Sol default · ~/project\n  ? for shortcuts",
    "  GPT-6-Sol medium Fast · ~/project · Enter the numbers    Plan mode",
    "  GPT-6-Sol default · ~/project\n  esc again to edit previous message",
];

/// The rows of a conversation that shows the quoted ones, wrapped as Codex wraps them.
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

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// The pane's rows, on their background.
fn backed(rows: &[String], cols: usize) -> Vec<String> {
    rows.iter().map(|row| format!("\x1b[0;48;5;237m{row:<cols$}\x1b[0m")).collect()
}

fn look_at(rows: &[String], ansi: Option<&[String]>, cols: usize) -> Look {
    look(&OWN_RULES, Sight { rows, ansi, cursor: None, cols, is_mid_frame: false })
}

fn shown(recording: &Recording) -> &[String] {
    let end = recording.rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
    &recording.rows[..end]
}

#[test]
fn a_screen_that_is_quoted_in_the_conversation_is_no_dialog() {
    let composer = lines("\n› \n");
    for size in SIZES {
        let (folder, cols, height) = size;
        for (name, recording) in GALLERY.recordings(size) {
            for (shape, first, next) in SHAPES {
                for footer in FOOTERS {
                    let said = quote(shown(&recording), first, next, cols);
                    let done = lines("\n  Worked for 1s • 11:13\n\n");
                    let above: Vec<String> = [said, done].concat();
                    let pane = [composer.clone(), lines(" ")].concat();
                    let rows = on_screen([above.clone(), pane.clone(), lines(footer)].concat(), height);
                    let about = format!("{folder}/{name} as {shape} over {footer:?}");
                    assert_eq!(describe(&look_at(&rows, None, cols)), "box \"\"", "{about}");
                    let ansi = on_screen([above, backed(&pane, cols), lines(footer)].concat(), height);
                    assert_eq!(describe(&look_at(&rows, Some(&ansi), cols)), "box \"\"", "{about}, with colours");
                }
            }
        }
    }
}

#[test]
fn a_screen_that_is_typed_into_the_composer_is_no_dialog() {
    let size = SIZES[1];
    let (_, cols, height) = size;
    for (name, recording) in GALLERY.recordings(size) {
        let typed: Vec<String> = shown(&recording).iter().rev().take(12).rev().cloned().collect();
        let text = quote(&typed, "› ", "  ", cols);
        let pane = [lines(" "), text, lines(" ")].concat();
        let rows = on_screen([vec![String::new(); height], pane.clone(), lines(FOOTERS[0])].concat(), height);
        let ansi = on_screen([vec![String::new(); height], backed(&pane, cols), lines(FOOTERS[0])].concat(), height);
        let seen = look_at(&rows, Some(&ansi), cols);
        assert!(seen.dialog.is_none() && seen.input_box.is_some(), "{name}");
    }
}

#[test]
fn a_screen_that_is_quoted_above_a_dialog_does_not_change_that_dialog() {
    let size = SIZES[1];
    let (_, cols, height) = size;
    let screens = GALLERY.recordings(size);
    for (name, under) in [("perm-command", "command"), ("question-two-q1", "question"), ("plan", "plan")] {
        let dialog = screens[name].look().dialog.unwrap();
        let start = dialog.rows.start;
        let tail = |rows: &[String]| rows[start..].to_vec();
        for (quoted, recording) in &screens {
            let said = [quote(&recording.rows, "• ", "  ", cols), vec![String::new()]].concat();
            let rows = on_screen([said.clone(), tail(&screens[name].rows)].concat(), height);
            let ansi = on_screen([said, tail(screens[name].ansi.as_ref().unwrap())].concat(), height);
            let seen = look_at(&rows, Some(&ansi), cols).dialog.unwrap();
            assert_eq!(seen.rule, under, "{quoted} above {name}");
            assert_eq!(seen.prompt, dialog.prompt, "{quoted} above {name}");
        }
    }
}

#[test]
fn a_command_that_quotes_the_trust_dialog_is_still_a_command() {
    for size in SIZES {
        let dialog = GALLERY.recordings(size)["perm-command-quoting-trust"].look().dialog.unwrap();
        assert_eq!((dialog.rule.as_str(), dialog.prompt.tool.as_deref()), ("command", Some("Bash")));
        assert_eq!(dialog.prompt.options.len(), 2);
    }
}

#[test]
fn a_dialog_that_is_quoted_in_another_view_is_none() {
    let size = SIZES[1];
    let (_, cols, height) = size;
    let title = format!("/ T R A N S C R I P T {}", "/ ".repeat(29).trim_end());
    for (name, recording) in GALLERY.recordings(size) {
        let said = quote(shown(&recording), "• ", "  ", cols);
        let rows = on_screen([said, lines(" ↑/↓ to scroll\n q close")].concat(), height - 1);
        let rows = [vec![title.clone()], rows].concat();
        assert_eq!(describe(&look_at(&rows, None, cols)), "covered by pager", "{name}");
    }
}

#[test]
fn what_a_message_says_is_no_work_no_queue_and_no_interruption() {
    for said in [
        "Working (0s • esc to interrupt)",
        "Queued follow-up inputs\n  ↳ hello\n    shift+← edit last queued message",
        "■ Conversation interrupted - use /feedback if something went wrong",
    ] {
        let rows = lines(&format!("• {said}\n\n \n› \n \n{}", FOOTERS[0]));
        let mut ansi = rows.clone();
        ansi[0] = ansi[0].replacen("• ", "\x1b[0;2m• \x1b[0m", 1);
        let top = rows.iter().position(|row| row.starts_with('›')).unwrap() - 1;
        ansi.splice(top..top + 3, backed(&rows[top..top + 3], 80));
        assert_eq!(describe(&look_at(&rows, Some(&ansi), 80)), "box \"\"", "{said:?}");
    }
}
