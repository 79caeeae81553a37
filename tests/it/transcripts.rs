//! Transcripts: what an agent said before it forgot, and what the conversation cost.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use coop::proto::v1;
use serde_json::{Value, json};

use crate::support::{Claude, Coop, PATIENCE, Scratch};

const LIST: &str = "/api/v1/transcripts";
const CATCHUP: &str = "/api/v1/transcripts/catchup";
const USAGE: &str = "/api/v1/session/usage";

/// Shows more than any program does in so short a time.
const NEVER_RESTS: &str = "stty -echo; echo ready; while :; do printf '\\r%s' $((n += 1)); sleep 0.02; done";

/// The log of a conversation, which the test writes as the agent would.
struct Log {
    path: PathBuf,
    conversation: &'static str,
}

impl Log {
    fn new(home: &Scratch, conversation: &'static str, text: &str) -> Self {
        let log = Self { path: home.path(&format!("{conversation}.jsonl")), conversation };
        log.append(text);
        log
    }

    fn append(&self, text: &str) {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path);
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// What hooks say of it.
    fn payload(&self) -> Value {
        json!({"session_id": self.conversation, "transcript_path": self.path, "trigger": "manual", "source": "startup"})
    }
}

fn said(n: usize) -> String {
    format!("{}\n", json!({"type": "user", "message": {"content": format!("line {n}")}}))
}

