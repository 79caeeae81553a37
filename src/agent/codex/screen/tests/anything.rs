//! Whatever stands on a screen, looking at it does not fail.

use proptest::prelude::*;

use super::*;

const PIECES: [&str; 26] = [
    "› ",
    "›",
    "! ls",
    "› 1. Yes, proceed (y)",
    "  2. No",
    "  › 1. Red  Warm",
    "> 1. Sign in",
    "  Would you like to run the following command?",
    "  Question 1/2 (2 unanswered)",
    "  Question 9/3",
    "  option 1/4 | enter to submit | esc to interrupt",
    "  Press enter to confirm or esc to cancel",
    "  enter select · esc back",
    "  GPT-6-Sol default · ~/project",
    "  ? for shortcuts",
    "• Working (1m 09s • esc to interrupt)",
    "• Queued follow-up inputs",
    "  ↳ hello",
    "■ You’ve hit your usage limit",
    "/ T R A N S C R I P T / / /",
    "  https://example.org",
    "  Finish signing in via your browser",
    "日本語日本語",
    "",
    "   ↑",
    "↓",
];

proptest! {
    #[test]
    fn any_rows_any_cursor_and_any_width_can_be_looked_at(
        pieces in prop::collection::vec((prop::sample::select(&PIECES[..]), ".{0,6}"), 0..14),
        cursor in prop::option::of((0..20_usize, 0..30_usize)),
        cols in 0..30_usize,
        backed in prop::collection::vec(any::<bool>(), 0..14),
    ) {
        let rows: Vec<String> = pieces.iter().map(|(piece, more)| format!("{piece}{more}")).collect();
        let drawn = |(row, is_backed): (&String, &bool)| match is_backed {
            true => format!("\x1b[0;48;5;237m{row}\x1b[0;2m "),
            false => row.clone(),
        };
        let ansi: Vec<String> = rows.iter().zip(&backed).map(drawn).collect();
        let cursor = cursor.map(|(row, col)| Cursor { row, col, visible: true });
        for cols in [cols, 12] {
            let sight = Sight { rows: &rows, ansi: Some(&ansi), cursor, cols, is_mid_frame: false };
            let seen = look(&OWN_RULES, sight);
            prop_assert!(seen.input_box.is_none() || seen.dialog.is_none());
        }
    }
}
