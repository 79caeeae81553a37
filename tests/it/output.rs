//! The child's bytes: every one of them, once, in order; where some are gone, the stream says so.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use coop::child::Size;
use coop::proto::v1;
use coop::terminal::{Seq, Terminal};
use serde_json::{Value, json};

use crate::support::{Coop, sh};

/// The bytes of a chunk in JSON.
pub fn data(chunk: &Value) -> Vec<u8> {
    STANDARD.decode(chunk["data"].as_str().unwrap_or_else(|| panic!("{chunk}"))).unwrap()
}

/// What `seq 1 N` prints to a terminal.
pub fn numbers(last: u32) -> Vec<u8> {
    (1..=last).flat_map(|n| format!("{n}\r\n").into_bytes()).collect()
}

#[tokio::test]
async fn a_late_viewer_gets_what_was_printed_then_every_later_byte() {
    let coop = Coop::run(&sh("stty -echo; echo early; read line; echo later"));
    coop.shows("early").await;
    let mut lines = coop.call("GET", "/api/v1/stream/output").stream().await;
    assert_eq!(lines.headers["content-type"], "application/x-ndjson");
    let first = lines.value().await;
    assert_eq!((&first["offset"], &first["gap"]), (&json!(0), &Value::Null));
    let mut bytes = data(&first);
    coop.types("").await;
    while bytes.len() < b"early\r\nlater\r\n".len() {
        let chunk = lines.value().await;
        assert_eq!(chunk["offset"], bytes.len());
        bytes.extend(data(&chunk));
    }
    assert_eq!(bytes, b"early\r\nlater\r\n");
    assert_eq!(coop.output().await, bytes);
}

#[tokio::test]
async fn a_reader_that_comes_back_misses_nothing_and_sees_nothing_twice() {
    let coop = Coop::start(&["--port", "0", "--ring-size", "8M"], &sh("stty -echo; read go; seq 1 100000"));
    let expected = numbers(100_000);
    let mut grpc = coop.place.grpc().await;
    coop.types("").await;
    let mut bytes = Vec::new();
    let mut visits = 0;
    while bytes.len() < expected.len() {
        let from_offset = Some(bytes.len() as u64);
        let mut stream = grpc.stream_output(v1::StreamOutputRequest { from_offset }).await.unwrap().into_inner();
        visits += 1;
        for _ in 0..5 {
            if bytes.len() >= expected.len() {
                break;
            }
            let chunk = coop.place.within("a chunk", stream.message()).await.unwrap().unwrap();
            assert_eq!((chunk.offset, &chunk.gap), (bytes.len() as u64, &None));
            bytes.extend_from_slice(&chunk.data);
        }
    }
    assert!(bytes == expected, "{} bytes, {} expected", bytes.len(), expected.len());
    assert!(visits > 2, "{visits}");
}

#[tokio::test]
async fn what_the_ring_has_lost_is_a_gap_with_a_redraw_that_paints_the_screen() {
    let script = "printf '\\033[?1049h\\033[1;44m'; seq 1 3000; printf '\\033[5;7Hhere'; sleep 1000";
    let coop = Coop::start(&["--port", "0", "--ring-size", "4K"], &sh(script));
    coop.shows("here").await;
    let mut lines = coop.call("GET", "/api/v1/stream/output?from_offset=7").stream().await;
    let chunk = lines.value().await;
    let gap = &chunk["gap"];
    assert_eq!((&gap["from_offset"], &gap["from_seq"]), (&json!(7), &Value::Null), "{gap}");
    assert_eq!(gap["to_offset"], coop.status().await["bytes_read"]);
    assert_eq!(chunk["data"], "", "the redraw has no offsets of its own");
    let mut terminal = Terminal::new(Size::new(80, 24).unwrap(), 0);
    terminal.feed(b"leftovers\x1b[31m of another picture\r\n", Seq(1));
    terminal.feed(&STANDARD.decode(gap["redraw"].as_str().unwrap()).unwrap(), Seq(2));
    let painted = terminal.snapshot();
    let screen = coop.get("/api/v1/screen").await.ok();
    assert_eq!(json!(painted.lines), screen["lines"]);
    assert_eq!(painted.alt_screen, screen["alt_screen"].as_bool().unwrap());
    assert_eq!(
        json!([painted.cursor.row, painted.cursor.col]),
        json!([screen["cursor"]["row"], screen["cursor"]["col"]])
    );
    let styled = coop.get("/api/v1/screen?format=ansi").await.ok();
    assert_eq!(json!(terminal.ansi_rows()), styled["lines"]);

    let mut whole = coop.call("GET", "/api/v1/stream/output").stream().await;
    let oldest = whole.value().await;
    assert_eq!(oldest["gap"], Value::Null, "who asks for no offset misses nothing");
    assert_eq!(oldest["offset"], coop.status().await["oldest_offset"]);
}

