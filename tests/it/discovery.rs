//! Finding a session: the only one that runs, one's own from inside, and nobody else's.

use std::fs::{DirBuilder, Permissions, set_permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use nix::sys::signal::Signal;

use crate::support::{Coop, Ended, Scratch, binary, run_coop};

/// A runtime directory of a test's own.
struct Runtime(Scratch);

impl Runtime {
    fn new() -> Self {
        Self(Scratch::new())
    }

    /// A session that says nothing about where it listens, and these variables.
    fn session(&self, flags: &[&str], program: &[&str], variables: &[(&str, &str)]) -> Coop {
        Coop::start_with(flags, program, |command| {
            command.env("XDG_RUNTIME_DIR", self.0.dir()).envs(variables.iter().copied());
        })
    }

    /// A verb that does not say which session.
    async fn verb(&self, words: &[&str]) -> Ended {
        run_coop(words, &[("XDG_RUNTIME_DIR", self.0.dir().to_str().unwrap())]).await
    }

    fn sockets(&self) -> PathBuf {
        self.0.path("coop")
    }
}

/// The path as it is found in messages.
fn socket(coop: &Coop) -> String {
    coop.socket.as_ref().unwrap().display().to_string()
}

#[tokio::test]
async fn the_only_session_that_lives_is_found() {
    let runtime = Runtime::new();
    let killed = runtime.session(&[], &["cat"], &[]);
    killed.signal(Signal::SIGKILL);
    killed.left().await;
    assert!(killed.socket.as_ref().unwrap().exists(), "a stale socket is left behind");
    let coop = runtime.session(&["--label", "name=first"], &["cat"], &[]);
    assert_eq!(runtime.verb(&["state", "--json"]).await.json()["status"]["labels"]["name"], "first");
    runtime.verb(&["input", "--enter", "hello"]).await.ok();
    coop.shows("hello").await;
}

#[tokio::test]
async fn several_sessions_are_listed_and_none_is_chosen() {
    let runtime = Runtime::new();
    let sessions = [runtime.session(&[], &["cat"], &[]), runtime.session(&[], &["cat"], &[])];
    let ended = runtime.verb(&["input", "x"]).await;
    let line = ended.complaint();
    assert!(line.contains("several sessions run") && line.contains("--session "), "{line}");
    for coop in &sessions {
        assert!(line.contains(&format!("{} (cat in ", coop.pid)), "{line}");
        assert_eq!(coop.status().await["bytes_written"], 0);
        runtime.verb(&["state", "--socket", &socket(coop)]).await.ok();
    }
}

#[tokio::test]
async fn where_no_session_runs_a_verb_says_how_to_start_one() {
    let runtime = Runtime::new();
    DirBuilder::new().mode(0o700).create(runtime.sockets()).unwrap();
    drop(UnixListener::bind(runtime.sockets().join("coop-1.sock")).unwrap());
    let ended = runtime.verb(&["state"]).await;
    let line = ended.complaint();
    assert!(line.contains(runtime.sockets().to_str().unwrap()), "{line}");
    assert!(line.contains("`coop -- COMMAND`") && line.contains("--socket"), "{line}");
}

#[tokio::test]
async fn no_socket_is_made_in_a_directory_that_is_open_to_others() {
    let runtime = Runtime::new();
    std::fs::create_dir(runtime.sockets()).unwrap();
    for mode in [0o770, 0o707, 0o755] {
        set_permissions(runtime.sockets(), Permissions::from_mode(mode)).unwrap();
        let ended = runtime.verb(&["--", "cat"]).await;
        let line = ended.complaint();
        assert!(line.contains(runtime.sockets().to_str().unwrap()) && line.contains("open to other users"), "{line}");
        assert!(line.contains("--socket PATH"), "{line}");
        assert_eq!(std::fs::read_dir(runtime.sockets()).unwrap().count(), 0, "{mode:o}");
    }
}

/// Whoever may write there may listen there, and would be sent the token and all that is typed.
#[tokio::test]
async fn no_session_is_looked_for_in_a_directory_that_is_open_to_others() {
    let runtime = Runtime::new();
    std::fs::create_dir(runtime.sockets()).unwrap();
    let planted = runtime.sockets().join("coop-1.sock");
    let coop = Coop::start(&["--port", "0", "--socket", planted.to_str().unwrap()], &["cat"]);
    set_permissions(runtime.sockets(), Permissions::from_mode(0o777)).unwrap();
    let ended = runtime.verb(&["input", "secret"]).await;
    assert_eq!(coop.status().await["bytes_written"], 0, "it was sent to whoever listens there: {ended:?}");
    assert!(ended.complaint().contains("open to other users"), "{ended:?}");
    runtime.verb(&["state", "--socket", planted.to_str().unwrap()]).await.ok();
}

#[tokio::test]
async fn a_session_inside_another_has_a_socket_of_its_own() {
    let runtime = Runtime::new();
    let outer = runtime.session(&["--label", "name=outer"], &["cat"], &[]);
    let around = [("COOP", "1"), ("COOP_SOCKET", &*socket(&outer))];
    let inner = runtime.session(&["--label", "name=inner"], &["sh"], &around);
    assert_ne!(inner.socket, outer.socket);
    assert!(inner.socket.as_ref().unwrap().starts_with(runtime.sockets()));
    assert_eq!(outer.status().await["labels"]["name"], "outer", "it is still reached");

    let answer = runtime.0.path("answer");
    inner.types(&format!("'{}' state --json >'{}'; echo code $?", binary().display(), answer.display())).await;
    inner.shows("code 0").await;
    let told: serde_json::Value = serde_json::from_slice(&std::fs::read(answer).unwrap()).unwrap();
    assert_eq!(told["status"]["labels"]["name"], "inner");
    assert_eq!(told["status"]["pid"], inner.status().await["pid"]);
}

#[tokio::test]
async fn a_session_in_a_terminal_of_another_tells_its_own_place_in_a_sentence() {
    let runtime = Runtime::new();
    let program = binary();
    let flags = ["--cols", "200", "--rows", "24"];
    let outer = runtime.session(&flags, &[program.to_str().unwrap(), "--log-level", "off", "--", "cat"], &[]);
    let line = outer.shows("listens on").await;
    let inner = line.trim_end().rsplit_once(' ').unwrap().1.to_owned();
    assert!(inner != socket(&outer) && inner.starts_with(runtime.sockets().to_str().unwrap()), "{line}");
    runtime.verb(&["input", "--enter", "hello", "--socket", &inner]).await.ok();
    runtime.verb(&["wait", "--text", "hello", "--socket", &inner]).await.ok();
    assert_eq!(outer.screen().await, line.trim_end(), "never another line");
}

#[tokio::test]
async fn variables_of_a_session_do_not_concern_a_verb() {
    let runtime = Runtime::new();
    let coop = runtime.session(&[], &["cat"], &[]);
    let variables = [("COOP_PORT", "junk"), ("COOP_HOST", "junk"), ("COOP_COLS", "0"), ("COOP_URL", "")];
    let socket = socket(&coop);
    run_coop(&["state"], &[&variables[..], &[("COOP_SOCKET", &socket)]].concat()).await.ok();
}

#[tokio::test]
async fn ls_tells_which_sessions_run_and_finds_them_by_label_and_directory() {
    let runtime = Runtime::new();
    assert_eq!(runtime.verb(&["ls"]).await.ok(), "", "none is no error");
    let work = Scratch::new();
    let below = work.path("below");
    std::fs::create_dir(&below).unwrap();
    let red = runtime.session(
        &["--label", "name=red", "--label", "role=worker", "--cwd", below.to_str().unwrap()],
        &["cat"],
        &[],
    );
    let other = runtime.session(&["--cwd", "/usr"], &["cat"], &[]);
    let told = runtime.verb(&["ls"]).await.ok();
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines.len() == 3 && lines[0].starts_with("NAME"), "{told}");
    let line = lines.iter().find(|line| line.starts_with("red ")).unwrap_or_else(|| panic!("{told}"));
    for part in [&*red.pid.to_string(), "unknown", below.to_str().unwrap(), "name=red role=worker"] {
        assert!(line.contains(part), "{line}");
    }
    let nameless: Vec<&str> = lines.iter().find(|line| line.starts_with("- ")).unwrap().split_whitespace().collect();
    assert_eq!(nameless[..3], ["-", &other.pid.to_string(), "unknown"], "{told}");
    let found = async |words: &str| {
        let words: Vec<&str> = ["ls", "--json"].into_iter().chain(words.split_whitespace()).collect();
        let listed = runtime.verb(&words).await.json();
        listed["sessions"].as_array().unwrap().iter().map(|one| one["socket"].clone()).collect::<Vec<_>>()
    };
    let only = |coop: &Coop| vec![serde_json::json!(socket(coop))];
    assert_eq!(found("--label role").await, only(&red));
    assert_eq!(found("--label role=worker --label name=red").await, only(&red));
    assert_eq!(found("--label role=other").await, [] as [serde_json::Value; 0]);
    assert_eq!(found(&format!("--cwd {}", work.dir().display())).await, only(&red), "what is below counts");
    assert_eq!(found("--cwd /usr").await, only(&other));
    let listed = runtime.verb(&["ls", "--json", "--cwd", "/usr"]).await.json();
    let (session, status) = (&listed["sessions"][0], other.status().await);
    assert_eq!((&session["name"], &session["number"]), (&other.pid.to_string().into(), &other.pid.into()));
    assert_eq!((&session["status"]["pid"], &session["agent"]["state"]), (&status["pid"], &"unknown".into()));
}

