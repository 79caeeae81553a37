//! Each recorded screen is read as the table beside it says.

use super::*;
use crate::agent::EpochMs;
use crate::agent::driver::Driver;
use crate::agent::gemini::Gemini;
use crate::agent::look::InputBox;

#[test]
fn screens_of_200_columns_are_read_as_the_table_says() {
    GALLERY.check(SIZES[0]);
}

#[test]
fn screens_of_80_columns_are_read_as_the_table_says() {
    GALLERY.check(SIZES[1]);
}

#[test]
fn screens_of_44_columns_are_read_as_the_table_says() {
    GALLERY.check(SIZES[2]);
}

fn dialog(name: &str) -> Dialog {
    recordings("screens-80x24", 80, 24)[name].look().dialog.unwrap()
}

fn input_box(name: &str) -> InputBox {
    recordings("screens-80x24", 80, 24)[name].look().input_box.unwrap()
}

#[test]
fn the_address_to_log_in_at_is_joined_from_its_rows() {
    let Prompt { auth_url, ready, .. } = dialog("oauth").prompt;
    let url = auth_url.unwrap();
    assert!(
        url.starts_with(
            "https://accounts.google.com/o/oauth2/v2/auth?redirect_uri=https%3A%2F%2Fcodeassist.google.com"
        )
    );
    assert!(
        url.ends_with("&client_id=681255809395-oo8ft2oprdrnp9e3aqf6av3hmdib135j.apps.googleusercontent.com") && ready
    );
}

#[test]
fn a_limit_on_the_screen_says_when_it_ends() {
    let banner = recordings("screens-80x24", 80, 24)["err-429wait"].look().error_banner.unwrap();
    assert!(banner.is_limit && banner.resets.is_some(), "{banner:?}");
    let ends = Gemini.limit_ends(&banner.text, EpochMs(1_000_000));
    assert_eq!(ends, Some(EpochMs(1_400_000)), "{banner:?}");
}

#[test]
fn a_question_has_its_own_options_and_the_dialog_has_all() {
    let dialog = dialog("ask-four-q4");
    let Prompt { options, questions, question_current, .. } = &dialog.prompt;
    assert_eq!(options, &["Yes", "No", "Enter a custom value"]);
    assert_eq!((*question_current, dialog.free_text, dialog.selected), (3, Some(2), Some(0)));
    let known = &questions[3];
    assert_eq!((known.header.as_deref(), known.question.as_str()), (Some("Deploy"), "Deploy now?"));
    assert_eq!(known.options, ["Yes", "No"]);
    // Of the others only the heading is on the screen.
    assert_eq!((questions[0].header.as_deref(), questions[0].question.as_str()), (Some("Database"), ""));
    let answered: Vec<bool> = dialog.tabs.iter().map(|tab| tab.is_answered).collect();
    assert_eq!(answered, [true, true, true, false]);
}

#[test]
fn options_out_of_sight_leave_their_places_empty_so_that_numbers_stay_true() {
    let above = dialog("ask-choice-custom");
    assert_eq!(above.prompt.options, ["", "SQLite", "MySQL", "Enter a custom value"]);
    assert_eq!((above.selected, above.free_text, above.free_text_focused), (Some(3), Some(3), true));
    assert_eq!(above.prompt.questions[0].options, ["", "SQLite", "MySQL"]);
    let below = dialog("ask-choice");
    assert_eq!(below.prompt.options, ["PostgreSQL", "SQLite", "MySQL"]);
    assert_eq!((below.free_text, below.prompt.ready), (None, false), "nobody knows how many follow");
}

#[test]
fn the_end_of_a_list_is_told_by_the_colour_of_its_triangle() {
    let screens = recordings("screens-80x24", 80, 24);
    let left = &screens["ask-choice-custom-left"];
    assert_eq!(left.look().dialog.unwrap().free_text, Some(3), "the last one, though it says something else now");
    assert_eq!(Recording { ansi: None, ..left.clone() }.look().dialog.unwrap().free_text, None);
}

