//! How Claude Code is started: with hooks that call coop, and otherwise as its user and its operator want it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{Claude, Coop, Ended, Hook, Scratch, at_home, finished, run_coop};

/// A program that tells a version, and what it was started with.
const NOTES_ITS_WORDS: &str = r#"case $1 in --version) echo "$VERSION (Claude Code)"; exit;; esac
printf '%s\0' "$@" > "$HOME/words.new"; mv "$HOME/words.new" "$HOME/words"
echo "ready $$"; sleep 1000; exit"#;

/// What 2.1.197 can be asked to tell.
const EVENTS: [&str; 14] = [
    "Notification",
    "PermissionRequest",
    "PostCompact",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "UserPromptSubmit",
];

/// A home with a program of the name `claude`.
fn installed() -> Arc<Scratch> {
    let home = Arc::new(Scratch::new());
    // Written by another process: a file that this one has open, and a child of another test with it, cannot run.
    let write = r#"mkdir "$1/bin" && printf '#!/bin/sh\n%s\n' "$0" > "$1/bin/claude" && chmod 755 "$1/bin/claude""#;
    let written = Command::new("sh").args(["-c", write, NOTES_ITS_WORDS]).arg(home.dir()).status().unwrap();
    assert!(written.success());
    home
}

fn path_with(home: &Scratch) -> String {
    format!("PATH={}:{}", home.path("bin").display(), std::env::var("PATH").unwrap())
}

async fn started(home: &Scratch, flags: &[&str], words: &[&str]) -> Coop {
    started_as(home, "2.1.197", flags, words).await
}

/// Starts `claude` with these words.
async fn started_as(home: &Scratch, version: &str, flags: &[&str], words: &[&str]) -> Coop {
    let (path, version) = (path_with(home), format!("VERSION={version}"));
    let flags = [&["--port", "0", "--env", &path, "--env", &version], flags].concat();
    let coop = Coop::start_with(&flags, &[&["claude"], words].concat(), |command| at_home(command, home));
    coop.shows("ready").await;
    coop
}

/// With a configuration of the agent.
async fn configured(home: &Scratch, config: &Value, words: &[&str]) -> Coop {
    let file = home.file("agent.json", config.to_string());
    started(home, &["--agent-config", &file], words).await
}

/// The words that the program was started with last.
fn words(home: &Scratch) -> Vec<String> {
    let text = std::fs::read_to_string(home.path("words")).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

/// The value of an option that coop added.
fn added(home: &Scratch, option: &str) -> String {
    let words = words(home);
    let found: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix(option)?.strip_prefix('=')).collect();
    assert_eq!(found.len(), 1, "{option} in {words:?}");
    found[0].to_owned()
}

/// The words without those that coop added.
fn own_words(home: &Scratch) -> Vec<String> {
    let ours = ["--settings=", "--session-id=", "--mcp-config=", "--resume="];
    words(home).into_iter().filter(|word| !ours.iter().any(|name| word.starts_with(name))).collect()
}

