//! gRPC and its companions, and the places where coop listens.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use coop::proto::v1;
use prost::Message;
use serde_json::json;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::support::{Coop, Scratch, reason_of, run_to_its_end, sh};

#[tokio::test]
async fn grpc_errors_carry_their_reason_in_the_details() {
    let coop = Coop::run(&["cat"]);
    let mut grpc = coop.place.grpc().await;
    let said = |status: tonic::Status| {
        let (code, reason, domain) = reason_of(&status);
        assert_eq!(domain, "coop");
        (code, reason)
    };
    let resized = grpc.resize(v1::ResizeRequest { cols: 0, rows: 24 }).await;
    assert_eq!(said(resized.unwrap_err()), (Code::InvalidArgument, "BAD_REQUEST".into()));
    let nudged = grpc.nudge(v1::NudgeRequest { message: "hi".into(), ..Default::default() }).await;
    assert_eq!(said(nudged.unwrap_err()), (Code::Unimplemented, "NO_DRIVER".into()));
    let unknown = vec![Default::default(); 3];
    let keys = grpc.send_keys(v1::SendKeysRequest { keys: unknown, ..Default::default() }).await;
    assert_eq!(said(keys.unwrap_err()), (Code::InvalidArgument, "BAD_REQUEST".into()));
    let lock = grpc.acquire_lock(v1::AcquireLockRequest::default()).await.unwrap();
    assert!(!lock.into_inner().lock_id.is_empty());
    let input = grpc.send_input(v1::SendInputRequest { text: "x".into(), ..Default::default() }).await;
    assert_eq!(said(input.unwrap_err()), (Code::ResourceExhausted, "WRITER_BUSY".into()));
    let expect = v1::Expect { screen_seq: Some(77_777), ..Default::default() };
    let mut request = tonic::Request::new(v1::SendInputRequest { expect: Some(expect), ..Default::default() });
    request.metadata_mut().insert("coop-lock", "not-mine".parse().unwrap());
    assert_eq!(said(grpc.send_input(request).await.unwrap_err()), (Code::ResourceExhausted, "WRITER_BUSY".into()));
}

#[tokio::test]
async fn a_grpc_message_above_the_limit_is_refused() {
    let coop = Coop::run(&sh("stty raw -echo; echo ready; sleep 1000"));
    coop.shows("ready").await;
    let mut grpc = coop.place.grpc().await.max_encoding_message_size(1 << 30);
    let raw = |bytes: usize| v1::SendInputRawRequest {
        data: vec![b'x'; bytes].into(),
        timeout_ms: Some(0),
        ..Default::default()
    };
    let refused = grpc.send_input_raw(raw((16 << 20) + 1)).await.unwrap_err();
    assert_eq!(reason_of(&refused), (Code::ResourceExhausted, "TOO_LARGE".to_owned(), "coop".to_owned()));
    let refused = grpc.send_input_raw(raw(40 << 20)).await.unwrap_err();
    assert!(matches!(refused.code(), Code::ResourceExhausted | Code::OutOfRange), "{refused:?}");
    assert_eq!(coop.status().await["input_queued"], 0);
    let taken = grpc.send_input_raw(raw(16 << 20)).await.unwrap().into_inner();
    assert_eq!(taken.bytes_written, 16 << 20, "exactly the limit is taken");
}

#[tokio::test]
async fn a_browser_speaks_grpc_web_over_http_1() {
    let coop = Coop::run(&["cat"]);
    let message = v1::ResizeRequest { cols: 91, rows: 31 }.encode_to_vec();
    let frame = [&[0][..], &u32::try_from(message.len()).unwrap().to_be_bytes(), &message].concat();
    let call = |path: &str| coop.call("POST", path).header("content-type", "application/grpc-web+proto");
    let answer = call("/coop.v1.Coop/Resize").bytes(frame).send().await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/grpc-web+proto"));
    let length = u32::from_be_bytes(answer.body[1..5].try_into().unwrap()) as usize;
    let resized = v1::ResizeResponse::decode(&answer.body[5..5 + length]).unwrap();
    assert_eq!((answer.body[0], resized), (0, v1::ResizeResponse { cols: 91, rows: 31 }));
    let trailers = &answer.body[5 + length..];
    assert_eq!(trailers[0], 0x80);
    assert!(String::from_utf8_lossy(&trailers[5..]).contains("grpc-status:0"), "{trailers:?}");
    let broken = call("/coop.v1.Coop/Resize").bytes(&b"\x00\xff\xff\xff\xff"[..]).send().await;
    assert!(!broken.text().contains("grpc-status:0"), "{broken:?}");
    assert_eq!(coop.status().await["terminal"], json!({"cols": 91, "rows": 31}));
}