#[tokio::test]
async fn a_session_that_does_not_tell_is_listed_all_the_same() {
    let runtime = Runtime::new();
    let _guarded = runtime.session(&["--auth-token", "correct-horse"], &["cat"], &[]);
    let ended = runtime.verb(&["ls"]).await;
    assert!(ended.code == Some(0) && ended.text().lines().count() == 2, "{ended:?}");
    assert!(ended.err.contains("no token") && ended.err.contains("--token-file"), "{ended:?}");
    let told = runtime.verb(&["ls", "--token", "correct-horse"]).await.ok();
    assert!(told.contains("unknown"), "{told}");
}

#[tokio::test]
async fn a_session_is_chosen_by_its_name_or_by_its_number() {
    let runtime = Runtime::new();
    let red = runtime.session(&["--label", "name=red"], &["cat"], &[]);
    let blue = runtime.session(&["--label", "name=blue"], &["cat"], &[]);
    runtime.verb(&["input", "--enter", "to-red", "--session", "red"]).await.ok();
    runtime.verb(&["input", "--enter", "to-blue", "-s", &blue.pid.to_string()]).await.ok();
    red.shows("to-red").await;
    blue.shows("to-blue").await;
    // A flag is meant more than a variable.
    let variables = [("XDG_RUNTIME_DIR", runtime.0.dir().to_str().unwrap()), ("COOP_SOCKET", &*socket(&blue))];
    let told = run_coop(&["state", "--session", "red", "--json"], &variables).await.json();
    assert_eq!(told["status"]["labels"]["name"], "red");
    // Another label's value is no name, and a name counts more than a label.
    let green = runtime.session(&["--label", "team=green"], &["cat"], &[]);
    let named = runtime.session(&["--label", "name=team=red", "--label", "team=red"], &["cat"], &[]);
    let teamed = runtime.session(&["--label", "team=red"], &["cat"], &[]);
    for (name, coop) in [("team=green", &green), ("team=red", &named)] {
        let told = runtime.verb(&["state", "--session", name, "--json"]).await.json();
        assert_eq!(told["status"]["pid"], coop.child_pid().await, "{name}");
    }
    for verb in [&["stop", "green"][..], &["restart", "green"], &["logs", "green"], &["state", "-s", "green"]] {
        assert!(runtime.verb(verb).await.complaint().contains("no session is called \"green\""), "{verb:?}");
    }
    assert_eq!(
        (green.status().await["state"].clone(), teamed.status().await["state"].clone()),
        ("running".into(), "running".into())
    );
    let ended = runtime.verb(&["state", "--session", "green"]).await;
    assert!(
        ended.complaint().contains("no session is called \"green\"") && ended.complaint().contains("name=red"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn two_sessions_of_one_name_are_told_apart_by_their_numbers() {
    let runtime = Runtime::new();
    let first = runtime.session(&["--label", "name=red"], &["cat"], &[]);
    let _other = runtime.session(&["--label", "name=blue"], &["cat"], &[]);
    let second = runtime.session(&["--label", "name=red"], &["sh"], &[]);
    second.log_says(&format!("another session is called \\\"red\\\", too: {};", first.pid)).await;
    let ended = runtime.verb(&["state", "--session", "red"]).await;
    let line = ended.complaint();
    assert!(line.contains("several sessions are called \"red\"") && !line.contains("blue"), "{line}");
    for (coop, program) in [(&first, "cat"), (&second, "sh")] {
        assert!(line.contains(&format!("{} ({program} in ", coop.pid)), "{line}");
        let told = runtime.verb(&["state", "--session", &coop.pid.to_string()]).await.ok();
        assert!(told.contains(&format!("  {program} (pid ")), "{told}");
    }
}

#[tokio::test]
async fn a_session_on_a_port_is_found_like_any_other() {
    let runtime = Runtime::new();
    let coop = runtime.session(&["--port", "0", "--label", "name=red"], &["cat"], &[]);
    assert!(coop.listening["url"].is_string(), "{}", coop.listening);
    assert!(coop.socket.as_ref().is_some_and(|path| path.starts_with(runtime.sockets())), "{}", coop.listening);
    let listed = runtime.verb(&["ls", "--json"]).await.json();
    assert_eq!(listed["sessions"][0]["name"], "red", "{listed}");
    runtime.verb(&["input", "--enter", "hello"]).await.ok();
    coop.shows("hello").await;
    let page = runtime.verb(&["open", "--print"]).await.ok();
    assert_eq!(page.trim_end(), format!("{}/", coop.listening["url"].as_str().unwrap()));
    coop.post("/api/v1/shutdown", serde_json::json!({})).await.ok();
    coop.left().await;
    assert!(!coop.socket.as_ref().unwrap().exists(), "it goes with the session");
}

#[tokio::test]
async fn a_port_is_served_also_where_no_socket_can_be_made() {
    let runtime = Runtime::new();
    std::fs::create_dir(runtime.sockets()).unwrap();
    set_permissions(runtime.sockets(), Permissions::from_mode(0o755)).unwrap();
    let coop = runtime.session(&["--port", "0", "--log-level", "debug"], &["cat"], &[]);
    assert_eq!(coop.listening["socket"], serde_json::Value::Null);
    coop.log_says("there is only the port").await;
    assert_eq!(coop.status().await["state"], "running");
}

#[tokio::test]
async fn a_session_is_named_in_a_refusal_only_where_another_could_have_been_meant() {
    let runtime = Runtime::new();
    let red = runtime.session(&["--label", "name=red"], &["cat"], &[]);
    assert!(runtime.verb(&["keys", "hyper-x"]).await.complaint().starts_with("unknown key"));
    let _blue = runtime.session(&["--label", "name=blue"], &["cat"], &[]);
    let line = runtime.verb(&["keys", "hyper-x", "--session", "red"]).await;
    assert!(line.complaint().starts_with(&format!("{}: unknown key", socket(&red))), "{line:?}");
    let line = runtime.verb(&["keys", "hyper-x", "--socket", &socket(&red)]).await;
    assert!(line.complaint().starts_with("unknown key"), "{line:?}");
}