fn settings(home: &Scratch) -> Value {
    serde_json::from_str(&std::fs::read_to_string(added(home, "--settings")).unwrap()).unwrap()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

fn runs(home: &Scratch) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.path(".local/state/coop/runs")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn every_hook_that_claude_has_calls_coop() {
    let home = installed();
    let coop = started(&home, &[], &["--model", "opus", "-p", "go"]).await;
    assert_eq!(own_words(&home), ["--model", "opus", "-p", "go"]);
    assert_eq!(words(&home).len(), 6, "its user's words come first, and two of coop's after them");
    let id = added(&home, "--session-id");
    assert_eq!(id.len(), 36, "{id}");
    let settings = settings(&home);
    let hooks = settings["hooks"].as_object().unwrap();
    let mut events: Vec<&str> = hooks.keys().map(String::as_str).collect();
    events.sort_unstable();
    assert_eq!(events, EVENTS);
    assert_eq!(settings.as_object().unwrap().len(), 1, "nothing else is set");

    let pid = coop.child_pid().await;
    let run = |event: &str, payload: Value| {
        let mut shell = tokio::process::Command::new("sh");
        shell.args(["-c", hooks[event][0]["hooks"][0]["command"].as_str().unwrap()]).env_clear();
        let told = crate::support::environment(pid);
        shell.envs(told.iter().filter_map(|variable| variable.split_once('=')));
        Hook::begin(shell, event, payload.to_string().into())
    };
    assert_eq!(run("SessionStart", json!({"source": "startup"})).ended().await, "");
    coop.wait(json!({"states": ["idle"]})).await;
    let state = coop.get("/api/v1/agent/state").await.ok();
    assert_eq!(state["session_id"], id.as_str(), "the name that coop gave");
    let mut waiting = run("PermissionRequest", json!({"tool_name": "Bash", "tool_input": {}}));
    coop.wait(json!({"states": ["prompt"]})).await;
    assert!(waiting.waits());
}

#[tokio::test]
async fn what_is_written_for_the_agent_is_private_and_goes_with_coop() {
    let home = installed();
    let coop = configured(&home, &json!({"mcp": {"tool": {"command": "x"}}}), &[]).await;
    let (file, servers) = (PathBuf::from(added(&home, "--settings")), PathBuf::from(added(&home, "--mcp-config")));
    let run = file.parent().unwrap();
    assert_eq!(runs(&home), [run]);
    assert_eq!([mode(run), mode(&file), mode(&servers)], [0o700, 0o600, 0o600]);
    let other = started(&home, &[], &[]).await;
    assert_eq!(runs(&home).len(), 2, "each coop has its own");
    coop.signal(Signal::SIGTERM);
    coop.left().await;
    assert_eq!((run.exists(), runs(&home).len()), (false, 1));
    other.signal(Signal::SIGKILL);
    other.left().await;
    assert_eq!(runs(&home).len(), 1, "a killed one could not clean up");
    let left_behind = runs(&home);
    let _coop = started(&home, &[], &[]).await;
    assert_eq!(runs(&home).len(), 1);
    assert_ne!(runs(&home), left_behind, "the next one does it");
}

#[tokio::test]
async fn the_operators_settings_pass_and_its_hooks_come_first() {
    let home = installed();
    let guard = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "guard", "timeout": 3}]});
    let theirs = json!({
        "hooks": {"PreToolUse": [guard], "WorktreeCreate": [guard]},
        "permissions": {"allow": ["Bash(ls:*)"], "deny": []},
        "env": {"NAME": "it's \"é\""},
        "statusLine": null,
    });
    let _coop = configured(&home, &json!({ "settings": theirs }), &[]).await;
    let made = settings(&home);
    assert_eq!(made["hooks"]["PreToolUse"][0], guard);
    let ours = made["hooks"]["PreToolUse"][1]["hooks"][0]["command"].as_str().unwrap();
    assert!(ours.ends_with(" hook PreToolUse"), "{ours}");
    assert_eq!(made["hooks"]["PreToolUse"].as_array().unwrap().len(), 2);
    assert_eq!(made["hooks"]["WorktreeCreate"], json!([guard]), "not coop's to judge");
    for (key, value) in theirs.as_object().unwrap().iter().filter(|(key, _)| *key != "hooks") {
        assert_eq!(&made[key], value, "{key}");
    }
}

#[tokio::test]
async fn mcp_servers_are_handed_over() {
    let home = installed();
    let servers = json!({"files": {"command": "npx", "args": ["-y", "files"], "env": {"A": "b"}}});
    let _coop = configured(&home, &json!({ "mcp": servers }), &["mcp", "list"]).await;
    let handed: Value = serde_json::from_str(&std::fs::read_to_string(added(&home, "--mcp-config")).unwrap()).unwrap();
    assert_eq!(handed, json!({ "mcpServers": servers }));
    assert_eq!(words(&home)[words(&home).len() - 2..], ["mcp", "list"]);
}

