//! Whatever stands on a screen, looking at it does not fail.

use proptest::prelude::*;

use super::*;

const PIECES: [&str; 34] = [
    "────────────",
    "▄▄▄▄▄▄▄▄▄▄▄▄",
    "▀▀▀▀▀▀▀▀▀▀▀▀",
    "╭──────────╮",
    "╰──────────╯",
    "│ ● 1. Yes │",
    "│   2. No  │",
    "│ ● 3.  x  │",
    "│ [x] y    │",
    "│ 4. [ ] z │",
    "│ ●  Done  │",
    "│ ▲        │",
    "│ ▼        │",
    "│ > blue   │",
    "│ ? Shell  │",
    "│ Answer Questions │",
    "│ ← □ A │ ✓ B │ ≡ Review → │",
    "│ Enter to select · Esc to cancel │",
    "│ │ key │ │",
    "│",
    "││",
    " > ",
    " >",
    " ! ls",
    " * x",
    " (r:) ",
    " ⠸ Thinking... (esc to cancel, 3s)",
    "✕ [API Error: x]",
    "ℹ Request cancelled.",
    "  Queued (press ↑ to edit):",
    "    queued",
    "Please visit the following URL",
    "Enter the authorization code:日本",
    "",
];

proptest! {
    #[test]
    fn any_rows_any_cursor_and_any_width_can_be_looked_at(
        pieces in prop::collection::vec((prop::sample::select(&PIECES[..]), ".{0,6}"), 0..14),
        cursor in prop::option::of((0..20_usize, 0..30_usize)),
        cols in 0..30_usize,
        ansi_rows in 0..14_usize,
    ) {
        let rows: Vec<String> = pieces
            .iter()
            .enumerate()
            .map(|(at, (piece, more))| if at % 3 == 0 { format!("{piece}{more}") } else { (*piece).to_owned() })
            .collect();
        let ansi: Vec<String> = rows.iter().take(ansi_rows).map(|row| format!("\x1b[0;38;5;4m{row}\x1b[0;7;4m ")).collect();
        let cursor = cursor.map(|(row, col)| Cursor { row, col, visible: true });
        for cols in [cols, 12] {
            let sight = Sight { rows: &rows, ansi: Some(&ansi), cursor, cols, is_mid_frame: false };
            let seen = look(&OWN_RULES, sight);
            prop_assert!(seen.input_box.is_none() || seen.dialog.is_none());
        }
    }
}
