//! The command line is the user's, with coop's flags in the one place where Codex takes them.

use std::path::Path;

use serde_json::json;

use super::*;
use crate::agent::start::Variables;
use crate::agent::version::Version;

const ID: &str = "01a1e196-1234-7032-9692-0029c2bfea9c";

fn given<'a>(argv: &'a [OsString], groom: Groom) -> Given<'a> {
    Given {
        argv,
        named: false,
        groom,
        agent_config: None,
        version: Some(RELEASE.measured),
        coop: Path::new("/opt/coop"),
        run_dir: Path::new("/run"),
        session_id: ID,
        resume: None,
        again: false,
        config_dir: None,
        variables: Variables(&|_| None),
    }
}

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

/// The planned words, those of `-c` by their keys alone.
fn shown(plan: &Plan) -> String {
    let mut is_value = false;
    let words = plan.argv.iter().map(|word| {
        let text = word.to_string_lossy();
        let shown = if is_value { text.split('=').next().unwrap_or_default().to_owned() } else { text.into_owned() };
        is_value = word == "-c";
        shown
    });
    words.collect::<Vec<_>>().join(" ")
}

fn planned(line: &str) -> String {
    shown(&prepare(&given(&words(line), Groom::Auto)).unwrap())
}

const ADDED: &str = "--no-daemon -c hooks -c check_for_update_on_startup";

#[test]
fn flags_stand_behind_the_verb_and_before_the_users_own() {
    assert_eq!(planned("codex"), format!("codex {ADDED}"));
    assert_eq!(planned("codex -m x hello"), format!("codex {ADDED} -m x hello"));
    assert_eq!(planned("codex -m x resume --last"), format!("codex -m x resume {ADDED} --last"));
    assert_eq!(planned("codex exec --json hi"), "codex exec -c hooks --json hi");
    assert_eq!(planned("codex exec resume --last hi"), "codex exec resume -c hooks --last hi");
    assert_eq!(planned("codex --no-daemon"), "codex -c hooks -c check_for_update_on_startup --no-daemon");
}

#[test]
fn nothing_is_added_to_what_is_no_conversation() {
    for line in ["codex login", "codex mcp list", "codex --version", "codex exec --help", "codex app-server"] {
        let plan = prepare(&given(&words(line), Groom::Auto)).unwrap();
        assert_eq!((shown(&plan).as_str(), plan.hooks, plan.warnings.len()), (line, false, 0));
    }
}

#[test]
fn a_pristine_start_has_not_one_word_more_and_tells_what_that_means() {
    let pristine = |line: &str| prepare(&given(&words(line), Groom::Pristine)).unwrap();
    let plan = pristine("codex hi");
    assert_eq!((shown(&plan).as_str(), plan.hooks), ("codex hi", false));
    assert!(plan.warnings[0].contains("--no-daemon"), "{:?}", plan.warnings);
    for line in ["codex --no-daemon", "codex exec hi", "codex login"] {
        assert_eq!(pristine(line).warnings, Vec::<String>::new(), "{line}");
    }
}

#[test]
fn a_conversation_is_resumed_by_a_verb() {
    let resumed = |line: &str| {
        let argv = words(line);
        let given = Given { resume: Some(ID), groom: Groom::Pristine, ..given(&argv, Groom::Pristine) };
        let plan = prepare(&given).unwrap();
        (shown(&plan), plan.session_id, plan.warnings.concat())
    };
    let (line, id, _) = resumed("codex -m x");
    assert_eq!((line, id.as_deref()), (format!("codex resume {ID} -m x"), Some(ID)));
    assert_eq!(resumed("codex exec --json hi").0, format!("codex exec --json resume {ID} hi"));
    let (line, _, warnings) = resumed("codex resume --last");
    assert!(line == "codex resume --last" && warnings.contains("chooses a conversation itself"), "{warnings}");
    let argv = words("codex hi");
    let plan = prepare(&Given { resume: Some(ID), ..given(&argv, Groom::Auto) }).unwrap();
    assert_eq!(shown(&plan), format!("codex resume {ADDED} {ID} hi"));
}

#[test]
fn a_conversation_that_the_user_chose_was_for_the_first_child() {
    for user in ["codex resume x -m y", "codex resume --last -m y", "codex fork x -m y"] {
        let argv = words(user);
        let again = Given { again: true, ..given(&argv, Groom::Pristine) };
        assert_eq!(shown(&prepare(&again).unwrap()), "codex -m y");
        let resumed = prepare(&Given { resume: Some(ID), ..again }).unwrap();
        assert_eq!(shown(&resumed), format!("codex resume {ID} -m y"));
    }
}

#[test]
fn the_users_own_hooks_keep_coops_away_and_that_is_told() {
    let plan = prepare(&given(&words("codex -c hooks.Stop=[]"), Groom::Auto)).unwrap();
    assert_eq!(shown(&plan), "codex --no-daemon -c check_for_update_on_startup -c hooks.Stop");
    assert!(!plan.hooks && plan.warnings[0].contains("-c hooks.Stop"), "{:?}", plan.warnings);
}

#[test]
fn settings_and_servers_become_flags() {
    let config = json!({
        "settings": {"tools": {"update_plan": {"enabled": true}}, "hooks": {"Stop": []}},
        "mcp": {"files": {"type": "stdio", "command": "run", "args": ["-x"], "env": {"A": "1"}},
                "far": {"url": "http://127.0.0.1:1/mcp", "headers": {"X-A": "b"}}},
    });
    let argv = words("codex");
    let plan = prepare(&Given { agent_config: Some(&config), ..given(&argv, Groom::Auto) }).unwrap();
    let line = plan.argv.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join("\n");
    for expected in [
        "tools.update_plan.enabled=true",
        r#"mcp_servers.files={args=["-x"],command="run",env={A="1"}}"#,
        r#"mcp_servers.far={http_headers={X-A="b"},url="http://127.0.0.1:1/mcp"}"#,
    ] {
        assert!(line.contains(expected), "{expected} in {line}");
    }
    let wrong = json!({"mcp": {"files": 7}});
    let told = prepare(&Given { agent_config: Some(&wrong), ..given(&argv, Groom::Auto) }).unwrap_err();
    assert_eq!(told.to_string(), "mcp.files must be a JSON object, but is 7");
}

#[test]
fn an_older_codex_is_started_as_it_is() {
    let argv = words("codex");
    let plan = prepare(&Given { version: Some(Version(0, 99, 0)), ..given(&argv, Groom::Auto) }).unwrap();
    assert!(shown(&plan) == "codex" && plan.warnings.concat().contains("0.99.0"), "{:?}", plan.warnings);
}

#[test]
fn behind_a_launcher_nothing_is_added() {
    let argv = words("npx codex");
    let plan = prepare(&Given { named: true, ..given(&argv, Groom::Auto) }).unwrap();
    assert!(shown(&plan) == "npx codex" && plan.warnings[0].contains("npx"), "{:?}", plan.warnings);
}
