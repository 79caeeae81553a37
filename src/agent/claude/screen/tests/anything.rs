//! Whatever stands on a screen, looking at it does not fail.

use proptest::prelude::*;

use super::*;

const PIECES: [&str; 26] = [
    "────────────",
    "──────── my session ──",
    "❯",
    "❯\u{a0}",
    "! ls",
    "  ❯ 1. Yes",
    " ❯ 2. No",
    "   2. [✔] Search",
    "3.",
    "12. x",
    "     Submit",
    "❯    Submit",
    "←  ☐ A  ☒ B  ✔ Submit  →",
    " ☐ Database",
    "Enter to select · Esc to cancel",
    "https://example.org",
    " Bash command",
    " Do you want to proceed?",
    "✻ Working… (1s)",
    "● API Error: 500 x",
    "  ⎿  Interrupted",
    "日本語日本語",
    "",
    " ",
    "  ❯ queued",
    "What do you want to do?",
];

proptest! {
    #[test]
    fn any_rows_any_cursor_and_any_width_can_be_looked_at(
        pieces in prop::collection::vec((prop::sample::select(&PIECES[..]), ".{0,6}"), 0..14),
        cursor in prop::option::of((0..20_usize, 0..30_usize)),
        cols in 0..30_usize,
        ansi_rows in 0..14_usize,
    ) {
        let rows: Vec<String> = pieces.iter().map(|(piece, more)| format!("{piece}{more}")).collect();
        let ansi: Vec<String> = rows.iter().take(ansi_rows).map(|row| format!("\x1b[0;2m{row}\x1b[0;7m ")).collect();
        let cursor = cursor.map(|(row, col)| Cursor { row, col, visible: true });
        for cols in [cols, 12] {
            let sight = Sight { rows: &rows, ansi: Some(&ansi), cursor, cols, is_mid_frame: false };
            let seen = look(&OWN_RULES, sight);
            prop_assert!(seen.input_box.is_none() || seen.dialog.is_none());
        }
    }
}
