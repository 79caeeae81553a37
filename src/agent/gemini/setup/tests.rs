//! Promises about how Gemini CLI is started.

use super::*;
use crate::agent::start::Variables;
use crate::agent::version::Version;
use crate::config::Scratch;

const ID: &str = "11111111-2222-4333-8444-555555555555";
const OTHER: &str = "99999999-2222-4333-8444-555555555555";

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

/// A run directory that others can write to: hooks go into an extension.
fn given(argv: &[OsString]) -> Given<'_> {
    Given {
        argv,
        named: false,
        groom: Groom::Auto,
        agent_config: None,
        version: Some(Version(0, 61, 0)),
        coop: Path::new("/opt/coop"),
        run_dir: Path::new("/tmp/nowhere"),
        session_id: ID,
        resume: None,
        again: false,
        config_dir: Some(Path::new("/home/dev/.gemini")),
        variables: Variables(&|_| None),
    }
}

fn no_file(_: &Path) -> io::Result<String> {
    Err(io::ErrorKind::NotFound.into())
}

fn line(plan: &Plan) -> String {
    plan.argv.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
}

fn started(user: &str) -> Plan {
    prepare(&given(&words(user)), &no_file).unwrap()
}

#[test]
fn a_new_conversation_has_a_name_and_an_old_one_keeps_its_own() {
    assert_eq!(line(&started("gemini -y")), format!("gemini --session-id={ID} -y"));
    for chosen in ["gemini --resume latest", "gemini -r 3", "gemini --session-file x"] {
        assert_eq!(line(&started(chosen)), chosen);
    }
    let own = started(&format!("gemini --session-id {OTHER}"));
    assert_eq!(own.session_id.as_deref(), Some(OTHER));
    let argv = words("gemini");
    let plan = prepare(&Given { resume: Some(OTHER), ..given(&argv) }, &no_file).unwrap();
    assert_eq!((line(&plan), plan.session_id.as_deref()), (format!("gemini --resume={OTHER}"), Some(OTHER)));
    let argv = words("gemini -r latest");
    let plan = prepare(&Given { resume: Some(OTHER), ..given(&argv) }, &no_file).unwrap();
    assert_eq!((line(&plan).as_str(), plan.warnings.len()), ("gemini -r latest", 1));
}

#[test]
fn a_conversation_that_the_user_chose_was_for_the_first_child() {
    for user in ["gemini --session-id x -y", "gemini --resume x -y", "gemini -yr latest"] {
        let argv = words(user);
        let again = Given { again: true, ..given(&argv) };
        assert_eq!(line(&prepare(&again, &no_file).unwrap()), format!("gemini --session-id={ID} -y"));
        let resumed = prepare(&Given { resume: Some(OTHER), ..again }, &no_file).unwrap();
        assert_eq!(line(&resumed), format!("gemini --resume={OTHER} -y"));
    }
}

#[test]
fn hooks_come_by_an_extension_that_knows_no_session() {
    let plan = started("gemini");
    let placed: Vec<&str> = plan.placed.iter().map(|(path, _)| path.to_str().unwrap()).collect();
    let dir = "/home/dev/.gemini/extensions/coop";
    assert_eq!(placed, [format!("{dir}/gemini-extension.json"), format!("{dir}/hooks/hooks.json")]);
    assert_eq!(plan.env, [("COOP_GEMINI_HOOKS", "/opt/coop".into())]);
    assert!(plan.hooks && plan.files.is_empty() && plan.warnings.is_empty());
    for (_, contents) in &plan.placed {
        assert!(!String::from_utf8_lossy(contents).contains("/opt"), "it is the same for every coop");
    }
    assert_eq!(line(&started("gemini -e mine")), format!("gemini --session-id={ID} --extensions=coop -e mine"));
    let argv = words("gemini");
    let nowhere = prepare(&Given { config_dir: None, ..given(&argv) }, &no_file).unwrap();
    assert!(!nowhere.hooks && nowhere.warnings[0].contains("HOME"));
}