#[tokio::test]
async fn an_offset_in_the_future_waits_and_beyond_the_end_there_is_nothing() {
    let coop = Coop::run(&sh("stty -echo; echo abc; read line; echo defghi; sleep 1000"));
    coop.shows("abc").await;
    let beyond = coop.get("/api/v1/output?offset=1000000").await.ok();
    assert_eq!((&beyond["data"], &beyond["total_written"]), (&json!(""), &json!(5)), "{beyond}");
    let mut lines = coop.call("GET", "/api/v1/stream/output?from_offset=7").stream().await;
    coop.types("").await;
    let chunk = lines.value().await;
    assert_eq!((&chunk["offset"], data(&chunk)), (&json!(7), b"fghi\r\n".to_vec()));
}

#[tokio::test]
async fn output_is_read_in_pieces_of_any_size() {
    let coop = Coop::run(&sh("printf 0123456789; sleep 1000"));
    coop.shows("0123456789").await;
    let piece = coop.get("/api/v1/output?offset=3&limit=4").await;
    assert_eq!(piece.bytes_of("data"), b"3456");
    let piece = piece.ok();
    assert_eq!(json!([piece["offset"], piece["next_offset"], piece["total_written"]]), json!([3, 7, 10]));
    assert_eq!(coop.get("/api/v1/output?offset=7").await.bytes_of("data"), b"789");
    let none = coop.get("/api/v1/output?limit=0").await.ok();
    assert_eq!((&none["data"], &none["next_offset"]), (&json!(""), &json!(0)));
}

#[tokio::test]
async fn server_sent_events_resume_by_their_id() {
    let coop = Coop::run(&sh("stty -echo; echo one; read line; echo two; sleep 1000"));
    coop.shows("one").await;
    let events = |path: &str| coop.call("GET", path).header("accept", "text/event-stream");
    let mut stream = events("/api/v1/stream/output").stream().await;
    assert_eq!(stream.headers["content-type"], "text/event-stream");
    let (id, chunk) = stream.event().await;
    assert_eq!((id.as_deref(), data(&chunk)), (Some("5"), b"one\r\n".to_vec()));
    drop(stream);
    coop.types("").await;
    coop.shows("two").await;
    let mut resumed = events("/api/v1/stream/output").header("last-event-id", "5").stream().await;
    let (id, chunk) = resumed.event().await;
    assert_eq!((id.as_deref(), &chunk["offset"], data(&chunk)), (Some("10"), &json!(5), b"two\r\n".to_vec()));
    let strange = events("/api/v1/stream/output").header("last-event-id", "yesterday").send().await;
    assert_eq!(strange.refused(), (400, "BAD_REQUEST".to_owned()));
}

#[tokio::test]
async fn a_stream_of_all_events_resumes_both_states_and_bytes() {
    let coop = Coop::run(&sh("stty -echo; echo one; read line; echo two; exit 6"));
    coop.shows("one").await;
    let events = || coop.call("GET", "/api/v1/stream/events").header("accept", "text/event-stream");
    let mut stream = events().stream().await;
    let mut last = None;
    while last.as_deref().is_none_or(|id: &str| !id.ends_with(".5")) {
        let (id, event) = stream.event().await;
        assert!(event["event"].is_string(), "{event}");
        last = id;
    }
    drop(stream);
    coop.types("").await;
    coop.exited().await;
    let mut resumed = events().header("last-event-id", &last.unwrap()).stream().await;
    let mut seen = Vec::new();
    while seen.last() != Some(&"exit".to_owned()) {
        let (_, event) = resumed.event().await;
        if event["event"] == "output" {
            assert_eq!((&event["offset"], data(&event)), (&json!(5), b"two\r\n".to_vec()));
        }
        seen.push(event["event"].as_str().unwrap().to_owned());
    }
    seen.retain(|word| word != "screen" && word != "receipt");
    assert_eq!(seen, ["output", "exit"], "in the order in which it happened");
}