#[tokio::test]
async fn the_users_own_settings_are_the_base() {
    let home = installed();
    let own = json!({"model": "opus", "permissions": {"allow": ["Read"]}, "hooks": {"Stop": [{"hooks": []}]}});
    home.file("own.json", own.to_string());
    let over = json!({"settings": {"permissions": {"allow": ["Bash"]}, "model": "haiku"}});
    let flags = ["--cwd", home.dir().to_str().unwrap(), "--agent-config", &home.file("agent.json", over.to_string())];
    let inline = own.to_string();
    for words in [["--settings", "own.json"], ["--settings", &inline]] {
        let _coop = started(&home, &flags, &[&words[..], &["go"]].concat()).await;
        let made = settings(&home);
        assert_eq!(made["model"], "haiku");
        assert_eq!(made["permissions"]["allow"], json!(["Read", "Bash"]));
        assert_eq!(made["hooks"]["Stop"][0], own["hooks"]["Stop"][0]);
        assert_eq!(own_words(&home), ["go"], "of two settings only one would count");
    }
    assert_eq!(std::fs::read_to_string(home.path("own.json")).unwrap(), inline, "the file itself is not touched");
    let coop = started(&home, &[], &["--settings", "/no/such.json"]).await;
    coop.log_says("coop's hooks are not added").await;
    assert_eq!(own_words(&home), ["--settings", "/no/such.json"], "its user shall see what Claude says of it");
}

#[tokio::test]
async fn a_pristine_agent_is_started_as_it_is() {
    let home = installed();
    let config = home.file("agent.json", json!({"settings": {"model": "x"}, "mcp": {"a": {}}}).to_string());
    let flags = ["--groom", "pristine", "--agent-config", &config];
    let coop = started(&home, &flags, &["--settings", "mine.json", "go"]).await;
    assert_eq!(words(&home), ["--settings", "mine.json", "go"]);
    assert_eq!(coop.status().await["agent"], "claude");
}

#[tokio::test]
async fn a_conversation_that_its_user_chose_is_not_renamed() {
    let home = installed();
    let id = "aa97109f-bda1-48eb-a8a0-f0fa577133e8";
    for chosen in [&["--continue"][..], &["--resume", id], &["-c"], &["--session-id", id]] {
        let _coop = started(&home, &[], chosen).await;
        assert_eq!(own_words(&home), chosen);
        assert_eq!(words(&home).len(), chosen.len() + 1, "{chosen:?}: only settings are added");
    }
}

#[tokio::test]
async fn each_start_has_a_conversation_of_its_own_unless_it_goes_on() {
    let home = installed();
    let coop = started(&home, &[], &["go"]).await;
    let first = added(&home, "--session-id");
    let restarted = async |resume: bool| {
        coop.post("/api/v1/session/restart", json!({ "resume": resume })).await.ok();
        let pid = coop.child_pid().await;
        coop.shows(&format!("ready {pid}")).await;
    };
    restarted(false).await;
    let second = added(&home, "--session-id");
    assert_ne!(first, second, "a name cannot be given twice");
    let pipe = PathBuf::from(added(&home, "--settings")).with_file_name("hooks.pipe");
    let began = json!({"event": "session_start", "data": {"source": "startup", "session_id": second}});
    std::fs::write(&pipe, format!("{began}\n")).unwrap();
    coop.wait(json!({"states": ["idle"]})).await;
    restarted(true).await;
    assert_eq!(added(&home, "--session-id"), second, "nothing was said in it yet");
    let took = json!({"event": "UserPromptSubmit", "data": {"prompt": "Hello", "session_id": second}});
    std::fs::write(&pipe, format!("{took}\n")).unwrap();
    coop.wait(json!({"states": ["working"]})).await;
    restarted(true).await;
    assert_eq!(added(&home, "--resume"), second);
    assert_eq!(own_words(&home), ["go"]);
    assert!(!words(&home).iter().any(|word| word.starts_with("--session-id")), "{:?}", words(&home));
    assert_eq!(settings(&home)["hooks"].as_object().unwrap().len(), EVENTS.len());
}

