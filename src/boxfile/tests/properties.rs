//! Promises about any text and any file.

use std::path::Path;

use proptest::prelude::*;

use super::super::*;
use super::files::{files, written};
use super::parsing::EVERYTHING;

fn read_all(text: &str) {
    for whose in [Whose::User, Whose::Project] {
        match parse(Path::new("coop.toml"), text, whose) {
            Ok(file) => drop(demands(&file, &BoxFile::default())),
            Err(mistakes) => {
                assert!(!mistakes.list.is_empty());
                let told = mistakes.to_string();
                assert!(told.chars().all(|character| character == '\n' || !character.is_control()), "{told:?}");
                let lines = text.matches('\n').count() + 1;
                assert!(mistakes.list.iter().all(|mistake| (1..=lines).contains(&mistake.line) && mistake.column > 0));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>()) {
        read_all(&text);
    }

    #[test]
    fn nor_does_one_of_the_right_characters(text in "[\\[\\]{}=.,\"'#a-c0-9\n\r\t \u{feff}é-]{0,80}") {
        read_all(&text);
    }

    /// Near a good file are the mistakes that people make.
    #[test]
    fn nor_does_a_good_file_that_was_damaged(at in 0..EVERYTHING.len(), gone in 0..30_usize, put in "[\\[\\]{}=.,\"'\na1é]{0,3}") {
        let text = format!("{}{put}{}", &EVERYTHING[..at], &EVERYTHING[(at + gone).min(EVERYTHING.len())..]);
        read_all(&text);
    }

    #[test]
    fn bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let source = Source { path: "coop.toml".into(), bytes, whose: Whose::Project };
        if let Err(mistakes) = source.parse() {
            prop_assert!(!mistakes.to_string().is_empty());
        }
    }

    #[test]
    fn what_is_written_is_read_again(file in files()) {
        let text = written(&file);
        let again = parse(Path::new("coop.toml"), &text, Whose::Project);
        let again = again.map_err(|mistakes| TestCaseError::fail(format!("{mistakes}\n{text}")))?;
        prop_assert_eq!(serde_json::to_value(&again).unwrap(), serde_json::to_value(&file).unwrap());
    }

    /// Who narrows is never asked to be trusted: the user's own words demand nothing of the user.
    #[test]
    fn a_file_that_repeats_the_users_own_demands_nothing(file in files()) {
        let mut file = file;
        // A path is the project's alone.
        file.workspace.path = None;
        prop_assert_eq!(demands(&file, &file), vec![]);
    }

    #[test]
    fn a_plan_survives_being_written_down(file in files()) {
        let dir = std::env::temp_dir();
        let at = Surroundings {
            home: "/nowhere/home".into(),
            coop_home: "/nowhere/home/.coop".into(),
            runtime_dir: "/nowhere/run".into(),
            start_dir: dir.clone(),
            file: None,
            shell: None,
        };
        let settings = merge(BoxFile::default(), file, Overrides { workspace: Some(dir.to_str().unwrap().into()), ..Overrides::default() });
        match resolve(&settings, &at) {
            Ok(plan) => {
                let text = serde_json::to_string(&plan).unwrap();
                prop_assert_eq!(serde_json::from_str::<BoxPlan>(&text).unwrap(), plan.clone());
                prop_assert!(plan.to_string().chars().all(|c| c == '\n' || !c.is_control()));
            }
            Err(objections) => prop_assert!(!objections.to_string().is_empty()),
        }
    }
}
