//! Text that quotes a screen is not that screen.

use super::*;

/// What can stand in the place of the row that tells of work.
const IDLE: &str = "                 ? for shortcuts";

/// The rows of a conversation that shows the quoted ones, wrapped as Gemini CLI wraps them.
fn quote(quoted: &[String], first: &str, next: &str, cols: usize) -> Vec<String> {
    let room = cols - next.chars().count();
    let pieces = quoted.iter().flat_map(|row| {
        let characters: Vec<char> = row.chars().collect();
        let pieces: Vec<String> = characters.chunks(room).map(|piece| piece.iter().collect()).collect();
        if pieces.is_empty() { vec![String::new()] } else { pieces }
    });
    let before = |at| if at == 0 { first } else { next };
    pieces.enumerate().map(|(at, piece)| format!("{}{piece}", before(at)).trim_end().to_owned()).collect()
}

fn as_message(quoted: &[String], cols: usize) -> Vec<String> {
    quote(quoted, "✦ ", "  ", cols)
}

fn as_users_words(quoted: &[String], cols: usize) -> Vec<String> {
    [vec!["▄".repeat(cols)], quote(quoted, " > ", "   ", cols), vec!["▀".repeat(cols)]].concat()
}

/// Tools leave four columns free at the right.
fn as_output(quoted: &[String], cols: usize) -> Vec<String> {
    let (wide, room) = ("─".repeat(cols - 6), cols - 8);
    let row = |text: &String| format!("│ {text:<room$} │");
    let rows = quote(quoted, "", "", room).iter().map(row).collect();
    let title = row(&"✓  Shell cat dialog.txt".to_owned());
    [vec![format!("╭{wide}╮"), title], rows, vec![format!("╰{wide}╯")]].concat()
}

type Shape = fn(&[String], usize) -> Vec<String>;

const SHAPES: [(&str, Shape); 3] =
    [("a message", as_message), ("a user's message", as_users_words), ("a tool's output", as_output)];

/// The last rows that the screen has room for.
fn on_screen(mut rows: Vec<String>, height: usize) -> Vec<String> {
    rows.drain(..rows.len().saturating_sub(height));
    rows.resize(height, String::new());
    rows
}

fn input_box(cols: usize) -> Vec<String> {
    let box_rows = ["─", "▄", "▀"].map(|line| line.repeat(cols));
    let [line, upper, lower] = box_rows;
    let (hint, footer) = (" >   Type your message or @path/to/file".to_owned(), " workspace (/directory)".to_owned());
    vec![String::new(), IDLE.to_owned(), line, " Shift+Tab to accept edits".to_owned(), upper, hint, lower, footer]
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
            for (shape, quoted) in SHAPES {
                let said = quoted(&recording.rows[..end], cols);
                let rows = on_screen([said, blank(), input_box(cols)].concat(), height);
                let seen = describe(&look_at(&rows, cols));
                let expected = r#"box "", suggests "Type your message or @path/to/file""#;
                assert_eq!(seen, expected, "{folder}/{name} as {shape}");
            }
        }
    }
}

#[test]
fn a_screen_that_is_quoted_above_a_dialog_does_not_change_that_dialog() {
    let (folder, cols, height) = SIZES[1];
    let screens = recordings(folder, cols, height);
    for (name, under) in [("perm-shell", "shell"), ("ask-yesno", "ask"), ("plan", "plan"), ("loop", "loop")] {
        let rows = &screens[name].rows;
        let bottom = rows.iter().rposition(|row| row.trim_start().starts_with('╰')).unwrap();
        let is_top = |row: &String| row.trim().starts_with('╭') && row.chars().count() > cols - 3;
        let dialog = &rows[rows[..bottom].iter().rposition(is_top).unwrap()..=bottom];
        let expected = screens[name].look().dialog.unwrap();
        for (quoted, recording) in &screens {
            for (shape, say) in SHAPES {
                let said = say(&recording.rows, cols);
                let rows = on_screen([said, dialog.to_vec()].concat(), height);
                let seen = look_at(&rows, cols).dialog.unwrap();
                assert_eq!(seen.rule, under, "{folder}: {quoted} as {shape} above {name}");
                assert_eq!(seen.prompt.options, expected.prompt.options, "{folder}: {quoted} above {name}");
            }
        }
    }
}

#[test]
fn an_answered_dialog_above_the_restarted_program_is_none() {
    for (folder, cols, height) in SIZES {
        let screens = recordings(folder, cols, height);
        assert_eq!(describe(&screens["trust-restarting"].look()), "nothing", "{folder}");
        let trust = &screens["trust"].rows;
        let end = trust.iter().rposition(|row| !row.is_empty()).unwrap() + 1;
        let rows = on_screen([trust[..end].to_vec(), blank(), input_box(cols)].concat(), height);
        assert_eq!(look_at(&rows, cols).dialog, None, "{folder}");
    }
}

#[test]
fn a_question_that_quotes_another_dialog_is_still_a_question() {
    for (folder, cols, height) in SIZES {
        let dialog = recordings(folder, cols, height)["ask-quote"].look().dialog.unwrap();
        assert_eq!((dialog.rule.as_str(), dialog.prompt.kind), ("ask", PromptKind::Question), "{folder}");
        assert_eq!(dialog.prompt.options, ["Allow once", "No, suggest changes (esc)", "Enter a custom value"]);
    }
}

#[test]
fn a_question_with_the_words_of_the_trust_dialog_is_still_a_question() {
    let asked = &recordings("screens-80x24", 80, 24)["ask-yesno"];
    let replaced = [
        ("Deploy now?                           ", "Do you trust the files in this folder?"),
        ("Yes         ", "Trust folder"),
        ("No         ", "Don't trust"),
    ];
    let say = |row: &String| replaced.iter().fold(row.clone(), |row, (old, new)| row.replace(old, new));
    let rows: Vec<String> = asked.rows.iter().map(say).collect();
    let dialog = look_at(&rows, 80).dialog.unwrap();
    assert_eq!(dialog.prompt.options, ["Trust folder", "Don't trust", "Enter a custom value"]);
    assert_eq!((dialog.rule.as_str(), dialog.prompt.kind), ("ask", PromptKind::Question));
}

#[test]
fn a_command_that_quotes_the_trust_dialog_is_still_a_command() {
    for (folder, cols, height) in SIZES {
        let dialog = recordings(folder, cols, height)["perm-shell-quoting-trust"].look().dialog.unwrap();
        assert_eq!((dialog.rule.as_str(), dialog.prompt.subtype.as_deref()), ("shell", Some("tool")), "{folder}");
        assert_eq!(dialog.prompt.options.len(), 3);
    }
}

#[test]
fn a_model_that_writes_what_gemini_says_of_itself_is_not_believed() {
    let said = ["✦ ℹ Request cancelled.", "  ✕ [API Error: nothing]", "  ⠸ Thinking... (esc to cancel, 3s)"];
    let queued = ["  Queued (press ↑ to edit):", "    nothing", ""];
    let rows: Vec<String> = said.iter().chain(&queued).map(|row| (*row).to_owned()).collect();
    let rows = on_screen([rows, input_box(80)].concat(), 24);
    let seen = look_at(&rows, 80);
    assert!(!seen.working && !seen.interrupted && seen.error_banner.is_none() && seen.queued.is_empty(), "{seen:?}");
}
