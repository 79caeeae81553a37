//! Promises about the command line that Claude Code is started with.

use std::io;

use super::*;
use crate::agent::start::Variables;
use crate::agent::version::Version;

const ID: &str = "11111111-2222-4333-8444-555555555555";
const OTHER: &str = "99999999-2222-4333-8444-555555555555";

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

fn given(argv: &[OsString]) -> Given<'_> {
    Given {
        argv,
        named: false,
        groom: Groom::Auto,
        agent_config: None,
        version: Some(Version(2, 1, 197)),
        coop: Path::new("/opt/coop"),
        run_dir: Path::new("/run"),
        session_id: ID,
        resume: None,
        again: false,
        config_dir: None,
        variables: Variables(&|_| None),
    }
}

fn no_file(_: &Path) -> io::Result<String> {
    Err(io::ErrorKind::NotFound.into())
}

fn line(setup: &Plan) -> String {
    setup.argv.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
}

/// The command line that a user's becomes.
fn becomes(user: &str) -> String {
    line(&prepare(&given(&words(user)), &no_file).unwrap())
}

fn file(setup: &Plan, name: &str) -> Value {
    let (_, text) = setup.files.iter().find(|(n, _)| *n == name).unwrap();
    serde_json::from_slice(text).unwrap()
}

#[test]
fn arguments_stand_at_the_end_where_they_are_still_options() {
    let ours = format!("--settings=/run/settings.json --session-id={ID}");
    for user in
        ["claude", "claude -p hi", "claude --dangerously-skip-permissions", "/opt/claude --allowedTools Bash Edit"]
    {
        assert_eq!(becomes(user), format!("{user} {ours}"));
    }
    assert_eq!(becomes("claude -p -- --settings x"), format!("claude -p {ours} -- --settings x"));
    for verb in ["mcp list", "--debug update"] {
        assert_eq!(becomes(&format!("claude {verb}")), format!("claude {ours} {verb}"));
    }
}

#[test]
fn a_shell_that_hands_its_words_on_gets_them_at_its_end() {
    let script = r#"claude --dangerously-skip-permissions "$@""#;
    let argv: Vec<OsString> = ["bash", "-c", script, "_"].map(OsString::from).into();
    let setup = prepare(&Given { named: true, ..given(&argv) }, &no_file).unwrap();
    assert_eq!((&setup.argv[..4], setup.hooks, &setup.warnings[..]), (&argv[..], true, &[][..]));
    let added = ["--settings=/run/settings.json".to_owned(), format!("--session-id={ID}")];
    assert_eq!(&setup.argv[4..], added.map(OsString::from));
    let nameless = &argv[..3];
    let setup = prepare(&Given { named: true, ..given(nameless) }, &no_file).unwrap();
    assert_eq!((&setup.argv[..3], setup.argv[3].to_str(), setup.argv.len()), (nameless, Some("bash"), 6));
    let resumed = prepare(&Given { named: true, resume: Some(OTHER), ..given(&argv) }, &no_file).unwrap();
    assert_eq!(resumed.argv[5], OsString::from(format!("--resume={OTHER}")));
}

#[test]
fn a_conversation_that_the_user_chooses_stays_chosen() {
    for user in ["--continue", "-r x", "--resume", "--session-id x", "--fork-session --resume x"] {
        assert_eq!(becomes(&format!("claude {user}")), format!("claude {user} --settings=/run/settings.json"));
    }
    let setup = prepare(&given(&words(&format!("claude --resume {OTHER}"))), &no_file).unwrap();
    assert_eq!(setup.session_id.as_deref(), Some(OTHER));
}

#[test]
fn a_conversation_is_gone_on_with() {
    let argv = words("claude -p hi");
    let setup = prepare(&Given { resume: Some(OTHER), ..given(&argv) }, &no_file).unwrap();
    assert_eq!(line(&setup), format!("claude -p hi --settings=/run/settings.json --resume={OTHER}"));
    assert_eq!(setup.session_id.as_deref(), Some(OTHER));
    let argv = words("claude -c");
    let setup = prepare(&Given { resume: Some(OTHER), ..given(&argv) }, &no_file).unwrap();
    assert_eq!(line(&setup), "claude -c --settings=/run/settings.json");
    assert!(setup.warnings[0].contains("changes nothing"));
}

#[test]
fn a_conversation_that_the_user_chose_was_for_the_first_child() {
    for user in ["--session-id x", "--resume x", "-r x", "--continue"] {
        let argv = words(&format!("claude {user} --verbose"));
        let again = Given { again: true, ..given(&argv) };
        let fresh = prepare(&again, &no_file).unwrap();
        assert_eq!(line(&fresh), format!("claude --verbose --settings=/run/settings.json --session-id={ID}"));
        let resumed = prepare(&Given { resume: Some(OTHER), ..again }, &no_file).unwrap();
        assert_eq!(line(&resumed), format!("claude --verbose --settings=/run/settings.json --resume={OTHER}"));
        assert!(resumed.warnings.is_empty());
        let pristine = prepare(&Given { groom: Groom::Pristine, ..again }, &no_file).unwrap();
        assert_eq!(line(&pristine), "claude --verbose");
    }
}