/// The names of all services, by one version of the reflection service.
macro_rules! services {
    ($version:ident, $channel:expr) => {{
        use tonic_reflection::pb::$version::*;
        let ask = server_reflection_request::MessageRequest::ListServices(String::new());
        let request = ServerReflectionRequest { host: String::new(), message_request: Some(ask) };
        let mut client = server_reflection_client::ServerReflectionClient::new($channel);
        let asked = client.server_reflection_info(tokio_stream::once(request)).await;
        match asked.unwrap().into_inner().message().await.unwrap().unwrap().message_response {
            Some(server_reflection_response::MessageResponse::ListServicesResponse(list)) => {
                list.service.into_iter().map(|service| service.name).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        }
    }};
}

#[tokio::test]
async fn reflection_tells_which_services_there_are() {
    let coop = Coop::run(&["cat"]);
    let channel = coop.place.channel().await;
    for services in [services!(v1, channel.clone()), services!(v1alpha, channel.clone())] {
        assert!(services.contains(&"coop.v1.Coop".to_owned()), "{services:?}");
        assert!(services.contains(&"grpc.health.v1.Health".to_owned()), "{services:?}");
    }
}

#[tokio::test]
async fn grpc_health_follows_the_child() {
    let coop = Coop::run(&sh("read line"));
    let mut health = HealthClient::new(coop.place.channel().await);
    let request = |service: &str| HealthCheckRequest { service: service.to_owned() };
    let mut watch = health.watch(request("coop.v1.Coop")).await.unwrap().into_inner();
    let seen = async |wanted: ServingStatus| while watch.message().await.unwrap().unwrap().status() != wanted {};
    coop.place
        .within("serving", async {
            let mut seen = seen;
            seen(ServingStatus::Serving).await;
            coop.types("").await;
            seen(ServingStatus::NotServing).await;
        })
        .await;
    let whole = health.check(request("")).await.unwrap().into_inner();
    assert_eq!(whole.status(), ServingStatus::Serving, "coop itself still serves");
    assert_eq!(health.check(request("no.such")).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn every_listener_speaks_everything_and_the_health_port_only_health() {
    let scratch = Scratch::new();
    let socket = scratch.path("coop.sock");
    let flags = ["--port", "0", "--grpc-port", "0", "--health-port", "0", "--socket", socket.to_str().unwrap()];
    let coop = Coop::start(&flags, &["cat"]);
    for key in ["url", "grpc_url", "socket"] {
        let place = coop.at(key);
        assert_eq!(place.call("GET", "/api/v1/status").send().await.ok()["state"], "running", "{key}");
        let status = place.grpc().await.get_status(v1::GetStatusRequest {}).await.unwrap().into_inner();
        assert_eq!(status.state(), v1::SessionState::Running, "{key}");
        place.ws("/ws").await.next_event("transition").await;
    }
    let health = coop.at("health_url");
    for path in ["/api/v1/health", "/api/v1/ready", "/api/v1/livez"] {
        assert_eq!(health.call("GET", path).header("host", "10.1.2.3:9").send().await.status, 200, "{path}");
    }
    for path in ["/api/v1/status", "/api/v1/screen", "/", "/ws", "/openapi.json"] {
        assert_eq!(health.call("GET", path).send().await.refused(), (404, "NOT_FOUND".to_owned()), "{path}");
    }
    let posted = health.call("POST", "/api/v1/health").send().await;
    assert_eq!(posted.refused(), (405, "METHOD_NOT_ALLOWED".to_owned()));
    let input = health.call("POST", "/api/v1/input").json(&json!({"text": "x"})).send().await;
    assert_eq!(input.refused(), (404, "NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn a_socket_is_its_owners_alone_and_goes_with_coop() {
    let scratch = Scratch::new();
    let path = scratch.path("coop.sock");
    let coop = Coop::start(&["--socket", path.to_str().unwrap()], &["cat"]);
    assert_eq!(coop.listening["url"], json!(null));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    coop.post("/api/v1/shutdown", json!({})).await.ok();
    assert!(coop.left().await.success());
    assert!(!path.exists());
}

#[tokio::test]
async fn a_live_socket_is_left_alone_and_a_stale_one_taken_over() {
    let scratch = Scratch::new();
    let path = scratch.path("coop.sock");
    let flags = ["--socket", path.to_str().unwrap()];
    // What a killed process leaves behind: the name without a listener.
    drop(UnixListener::bind(&path).unwrap());
    let coop = Coop::start(&flags, &["cat"]);
    let (code, out, err) = run_to_its_end(&flags, &["cat"]);
    assert_ne!(code, Some(0));
    assert!(out.is_empty() && err.contains(path.to_str().unwrap()) && err.contains("--socket"), "{err}");
    assert_eq!(coop.status().await["state"], "running", "the first is still reached");
    let file = scratch.file("precious", "data");
    let (code, _, err) = run_to_its_end(&["--socket", &file], &["cat"]);
    assert!(code != Some(0) && err.contains("no socket"), "{err}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "data");
}

#[tokio::test]
async fn without_a_place_coop_makes_a_socket_and_says_which() {
    let scratch = Scratch::new();
    let coop = Coop::start_with(&[], &["cat"], |command| {
        command.env("XDG_RUNTIME_DIR", scratch.dir());
    });
    let socket = coop.socket.clone().unwrap();
    assert!(socket.starts_with(scratch.path("coop")), "{socket:?}");
    assert_eq!(coop.listening["pid"], coop.pid);
    assert_eq!(coop.status().await["state"], "running");
}
