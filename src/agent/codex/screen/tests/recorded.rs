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

fn recording(name: &str) -> Recording {
    GALLERY.recordings(SIZES[1])[name].clone()
}

fn dialog(name: &str) -> Dialog {
    recording(name).look().dialog.unwrap()
}

fn input_box(name: &str) -> InputBox {
    recording(name).look().input_box.unwrap()
}

/// What counts of a look.
fn essence(look: &Look) -> impl PartialEq + use<> {
    let dialog = look.dialog.as_ref();
    (
        look.covered.clone(),
        look.input_box.as_ref().map(|input| (input.text.clone(), input.is_shell, input.is_focused)),
        dialog.map(|it| (it.rule.clone(), it.prompt.options.clone(), it.prompt.questions.len(), it.selected)),
        (look.working, look.interrupted, look.queued.clone(), look.error_banner.clone()),
    )
}

#[test]
fn without_colours_all_that_is_known_is_read_the_same() {
    // The very words of the suggestion can be typed, and a dialog that is not known has no edges.
    let needs_colours = ["typed-like-placeholder", "dialog-", "hooks-list"];
    let mut other = Vec::new();
    for size in SIZES {
        for (name, coloured) in GALLERY.recordings(size) {
            let plain = Recording { ansi: None, ..coloured.clone() };
            let is_same = essence(&plain.look()) == essence(&coloured.look());
            if !is_same && !needs_colours.iter().any(|start| name.starts_with(start)) {
                other.push(format!("{}/{name}: {}", size.0, describe(&plain.look())));
            }
        }
    }
    assert!(other.is_empty(), "{other:#?}");
}

#[test]
fn the_address_to_log_in_at_is_joined_from_its_rows() {
    for size in SIZES {
        let dialog = GALLERY.recordings(size)["setup-login-browser"].look().dialog.unwrap();
        let url = dialog.prompt.auth_url.unwrap();
        assert!(
            url.starts_with("https://auth.openai.com/oauth/authorize?response_type=code&client_id=app_EMoamEEZ73f0")
        );
        assert!(url.ends_with("&codex_cli_simplified_flow=true&originator=codex-tui"), "{url}");
    }
}

#[test]
fn a_question_has_its_own_options_and_the_dialog_has_all() {
    let dialog = dialog("question-two-q2");
    let Prompt { options, questions, question_current, .. } = &dialog.prompt;
    assert_eq!(options, &["Small", "Large", "None of the above"]);
    assert_eq!((*question_current, questions.len(), dialog.free_text), (1, 2, Some(2)));
    let known = &questions[1];
    assert_eq!((known.header.as_deref(), known.question.as_str()), (None, "Which size?"));
    assert_eq!(
        (known.options.as_slice(), known.descriptions.as_slice()),
        (&["Small".into(), "Large".into()][..], &["few".into(), "many".into()][..])
    );
    assert_eq!(questions[0].question, "", "of the others nothing is on the screen");
}

#[test]
fn notes_are_a_field_and_no_options() {
    let mut notes = recording("question-notes-typed");
    let typed = dialog("question-notes-typed");
    assert_eq!((typed.free_text_focused, typed.typed.as_str(), typed.selected), (true, "purple please", Some(3)));
    for rows in [&mut notes.rows, notes.ansi.as_mut().unwrap()] {
        rows.iter_mut().for_each(|row| *row = row.replace("purple please", "1. Red please"));
    }
    let numbered = notes.look().dialog.unwrap();
    assert_eq!((numbered.prompt.options, numbered.typed.as_str()), (typed.prompt.options, "1. Red please"));
}

#[test]
fn the_shown_rows_of_a_dialog_are_kept() {
    let lines = dialog("perm-command").prompt.screen_lines;
    let shown: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    let (first, last) = (shown[0], shown[shown.len() - 1]);
    assert_eq!(
        (first, last),
        ("Would you like to run the following command?", "Press enter to confirm or esc to cancel")
    );
}

#[test]
fn a_suggestion_is_not_what_was_typed() {
    let suggested = input_box("idle");
    assert!(suggested.is_placeholder() && suggested.text.is_empty() && suggested.is_focused);
    // The very words, typed, with the cursor moved to their beginning.
    let typed = input_box("typed-like-placeholder");
    assert!(!typed.is_placeholder());
    assert_eq!(typed.text, "Ask Codex to do anything");
    assert_eq!((typed.first_row, typed.last_row), (20, 20));
}

#[test]
fn the_composer_that_is_drawn_before_codex_reads_is_none() {
    for size in SIZES {
        assert_eq!(GALLERY.recordings(size)["early-composer"].look(), Look::default());
    }
}

#[test]
fn a_limit_is_told_with_the_time_it_ends_at() {
    let banner = recording("rate-limit").look().error_banner.unwrap();
    assert!(banner.is_limit && banner.text.starts_with("You’ve hit your usage limit."));
    assert!(banner.resets.unwrap().ends_with("PM"));
}

#[test]
fn an_empty_screen_shows_nothing() {
    for rows in [vec![], vec![String::new(); 24], vec!["─".repeat(80); 24]] {
        let seen = look(&OWN_RULES, Sight { rows: &rows, ansi: None, cursor: None, cols: 80, is_mid_frame: false });
        assert_eq!(describe(&seen), "nothing");
    }
}
