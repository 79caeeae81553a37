//! Promises about the file that `coop init` writes.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::super::keys::{KEYS, SECTIONS};
use super::super::*;
use super::scratch::Scratch;

fn parsed(text: &str) -> BoxFile {
    parse(Path::new("coop.toml"), text, Whose::Project).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// Takes the # away from every line that is a key.
fn uncommented(text: &str) -> String {
    let bare = text.lines().map(|line| match line.strip_prefix('#') {
        Some(key) if key.starts_with(|first: char| first.is_ascii_alphabetic()) => key,
        _ => line,
    });
    bare.collect::<Vec<_>>().join("\n")
}

#[test]
fn as_it_is_written_it_says_nothing_but_the_agent() {
    assert_eq!(parsed(&template(None)), BoxFile::default());
    let file = parsed(&template(Some(Agent::Codex)));
    assert_eq!(file.boxed.agent.as_ref().map(|said| said.value), Some(Agent::Codex));
    assert_eq!(demands(&file, &BoxFile::default()), vec![]);
    assert_eq!(BoxFile { boxed: BoxSection { agent: None, ..file.boxed }, ..file }, BoxFile::default());
}

#[test]
fn every_key_is_in_it_and_fine_without_its_comment() {
    let text = uncommented(&template(None));
    let file = parsed(&text);
    let told = file.told();
    for key in KEYS.iter().filter(|key| !matches!(key.default, "[]" | "{}")) {
        let name = format!("{}.{}", key.section, key.name);
        assert!(told.iter().any(|row| row.key == name), "{name}\n{text}");
    }
    for key in KEYS {
        assert!(template(None).contains(&format!("\n#{} = ", key.name)), "{}", key.name);
    }
}

#[test]
fn the_defaults_that_are_written_are_those_that_hold() {
    for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
        let said = parsed(&format!("[{}]\n{} = {}", key.section, key.name, key.default));
        let both = serde_json::to_value(said.over(BoxFile::built_in())).unwrap();
        assert_eq!(both, serde_json::to_value(BoxFile::built_in()).unwrap(), "{}.{}", key.section, key.name);
    }
}

#[test]
fn every_example_is_an_example() {
    for key in KEYS {
        let said = parsed(&format!("[{}]\n{} = {}", key.section, key.name, key.example));
        assert!(said != BoxFile::default(), "{}.{}", key.section, key.name);
        assert!(SECTIONS.iter().any(|(section, _)| *section == key.section) && key.why.ends_with('.'), "{}", key.why);
    }
}

#[test]
fn nothing_is_ever_overwritten() {
    let scratch = Scratch::fresh();
    let path = init(scratch.dir(), None).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), template(None));
    std::fs::write(&path, "mine").unwrap();
    let text = init(scratch.dir(), None).unwrap_err().to_string();
    assert!(text.contains("is there already"), "{text}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    std::fs::remove_file(&path).unwrap();
    symlink(scratch.dir().join("elsewhere"), &path).unwrap();
    assert!(matches!(init(scratch.dir(), None), Err(InitError::Exists(_))));
    assert!(!scratch.dir().join("elsewhere").exists());
    assert!(matches!(init(&scratch.dir().join("no/such"), None), Err(InitError::Io { .. })));
}

#[test]
fn the_agent_is_the_one_that_is_installed() {
    let scratch = Scratch::fresh();
    let (first, second) = (scratch.make("first"), scratch.make("second"));
    let path = std::env::join_paths([&first, &second]).unwrap();
    assert_eq!(installed_agent(&path), None);
    let gemini = scratch.file("first/gemini", "");
    assert_eq!(installed_agent(&path), None);
    std::fs::set_permissions(gemini, PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(installed_agent(&path), Some(Agent::Gemini));
    scratch.make("first/claude");
    assert_eq!(installed_agent(&path), Some(Agent::Gemini));
    let claude = scratch.file("second/claude", "");
    std::fs::set_permissions(claude, PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(installed_agent(&path), Some(Agent::Claude));
}
