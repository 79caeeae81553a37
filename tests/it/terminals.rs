//! Attach: a terminal joins, is painted once, sees every byte, types and sizes; who only looks does neither.

use coop::child::Size;
use coop::proto::v1::{self, attach_request, attach_response};
use coop::terminal::{Seq, Terminal};
use serde_json::{Value, json};

use crate::support::{Coop, Heard, WebSocket, sh};

/// Reads bytes until they hold this.
async fn bytes_until(ws: &mut WebSocket, wanted: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !String::from_utf8_lossy(&bytes).contains(wanted) {
        match ws.hear().await {
            Heard::Bytes(more) => bytes.extend(more),
            Heard::Event(_) => {}
            Heard::Closed(code) => panic!("closed ({code:?}) before {wanted:?}"),
        }
    }
    bytes
}

#[tokio::test]
async fn a_terminal_is_told_the_size_painted_once_and_sees_every_byte_after() {
    let coop = Coop::run(&sh("stty -echo; seq 1 50; printf '\\033[3;5Hmark'; read line; echo live; sleep 1000"));
    coop.shows("mark").await;
    let mut terminal = coop.place.ws("/api/v1/attach").await;
    terminal.say(json!({"event": "hello", "cols": 80, "rows": 24})).await;
    let ready = terminal.hear().await.event();
    let offset = coop.status().await["bytes_read"].clone();
    assert_eq!(ready, json!({"event": "ready", "cols": 80, "rows": 24, "offset": offset}));
    let Heard::Bytes(redraw) = terminal.hear().await else { panic!("no redraw") };
    let mut picture = Terminal::new(Size::new(80, 24).unwrap(), 0);
    picture.feed(&redraw, Seq(1));
    assert_eq!(json!(picture.snapshot().lines), coop.get("/api/v1/screen").await.ok()["lines"]);
    terminal.say_bytes(&b"\n"[..]).await;
    let live = bytes_until(&mut terminal, "live").await;
    assert!(live.starts_with(b"live"), "only what is new: {:?}", String::from_utf8_lossy(&live));
    picture.feed(&live, Seq(2));
    coop.shows("live").await;
    assert_eq!(json!(picture.snapshot().lines), coop.get("/api/v1/screen").await.ok()["lines"]);
}

#[tokio::test]
async fn a_terminal_types_and_sizes_and_the_others_see_it() {
    let coop = Coop::run(&sh("while read line; do stty size; done"));
    let mut viewer = coop.place.ws("/ws?mode=state").await;
    viewer.next_event("transition").await;
    let mut terminal = coop.place.ws("/api/v1/attach").await;
    terminal.say(json!({"event": "hello", "cols": 71, "rows": 17})).await;
    let ready = terminal.next_event("ready").await;
    assert_eq!((&ready["cols"], &ready["rows"]), (&json!(71), &json!(17)));
    let resized = viewer.next_event("resize").await;
    assert_eq!((&resized["cols"], &resized["rows"]), (&json!(71), &json!(17)));
    terminal.say_bytes(&b"typed\r"[..]).await;
    coop.shows("17 71").await;
    terminal.say(json!({"event": "resize", "cols": 72, "rows": 18})).await;
    terminal.say_bytes(&b"\r"[..]).await;
    coop.shows("18 72").await;
    coop.post("/api/v1/resize", json!({"cols": 73, "rows": 19})).await.ok();
    let told = loop {
        let event = terminal.next_event("resize").await;
        if event["cols"] == 73 {
            break event;
        }
    };
    assert_eq!(told["rows"], 19);
}

#[tokio::test]
async fn who_only_looks_never_types_and_never_sizes() {
    let coop = Coop::run(&sh("stty -echo; echo shown; while read line; do echo \"got $line\"; done"));
    coop.shows("shown").await;
    let mut viewer = coop.place.ws("/api/v1/attach").await;
    viewer.say(json!({"event": "hello", "cols": 10, "rows": 5, "view": true})).await;
    let ready = viewer.hear().await.event();
    assert_eq!((&ready["cols"], &ready["rows"]), (&json!(80), &json!(24)), "the session's own size");
    viewer.say_bytes(&b"secretly\r"[..]).await;
    viewer.say(json!({"event": "resize", "cols": 10, "rows": 5})).await;
    coop.types("openly").await;
    bytes_until(&mut viewer, "got openly").await;
    assert!(!coop.screen().await.contains("secretly"));
    assert_eq!(coop.status().await["terminal"], json!({"cols": 80, "rows": 24}));
    assert_eq!(coop.status().await["bytes_written"], "openly\r".len());
}

#[tokio::test]
async fn an_attach_that_does_not_say_hello_is_sent_away() {
    let coop = Coop::run(&["cat"]);
    for first in [json!({"event": "resize", "cols": 9, "rows": 9}), json!({"event": "dance"}), json!(7)] {
        let mut terminal = coop.place.ws("/api/v1/attach").await;
        terminal.say(first.clone()).await;
        assert_eq!(terminal.closed().await, Some(1008), "{first}");
    }
    let mut terminal = coop.place.ws("/api/v1/attach").await;
    terminal.say_bytes(&b"typed too early"[..]).await;
    assert_eq!(terminal.closed().await, Some(1008));
    assert_eq!(coop.status().await["bytes_written"], 0);
    assert_eq!(coop.get("/api/v1/attach").await.refused(), (400, "BAD_REQUEST".to_owned()));
}

#[tokio::test]
async fn a_terminal_sees_the_exit_and_may_stay() {
    let coop = Coop::run(&sh("read line; echo bye; exit 5"));
    let mut terminal = coop.place.ws("/api/v1/attach").await;
    terminal.say(json!({"event": "hello"})).await;
    terminal.next_event("ready").await;
    terminal.say_bytes(&b"\r"[..]).await;
    bytes_until(&mut terminal, "bye").await;
    let exit = terminal.next_event("exit").await;
    assert_eq!((&exit["code"], &exit["signal"]), (&json!(5), &Value::Null));
    terminal.say_bytes(&b"more"[..]).await;
    assert_eq!(terminal.next_event("error").await["code"], "EXITED");
}

#[tokio::test]
async fn attach_is_the_same_over_grpc() {
    let coop = Coop::run(&sh("stty -echo; echo shown; read line; echo \"got $line\"; sleep 1000"));
    coop.shows("shown").await;
    let (say, said) = tokio::sync::mpsc::channel(4);
    let request = |event| v1::AttachRequest { event: Some(event) };
    let hello = v1::AttachHello { cols: Some(66), rows: Some(11), ..Default::default() };
    say.send(request(attach_request::Event::Hello(hello))).await.unwrap();
    let mut grpc = coop.place.grpc().await;
    let incoming = tokio_stream::wrappers::ReceiverStream::new(said);
    let mut told = grpc.attach(incoming).await.unwrap().into_inner();
    let mut next = async || coop.place.within("an event", told.message()).await.unwrap().unwrap().event.unwrap();
    let attach_response::Event::Ready(ready) = next().await else { panic!("not ready") };
    assert_eq!((ready.cols, ready.rows), (66, 11));
    assert!(matches!(next().await, attach_response::Event::Output(_)));
    say.send(request(attach_request::Event::Input("hi\r".into()))).await.unwrap();
    loop {
        if let attach_response::Event::Output(bytes) = next().await
            && bytes.starts_with(b"got hi")
        {
            break;
        }
    }
}
