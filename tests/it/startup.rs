//! How a session begins: mistakes that name the way out, variables, one line on stdout, a log that keeps secrets.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Coop, Place, Scratch, run_coop, sh};

const SECRET: &str = "correct-horse-battery";

/// What is written instead of a session, and what the message must say.
const MISTAKES: [(&str, &[&str]); 21] = [
    ("", &["nothing to run", "coop -- bash"]),
    ("--port 0 --", &["nothing to run", "coop -- bash"]),
    ("--prot 0 -- cat", &["'--prot'", "'--port'"]),
    ("cat", &["\"cat\"", "coop [OPTIONS] -- cat"]),
    ("--port 0 cat -u", &["\"cat\"", "coop [OPTIONS] -- cat"]),
    ("--socket /tmp/never state", &["a verb comes first", "coop state [OPTIONS]"]),
    ("--port 0 --host 0.0.0.0 -- cat", &["--auth-token-file", "--host 127.0.0.1", "--insecure-no-auth"]),
    ("--port 0 --host example.org -- cat", &["--host", "127.0.0.1"]),
    ("--auth-token= -- cat", &["--auth-token is empty", "openssl rand"]),
    ("--auth-token a --auth-token-file b -- cat", &["both given", "leave out one"]),
    ("--auth-token-file /no/such -- cat", &["--auth-token-file /no/such", "No such file"]),
    ("--label team -- cat", &["'team'", "team=red"]),
    ("--env PATH -- cat", &["'PATH'", "NAME=VALUE"]),
    ("--cols 0 -- cat", &["0x50", "between 1 and 1000"]),
    ("--rows 1001 -- cat", &["200x1001", "between 1 and 1000"]),
    ("--cwd /no/such -- cat", &["--cwd /no/such", "No such file or directory"]),
    ("--port 65536 -- cat", &["'65536'", "65535"]),
    ("--port http -- cat", &["'http'", "65535"]),
    ("--port 7 --grpc-port 7 -- cat", &["--port", "--grpc-port", "0 for any free one"]),
    ("--attach byobu:work", &["tmux:NAME", "screen:NAME"]),
    ("--resume latest -- bash", &["--resume", "--agent claude"]),
];

