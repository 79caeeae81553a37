//! What the operator gives children beyond coop's own environment: readable and changeable while one runs.

use coop::proto::v1;
use serde_json::{Value, json};

use crate::support::{Coop, Place, environment, sh};

const PATH: &str = "/api/v1/session/environment";
const RESTART: &str = "/api/v1/session/restart";

async fn given(coop: &Coop) -> Value {
    coop.get(PATH).await.ok()
}

/// The variables of the child that runs now, as the system knows them.
async fn held(coop: &Coop, name: &str) -> Option<String> {
    let found = environment(coop.child_pid().await);
    found.iter().find_map(|entry| entry.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
}

async fn refused(coop: &Coop, body: Value) -> (u16, String, String) {
    coop.post(PATH, body).await.error()
}

#[tokio::test]
async fn only_what_the_operator_gave_is_shown() {
    let coop = Coop::start(&["--port", "0", "--env", "KEY=old", "--env", "KEY=new", "--env", "EMPTY="], &["cat"]);
    assert_eq!(given(&coop).await, json!({"variables": {"EMPTY": "", "KEY": "new"}, "unset": []}));
    let one = coop.get(&format!("{PATH}?names=KEY&names=PATH&names=COOP_HOOK_TOKEN")).await.ok();
    assert_eq!(one["variables"], json!({"KEY": "new"}), "neither coop's own environment nor its secrets");
    assert!(held(&coop, "COOP_HOOK_TOKEN").await.is_some() && held(&coop, "PATH").await.is_some());
    let mut grpc = coop.place.grpc().await;
    let request = v1::GetEnvironmentRequest { names: vec!["KEY".into()] };
    let answer = grpc.get_environment(request).await.unwrap().into_inner();
    assert_eq!(answer.variables.into_iter().collect::<Vec<_>>(), [("KEY".to_owned(), "new".to_owned())]);
}

#[tokio::test]
async fn a_secret_of_coops_is_not_shown_even_to_whoever_gave_it() {
    let coop = Coop::start(&["--port", "0", "--env", "COOP_HOOK_TOKEN=mine", "--env", "KEY=1"], &["cat"]);
    assert_eq!(given(&coop).await["variables"], json!({"KEY": "1"}));
}

#[tokio::test]
async fn a_change_reaches_the_next_child_and_not_the_present_one() {
    let coop = Coop::start_with(&["--port", "0", "--env", "KEY=old"], &["cat"], |command| {
        command.env("INHERITED", "from outside");
    });
    let changed = coop.post(PATH, json!({"set": {"KEY": "new", "MORE": "a=b c"}, "unset": ["INHERITED"]})).await.ok();
    assert_eq!(changed, json!({"variables": {"KEY": "new", "MORE": "a=b c"}, "unset": ["INHERITED"]}));
    assert_eq!(changed, given(&coop).await);
    let now = async || (held(&coop, "KEY").await, held(&coop, "MORE").await, held(&coop, "INHERITED").await);
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(now().await, (some("old"), None, some("from outside")));
    coop.post(RESTART, json!({"env": {"MORE": "less"}})).await.ok();
    assert_eq!(now().await, (some("new"), some("less"), None), "what a restart is told is added");
    assert_eq!(given(&coop).await["variables"], json!({"KEY": "new", "MORE": "less"}));
    coop.post(PATH, json!({"set": {"INHERITED": "mine"}, "unset": ["KEY", "MORE"]})).await.ok();
    assert_eq!(given(&coop).await, json!({"variables": {"INHERITED": "mine"}, "unset": ["KEY", "MORE"]}));
    coop.post(RESTART, json!({})).await.ok();
    assert_eq!(now().await, (None, None, some("mine")));
}

#[tokio::test]
async fn a_child_that_has_exited_can_be_given_another_environment() {
    let coop = Coop::run(&sh("echo \"<$KEY>\""));
    coop.exited().await;
    coop.post(PATH, json!({"set": {"KEY": "second"}})).await.ok();
    coop.post(RESTART, json!({})).await.ok();
    coop.shows("<second>").await;
}

#[tokio::test]
async fn a_bad_variable_is_refused_by_name_and_nothing_of_the_change_is_made() {
    let coop = Coop::start(&["--port", "0", "--env", "KEY=old"], &["cat"]);
    let long = "x".repeat(128 * 1024);
    for (body, status, named) in [
        (json!({"set": {"": "x", "KEY": "new"}}), 400, "\"\""),
        (json!({"set": {"A=B": "x", "KEY": "new"}}), 400, "\"A=B\""),
        (json!({"set": {"A\u{0}": "x", "KEY": "new"}}), 400, "\"A\\0\""),
        (json!({"set": {"NUL": "x\u{0}", "KEY": "new"}}), 400, "NUL"),
        (json!({"set": {"KEY": "new"}, "unset": [""]}), 400, "\"\""),
        (json!({"set": {"KEY": "new"}, "unset": ["KEY"]}), 400, "KEY"),
        (json!({"set": {"KEY": "new", "COOP_HOOK_TOKEN": "x"}}), 400, "COOP_HOOK_TOKEN"),
        (json!({"set": {"KEY": "new"}, "unset": ["COOP"]}), 400, "COOP"),
        (json!({"set": {"KEY": "new", "LONG": long}}), 413, "LONG"),
    ] {
        let (found, _, message) = refused(&coop, body.clone()).await;
        assert!(found == status && message.contains(named), "{named}: {found} {message}");
        if body["unset"].is_null() {
            let again = coop.post(RESTART, json!({"env": body["set"]})).await.error();
            assert_eq!((again.0, &again.2), (status, &message), "a restart takes no other names");
        }
    }
    assert_eq!(coop.get(&format!("{PATH}?names=A%3DB")).await.refused(), (400, "BAD_REQUEST".to_owned()));
    assert_eq!(given(&coop).await, json!({"variables": {"KEY": "old"}, "unset": []}));
    assert_eq!(coop.status().await["restarts"], 0);
}

#[tokio::test]
async fn there_is_an_end_to_how_much_can_be_given() {
    let coop = Coop::run(&["cat"]);
    let many = |letter: &str| (0..1000).map(|n| (format!("{letter}{n}"), json!("x"))).collect::<Value>();
    coop.post(PATH, json!({"set": many("A")})).await.ok();
    coop.post(PATH, json!({"set": many("A")})).await.ok();
    assert_eq!(refused(&coop, json!({"set": many("B")})).await.0, 413);
    let unset: Vec<String> = (0..1000).map(|n| format!("C{n}")).collect();
    assert_eq!(refused(&coop, json!({"unset": unset})).await.0, 413, "what is kept from it is remembered too");
    let large = "x".repeat(100_000);
    let much = |n: usize| json!({"set": {format!("L{n}"): large}});
    for n in 0..10 {
        coop.post(PATH, much(n)).await.ok();
    }
    let (status, code, message) = refused(&coop, much(10)).await;
    assert_eq!((status, code.as_str()), (413, "TOO_LARGE"), "{message}");
    assert_eq!(given(&coop).await["variables"].as_object().unwrap().len(), 1010);
    coop.post(RESTART, json!({})).await.ok();
    assert_eq!(held(&coop, "L9").await.unwrap().len(), large.len(), "a child starts with the most that can be given");
}

#[tokio::test]
async fn neither_anonymous_readers_nor_hooks_see_or_change_it() {
    let flags = ["--port", "0", "--auth-token", "correct-horse", "--anonymous-read", "--env", "SECRET=1"];
    let coop = Coop::start(&flags, &["cat"]);
    let hook = held(&coop, "COOP_HOOK_TOKEN").await;
    for (token, status) in [(None, 401), (Some("guess".to_owned()), 401), (hook, 403)] {
        let stranger = Place { token, ..coop.place.clone() };
        assert_eq!(stranger.call("GET", PATH).send().await.refused().0, status);
        assert_eq!(stranger.call("POST", PATH).json(&json!({"set": {"A": "1"}})).send().await.refused().0, status);
    }
    assert_eq!(given(&coop).await["variables"], json!({"SECRET": "1"}));
}
