//! What the child asks its terminal: answered once, by coop or by the terminal that is attached, never by both.

use serde_json::json;

use crate::support::{Coop, bash};

/// Asks where the cursor is, and tells how many answers came.
const ASK: &str = r#"
    ask() {
        printf '\033[6n'
        if IFS= read -r -t "$1" -d R answer; then
            printf 'answer %q\r\n' "${answer#*[}"
            if IFS= read -r -t 0.3 -d R more; then echo twice; else echo once; fi
        else
            echo nobody
        fi
    }
    stty -icanon -echo
"#;

#[tokio::test]
async fn a_query_is_answered_exactly_once_when_no_terminal_is_there() {
    let coop = Coop::run(&bash(&format!("{ASK} printf 'abc'; ask 15; sleep 1000")));
    assert_eq!(coop.shows("answer").await, r"abcanswer 1\;4");
    coop.shows("once").await;
}

#[tokio::test]
async fn a_program_that_asks_who_it_talks_to_gets_an_answer() {
    let script =
        r#"stty -icanon -echo; printf '\033[c'; IFS= read -r -t 15 -d c answer; printf '%q\r\n' "$answer"; sleep 1000"#;
    let coop = Coop::run(&bash(script));
    let line = coop.shows("[?").await;
    assert!(line.contains(r"\E[?"), "{line}");
}

#[tokio::test]
async fn old_queries_are_not_answered_again_for_a_late_viewer() {
    let coop =
        Coop::run(&bash(&format!("{ASK} ask 15; IFS= read -r -t 2 -n 1 stray && echo stray; echo quiet; sleep 1000")));
    coop.shows("once").await;
    let mut viewer = coop.place.ws("/ws?mode=raw").await;
    viewer.next_event("output").await;
    let mut attached = coop.place.ws("/api/v1/attach").await;
    attached.say(json!({"event": "hello", "view": true})).await;
    coop.shows("quiet").await;
    assert!(!coop.screen().await.contains("stray"));
}

#[tokio::test]
async fn while_a_terminal_is_attached_it_answers_and_coop_does_not() {
    let coop = Coop::run(&bash(&format!("{ASK} read -r go; ask 1; read -r go; ask 15; sleep 1000")));
    let mut terminal = coop.place.ws("/api/v1/attach").await;
    terminal.say(json!({"event": "hello", "cols": 80, "rows": 24})).await;
    terminal.next_event("ready").await;
    coop.types("").await;
    coop.shows("nobody").await;
    terminal.close().await;
    coop.types("").await;
    coop.shows("answer").await;
    coop.shows("once").await;
}

#[tokio::test]
async fn who_only_looks_answers_nothing_so_coop_does() {
    let coop = Coop::run(&bash(&format!("{ASK} read -r go; ask 15; sleep 1000")));
    let mut viewer = coop.place.ws("/api/v1/attach").await;
    viewer.say(json!({"event": "hello", "view": true})).await;
    viewer.next_event("ready").await;
    coop.types("").await;
    coop.shows("once").await;
}
