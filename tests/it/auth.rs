//! Who may connect: the token on every face, browsers by their origin, and secrets that stay secret.

use coop::proto::v1;
use serde_json::{Value, json};
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::support::{Coop, Heard, Place, environment, reason_of, run_to_its_end};

const TOKEN: &str = "correct-horse-battery";

fn guarded(more: &[&str]) -> Coop {
    Coop::start(&[&["--port", "0", "--auth-token", TOKEN], more].concat(), &["cat"])
}

/// A caller that shows another token, or none.
fn as_other(coop: &Coop, token: Option<&str>) -> Place {
    Place { token: token.map(str::to_owned), ..coop.place.clone() }
}

fn hook_token(pid: &Value) -> String {
    let found = environment(i32::try_from(pid.as_i64().unwrap()).unwrap());
    found.iter().find_map(|entry| entry.strip_prefix("COOP_HOOK_TOKEN=")).unwrap().to_owned()
}

#[tokio::test]
async fn without_the_token_only_probes_are_answered() {
    let coop = guarded(&[]);
    for token in [None, Some("wrong"), Some(""), Some("correct-horse-batterz")] {
        let stranger = as_other(&coop, token);
        for (verb, path) in [
            ("GET", "/api/v1/status"),
            ("GET", "/api/v1/screen"),
            ("GET", "/api/v1/screen/text"),
            ("GET", "/api/v1/stream/output"),
            ("POST", "/api/v1/input"),
            ("POST", "/api/v1/wait"),
            ("POST", "/api/v1/shutdown"),
            ("POST", "/api/v1/hooks/stop"),
            ("GET", "/api/v1/attach"),
        ] {
            let answer = stranger.call(verb, path).send().await;
            assert_eq!(answer.refused(), (401, "UNAUTHORIZED".to_owned()), "{verb} {path} {token:?}");
            assert_eq!(answer.header("www-authenticate"), "Bearer");
        }
        for path in ["/api/v1/health", "/api/v1/ready", "/api/v1/livez"] {
            assert_eq!(stranger.call("GET", path).send().await.status, 200, "{path}");
        }
    }
    assert_eq!(coop.status().await["bytes_written"], 0);
    let lower = coop.call("GET", "/api/v1/status").header("authorization", &format!("bearer {TOKEN}")).send().await;
    assert_eq!(lower.status, 200);
    let query = as_other(&coop, None).call("GET", &format!("/api/v1/status?token={TOKEN}")).send().await;
    assert_ne!(query.status, 200, "a token in an address would end in logs: only WebSockets may");
}

#[tokio::test]
async fn grpc_takes_the_token_as_metadata() {
    let coop = guarded(&[]);
    let mut grpc = coop.place.grpc().await;
    let refused = (Code::Unauthenticated, "UNAUTHORIZED".to_owned(), "coop".to_owned());
    assert_eq!(reason_of(&grpc.get_status(v1::GetStatusRequest {}).await.unwrap_err()), refused);
    let stream = grpc.stream_output(v1::StreamOutputRequest::default()).await;
    assert_eq!(reason_of(&stream.unwrap_err()), refused);
    let mut request = tonic::Request::new(v1::GetStatusRequest {});
    request.metadata_mut().insert("authorization", format!("Bearer {TOKEN}").parse().unwrap());
    assert_eq!(grpc.get_status(request).await.unwrap().into_inner().state(), v1::SessionState::Running);
    grpc.get_health(v1::GetHealthRequest {}).await.unwrap();
    let mut health = HealthClient::new(coop.place.channel().await);
    health.check(HealthCheckRequest { service: String::new() }).await.unwrap();
    let ask = v1::ClientMessage {
        event: Some(v1::client_message::Event::Auth(v1::AuthRequest { token: TOKEN.into() })),
        request_id: None,
    };
    let status = v1::client_message::Event::StatusGet(v1::GetStatusRequest {});
    let status = v1::ClientMessage { event: Some(status), request_id: Some("s".into()) };
    let (say, said) = tokio::sync::mpsc::channel(4);
    say.send(ask).await.unwrap();
    say.send(status).await.unwrap();
    let mut told = grpc.session(tokio_stream::wrappers::ReceiverStream::new(said)).await.unwrap().into_inner();
    let first = coop.place.within("an answer", told.message()).await.unwrap().unwrap();
    assert!(matches!(first.event, Some(v1::server_message::Event::Status(_))), "{first:?}");
}

