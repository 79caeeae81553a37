//! Promises of `coop hook`, kept against the real socket.

use std::time::Instant;

use serde_json::Value;
use tokio::sync::mpsc;

use super::super::hook_call::{self, BadPayload, Call, HookCall};
use super::super::hook_socket::HookSocket;
use super::*;
use crate::config::Scratch;

/// Longer than a loaded machine needs for anything here.
const LONG: Duration = Duration::from_secs(60);

struct Coop {
    socket: HookSocket,
    calls: mpsc::Receiver<HookCall>,
    _scratch: Scratch,
}

impl Coop {
    fn start() -> Self {
        let scratch = Scratch::fresh();
        let (sender, calls) = hook_call::channel();
        let socket = HookSocket::bind(scratch.path("hook.sock"), "secret".into(), sender).unwrap();
        Self { socket, calls, _scratch: scratch }
    }

    fn errand(&self, event: &str) -> Errand {
        let socket = self.socket.path().to_owned();
        Errand { event: event.into(), socket, token: "secret".into(), wait: Some(LONG) }
    }

    async fn heard(&mut self) -> HookCall {
        self.calls.recv().await.unwrap()
    }
}

/// What a hook prints.
async fn printed(errand: Errand, payload: impl Into<Vec<u8>>) -> String {
    let payload = io::Cursor::new(payload.into());
    let run = move || {
        let mut output = Vec::new();
        run(errand, payload, &mut output);
        String::from_utf8(output).unwrap()
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

fn event(call: Call) -> (String, Result<Value, BadPayload>) {
    let Call::Event { event, payload } = call else { panic!("an event") };
    (event, payload)
}

#[tokio::test]
async fn a_hook_tells_and_prints_the_answer() {
    let mut coop = Coop::start();
    let hook = tokio::spawn(printed(coop.errand("PermissionRequest"), r#"{"tool_name":"Bash"}"#));
    let HookCall { call, answer } = coop.heard().await;
    assert_eq!(event(call), ("PermissionRequest".into(), Ok(serde_json::json!({"tool_name": "Bash"}))));
    answer.reply(r#"{"decision":"allow"}"#);
    assert_eq!(hook.await.unwrap(), r#"{"decision":"allow"}"#);
}

#[tokio::test]
async fn eight_large_payloads_at_once_all_arrive_whole() {
    let mut coop = Coop::start();
    let payload = |number: usize| format!(r#"{{"number":{number},"text":"{}"}}"#, "é".repeat(100_000));
    let hooks: Vec<_> = (0..8).map(|n| tokio::spawn(printed(coop.errand("PostToolUse"), payload(n)))).collect();
    let mut numbers = Vec::new();
    for _ in 0..hooks.len() {
        let HookCall { call, answer } = coop.heard().await;
        let value = event(call).1.unwrap();
        assert_eq!(value["text"].as_str().unwrap().len(), 200_000);
        answer.reply(value["number"].to_string());
        numbers.push(value["number"].as_u64().unwrap());
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..8).collect::<Vec<_>>());
    for (number, hook) in hooks.into_iter().enumerate() {
        assert_eq!(hook.await.unwrap(), number.to_string());
    }
}

#[tokio::test]
async fn a_payload_of_five_megabytes_arrives_whole_and_so_does_its_answer() {
    let mut coop = Coop::start();
    let text = "x".repeat(5 * 1024 * 1024);
    let hook = tokio::spawn(printed(coop.errand("PostToolUse"), format!("\"{text}\"")));
    let HookCall { call, answer } = coop.heard().await;
    assert_eq!(event(call).1.unwrap().as_str().unwrap(), text);
    answer.reply(text.clone());
    assert_eq!(hook.await.unwrap(), text);
}

#[tokio::test]
async fn a_payload_beyond_all_bounds_is_told_without_its_contents() {
    let mut coop = Coop::start();
    let errand = coop.errand("PostToolUse");
    let endless = io::repeat(b'x').take(BODY_BYTES_MAX as u64 + 100_000);
    tokio::task::spawn_blocking(move || run(errand, endless, &mut Vec::new()));
    let (name, payload) = event(coop.heard().await.call);
    assert_eq!((name.as_str(), payload), ("PostToolUse", Err(BadPayload::TooLarge { bytes_max: BODY_BYTES_MAX })));
}

#[tokio::test]
async fn what_is_no_json_is_passed_on_and_reported() {
    let mut coop = Coop::start();
    for payload in [&b"{\"cut\":"[..], b"", b"\xff\xfe"] {
        let hook = tokio::spawn(printed(coop.errand("Stop"), payload));
        let HookCall { call, answer } = coop.heard().await;
        assert!(matches!(event(call).1, Err(BadPayload::NotJson { .. })), "{payload:?}");
        drop(answer);
        assert_eq!(hook.await.unwrap(), "");
    }
}

#[tokio::test]
async fn a_script_is_run_by_the_hook_which_prints_what_it_says() {
    let mut coop = Coop::start();
    let hook = tokio::spawn(printed(coop.errand("SessionStart"), "{}"));
    coop.heard().await.answer.run("printf '%s' 'aGk=' | base64 -d\necho; echo $((6*7))");
    assert_eq!(hook.await.unwrap(), "hi\n42\n");
}

#[tokio::test]
async fn a_hook_whose_coop_is_gone_ends_at_once_with_nothing() {
    let began = Instant::now();
    let coop = Coop::start();
    let errand = coop.errand("Stop");
    drop(coop);
    assert_eq!(printed(errand, "{}").await, "");
    let mut coop = Coop::start();
    let hook = tokio::spawn(printed(coop.errand("Stop"), "{}"));
    let held = coop.heard().await;
    // As when coop is killed while it holds a hook open.
    drop(coop);
    assert_eq!(hook.await.unwrap(), "");
    drop(held);
    assert!(began.elapsed() < SEND_WITHIN);
}

#[tokio::test]
async fn a_hook_that_gets_no_answer_ends_after_its_wait() {
    let mut coop = Coop::start();
    let errand = Errand { wait: Some(Duration::from_millis(50)), ..coop.errand("Stop") };
    let hook = tokio::spawn(printed(errand, "{}"));
    let _held = coop.heard().await;
    assert_eq!(hook.await.unwrap(), "");
}

#[tokio::test]
async fn a_wrong_token_is_not_heard() {
    let mut coop = Coop::start();
    let errand = Errand { token: "guess".into(), ..coop.errand("Stop") };
    assert_eq!(printed(errand, "{}").await, "");
    assert!(coop.calls.try_recv().is_err());
}

#[tokio::test]
async fn a_signal_is_taken_or_refused_with_reasons() {
    let mut coop = Coop::start();
    let path = coop.socket.path().to_owned();
    let send = move |signal: &'static str| {
        let path = path.clone();
        tokio::task::spawn_blocking(move || resolve_stop(path, "secret".into(), signal.into()))
    };
    let sent = send(r#"{"status":"done"}"#);
    let HookCall { call: Call::ResolveStop { signal }, answer } = coop.heard().await else { panic!("a signal") };
    assert_eq!(signal.unwrap()["status"], "done");
    answer.accept("thanks");
    assert_eq!(sent.await.unwrap().unwrap(), Resolved::Accepted("thanks".into()));
    let sent = send("{}");
    coop.heard().await.answer.refuse(&["a".into(), "b".into()]);
    assert_eq!(sent.await.unwrap().unwrap(), Resolved::Refused(vec!["a".into(), "b".into()]));
    let sent = send("{}");
    drop(coop.heard().await);
    assert!(sent.await.unwrap().is_err(), "no answer is no acceptance");
}

fn errand(words: &[&str], environment: &[(&str, &str)]) -> Option<Errand> {
    let variable = |name: &str| environment.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into());
    Errand::read(words.iter().map(OsString::from), variable)
}

#[test]
fn outside_of_a_session_there_is_nothing_to_do() {
    let inside = [(SOCKET_VARIABLE, "/s"), (TOKEN_VARIABLE, "t")];
    assert!(errand(&["Stop"], &[]).is_none());
    assert!(errand(&["Stop"], &[(SOCKET_VARIABLE, "")]).is_none());
    assert!(errand(&[], &inside).is_none());
    let found = errand(&["PreToolUse"], &inside).unwrap();
    assert_eq!((found.event.as_str(), found.token.as_str()), ("PreToolUse", "t"));
}

#[test]
fn only_dialogs_and_stops_are_waited_for_without_end() {
    let inside = [(SOCKET_VARIABLE, "/s")];
    let wait = |words: &[&str]| errand(words, &inside).unwrap().wait;
    assert_eq!(wait(&["PostToolUse"]), Some(ANSWER_WITHIN));
    assert_eq!((wait(&["PermissionRequest"]), wait(&["Stop"])), (None, None));
    assert_eq!(wait(&["Stop", "--wait", "7"]), Some(Duration::from_secs(7)));
    assert_eq!(wait(&["--wait", "7", "PostToolUse"]), Some(Duration::from_secs(7)));
    assert_eq!(wait(&["Stop", "--wait", "soon"]), None);
}

#[tokio::test]
async fn what_a_script_says_is_handed_to_the_model_as_json_where_the_agent_wants_it() {
    let mut coop = Coop::start();
    let hook = tokio::spawn(printed(coop.errand("SessionStart"), "{}"));
    coop.heard().await.answer.run_for_context("printf 'it is \"noon\"\\n'");
    let printed_json: Value = serde_json::from_str(&hook.await.unwrap()).unwrap();
    let told = &printed_json["hookSpecificOutput"];
    assert_eq!(told["hookEventName"], "SessionStart");
    assert_eq!(told["additionalContext"], "it is \"noon\"\n");
    let hook = tokio::spawn(printed(coop.errand("SessionStart"), "{}"));
    coop.heard().await.answer.run_for_context("");
    assert_eq!(hook.await.unwrap(), "", "nothing to say is no output");
}