#[test]
fn what_the_extension_cannot_carry_is_told() {
    let argv = words("gemini");
    for config in [json!({"mcp": {"x": {"command": "y"}}}), json!({"settings": {"ui": {}}})] {
        let plan = prepare(&Given { agent_config: Some(&config), ..given(&argv) }, &no_file).unwrap();
        assert!(plan.warnings[0].contains("root") && plan.warnings[0].contains("workspace"), "{:?}", plan.warnings);
        assert!(plan.hooks);
    }
    let wrong = json!({"mcp": []});
    let told = prepare(&Given { agent_config: Some(&wrong), ..given(&argv) }, &no_file).unwrap_err().to_string();
    assert_eq!(told, "mcp must be a JSON object, but is []");
}

/// With what is planned for a directory that is root's alone, whoever runs this test.
fn with_machine(config: &Value, theirs: Value) -> (Value, Plan) {
    let argv = words("gemini");
    let given = Given { run_dir: Path::new("/run/coop"), ..given(&argv) };
    let plan = with_settings(Plan::plain(&argv), &given, Path::new(SYSTEM_SETTINGS), config.clone(), theirs).unwrap();
    (serde_json::from_slice(&plan.files[0].1).unwrap(), plan)
}

#[test]
fn as_root_all_goes_into_one_file_that_goes_with_the_session() {
    let wanted = json!({"mcpServers": {"x": {"command": "y"}}, "ui": {"theme": "a"}});
    let (made, plan) = with_machine(&wanted, json!({}));
    assert_eq!((&made["mcpServers"], &made["ui"]), (&wanted["mcpServers"], &wanted["ui"]));
    assert_eq!(made["hooks"]["AfterAgent"].as_array().unwrap().len(), 1);
    let system: (&str, OsString) = ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "/run/coop/settings.json".into());
    let defaults = ("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "/etc/gemini-cli/system-defaults.json".into());
    assert_eq!(plan.env, [system, defaults], "the machine's defaults stay where they were");
    assert!(plan.hooks && plan.placed.is_empty(), "nothing stays behind");
}

#[test]
fn the_machines_own_settings_stay_in_force() {
    let own = json!([{"hooks": [{"type": "command", "command": "audit"}]}]);
    let theirs = json!({"ui": {"theme": "b"}, "hooks": {"BeforeTool": own}, "admin": {"secureModeEnabled": true}});
    let (made, _) = with_machine(&json!({"ui": {"theme": "a", "hideTips": true}}), theirs);
    assert_eq!(made["ui"], json!({"theme": "b", "hideTips": true}));
    assert_eq!(made["admin"]["secureModeEnabled"], true);
    assert_eq!(made["hooks"]["BeforeTool"][0], own[0]);
    assert_eq!(made["hooks"]["BeforeTool"].as_array().unwrap().len(), 2);
    let (_, off) = with_machine(&json!({}), json!({"hooksConfig": {"enabled": false}}));
    assert!(!off.hooks);
}

#[test]
fn a_place_that_others_can_write_to_is_not_used() {
    let scratch = Scratch::fresh();
    assert!(refusal(&scratch.path("")).is_some(), "directories for temporary files are open to all");
    let refused = refusal(Path::new("/nowhere/at/all"));
    assert!(refused.is_some(), "what is not there cannot be trusted");
    if geteuid().is_root() && Path::new("/run").metadata().is_ok_and(|run| run.uid() == 0) {
        assert_eq!(refusal(Path::new("/run")), None);
    }
}

#[test]
fn settings_of_the_machine_that_cannot_be_read_are_not_taken_away() {
    assert_eq!(read_settings(Path::new("/x"), &no_file).unwrap(), json!({}));
    assert!(read_settings(Path::new("/x"), &|_| Ok("// a comment\n{}".into())).is_err());
    assert!(read_settings(Path::new("/x"), &|_| Ok("[]".into())).is_err());
    let argv = words("gemini");
    let variables = |name: &str| (name == SYSTEM_VARIABLE).then(|| OsString::from("/own/settings.json"));
    let given = Given { variables: Variables(&variables), ..given(&argv) };
    assert_eq!(machines_settings(&given), Path::new("/own/settings.json"));
}

#[test]
fn nothing_is_added_where_nothing_is_wanted() {
    assert_eq!(line(&started("gemini mcp list")), "gemini mcp list");
    let argv = words("gemini");
    let pristine = Given { groom: Groom::Pristine, ..given(&argv) };
    let plan = prepare(&pristine, &no_file).unwrap();
    assert_eq!(plan, Plan::plain(&argv));
    let npx = started("npx @google/gemini-cli");
    assert!(!npx.hooks && npx.warnings[0].contains("npx"));
}