#[tokio::test]
async fn a_browsers_grpc_web_is_refused_in_its_own_language() {
    let coop = guarded(&[]);
    let call = as_other(&coop, None).call("POST", "/coop.v1.Coop/GetStatus");
    let refused = call.header("content-type", "application/grpc-web+proto").bytes(&[0; 5][..]).send().await;
    assert_eq!((refused.header("grpc-status"), refused.header("content-type")), ("16", "application/grpc-web+proto"));
}

#[tokio::test]
async fn a_websocket_shows_its_token_in_the_header_the_address_or_a_message() {
    let coop = guarded(&[]);
    let stranger = as_other(&coop, None);
    coop.place.ws("/ws?mode=state").await.next_event("transition").await;
    stranger.ws(&format!("/ws?mode=state&token={TOKEN}")).await.next_event("transition").await;
    let refused = stranger.try_ws("/ws?token=wrong", &[]).await.err().unwrap();
    assert_eq!(refused.status(), 401);
    let refused = stranger.try_ws("/ws", &[("authorization", "Bearer wrong")]).await.err().unwrap();
    assert_eq!(refused.status(), 401);

    let mut ws = stranger.ws("/ws?mode=state").await;
    assert_eq!(ws.ask(json!({"event": "ping"})).await["event"], "pong");
    for closed in
        ["screen:get", "state:get", "get:status", "replay", "input", "resize", "shutdown", "subscribe", "lock"]
    {
        let answer = ws.ask(json!({"event": closed})).await;
        assert_eq!((&answer["event"], &answer["code"]), (&json!("error"), &json!("UNAUTHORIZED")), "{closed}");
    }
    ws.say(json!({"event": "auth", "token": TOKEN})).await;
    assert_eq!(ws.hear().await.event()["event"], "transition", "the subscription begins; success has no other answer");
    assert_eq!(ws.ask(json!({"event": "input", "text": "x"})).await["bytes_written"], 1);

    let mut liar = stranger.ws("/ws").await;
    liar.say(json!({"event": "auth", "token": "wrong"})).await;
    let error = liar.hear().await.event();
    assert_eq!((&error["event"], &error["code"]), (&json!("error"), &json!("UNAUTHORIZED")));
    assert!(matches!(liar.hear().await, Heard::Closed(Some(4401))));
}

#[tokio::test]
async fn the_hook_token_opens_hook_calls_and_nothing_else() {
    let coop = guarded(&[]);
    let health = coop.get("/api/v1/health").await.ok();
    let hook = as_other(&coop, Some(&hook_token(&health["pid"])));
    for path in ["hooks/stop", "hooks/start", "stop/resolve"] {
        let answer = hook.call("POST", &format!("/api/v1/{path}")).bytes("{}").send().await;
        assert!(![401, 403].contains(&answer.status), "{path}: {}", answer.text());
    }
    for (verb, path) in
        [("GET", "status"), ("GET", "screen"), ("POST", "input"), ("POST", "shutdown"), ("GET", "attach")]
    {
        let answer = hook.call(verb, &format!("/api/v1/{path}")).send().await;
        assert_eq!(answer.refused(), (403, "FORBIDDEN".to_owned()), "{path}");
    }
    let header = format!("Bearer {}", hook.token.as_deref().unwrap());
    let refused = hook.try_ws("/ws", &[("authorization", &header)]).await.err().unwrap();
    assert_eq!(refused.status(), 403);
}

#[tokio::test]
async fn anonymous_readers_read_and_do_no_more() {
    let coop = guarded(&["--anonymous-read"]);
    let stranger = as_other(&coop, None);
    for path in ["status", "screen", "output", "agent", "wait?offset=0"] {
        assert_eq!(stranger.call("GET", &format!("/api/v1/{path}")).send().await.status, 200, "{path}");
    }
    for path in ["input", "input/keys", "resize", "signal", "lock", "shutdown", "session/restart", "hooks/stop"] {
        let answer = stranger.call("POST", &format!("/api/v1/{path}")).send().await;
        assert_eq!(answer.refused(), (401, "UNAUTHORIZED".to_owned()), "{path}");
    }
    let mut ws = stranger.ws("/ws?mode=state").await;
    ws.next_event("transition").await;
    assert_eq!(ws.ask(json!({"event": "screen:get"})).await["event"], "screen");
    assert_eq!(ws.ask(json!({"event": "resize", "cols": 9, "rows": 9})).await["code"], "UNAUTHORIZED");
    let wrong = as_other(&coop, Some("wrong")).call("GET", "/api/v1/status").send().await;
    assert_eq!(wrong.refused(), (401, "UNAUTHORIZED".to_owned()), "a wrong token is a mistake, not anonymity");
    stranger.grpc().await.get_status(v1::GetStatusRequest {}).await.unwrap();
}

