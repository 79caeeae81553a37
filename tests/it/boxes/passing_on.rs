//! Through the daemon to a box: HTTP, streams, WebSocket and gRPC, as if its session were asked itself.

use coop::proto::v1::coop_client::CoopClient;
use coop::proto::v1::{
    GetStatusRequest, ResizeRequest, SendInputRequest, StreamOutputRequest, StreamStateRequest, WaitRequest,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use tonic::metadata::MetadataValue;
use tonic::transport::Channel;
use tonic::{Code, Request};

use super::user::{Daemon, User, pid_of, session_of};
use crate::support::reason_of;

/// A request that says which box it is meant for.
fn to<T>(name: &'static str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("coop-box", MetadataValue::from_static(name));
    request
}

async fn calls(daemon: &Daemon) -> CoopClient<Channel> {
    daemon.place.grpc().await
}

#[tokio::test]
async fn what_a_session_serves_over_http_is_served_below_its_box() {
    let user = User::new();
    let daemon = user.daemon().await;
    let told = daemon.create(user.source("a", &["cat"])).await.ok();
    let direct = session_of(&told).call("GET", "/api/v1/status").send().await.ok();
    assert_eq!(daemon.get("/box/a/api/v1/status").await.ok()["pid"], direct["pid"]);
    daemon.post("/box/a/api/v1/input", json!({"text": "hello", "enter": true})).await.ok();
    daemon.post("/box/a/api/v1/wait", json!({"text": "hello", "timeout_ms": 15_000})).await.ok();
    assert!(daemon.get("/box/a/api/v1/screen/text").await.text().contains("hello"));
    // Queries, errors and what is not there are the session's own.
    assert_eq!(daemon.get("/box/a/api/v1/screen?nonsense=1").await.refused(), (400, "BAD_REQUEST".to_owned()));
    let (status, _, message) = daemon.get("/box/a/api/v1/no-such").await.error();
    assert_eq!((status, message.as_str()), (404, "there is no /api/v1/no-such: GET /api lists what there is"));
    // The page works under a path, if it ends with a slash.
    let page = daemon.get("/box/a/").await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    let moved = daemon.get("/box/a").await;
    assert_eq!((moved.status, moved.header("location")), (308, "/box/a/"));
    assert_eq!(daemon.get("/box/a/web/main.js").await.status, 200);
}

#[tokio::test]
async fn bytes_of_any_size_go_through_both_ways() {
    let user = User::new();
    let daemon = user.daemon().await;
    daemon.create(user.source("a", &["sh", "-c", "stty raw -echo; echo ready; cat >/dev/null"])).await.ok();
    daemon.post("/box/a/api/v1/wait", json!({"text": "ready", "timeout_ms": 15_000})).await.ok();
    let sent = vec![b'x'; 1024 * 1024];
    let typed = daemon.place.call("POST", "/box/a/api/v1/input/raw").header("content-type", "application/octet-stream");
    let answer = typed.bytes(sent.clone()).send().await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let status = daemon.get("/box/a/api/v1/status").await.ok();
    let taken = status["bytes_written"].as_u64().unwrap() + status["input_queued"].as_u64().unwrap();
    assert_eq!(taken, sent.len() as u64);
}

#[tokio::test]
async fn a_stream_goes_through_as_it_comes_and_ends_with_its_session() {
    let user = User::new();
    let daemon = user.daemon().await;
    let told = daemon.create(user.source("a", &["cat"])).await.ok();
    let mut states = daemon.place.call("GET", "/box/a/api/v1/stream/state").stream().await;
    states.value().await;
    let mut output = daemon.place.call("GET", "/box/a/api/v1/stream/output").stream().await;
    daemon.post("/box/a/api/v1/input", json!({"text": "now", "enter": true})).await.ok();
    assert!(output.value().await["data"].is_string());
    kill(Pid::from_raw(pid_of(&told)), Signal::SIGKILL).unwrap();
    while states.next().await.is_some() {}
}

#[tokio::test]
async fn a_websocket_goes_through() {
    let user = User::new();
    let daemon = user.daemon().await;
    daemon.create(user.source("a", &["cat"])).await.ok();
    let mut socket = daemon.place.ws("/box/a/ws?mode=state").await;
    assert_eq!(socket.ask(json!({"event": "ping"})).await["event"], "pong");
    let typed = socket.ask(json!({"event": "input", "text": "over a socket", "enter": true})).await;
    assert_eq!(typed["event"], "input:result", "{typed}");
    let seen = socket.ask(json!({"event": "wait", "text": "over a socket", "timeout_ms": 15_000})).await;
    assert_eq!(seen["matched"], true, "{seen}");
    socket.close().await;
    // Its close frame is told by the session.
    let mut socket = daemon.place.ws("/box/a/ws").await;
    let stopping = daemon.post("/api/v1/boxes/a/stop", json!({}));
    let (stopped, closed) = tokio::join!(stopping, socket.closed());
    stopped.ok();
    assert!(closed.is_some(), "it was cut off without a word");
}

#[tokio::test]
async fn grpc_goes_through_by_the_name_in_its_metadata() {
    let user = User::new();
    let daemon = user.daemon().await;
    let told = daemon.create(user.source("a", &["cat"])).await.ok();
    daemon.create(user.source("b", &["sh"])).await.ok();
    let mut calls = calls(&daemon).await;
    let status = calls.get_status(to("a", GetStatusRequest {})).await.unwrap().into_inner();
    assert_eq!(status.labels["name"], "a");
    assert_eq!(calls.get_status(to("b", GetStatusRequest {})).await.unwrap().into_inner().labels["name"], "b");
    let mut states = calls.stream_state(to("a", StreamStateRequest::default())).await.unwrap().into_inner();
    assert!(states.message().await.unwrap().is_some());
    let mut output = calls.stream_output(to("a", StreamOutputRequest::default())).await.unwrap().into_inner();
    let line = SendInputRequest { text: "hello".to_owned(), enter: true, ..Default::default() };
    calls.send_input(to("a", line)).await.unwrap();
    let wait = WaitRequest { text: Some("hello".to_owned()), timeout_ms: Some(15_000), ..Default::default() };
    assert!(calls.wait(to("a", wait)).await.unwrap().into_inner().matched);
    assert!(output.message().await.unwrap().is_some());
    // Trailers with the details of an error arrive as they were sent.
    let refused = calls.resize(to("a", ResizeRequest { cols: 0, rows: 0 })).await.unwrap_err();
    assert_eq!(reason_of(&refused), (Code::InvalidArgument, "BAD_REQUEST".to_owned(), "coop".to_owned()));
    kill(Pid::from_raw(pid_of(&told)), Signal::SIGKILL).unwrap();
    while let Ok(Some(_)) = states.message().await {}
}

#[tokio::test]
async fn a_box_that_is_not_there_or_does_not_run_is_told_apart() {
    let user = User::new();
    let daemon = user.daemon().await;
    daemon.create(user.source("a", &["cat"])).await.ok();
    daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok();
    let (status, code, message) = daemon.get("/box/a/api/v1/screen").await.error();
    assert_eq!((status, code.as_str()), (503, "NOT_READY"));
    assert!(message.contains("coop restart a"), "{message}");
    let (status, code, message) = daemon.get("/box/b/api/v1/screen").await.error();
    assert_eq!((status, code.as_str()), (404, "NOT_FOUND"));
    assert!(message.contains("coop ls"), "{message}");
    assert_eq!(daemon.get("/box/..%2f/x").await.refused(), (400, "BAD_REQUEST".to_owned()));

    let mut calls = calls(&daemon).await;
    let mut code = async |request| reason_of(&calls.get_status(request).await.unwrap_err());
    let told = |code, reason: &str| (code, reason.to_owned(), "coop".to_owned());
    assert_eq!(code(to("a", GetStatusRequest {})).await, told(Code::Unavailable, "NOT_READY"));
    assert_eq!(code(to("b", GetStatusRequest {})).await, told(Code::NotFound, "NOT_FOUND"));
    assert_eq!(code(Request::new(GetStatusRequest {})).await, told(Code::InvalidArgument, "BAD_REQUEST"));
}

#[tokio::test]
async fn the_daemon_itself_is_described_and_served_on_every_face() {
    let user = User::new();
    let daemon = user.daemon().await;
    assert!(daemon.get("/api").await.text().contains("/api/v1/boxes/{name}/restart"));
    let openapi = daemon.get("/openapi.json").await.ok();
    assert!(openapi["paths"]["/api/v1/boxes"]["post"].is_object());
    let channel = daemon.place.channel().await;
    let mut boxes = coop::proto::v1::boxes_client::BoxesClient::new(channel.clone());
    let info = boxes.get_info(coop::proto::v1::GetInfoRequest {}).await.unwrap().into_inner();
    assert_eq!(i32::try_from(info.pid).unwrap(), daemon.pid);
    let mut health = tonic_health::pb::health_client::HealthClient::new(channel);
    let asked = tonic_health::pb::HealthCheckRequest { service: String::new() };
    assert_eq!(health.check(asked).await.unwrap().into_inner().status, 1);
    // What takes its time answers with a stream, whose last line may be an error.
    let pulled = daemon.post("/api/v1/images/pull", json!({"image": "oci:/no/such/layout"})).await;
    let last = pulled.text().lines().last().unwrap_or_default().to_owned();
    assert!(last.contains("BAD_REQUEST") && last.contains("/no/such/layout"), "{last}");
}
