//! Promises of the menu's reader; whole screens are tested where an agent's rules are.

use super::*;

const MARKS: [char; 2] = ['❯', '›'];

fn rows(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn labels(menu: &Menu) -> Vec<&str> {
    menu.options.iter().map(|option| option.label.as_str()).collect()
}

#[test]
fn a_menu_has_its_labels_its_numbers_and_its_mark() {
    let menu = read(&rows(" Proceed?\n   1. Yes\n ❯ 2. No\n\n Esc to cancel"), 80, &MARKS).unwrap();
    assert_eq!((labels(&menu), menu.selected, menu.rows.clone()), (vec!["Yes", "No"], Some(1), 1..3));
    assert_eq!((menu.mark_col, menu.options[1].number, menu.options[1].label_col), (1, 2, 6));
    assert!(menu.whole);
}

#[test]
fn a_wrapped_label_is_joined_and_a_description_is_not() {
    let text = "❯ 1.A relational database that runs beside\n    the program\n     This is the safe way and the one that\n     \
                most people know\n  2. Files\n     Simple files";
    let menu = read(&rows(text), 44, &MARKS).unwrap();
    assert_eq!(labels(&menu), ["A relational database that runs beside the program", "Files"]);
    let about: Vec<&str> = menu.options.iter().map(|option| option.description.as_str()).collect();
    assert_eq!(about, ["This is the safe way and the one that most people know", "Simple files"]);
    assert_eq!((menu.options[0].label_rows.clone(), menu.rows), (0..2, 0..6));
}

#[test]
fn a_second_column_is_a_description_and_a_pane_is_nothing() {
    let menu =
        read(&rows("  ❯ 1. Opus ✔   Best for\n                hard work\n    2. Haiku    Fast"), 80, &MARKS).unwrap();
    assert_eq!((labels(&menu), menu.options[0].ticked), (vec!["Opus", "Haiku"], true));
    assert_eq!(menu.options[0].description, "Best for hard work");
    let menu = read(&rows("❯ 1. Left        ┌─────┐\n  2. Top         │ m   │\n                 └─────┘"), 80, &MARKS)
        .unwrap();
    assert_eq!((labels(&menu), menu.options[1].description.as_str()), (vec!["Left", "Top"], ""));
}

#[test]
fn boxes_are_ticked_or_not_and_the_button_is_no_description() {
    let text = "  1. [✔] Auth\n  Login\n❯ 2. [ ] Type something\n     Submit\n──────\n  3. Chat about this";
    let menu = read(&rows(text), 80, &MARKS).unwrap();
    assert_eq!(labels(&menu), ["Auth", "Type something", "Chat about this"]);
    let checked: Vec<Option<bool>> = menu.options.iter().map(|option| option.checked).collect();
    assert_eq!(checked, [Some(true), Some(false), None]);
    assert_eq!(menu.button, Some(Button { label: "Submit".into(), selected: false, row: 3 }));
}

#[test]
fn an_option_may_be_described_by_a_buttons_word() {
    let menu = read(&rows("❯ 1. Send\n     Submit\n  2. Skip\n     Next"), 80, &MARKS).unwrap();
    let about: Vec<&str> = menu.options.iter().map(|option| option.description.as_str()).collect();
    assert_eq!((about, menu.button), (vec!["Submit", "Next"], None));
}

#[test]
fn only_the_lowest_marked_list_is_the_menu() {
    let text =
        "   ❯ 1. Quoted\n     2. Also quoted\n\n Plan\n 1. Step one\n 2. Step two\n\n ❯ 1. Yes\n   2. No\n 1. Footnote";
    assert_eq!(labels(&read(&rows(text), 80, &MARKS).unwrap()), ["Yes", "No"]);
    assert_eq!(read(&rows(" 1. Step one\n 2. Step two"), 80, &MARKS), None);
}

#[test]
fn a_list_that_goes_on_out_of_sight_is_not_whole() {
    assert!(!read(&rows("    3. Third\n  ❯ 4. Fourth"), 80, &MARKS).unwrap().whole);
    assert!(!read(&rows("  ❯ 1. First\n  ↓ 2. Second"), 80, &MARKS).unwrap().whole);
}

#[test]
fn more_than_nine_options_are_aligned_at_either_side_of_their_numbers() {
    for tenth in ["  10. Ten", " 10. Ten"] {
        let mut text: Vec<String> = (1..10).map(|number| format!("  {number}. Option")).collect();
        text[0] = "❯ 1. Option".into();
        text.push(tenth.into());
        assert_eq!(read(&text, 80, &MARKS).unwrap().options.len(), 10, "{tenth:?}");
    }
}

#[test]
fn a_label_and_its_description_can_be_wrapped_side_by_side() {
    let text = "  › 1. A relational database    This is\n       beside the program       the safe way\n       of \
                ours\n    2. Files                    Simple";
    let menu = read(&rows(text), 40, &MARKS).unwrap();
    assert_eq!(labels(&menu), ["A relational database beside the program of ours", "Files"]);
    let about: Vec<&str> = menu.options.iter().map(|option| option.description.as_str()).collect();
    assert_eq!((about, menu.options[0].label_rows.clone()), (vec!["This is the safe way", "Simple"], 0..3));
}

#[test]
fn an_arrow_on_a_row_of_its_own_tells_that_the_list_goes_on() {
    let menu = read(&rows("› 1. First\n  2. Second\n↓\n\n  enter select"), 80, &MARKS).unwrap();
    assert_eq!((labels(&menu), menu.whole), (vec!["First", "Second"], false));
}

#[test]
fn a_description_may_be_wrapped_to_the_first_column() {
    let text = "› 1. Sign in\n     Usage included with Plus, Pro,\nand Enterprise\n\n  2. Use a key\nNo part of it";
    let menu = read(&rows(text), 36, &MARKS).unwrap();
    let about: Vec<&str> = menu.options.iter().map(|option| option.description.as_str()).collect();
    assert_eq!(about, ["Usage included with Plus, Pro, and Enterprise", ""]);
}

#[test]
fn a_sign_that_is_not_the_agents_marks_nothing() {
    assert_eq!(read(&rows("> 1. Quoted\n  2. Also quoted"), 80, &MARKS), None);
}

#[test]
fn a_label_that_goes_on_further_left_is_told_from_its_description() {
    let text = "● 1.  A relational database that runs\n     beside the program\n      The safe way, and one that most\n      \
                know\n▼";
    let menu = read_hanging(&rows(text), 42, &['●'], 1).unwrap();
    assert_eq!(labels(&menu), ["A relational database that runs beside the program"]);
    assert_eq!((menu.options[0].description.as_str(), menu.whole), ("The safe way, and one that most know", false));
}

#[test]
fn a_button_may_be_the_last_row_and_a_description_may_say_the_same() {
    let text = "  4. [ ] All\n         Done\n  5. [x] Own\n●  Done\n   Finish selection";
    let menu = read(&rows(text), 80, &['●']).unwrap();
    assert_eq!((menu.selected, menu.options[0].description.as_str()), (None, "Done"));
    assert_eq!(menu.button, Some(Button { label: "Done".into(), selected: true, row: 3 }));
}

#[test]
fn either_tick_tells_the_option_in_force() {
    let menu = read(&rows("❯ 1. First ✓\n  2. Second ✔\n  3. Third"), 80, &MARKS).unwrap();
    let ticked: Vec<bool> = menu.options.iter().map(|option| option.ticked).collect();
    assert_eq!((labels(&menu), ticked), (vec!["First", "Second", "Third"], vec![true, true, false]));
}
