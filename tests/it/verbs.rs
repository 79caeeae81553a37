//! The verbs: the same session from a shell, with an exit code that scripts can rely on.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Coop, PATIENCE, Scratch, at_rest, finished, sh};

/// A session that is reached over TCP by the tests and over a socket by verbs.
fn on_socket(scratch: &Scratch, more: &[&str], program: &[&str]) -> Coop {
    let socket = scratch.path("s");
    Coop::start(&[&["--port", "0", "--socket", socket.to_str().unwrap()], more].concat(), program)
}

/// Keys and kinds without values.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), shape(value))).collect(),
        Value::Array(items) => items.first().map(shape).into_iter().collect(),
        Value::String(_) => "text".into(),
        Value::Number(_) => 0.into(),
        Value::Bool(_) => false.into(),
        Value::Null => Value::Null,
    }
}

#[tokio::test]
async fn without_a_terminal_a_command_beside_a_session_is_one_of_a_pipe_and_starts_where_it_is_told() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("src")).unwrap();
    let coop = on_socket(&scratch, &["--cwd", scratch.dir().to_str().unwrap()], &["cat"]);
    let beside = async |flags: &[&str], words: &[&str]| {
        let mut command = coop.verb_command(&[&["shell"], flags].concat());
        command.arg("--").args(words);
        finished(command.into()).await.ok()
    };
    assert_eq!(beside(&[], &["cat"]).await, "");
    let told =
        beside(&[], &sh("test -t 0 || test -t 1 || echo none; (: </dev/tty) 2>/dev/null || echo unasked; echo $TERM"))
            .await;
    assert_eq!(told, "none\nunasked\ndumb\n");
    let file = scratch.file("input", "one\ntwo\n");
    let mut command = coop.verb_command(&["shell"]);
    let output = command.args(["--", "sort", "-r"]).stdin(std::fs::File::open(file).unwrap()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "two\none\n");
    assert_eq!(beside(&["--cwd", "src"], &["pwd"]).await, format!("{}\n", scratch.path("src").display()));
}

/// Looks until coop has taken a connection on this socket and both sides sleep: a verb cannot say that it waits.
async fn waits(verb: i32, coop: &Coop) {
    let socket = coop.socket.as_ref().unwrap();
    // The sixth column is 03 for what is connected and accepted, the last is the path.
    let taken = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.get(5) == Some(&"03") && words.last().copied() == socket.to_str()
    };
    let deadline = Instant::now() + PATIENCE;
    while !std::fs::read_to_string("/proc/net/unix").unwrap().lines().any(taken) || !at_rest(&[verb, coop.pid]) {
        assert!(Instant::now() < deadline, "nobody waits on {socket:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn state_tells_how_the_session_stands() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &["--label", "team=red"], &["cat"]);
    let told = coop.verb(&["state"]).await.ok();
    assert!(told.starts_with("running  cat (pid ") && told.lines().count() == 1, "{told}");
    assert!(told.contains("80x24") && told.contains("team=red"), "{told}");
    let both = coop.verb(&["state", "--json"]).await.json();
    assert_eq!((&both["status"]["state"], &both["agent"]["state"]), (&json!("running"), &json!("unknown")));
}

#[tokio::test]
async fn what_is_typed_is_seen_on_the_screen() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &[], &sh("stty -echo; while read line; do echo \"got $line\"; done"));
    coop.verb(&["input", "--enter", "some", "words"]).await.ok();
    let met = coop.verb(&["wait", "--text", "got some words", "--timeout", "15"]).await.ok();
    assert!(met.starts_with("text: got some words"), "{met}");
    coop.verb(&["keys", "x", "enter"]).await.ok();
    coop.shows("got x").await;
    assert_eq!(coop.verb(&["screen"]).await.ok(), "got some words\ngot x\n");
    assert_eq!(coop.verb(&["screen", "--lines", "1"]).await.ok(), "got x\n");
}

#[tokio::test]
async fn waiting_in_vain_ends_with_124() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &[], &sh("stty -echo; echo ready; exec cat >/dev/null"));
    coop.shows("ready").await;
    let waited = coop.verb(&["wait", "--text", "never", "--timeout", "0.1"]).await;
    assert_eq!((waited.code, waited.text().as_str()), (Some(124), ""), "{waited:?}");
    assert!(waited.err.contains("timed out"), "{waited:?}");
    let waited = coop.verb(&["wait", "--text", "never", "--timeout", "0.1", "--json"]).await;
    let told = waited.json();
    assert_eq!((waited.code, &told["matched"], &told["reason"]), (Some(124), &json!(false), &json!("timeout")));
    let typed = coop.verb(&["input", "--wait-echo", "hush", "--timeout", "0.1"]).await;
    assert!(typed.code == Some(124) && typed.err.contains("no echo"), "{typed:?}");
    let typed = coop.verb(&["input", "--wait-echo", "hush", "--timeout", "0.1", "--json"]).await;
    assert_eq!((typed.code, &typed.json()["receipt"]["phase"]), (Some(124), &json!("written")), "{typed:?}");
}