/// A line of a message with what it cost.
fn cost(id: &str, output: u64) -> String {
    let usage = json!({"input_tokens": 100, "output_tokens": output, "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 5});
    let message = json!({"id": id, "role": "assistant", "stop_reason": "tool_use", "content": [], "usage": usage});
    format!("{}\n", json!({"type": "assistant", "message": message}))
}

fn lines(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|line| format!("{}\n", line.as_str().unwrap())).collect()
}

/// Waits until the conversation has cost so many tokens of output.
async fn costs(coop: &Coop, output: u64) -> Value {
    let begun = std::time::Instant::now();
    loop {
        let usage = coop.get(USAGE).await.ok();
        if usage["output_tokens"] == output {
            return usage;
        }
        assert!(begun.elapsed() < PATIENCE, "never {output} tokens: {usage}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_compaction_that_only_the_log_tells_of_is_kept_once() {
    let claude = Claude::start(&[]).await;
    let log = Log::new(&claude.home, "silent", &said(1));
    claude.hook("SessionStart", log.payload()).await;
    let mut ws = claude.place.ws("/ws?mode=state").await;
    let boundary = format!("{}\n", json!({"type": "system", "subtype": "compact_boundary"}));
    log.append(&boundary);
    assert_eq!(ws.next_event("transcript:saved").await["number"], 1);
    claude.hook("PreCompact", log.payload()).await;
    assert_eq!(ws.next_event("transcript:saved").await["number"], 2);
    log.append(&boundary);
    log.append(&cost("after", 11));
    costs(&claude, 11).await;
    let kept = claude.get(LIST).await.ok();
    assert_eq!(kept["transcripts"].as_array().unwrap().len(), 2, "the hook's is not kept again: {kept}");
}

#[tokio::test]
async fn lines_without_a_time_are_not_told_again_when_the_conversation_goes_on() {
    let home = Arc::new(Scratch::new());
    let undated = |title: &str| format!("{}\n", json!({"type": "ai-title", "title": title}));
    let old = json!({"type": "user", "timestamp": "2020-01-01T00:00:00.000Z", "message": {"content": "long ago"}});
    let past = [undated("before all"), format!("{old}\n"), undated("after that"), cost("a", 3)].concat();
    let log = Log::new(&home, "goes-on", &past);
    let claude = Claude::start_in(&home, &[], "echo ready; sleep 1000; exit").await;
    let mut ws = claude.place.ws("/ws?subscribe=messages").await;
    claude.hook("SessionStart", log.payload()).await;
    costs(&claude, 3).await;
    log.append(&undated("new"));
    assert_eq!(ws.next_event("message:raw").await["data"]["title"], "new");
    let begun = Log::new(&home, "begins", &undated("the first of all"));
    claude.hook("SessionStart", begun.payload()).await;
    assert_eq!(ws.next_event("message:raw").await["data"]["title"], "the first of all", "it was written since");
}

#[tokio::test]
async fn lines_that_cannot_be_read_stay_told() {
    let claude = Claude::start(&[]).await;
    let log = Log::new(&claude.home, "broken", &format!("{}{{oh no\n", cost("a", 1)));
    claude.hook("SessionStart", log.payload()).await;
    costs(&claude, 1).await;
    log.append(&cost("b", 2));
    costs(&claude, 3).await;
    let explained = claude.get("/api/v1/agent/state?explain=true").await.ok();
    let told = explained["disagreement"].as_str().unwrap_or_default();
    assert!(told.contains("1 line could not be read") && told.contains("not JSON"), "{explained}");
}

#[tokio::test]
async fn a_log_that_begins_anew_is_counted_anew() {
    let claude = Claude::start(&[]).await;
    let many: String = (0..300).map(|n| cost(&format!("m{n}"), 1)).collect();
    let log = Log::new(&claude.home, "anew", &many);
    claude.hook("SessionStart", log.payload()).await;
    costs(&claude, 300).await;
    std::fs::write(&log.path, "").unwrap();
    claude.hook("Notification", log.payload()).await;
    log.append(&cost("m0", 7));
    costs(&claude, 7).await;
}

#[tokio::test]
async fn a_transcript_is_taken_before_the_agent_forgets() {
    let claude = Claude::start(&[]).await;
    let log = Log::new(&claude.home, "first", &format!("{}{}half a li", said(1), said(2)));
    let mut events = claude.call("GET", "/api/v1/stream/transcripts").stream().await;
    let mut ws = claude.place.ws("/ws?mode=state").await;
    assert_eq!(claude.hook("PreCompact", log.payload()).await, "");
    let taken = events.value().await;
    assert_eq!(json!([taken["number"], taken["line_count"]]), json!([1, 2]), "only whole lines");
    let heard = ws.next_event("transcript:saved").await;
    assert_eq!(json!([heard["number"], heard["seq"]]), json!([1, taken["seq"]]));
    claude.is("working").await;

    log.append("ne\n");
    let content = format!("{}{}", said(1), said(2));
    let one = claude.get("/api/v1/transcripts/1").await.ok();
    assert_eq!(one, json!({"number": 1, "content": content}), "it stays as it was");
    let list = claude.get(LIST).await.ok();
    let expected = json!({"transcripts": [{
        "number": 1, "timestamp": taken["timestamp"], "line_count": 2, "byte_size": content.len()}]});
    assert_eq!(list, expected);
    let at: &str = taken["timestamp"].as_str().unwrap();
    assert!(at.len() == "2026-01-01T00:00:00.000Z".len() && at.ends_with('Z') && at.contains('T'), "{at}");

    claude.hook("PreCompact", log.payload()).await;
    assert_eq!(
        json!([events.value().await["number"], claude.get(LIST).await.ok()["transcripts"][1]["line_count"]]),
        json!([2, 3])
    );
    let listed = ws.ask(json!({"event": "transcript:list"})).await;
    assert_eq!(listed["transcripts"].as_array().unwrap().len(), 2);
    let got = ws.ask(json!({"event": "transcript:get", "number": 2})).await;
    assert!(got["content"].as_str().unwrap().ends_with("half a line\n"));
    let mut grpc = claude.place.grpc().await;
    let got = grpc.get_transcript(v1::GetTranscriptRequest { number: 1 }).await.unwrap().into_inner();
    assert_eq!(got.content, content);
}

#[tokio::test]
async fn who_comes_back_with_a_cursor_gets_what_is_new() {
    let claude = Claude::start(&[]).await;
    let log = Log::new(&claude.home, "cursor", &said(1));
    let mut events = claude.call("GET", "/api/v1/stream/transcripts").stream().await;
    claude.hook("PreCompact", log.payload()).await;
    events.value().await;
    log.append(&said(2));
    let all = claude.get(CATCHUP).await.ok();
    assert_eq!(json!([all["current_transcript"], all["current_line"]]), json!([1, 2]));
    assert_eq!(all["transcripts"][0]["number"], 1);
    assert_eq!(lines(&all["transcripts"][0]["lines"]), [said(1)]);
    assert_eq!(lines(&all["live_lines"]), [said(1), said(2)]);

    let since = |answer: &Value| {
        let (transcript, line) = (&answer["current_transcript"], &answer["current_line"]);
        format!("{CATCHUP}?since_transcript={transcript}&since_line={line}")
    };
    let nothing = claude.get(&since(&all)).await.ok();
    let expected = json!({"transcripts": [], "live_lines": [], "current_transcript": 1, "current_line": 2,
        "session_id": "cursor"});
    assert_eq!(nothing, expected);
    log.append(&said(3));
    log.append("{\"half\":");
    claude.hook("PreCompact", log.payload()).await;
    events.value().await;
    let new = claude.get(&since(&nothing)).await.ok();
    assert_eq!(json!([new["current_transcript"], new["current_line"]]), json!([2, 3]));
    assert_eq!(new["transcripts"].as_array().unwrap().len(), 1);
    assert_eq!(lines(&new["transcripts"][0]["lines"]), [said(1), said(2), said(3)]);
    assert_eq!(lines(&new["live_lines"]), [said(3)], "half a line is not told");
    log.append("1}\n");
    assert_eq!(lines(&claude.get(&since(&new)).await.ok()["live_lines"]), ["{\"half\":1}\n"]);
    let mut ws = claude.place.ws("/ws?mode=state").await;
    let caught = ws.ask(json!({"event": "transcript:catchup", "since_transcript": 1, "since_line": 3})).await;
    assert_eq!(json!([caught["transcripts"][0]["number"], caught["live_lines"]]), json!([2, ["{\"half\":1}"]]));
}

#[tokio::test]
async fn a_new_log_is_told_from_its_beginning() {
    let claude = Claude::start(&[]).await;
    let old = Log::new(&claude.home, "before-clear", &said(1).repeat(5));
    claude.hook("SessionStart", old.payload()).await;
    claude.is("idle").await;
    assert_eq!(claude.get(CATCHUP).await.ok()["current_line"], 5);
    let new = Log::new(&claude.home, "after-clear", &said(9));
    claude.hook("UserPromptSubmit", new.payload()).await;
    claude.is("working").await;
    let caught = claude.get(&format!("{CATCHUP}?since_line=5")).await.ok();
    assert_eq!((lines(&caught["live_lines"]), &caught["current_line"]), (vec![said(9)], &json!(1)));
}

#[tokio::test]
async fn an_answer_names_its_conversation_also_where_the_state_stays_the_same() {
    let claude = Claude::start(&[]).await;
    let old = Log::new(&claude.home, "before-clear", &said(1));
    claude.hook("SessionStart", old.payload()).await;
    claude.is("idle").await;
    let caught = claude.get(CATCHUP).await.ok();
    assert_eq!(json!([caught["session_id"], caught["current_line"]]), json!(["before-clear", 1]));
    // Longer than the one before: its lines alone do not tell that it is another.
    let new = Log::new(&claude.home, "after-clear", &format!("{}{}", said(8), said(9)));
    claude.hook("SessionStart", new.payload()).await;
    let begun = std::time::Instant::now();
    loop {
        let caught = claude.get(&format!("{CATCHUP}?since_line=1")).await.ok();
        let is_new = caught["session_id"] == "after-clear";
        assert_eq!(lines(&caught["live_lines"]), if is_new { vec![said(9)] } else { Vec::new() }, "{caught}");
        if is_new {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "never told: {caught}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn numbers_go_on_with_the_next_coop() {
    let home = Arc::new(Scratch::new());
    let script = "echo ready; sleep 1000; exit";
    for number in 1..=3 {
        let claude = Claude::start_in(&home, &[], script).await;
        let log = Log::new(&home, "same", &said(number));
        let mut events = claude.call("GET", "/api/v1/stream/transcripts").stream().await;
        claude.hook("PreCompact", log.payload()).await;
        assert_eq!(events.value().await["number"], number);
        claude.is("working").await;
        let list = claude.get(LIST).await.ok();
        let numbers: Vec<u64> =
            list["transcripts"].as_array().unwrap().iter().filter_map(|one| one["number"].as_u64()).collect();
        assert_eq!(numbers, (1..=number as u64).collect::<Vec<_>>());
    }
    let claude = Claude::start_in(&home, &[], script).await;
    let other = Log::new(&home, "other", &said(1));
    let mut events = claude.call("GET", "/api/v1/stream/transcripts").stream().await;
    claude.hook("PreCompact", other.payload()).await;
    assert_eq!(events.value().await["number"], 1, "another conversation has its own");
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let claude = Claude::start(&[]).await;
    assert_eq!(claude.get(LIST).await.refused(), (503, "NOT_READY".to_owned()), "no conversation yet");
    let log = Log::new(&claude.home, "some", &said(1));
    claude.hook("SessionStart", log.payload()).await;
    // The log speaks of a message, and may be read before or after anybody looks.
    claude.wait(json!({"states": ["idle", "working"]})).await;
    assert_eq!(claude.get(LIST).await.ok(), json!({"transcripts": []}));
    for number in ["1", "0", "4294967295"] {
        let (status, code, message) = claude.get(&format!("{LIST}/{number}")).await.error();
        assert_eq!((status, code.as_str()), (404, "NOT_FOUND"), "{number}");
        assert!(message.contains(number), "{message}");
    }
    for number in ["-1", "one", "4294967296"] {
        let (status, code, message) = claude.get(&format!("{LIST}/{number}")).await.error();
        assert_eq!((status, code.as_str()), (400, "BAD_REQUEST"), "{number}");
        assert!(message.contains("number"), "{message}");
    }
    let coop = Coop::run(&["cat"]);
    for path in [LIST, "/api/v1/transcripts/1", CATCHUP, USAGE] {
        assert_eq!(coop.get(path).await.refused(), (404, "NO_DRIVER".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn a_log_or_a_name_that_cannot_be_used_costs_only_the_transcript() {
    let claude = Claude::start(&[]).await;
    for payload in [
        json!({"session_id": "gone", "transcript_path": "/no/such/log.jsonl"}),
        json!({"session_id": "../../escape", "transcript_path": claude.home.file("log", said(1))}),
        json!({"session_id": "dir", "transcript_path": claude.home.dir()}),
        json!({"session_id": "none"}),
    ] {
        assert_eq!(claude.hook("PreCompact", payload).await, "");
    }
    claude.log_says("no transcript could be kept").await;
    assert!(!claude.home.path(".local/escape").exists() && !claude.home.path(".local/state/escape").exists());
    claude.hook("PostCompact", json!({})).await;
    claude.is("idle").await;
    let log = Log::new(&claude.home, "good", &said(1));
    let mut events = claude.call("GET", "/api/v1/stream/transcripts").stream().await;
    claude.hook("PreCompact", log.payload()).await;
    assert_eq!(events.value().await["number"], 1);
}

#[tokio::test]
async fn every_message_is_counted_once_as_the_log_grows() {
    let claude = Claude::start(&[]).await;
    let zero = json!({"input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": 0,
        "total_cost_usd": 0.0, "request_count": 0});
    assert_eq!(claude.get(USAGE).await.ok(), zero);
    let log = Log::new(&claude.home, "usage", &format!("{}{}{}", said(1), cost("a", 2), cost("a", 10)));
    claude.hook("SessionStart", log.payload()).await;
    let usage = costs(&claude, 10).await;
    let expected = json!({"input_tokens": 100, "output_tokens": 10, "cache_read_tokens": 7, "cache_write_tokens": 5,
        "total_cost_usd": 0.0, "request_count": 1});
    assert_eq!(usage, expected, "lines of one message are one message");
    let line = cost("b", 20);
    let (half, rest) = line.split_at(50);
    log.append(&format!("{}{}", cost("a", 10), half));
    log.append(rest);
    let usage = costs(&claude, 30).await;
    assert_eq!(json!([usage["input_tokens"], usage["request_count"]]), json!([200, 2]));
    log.append("no JSON at all\n");
    log.append(&cost("c", 1));
    assert_eq!(costs(&claude, 31).await["request_count"], 3);
    claude.hook("PostToolUse", log.payload()).await;
    claude.is("working").await;
    assert_eq!(claude.get(USAGE).await.ok()["request_count"], 3, "the same log is not counted again");
    claude.post("/api/v1/signal", json!({"signal": "KILL"})).await.ok();
    claude.exited().await;
    assert_eq!(claude.get(USAGE).await.ok()["output_tokens"], 31, "it is known after the end, too");
}

#[tokio::test]
async fn half_a_line_at_the_end_of_a_log_is_read_when_it_is_whole() {
    let claude = Claude::start(&[]).await;
    let last = cost("é", 40);
    let (half, rest) = last.as_bytes().split_at(last.find('é').unwrap() + 1);
    let log = Log::new(&claude.home, "half", &cost("a", 1));
    std::fs::OpenOptions::new().append(true).open(&log.path).unwrap().write_all(half).unwrap();
    claude.hook("SessionStart", log.payload()).await;
    assert_eq!(costs(&claude, 1).await["request_count"], 1);
    std::fs::OpenOptions::new().append(true).open(&log.path).unwrap().write_all(rest).unwrap();
    assert_eq!(costs(&claude, 41).await["request_count"], 2);
}

#[tokio::test]
async fn a_log_is_read_even_while_the_screen_never_rests() {
    let home = Arc::new(Scratch::new());
    let claude = Claude::start_in(&home, &[], NEVER_RESTS).await;
    let log = Log::new(&home, "busy", &cost("a", 3));
    claude.hook("SessionStart", log.payload()).await;
    costs(&claude, 3).await;
}

#[tokio::test]
async fn a_log_that_appears_later_is_found() {
    let claude = Claude::start(&[]).await;
    let dir = claude.home.path("later");
    let payload = json!({"session_id": "later", "transcript_path": dir.join("log.jsonl"), "source": "startup"});
    claude.hook("SessionStart", payload).await;
    claude.is("idle").await;
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("log.jsonl"), cost("a", 4)).unwrap();
    costs(&claude, 4).await;
}

#[tokio::test]
async fn a_restarted_agent_counts_its_new_log_and_not_the_old_one_twice() {
    let claude = Claude::start(&[]).await;
    let log = Log::new(&claude.home, "kept", &cost("a", 5));
    claude.hook("SessionStart", log.payload()).await;
    costs(&claude, 5).await;
    claude.post("/api/v1/session/restart", json!({})).await.ok();
    claude.hook("SessionStart", log.payload()).await;
    claude.is("idle").await;
    log.append(&cost("b", 1));
    assert_eq!(costs(&claude, 6).await["request_count"], 2);
}
