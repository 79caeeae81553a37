//! Promises about layers: what wins, what adds up, and who is named for it.

use std::path::Path;

use proptest::prelude::*;

use super::super::*;
use super::files::files;

fn parsed(text: &str, whose: Whose) -> BoxFile {
    parse(Path::new(if whose == Whose::User { "config.toml" } else { "coop.toml" }), text, whose).unwrap()
}

fn told<'a>(settings: &'a [Told], key: &str) -> Vec<(&'a str, String)> {
    let rows = settings.iter().filter(|row| row.key == key);
    rows.map(|row| (row.value.as_str(), row.origin.to_string())).collect()
}

#[test]
fn the_nearest_layer_wins_and_is_named() {
    let user = parsed("[network]\nmode = \"none\"\n[box]\nimage = \"debian\"\nnested = true", Whose::User);
    let project = parsed("[box]\nimage = \"alpine\"", Whose::Project);
    let overrides = Overrides { network: Some(NetworkMode::Host), ..Overrides::default() };
    let settings = merge(user, project, overrides).told();
    assert_eq!(told(&settings, "network.mode"), [("\"host\"", "command line".to_owned())]);
    assert_eq!(told(&settings, "box.image"), [("\"alpine\"", "coop.toml:2:9".to_owned())]);
    assert_eq!(told(&settings, "box.nested"), [("true", "config.toml:5:10".to_owned())]);
    assert_eq!(told(&settings, "workspace.mode"), [("\"rw\"", "default".to_owned())]);
}

#[test]
fn lists_add_up_and_a_mount_replaces_one_on_the_same_place() {
    let user = parsed(
        "[box]\nhide = [\"a\", \"b\"]\nmounts = [\"/x:/m\", \"/y:/n\"]\n[env]\nA = \"1\"\nB = \"2\"",
        Whose::User,
    );
    let project = parsed("[box]\nhide = [\"b\", \"c\"]\nmounts = [\"/z:/m:ro\"]\n[env]\nB = \"3\"", Whose::Project);
    let settings = merge(user, project, Overrides::default());
    let value = serde_json::to_value(&settings).unwrap();
    assert_eq!(value["boxed"]["hide"], serde_json::json!(["a", "b", "c"]));
    assert_eq!(value["boxed"]["mounts"][0], serde_json::json!({"from": "/z", "to": "/m", "mode": "ro"}));
    assert_eq!(value["boxed"]["mounts"][1]["from"], "/y");
    assert_eq!(value["env"]["set"], serde_json::json!({"A": "1", "B": "3"}));
    assert_eq!(told(&settings.told(), "env.B"), [("\"3\"", "coop.toml:5:1".to_owned())]);
}

#[test]
fn the_command_line_says_only_what_was_given() {
    let settings = merge(BoxFile::default(), parsed("[box]\ncommand = [\"x\"]", Whose::Project), Overrides::default());
    assert_eq!(settings.boxed.command.unwrap().value, ["x"]);
    let overrides = Overrides { size: Some((80, 24)), env: vec![("A".into(), "b".into())], ..Overrides::default() };
    let settings = merge(BoxFile::default(), BoxFile::default(), overrides);
    assert_eq!((settings.session.cols.unwrap().value, settings.session.rows.unwrap().value), (80, 24));
    assert_eq!(settings.env.set["A"].origin, Origin::CommandLine);
}

fn bare(file: &BoxFile) -> serde_json::Value {
    serde_json::to_value(file).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn how_layers_are_grouped_does_not_matter(a in files(), b in files(), c in files()) {
        let left = a.clone().over(b.clone()).over(c.clone());
        prop_assert_eq!(bare(&left), bare(&a.over(b.over(c))));
    }

    #[test]
    fn an_empty_layer_changes_nothing_and_a_second_copy_neither(a in files()) {
        prop_assert_eq!(&a.clone().over(BoxFile::default()), &a);
        prop_assert_eq!(&BoxFile::default().over(a.clone()), &a);
        prop_assert_eq!(&a.clone().over(a.clone()), &a);
    }

    #[test]
    fn nothing_that_the_user_hides_or_protects_can_be_taken_away(user in files(), project in files()) {
        let settings = merge(user.clone(), project, Overrides::default());
        for hidden in &user.boxed.hide {
            prop_assert!(settings.boxed.hide.contains(hidden));
        }
        for protected in &user.workspace.protect {
            prop_assert!(settings.workspace.protect.contains(protected));
        }
    }

    #[test]
    fn what_the_upper_layer_says_once_holds(lower in files(), upper in files()) {
        let both = upper.clone().over(lower);
        prop_assert!(upper.network.mode.is_none() || both.network.mode == upper.network.mode);
        prop_assert!(upper.boxed.command.is_none() || both.boxed.command == upper.boxed.command);
        for (name, value) in &upper.env.set {
            prop_assert_eq!(&both.env.set[name], value);
        }
    }
}
