//! Each recorded screen is read as the table beside it says.

use super::*;

/// Holds the recordings against `expected.table`, which has a line for each.
fn check(folder: &str, cols: usize, rows: usize) {
    let seen: Vec<String> = recordings(folder, cols, rows)
        .iter()
        .map(|(name, recording)| format!("{name:<34} {}", describe(&recording.look())))
        .collect();
    let expected = std::fs::read_to_string(fixtures().join(folder).join("expected.table")).unwrap();
    let expected: Vec<&str> = expected.lines().collect();
    let wrong: Vec<&String> = seen.iter().filter(|line| !expected.contains(&line.as_str())).collect();
    assert!(wrong.is_empty(), "{folder}, not as expected:\n{wrong:#?}");
    assert_eq!(seen.len(), expected.len(), "{folder}: each recording is in the table once");
}

#[test]
fn screens_of_200_columns_are_read_as_the_table_says() {
    check("screens", 200, 50);
}

#[test]
fn screens_of_80_columns_are_read_as_the_table_says() {
    check("screens-80x24", 80, 24);
}

#[test]
fn screens_of_44_columns_are_read_as_the_table_says() {
    check("screens-44x24", 44, 24);
}