#[tokio::test]
async fn what_cannot_come_true_any_more_ends_with_1_and_says_why() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &[], &sh("exit 3"));
    coop.exited().await;
    let waited = coop.verb(&["wait", "--text", "never", "--timeout", "15"]).await;
    assert_eq!(waited.complaint(), "cannot come true any more: the program has ended (exit code 3)");
    let waited = coop.verb(&["wait", "--text", "never", "--timeout", "15", "--json"]).await;
    let told = waited.json();
    assert_eq!((waited.code, &told["matched"], &told["reason"]), (Some(1), &json!(false), &json!("exited")));
    assert_eq!(told["exit"]["code"], 3);
}

#[tokio::test]
async fn what_the_process_tells_is_as_old_as_the_state() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &[], &["cat"]);
    let age = async || coop.get("/api/v1/agent?explain=true").await.ok()["evidence"][0]["age_ms"].as_u64().unwrap();
    let first = age().await;
    let deadline = Instant::now() + PATIENCE;
    while age().await <= first {
        assert!(Instant::now() < deadline, "it does not grow older than {first} ms");
    }
    let told = coop.verb(&["state", "--explain"]).await.ok();
    assert!(told.contains("running (process) says unknown, ") && !told.contains(", 0 ms ago"), "{told}");
}

#[tokio::test]
async fn wrong_usage_ends_with_2_and_a_failure_with_1() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &[], &["cat"]);
    for words in ["wait --regex (", "keys hyper-x", "signal FOO"] {
        let ended = coop.verb(&words.split(' ').collect::<Vec<_>>()).await;
        assert!(ended.code == Some(2) && ended.out.is_empty(), "what only the session can judge: {words}: {ended:?}");
    }
    for words in ["wait", "wait --exited --timeout 601", "input", "keys", "state --nonsense", "logs --from 3"] {
        let ended = coop.verb(&words.split(' ').collect::<Vec<_>>()).await;
        assert!(ended.code == Some(2) && ended.out.is_empty() && ended.err.contains("--help"), "{words}: {ended:?}");
    }
    coop.verb(&["wait", "--regex", "("]).await.complaint();
    assert_eq!(coop.status().await["bytes_written"], 0, "nothing of this was typed");
}

#[tokio::test]
async fn a_wait_for_the_end_is_answered_before_coop_leaves() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &["--exit-with-child"], &sh("read line; exit 4"));
    let mut verb = tokio::process::Command::from(coop.verb_command(&["wait", "--exited", "--timeout", "15"]));
    let verb = verb.kill_on_drop(true).spawn().unwrap();
    waits(verb.id().unwrap().cast_signed(), &coop).await;
    coop.types("").await;
    let told = coop.place.within("the answer", verb.wait_with_output()).await.unwrap();
    assert!(told.status.success() && told.stdout.starts_with(b"exited: exit code 4"), "{told:?}");
    assert_eq!(coop.left().await.code(), Some(4));
}

#[tokio::test]
async fn json_has_the_shape_of_the_http_answer() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &["--label", "team=red"], &["cat"]);
    let get = async |path: &str| shape(&coop.get(&format!("/api/v1/{path}")).await.ok());
    let post = async |path: &str, body: Value| shape(&coop.post(&format!("/api/v1/{path}"), body).await.ok());
    let verb = async |words: &str| {
        let words: Vec<&str> = words.split(' ').chain(["--json"]).collect();
        let ended = coop.verb(&words).await;
        assert_eq!((ended.code, ended.text().lines().count()), (Some(0), 1), "{words:?}: {ended:?}");
        shape(&ended.json())
    };
    let typed = post("input", json!({"text": "ready\r"})).await;
    coop.shows("ready").await;
    assert_eq!(verb("state").await, json!({"status": get("status").await, "agent": get("agent").await}));
    assert_eq!(verb("state --explain").await["agent"], get("agent?explain=true").await);
    assert_eq!(verb("screen").await, get("screen").await);
    assert_eq!(verb("input x").await, typed);
    assert_eq!(verb("keys x").await, post("input/keys", json!({"keys": ["x"]})).await);
    assert_eq!(verb("wait --text ready").await, post("wait", json!({"text": "ready"})).await);
    assert_eq!(verb("wait --offset 0").await, post("wait", json!({"offset": 0})).await);
    assert_eq!(verb("logs --output").await, get("output").await);
    assert_eq!(verb("logs -n 1").await, get("stream/log?tail=1").await);
    for (words, path) in [("state --watch", "state"), ("screen --watch", "screen"), ("logs --output -f", "output")] {
        let words: Vec<&str> = words.split(' ').chain(["--json"]).collect();
        let first = coop.first_line(&words).await;
        let streamed = coop.call("GET", &format!("/api/v1/stream/{path}")).stream().await.value().await;
        assert_eq!((first.code, shape(&first.json())), (Some(0), shape(&streamed)), "{words:?}");
    }
}