#[test]
fn an_underline_tells_which_of_several_questions_is_shown() {
    let screens = recordings("screens-80x24", 80, 24);
    let again = &screens["ask-four-q1-again"];
    let current = |recording: &Recording| recording.look().dialog.unwrap().prompt.question_current;
    assert_eq!(current(again), 0, "the first one, though all have an answer");
    assert_eq!(current(&Recording { ansi: None, ..again.clone() }), 3, "without colours: the last");
}

#[test]
fn several_can_be_chosen_and_the_button_is_known() {
    let dialog = dialog("ask-multi-done-custom");
    let menu = dialog.menu.unwrap();
    assert!(menu.button.unwrap().selected && !dialog.free_text_focused);
    assert_eq!((dialog.selected, dialog.free_text), (None, Some(4)));
    let question = &dialog.prompt.questions[0];
    assert!(question.multi_select);
    assert_eq!(question.options, ["", "", ""], "neither the custom one nor all of the above");
}

#[test]
fn what_stands_in_the_place_of_a_text_is_not_typed() {
    for name in ["ask-text", "ask-choice-custom", "plan-feedback", "api-key-empty", "nocolour-ask-custom"] {
        let dialog = dialog(name);
        assert!(dialog.free_text_focused && dialog.typed.is_empty(), "{name}: {:?}", dialog.typed);
    }
    assert_eq!(dialog("ask-text-typed").typed, "my-cool-app");
    let own = "Some words of my own, many of them, so many that they will not fit into one row of this screen";
    assert_eq!(dialog("ask-long-custom-typed").typed, own);
}

#[test]
fn the_shown_rows_of_a_dialog_are_kept_without_their_frame() {
    let lines = dialog("perm-shell").prompt.screen_lines;
    assert_eq!(lines[0], "? Shell  touch made-by-shell.txt");
    assert_eq!(lines.last().unwrap(), "  3. No, suggest changes (esc)");
}

#[test]
fn a_hint_is_not_what_was_typed() {
    assert!(input_box("idle").is_placeholder());
    // The very words, typed, with the cursor at their end and moved to their beginning.
    for name in ["input-typed-like-placeholder", "input-typed-like-placeholder-home"] {
        let typed = input_box(name);
        assert!(!typed.is_placeholder(), "{name}");
        assert_eq!(typed.text.trim(), "Type your message or @path/to/file", "{name}");
    }
}

#[test]
fn keys_go_to_the_box_unless_a_shell_or_a_search_has_them() {
    assert!(input_box("focus-lost").is_focused, "the terminal has lost its focus, not the box");
    assert!(!input_box("shell-focused").is_focused && !input_box("history-search").is_focused);
}

#[test]
fn the_cursor_tells_the_box_from_one_that_was_left_below_it() {
    let mut typed = recordings("screens-80x24", 80, 24)["input-typed"].clone();
    let stale = ["─".repeat(80), " plan".to_owned(), "▄".repeat(80), " > old words".to_owned(), "▀".repeat(80)];
    typed.rows.extend(stale);
    assert_eq!(typed.look().input_box.unwrap().text, "hello there");
}

#[test]
fn a_text_with_a_blank_row_is_whole_where_only_the_background_tells_the_box() {
    let mut typed = recordings("screens-80x24", 80, 24)["colours256-typed"].clone();
    let (row, ansi) = (typed.cursor.unwrap().row, typed.ansi.as_mut().unwrap());
    let more = ansi[row].replace('>', " ").replace("hello there", "more");
    let edge = ansi[row + 1].clone();
    ansi.splice(row + 1..row + 1, [edge, more]);
    typed.rows.splice(row + 1..row + 1, [String::new(), "   more".to_owned()]);
    assert_eq!(typed.look().input_box.unwrap().text, "hello there\n\nmore");
}

#[test]
fn an_empty_screen_shows_nothing() {
    for rows in [vec![], vec![String::new(); 24], vec!["─".repeat(80); 24], vec!["▄".repeat(80); 24]] {
        let seen = look(&OWN_RULES, Sight { rows: &rows, ansi: None, cursor: None, cols: 80, is_mid_frame: false });
        assert_eq!(describe(&seen), "nothing");
    }
}
