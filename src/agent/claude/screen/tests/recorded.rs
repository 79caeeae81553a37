//! Each recorded screen is read as the table beside it says.

use super::*;
use crate::agent::look::{Dialog, InputBox};

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
    let url = "https://claude.com/cai/oauth/authorize?code=true&client_id=9d1c250a-e61b-44d9-88ed-5944d1962f5e\
        &response_type=code&redirect_uri=https%3A%2F%2Fplatform.claude.com%2Foauth%2Fcode%2Fcallback\
        &scope=org%3Acreate_api_key+user%3Aprofile+user%3Ainference+user%3Asessions%3Aclaude_code+user%3Amcp_servers\
        +user%3Afile_upload&code_challenge=zOeFOhLoPKpL07Wvp7GsArvbu3NWURx83xYP2oczfxk&code_challenge_method=S256\
        &state=AmeKCI6z4FBtoiAszPVHKJSssMO3h3aSWU5GjG406zc";
    assert_eq!(dialog("setup-login-oauth").prompt.auth_url.as_deref(), Some(url));
}

#[test]
fn an_address_that_claude_has_damaged_is_not_told() {
    let prompt = dialog("setup-login-oauth-code-typed").prompt;
    assert_eq!((prompt.auth_url, prompt.ready), (None, false));
}

#[test]
fn a_question_has_its_own_options_and_the_dialog_has_all() {
    let dialog = dialog("ask-two-q2");
    let Prompt { options, questions, question_current, .. } = &dialog.prompt;
    assert_eq!(options, &["Rust", "Go", "Type something.", "Chat about this"]);
    assert_eq!((*question_current, dialog.free_text), (1, Some(2)));
    let known = &questions[1];
    assert_eq!((known.header.as_deref(), known.question.as_str()), (Some("Language"), "Which language?"));
    assert_eq!(
        (known.options.as_slice(), known.descriptions.as_slice()),
        (&["Rust".into(), "Go".into()][..], &["Fast".into(), "Simple".into()][..])
    );
    // Of the others only the heading is on the screen.
    assert_eq!((questions[0].header.as_deref(), questions[0].question.as_str()), (Some("Database"), ""));
    let answered: Vec<bool> = dialog.tabs.iter().map(|tab| tab.is_answered).collect();
    assert_eq!(answered, [true, false]);
}

#[test]
fn colours_tell_which_of_several_questions_is_shown() {
    let screens = recordings("screens-80x24", 80, 24);
    let again = &screens["ask-two-q1-again"];
    let current = |recording: &Recording| recording.look().dialog.unwrap().prompt.question_current;
    assert_eq!(current(again), 0, "the first one, though it has an answer");
    assert_eq!(current(&Recording { ansi: None, ..again.clone() }), 1, "without colours: the first without an answer");
}

#[test]
fn several_can_be_chosen_and_the_button_is_known() {
    let dialog = dialog("ask-multiselect-submit-focused");
    let menu = dialog.menu.unwrap();
    let checked: Vec<Option<bool>> = menu.options.iter().map(|option| option.checked).collect();
    assert_eq!(checked, [Some(true), Some(false), Some(false), Some(true), None]);
    assert!(dialog.prompt.questions[0].multi_select && menu.button.unwrap().selected);
    assert_eq!(dialog.selected, None);
}

#[test]
fn the_shown_rows_of_a_dialog_are_kept() {
    let lines = dialog("perm-bash").prompt.screen_lines;
    assert_eq!(
        (lines[0].as_str(), lines.last().unwrap().trim()),
        (" Bash command", "Esc to cancel · Tab to amend · ctrl+e to explain")
    );
}

#[test]
fn a_suggestion_is_not_what_was_typed() {
    let suggested = input_box("idle-placeholder");
    assert!(suggested.is_placeholder() && suggested.text.is_empty());
    // The very words, typed, with the cursor moved to their beginning.
    let typed = input_box("input-typed-like-placeholder-home");
    assert!(!typed.is_placeholder());
    assert_eq!(typed.text, "Try \"refactor <filepath>\"");
    assert_eq!((typed.first_row, typed.last_row), (14, 14));
}

#[test]
fn an_empty_screen_shows_nothing() {
    for rows in [vec![], vec![String::new(); 24], vec!["─".repeat(80); 24]] {
        let seen = look(&OWN_RULES, Sight { rows: &rows, ansi: None, cursor: None, cols: 80, is_mid_frame: false });
        assert_eq!(describe(&seen), "nothing");
    }
}