#[test]
fn hooks_of_the_user_the_orchestrator_and_coop_stand_in_this_order() {
    let entry = |command: &str| json!({"hooks": [{"type": "command", "command": command}]});
    let config = json!({"settings": {"hooks": {"Stop": [entry("theirs")]}, "model": "b"}});
    let users = json!({"hooks": {"Stop": [entry("mine")]}, "model": "a", "env": {"A": "1"}});
    for word in ["--settings my.json", "--settings=my.json"] {
        let argv = words(&format!("claude {word} -p hi"));
        let read = |path: &Path| if path == "my.json" { Ok(users.to_string()) } else { no_file(path) };
        let setup = prepare(&Given { agent_config: Some(&config), ..given(&argv) }, &read).unwrap();
        assert_eq!(line(&setup), format!("claude -p hi --settings=/run/settings.json --session-id={ID}"));
        let made = file(&setup, SETTINGS_FILE);
        let commands: Vec<_> =
            made["hooks"]["Stop"].as_array().unwrap().iter().map(|e| &e["hooks"][0]["command"]).collect();
        assert_eq!(commands, ["mine", "theirs", "/opt/coop hook Stop"]);
        assert_eq!((&made["model"], &made["env"]), (&json!("b"), &json!({"A": "1"})));
    }
}

#[test]
fn settings_may_be_json_in_the_command() {
    let argv = [words("claude --settings"), vec![r#"{"model":"a b"}"#.into()]].concat();
    let setup = prepare(&given(&argv), &no_file).unwrap();
    assert_eq!(file(&setup, SETTINGS_FILE)["model"], "a b");
    assert!(setup.hooks);
}

#[test]
fn settings_that_cannot_be_read_are_left_for_claude_to_complain_about() {
    for user in ["--settings no.json", "--settings={broken", r#"--settings={"hooks":3}"#] {
        let setup = prepare(&given(&words(&format!("claude {user}"))), &no_file).unwrap();
        assert_eq!(line(&setup), format!("claude {user} --session-id={ID}"));
        assert!(setup.warnings[0].contains("cannot be read") && !setup.hooks, "{user}");
    }
}

#[test]
fn mcp_servers_are_given_in_a_file() {
    let config = json!({"mcp": {"my-server": {"command": "node"}}});
    let argv = words("claude --settings=a -p hi");
    let setup = prepare(&Given { agent_config: Some(&config), ..given(&argv) }, &|_| Ok("{}".into())).unwrap();
    assert_eq!(file(&setup, MCP_FILE), json!({"mcpServers": {"my-server": {"command": "node"}}}));
    let ours = "--settings=/run/settings.json --mcp-config=/run/mcp.json";
    assert_eq!(line(&setup), format!("claude -p hi {ours} --session-id={ID}"));
    let wrong = json!({"mcp": []});
    let error = prepare(&Given { agent_config: Some(&wrong), ..given(&argv) }, &no_file).unwrap_err();
    assert_eq!(error.to_string(), "mcp must be a JSON object, but is []");
}

#[test]
fn a_mistake_of_the_orchestrator_is_an_error() {
    let argv = words("claude");
    let config = json!({"settings": {"hooks": []}});
    let error = prepare(&Given { agent_config: Some(&config), ..given(&argv) }, &no_file).unwrap_err();
    assert_eq!(error.to_string(), "settings.hooks must be a JSON object, but is []");
}

#[test]
fn pristine_adds_nothing_but_the_conversation_that_was_asked_for() {
    let argv = words("claude -p hi");
    let config = json!({"settings": {"model": "a"}, "mcp": {}});
    let pristine = Given { groom: Groom::Pristine, agent_config: Some(&config), ..given(&argv) };
    let setup = prepare(&pristine, &no_file).unwrap();
    let nothing = Plan::plain(&argv);
    assert_eq!(setup, nothing);
    let setup = prepare(&Given { resume: Some(OTHER), ..pristine }, &no_file).unwrap();
    assert_eq!(line(&setup), format!("claude -p hi --resume={OTHER}"));
}

#[test]
fn what_is_not_claude_itself_is_left_alone_with_a_warning() {
    for (user, named) in [("npx claude", true), ("bash -c claude", true), ("/bin/sh x", true), ("my-claude", false)] {
        let argv = words(user);
        let setup = prepare(&Given { named, ..given(&argv) }, &no_file).unwrap();
        assert_eq!((line(&setup).as_str(), setup.hooks), (user, false));
        assert!(setup.warnings[0].contains("coop -- claude"), "{user}");
    }
    let argv = words("my-claude");
    assert!(prepare(&Given { named: true, ..given(&argv) }, &no_file).unwrap().hooks);
}

#[test]
fn a_version_without_settings_gets_none() {
    let argv = words("claude");
    let setup = prepare(&Given { version: Some(Version(1, 0, 60)), ..given(&argv) }, &no_file).unwrap();
    assert_eq!(line(&setup), "claude");
    assert!(setup.warnings[0].contains("1.0.60"));
    assert!(prepare(&Given { version: None, ..given(&argv) }, &no_file).unwrap().hooks);
}

#[test]
fn hooks_that_are_turned_off_are_told() {
    let setup = prepare(&given(&words("claude --safe-mode")), &no_file).unwrap();
    assert!(!setup.hooks && setup.warnings[0].contains("--safe-mode"));
    let config = json!({"settings": {"disableAllHooks": true}});
    let argv = words("claude");
    let setup = prepare(&Given { agent_config: Some(&config), ..given(&argv) }, &no_file).unwrap();
    assert!(!setup.hooks && setup.warnings[0].contains("disableAllHooks"));
}