#[tokio::test]
async fn a_name_that_is_not_ours_is_turned_away() {
    let coop = Coop::start(&["--port", "0", "--allow-host", "box.example"], &["cat"]);
    let status = async |host: &str| coop.call("GET", "/api/v1/status").header("host", host).send().await;
    for host in ["localhost:1", "LOCALHOST", "127.0.0.1", "[::1]:80", "127.8.8.8", "box.example", "box.example:8080"] {
        assert_eq!(status(host).await.status, 200, "{host}");
    }
    for host in ["evil.example", "10.0.0.7", "localhost.evil.example", "box.example.evil", "0.0.0.0"] {
        assert_eq!(status(host).await.refused(), (403, "FORBIDDEN".to_owned()), "{host}");
    }
    for path in ["/", "/openapi.json", "/ws", "/nothing"] {
        let answer = coop.call("GET", path).header("host", "evil.example").send().await;
        assert_eq!(answer.refused(), (403, "FORBIDDEN".to_owned()), "{path}");
    }
    let probe = coop.call("GET", "/api/v1/health").header("host", "10.0.0.7:8080").send().await;
    assert_eq!(probe.status, 200, "probes come by any address");
}

#[tokio::test]
async fn a_page_from_elsewhere_is_turned_away_unless_it_was_named() {
    let coop = Coop::start(&["--port", "0", "--allow-origin", "https://good.example"], &["cat"]);
    let from = async |verb: &str, origin: &str| {
        let call = coop.call(verb, "/api/v1/status").header("origin", origin);
        call.header("access-control-request-method", if verb == "OPTIONS" { "GET" } else { "" }).send().await
    };
    for origin in ["https://evil.example", "null", "http://localhost.evil.example", "https://good.example.evil"] {
        let answer = from("GET", origin).await;
        assert_eq!(answer.refused(), (403, "FORBIDDEN".to_owned()), "{origin}");
        assert_eq!(answer.header("access-control-allow-origin"), "");
        assert_eq!(from("OPTIONS", origin).await.header("access-control-allow-origin"), "");
        let refused = coop.place.try_ws("/ws", &[("origin", origin)]).await.err().unwrap();
        assert_eq!(refused.status(), 403, "{origin}");
    }
    let own = from("GET", &format!("http://{}", coop.place.host())).await;
    assert_eq!((own.status, own.header("access-control-allow-origin")), (200, ""), "our own page needs no CORS");
    let good = from("GET", "https://good.example").await;
    assert_eq!((good.status, good.header("access-control-allow-origin")), (200, "https://good.example"));
    let preflight = from("OPTIONS", "https://good.example").await;
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (200, "https://good.example"));
    assert!(preflight.header("access-control-allow-methods").contains("POST"));
    assert_eq!(coop.get("/api/v1/status").await.header("access-control-allow-origin"), "");
}

#[test]
fn a_public_address_without_a_token_is_refused() {
    for host in ["0.0.0.0", "::"] {
        let (code, out, err) = run_to_its_end(&["--port", "0", "--host", host], &["cat"]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains("--auth-token-file") && err.contains("--insecure-no-auth"), "{err}");
    }
    let coop = Coop::start(&["--port", "0", "--host", "0.0.0.0", "--insecure-no-auth"], &["cat"]);
    assert!(coop.listening["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{}", coop.listening);
}

#[tokio::test]
async fn the_token_is_in_no_log_and_nowhere_in_the_child() {
    let flags = ["--port", "0", "--auth-token", TOKEN, "--log-level", "trace"];
    let coop = Coop::start_with(&flags, &["cat"], |command| {
        command.env("COOP_AUTH_TOKEN", TOKEN);
    });
    as_other(&coop, Some("wrong")).call("GET", "/api/v1/status").send().await;
    coop.place.ws(&format!("/ws?token={TOKEN}")).await.next_event("transition").await;
    let status = coop.status().await;
    let hook = hook_token(&status["pid"]);
    let pid = status["pid"].as_i64().unwrap();
    let cmdline = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    assert!(!cmdline.contains(TOKEN));
    assert!(!environment(i32::try_from(pid).unwrap()).iter().any(|entry| entry.contains(TOKEN)));
    coop.post("/api/v1/shutdown", json!({})).await.ok();
    coop.left().await;
    let log = coop.place.log.text();
    assert!(log.lines().count() > 1, "{log}");
    assert!(!log.contains(TOKEN) && !log.contains(&hook), "{log}");
    assert!(!status.to_string().contains(TOKEN));
}