#[tokio::test]
async fn an_earlier_conversation_goes_on() {
    let home = installed();
    let (workspace, id) = (home.path("ws"), "aa97109f-bda1-48eb-a8a0-f0fa577133e8");
    let name: String =
        workspace.to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let project = home.path(".claude/projects").join(name);
    std::fs::create_dir_all(&workspace).unwrap();
    std::fs::create_dir_all(&project).unwrap();
    let usage = json!({"input_tokens": 1, "output_tokens": 8});
    let message = json!({"id": "m", "content": [], "stop_reason": "end_turn", "usage": usage});
    let line = json!({"type": "assistant", "sessionId": id, "cwd": workspace, "message": message});
    std::fs::write(project.join(format!("{id}.jsonl")), format!("{line}\n")).unwrap();
    let flags = ["--cwd", workspace.to_str().unwrap(), "--resume"];
    for hint in ["latest", id] {
        let coop = started(&home, &[&flags[..], &[hint]].concat(), &["go"]).await;
        assert_eq!(added(&home, "--resume"), id, "{hint}");
        assert_eq!(own_words(&home), ["go"]);
        assert_eq!(coop.get("/api/v1/session/usage").await.ok()["output_tokens"], 8, "what it cost before counts");
    }
    let unknown = mistaken(&home, &[&flags[..], &["bb97109f-bda1-48eb-a8a0-f0fa577133e8"]].concat()).await;
    assert!(unknown.complaint().contains("--resume"), "{}", unknown.err);
    assert!(unknown.complaint().contains("bb97109f"), "{}", unknown.err);
}

/// What the explanation of the state says of the agent's version.
async fn doubted(coop: &Coop) -> String {
    let state = coop.get("/api/v1/agent/state?explain=true").await.ok();
    let version = state["evidence"].as_array().unwrap().iter().find(|one| one["source"] == "version");
    version.map(|version| version["detail"].as_str().unwrap().to_owned()).unwrap_or_default()
}

#[tokio::test]
async fn a_newer_claude_is_used_and_said_to_be_newer() {
    let home = installed();
    let coop = started_as(&home, "2.1.198", &[], &[]).await;
    coop.log_says("Claude Code 2.1.198 is newer than what coop was measured with, 2.1.197").await;
    assert!(doubted(&coop).await.contains("2.1.198 is newer"));
    let measured = installed();
    let coop = started_as(&measured, "2.1.197", &[], &[]).await;
    let log = coop.place.log.text();
    assert!(!log.contains("is newer"), "{log}");
    assert_eq!(doubted(&coop).await, "");
}

#[tokio::test]
async fn an_old_or_unknown_claude_is_asked_for_no_more_than_it_has() {
    let home = installed();
    let events = |home: &Scratch| settings(home)["hooks"].as_object().unwrap().len();
    let coop = started_as(&home, "2.0.45", &[], &[]).await;
    assert_eq!(events(&home), 11);
    assert!(doubted(&coop).await.contains("2.0.45 is older"));
    let coop = started_as(&home, "who knows", &[], &[]).await;
    coop.log_says("the version of Claude Code is not known").await;
    assert!(doubted(&coop).await.contains("is not known"));
    assert_eq!(events(&home), 7);
    let coop = started_as(&home, "1.0.60", &[], &["go"]).await;
    coop.log_says("its hooks stay silent").await;
    assert_eq!(words(&home), ["go"]);
}

/// A start that must not succeed.
#[tokio::test]
async fn an_event_that_claude_does_not_have_does_not_cost_it_the_others() {
    let home = installed();
    let ours = json!([{"matcher": "", "hooks": [{"type": "command", "command": "guard"}]}]);
    let config = json!({"settings": {"hooks": {"Stop": ours, "Stopp": ours, "CwdChanged": ours}}});
    let file = home.file("agent.json", config.to_string());
    let coop = started_as(&home, "2.1.78", &["--agent-config", &file], &[]).await;
    let hooks = settings(&home)["hooks"].clone();
    assert_eq!(hooks["Stop"].as_array().unwrap().len(), 2);
    assert_eq!((&hooks["Stopp"], &hooks["CwdChanged"]), (&Value::Null, &Value::Null));
    coop.log_says("Claude Code has no hook Stopp").await;
    coop.log_says("Claude Code 2.1.78 has no hook CwdChanged").await;
}