#[tokio::test]
async fn a_mistake_ends_with_2_and_names_the_way_out() {
    let mut wrong = Vec::new();
    for (words, parts) in MISTAKES {
        let ended = run_coop(&words.split_whitespace().collect::<Vec<_>>(), &[]).await;
        let silent: Vec<_> = parts.iter().filter(|part| !ended.err.contains(**part)).collect();
        if ended.code != Some(2) || !ended.out.is_empty() || !silent.is_empty() {
            wrong.push(format!("coop {words}\n  says nothing of {silent:?}, code {:?}: {}", ended.code, ended.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A session with these variables.
fn with(variables: &[(&str, &str)], flags: &[&str]) -> Coop {
    Coop::start_with(flags, &["sh"], |command| {
        command.envs(variables.iter().copied());
    })
}

async fn status_with(coop: &Coop, token: &str) -> u16 {
    let place = Place { token: Some(token.to_owned()), ..coop.place.clone() };
    place.call("GET", "/api/v1/status").send().await.status
}

#[tokio::test]
async fn variables_stand_for_flags_and_flags_win() {
    let scratch = Scratch::new();
    let runtime = ("XDG_RUNTIME_DIR", scratch.dir().to_str().unwrap());
    let coop = with(&[("COOP_PORT", "0"), ("COOP_COLS", "99"), ("COOP_RING_SIZE", "2K")], &["--cols", "77"]);
    assert!(coop.listening["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{}", coop.listening);
    assert_eq!(coop.status().await["terminal"]["cols"], 77);
    let ignored = with(&[runtime, ("COOP_PORT", ""), ("COOP_HOST", ""), ("COOP_SOCKET", "")], &[]);
    assert_eq!(ignored.listening["url"], Value::Null, "an empty variable is none");
    assert!(ignored.socket.clone().unwrap().starts_with(scratch.dir()));
    let refused = run_coop(&["--", "sh"], &[("COOP_PORT", "junk")]).await;
    assert!(refused.code == Some(2) && refused.err.contains("'junk' for '--port"), "{refused:?}");
}

#[tokio::test]
async fn an_empty_token_does_not_open_the_terminal() {
    for variables in [&[("COOP_AUTH_TOKEN", "")][..], &[("COOP_AUTH_TOKEN", ""), ("COOP_HOST", "0.0.0.0")]] {
        let ended = run_coop(&["--port", "0", "--", "sh"], variables).await;
        assert!(ended.code == Some(2) && ended.out.is_empty(), "{ended:?}");
        assert!(ended.err.contains("is empty") && ended.err.contains("openssl rand"), "{ended:?}");
    }
}

#[tokio::test]
async fn a_token_file_that_was_named_wins_over_a_token_in_a_variable() {
    let scratch = Scratch::new();
    let file = scratch.file("token", "from-the-file\n");
    let coop = with(&[("COOP_AUTH_TOKEN", "from-the-variable")], &["--port", "0", "--auth-token-file", &file]);
    assert_eq!(status_with(&coop, "from-the-variable").await, 401);
    assert_eq!(status_with(&coop, "from-the-file").await, 200);
    let both = [("COOP_AUTH_TOKEN", "a"), ("COOP_AUTH_TOKEN_FILE", &*file)];
    let refused = run_coop(&["--", "sh"], &both).await;
    assert!(refused.code == Some(2) && refused.err.contains("leave out one"), "{refused:?}");
    let coop = with(&both, &["--port", "0", "--auth-token", "from-the-flag"]);
    assert_eq!(status_with(&coop, "from-the-flag").await, 200);
}

#[tokio::test]
async fn help_shows_names_of_variables_but_no_values() {
    let secret = SECRET;
    let names = ["COOP_AUTH_TOKEN", "COOP_AUTH_TOKEN_FILE", "COOP_URL", "COOP_SOCKET", "COOP_TERM", "COOP_ATTACH"];
    let variables = names.map(|name| (name, secret));
    for words in [&["--help"][..], &["-h"], &["state", "--help"], &["input", "-h"]] {
        let help = run_coop(words, &variables).await.ok();
        assert!(help.contains("COOP_SOCKET") && !help.contains(secret), "{help}");
    }
    let mistake = run_coop(&["--nonsense"], &variables).await;
    assert!(mistake.code == Some(2) && !mistake.err.contains(secret), "{mistake:?}");
}

#[tokio::test]
async fn the_line_on_stdout_has_the_documented_keys_and_no_others() {
    let scratch = Scratch::new();
    let readme = include_str!("../../README.md");
    let (_, sample) = readme.split_once("`{\"event\":\"listening\"").unwrap();
    let (sample, _) = sample.split_once('`').unwrap();
    let documented: BTreeSet<&str> = sample.split('"').skip(1).step_by(2).chain(["event"]).collect();
    for flags in [&["--port", "0"][..], &["--port", "0", "--grpc-port", "0", "--health-port", "0"]] {
        let socket = scratch.path("s");
        let coop = Coop::start(&[flags, &["--socket", socket.to_str().unwrap()]].concat(), &["cat"]);
        let keys: BTreeSet<&str> = coop.listening.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, documented);
        assert_eq!((&coop.listening["event"], &coop.listening["pid"]), (&json!("listening"), &json!(coop.pid)));
    }
}

#[tokio::test]
async fn the_log_is_json_and_keeps_secrets() {
    let scratch = Scratch::new();
    let token = scratch.file("token", SECRET);
    let flags = ["--port", "0", "--log-format", "json", "--log-level", "trace", "--auth-token-file", &token];
    let program = [&sh("echo out-secret; read line; exit 3")[..], &["sh", "--password=arg-secret"]].concat();
    let mut coop = Coop::start(&[&flags[..], &["--env", "KEY=env-secret"]].concat(), &program);
    assert_eq!(status_with(&coop, "wrong-secret").await, 401);
    coop.place.token = Some(SECRET.to_owned());
    coop.shows("out-secret").await;
    coop.verb(&["input", "typed-secret", "--token", SECRET]).await.ok();
    coop.verb(&["keys", "enter", "--token", SECRET]).await.ok();
    coop.exited().await;
    coop.post("/api/v1/session/restart", json!({"env": {"KEY": "env-secret"}})).await.ok();
    let shown = coop.verb(&["logs", "--token", SECRET]).await.ok();
    coop.post("/api/v1/shutdown", json!({})).await.ok();
    coop.left().await;
    coop.log_says("\"the child has exited\"").await;
    let log = format!("{}\n{shown}", coop.place.log.text());
    for line in log.lines().filter(|line| !line.is_empty()) {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for key in ["timestamp", "level", "message"] {
            assert!(value[key].is_string(), "no {key}: {line}");
        }
    }
    assert!(log.contains("was turned away"), "something was said: {log}");
    // The word is in every other one.
    assert!(!log.contains(SECRET) && !log.contains("secret"), "{log}");
}