async fn mistaken(home: &Scratch, flags: &[&str]) -> Ended {
    let (path, socket) = (path_with(home), home.path("s"));
    let mut words = vec!["--socket", socket.to_str().unwrap(), "--log-level", "error", "--env", &path];
    words.extend(["--env", "VERSION=2.1.197"].iter().chain(flags));
    words.extend(["--", "claude"]);
    let ended = run_coop(&words, &[("HOME", home.dir().to_str().unwrap())]).await;
    assert!(!home.path("words").exists() || ended.code != Some(0), "nothing was started");
    assert!(!socket.exists(), "no socket is left behind");
    ended
}

#[tokio::test]
async fn a_mistake_in_the_configuration_is_named_and_nothing_starts() {
    let home = installed();
    for (config, parts) in [
        (json!({"settings": {"hooks": "x"}}), &["settings.hooks", "object", "\"x\""][..]),
        (json!({"settings": {"hooks": {"Stop": {}}}}), &["settings.hooks.Stop", "array"]),
        (json!({"settings": []}), &["settings", "object"]),
        (json!({"mcp": "x"}), &["mcp", "object"]),
        (json!({"stop": {"mode": "never"}}), &["stop.mode", "never", "auto"]),
        (json!({"stop": {"mode": "gate"}}), &["stop.prompt"]),
        (json!({"stop": {"foo": 1}}), &["stop.foo"]),
        (json!({"stop": {"schema": {"fields": {"a": {"requird": true}}}}}), &["stop.schema.fields.a.requird"]),
        (json!({"start": {"shell": "date"}}), &["start.shell"]),
        (json!({"start": {"event": {"clear": {"txt": ""}}}}), &["start.event.clear.txt"]),
        (json!({"stpo": {}}), &["stpo", "stop"]),
        (json!([]), &["object"]),
        (json!({"screen": {"prompt": ["("]}}), &["screen.prompt"]),
    ] {
        let file = home.file("agent.json", config.to_string());
        let ended = mistaken(&home, &["--agent-config", &file]).await;
        assert!(matches!(ended.code, Some(1 | 2)) && ended.out.is_empty(), "{config}: {ended:?}");
        for part in [&["--agent-config"], parts].concat() {
            assert!(ended.err.contains(part), "{config}: says nothing of {part:?}: {}", ended.err);
        }
        assert!(!home.path("words").exists(), "{config}: the program was started");
    }
}

#[tokio::test]
async fn a_claude_that_is_not_there_is_a_session_that_has_ended() {
    let home = Arc::new(Scratch::new());
    let flags = ["--port", "0", "--env", "PATH=/nowhere"];
    let coop = Coop::start_with(&flags, &["claude"], |command| at_home(command, &home));
    let exit = coop.exited().await;
    assert_eq!(exit["code"], 127, "{exit}");
    assert!(exit["error"].as_str().unwrap().contains("claude"), "{exit}");
    for (path, body) in [
        ("/api/v1/agent/nudge", json!({"message": "hi"})),
        ("/api/v1/agent/respond", json!({"accept": true})),
        ("/api/v1/hooks/stop", json!({})),
    ] {
        assert_eq!(coop.post(path, body).await.refused(), (410, "EXITED".to_owned()), "{path}");
    }
    assert_eq!(coop.get("/api/v1/agent/state").await.ok()["state"], "exited");
    let socket = home.path("s");
    let words = ["--socket", socket.to_str().unwrap(), "--exit-with-child", "--env", "PATH=/nowhere"];
    let ended = run_coop(&[&words[..], &["--", "claude"]].concat(), &[("HOME", home.dir().to_str().unwrap())]).await;
    assert_eq!(ended.code, Some(127), "{ended:?}");
}

#[tokio::test]
async fn a_launcher_gets_no_words_but_all_else() {
    let claude = Claude::start(&[]).await;
    claude.log_says("bash starts Claude Code with arguments of its own").await;
    for name in ["COOP_HOOK_SOCKET", "COOP_HOOK_PIPE", "COOP_HOOK_TOKEN", "COOP_URL"] {
        assert!(!claude.variable(name).is_empty());
    }
    let mut shell = claude.command("sh");
    shell.args(["-c", "stat -c %a \"$COOP_HOOK_SOCKET\" \"$COOP_HOOK_PIPE\""]);
    assert_eq!(finished(shell).await.ok(), "600\n600\n");
}
