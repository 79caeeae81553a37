//! A host that a box may not reach is told to whoever follows its session.

use serde_json::json;

use super::user::{User, session_of};

/// Asks the proxy of the box for a way to a host, and prints its answer.
const ASKS: &str = "exec 3<>/dev/tcp/127.0.0.1/3128; \
    printf 'CONNECT nobody.example:8443 HTTP/1.1\\r\\nHost: nobody.example:8443\\r\\n\\r\\n' >&3; \
    head -1 <&3; read line";

#[tokio::test]
async fn whom_a_box_was_kept_from_is_an_event_of_its_session() {
    let user = User::new();
    let daemon = user.daemon().await;
    let mut source = user.source("a", &["bash", "-c", ASKS]);
    source["network"] = json!("filtered");
    let made = daemon.create(source).await.ok();
    let mut events = session_of(&made).call("GET", "/api/v1/stream/events?mode=state&after_seq=0").stream().await;
    let denied = loop {
        let event = events.value().await;
        if event["event"] == "network:denied" {
            break event;
        }
    };
    let told = (&denied["host"], &denied["port"], &denied["reason"], &denied["untold"]);
    assert_eq!(told, (&json!("nobody.example"), &json!(8443), &json!("not_listed"), &json!(0)));
    assert!(denied["seq"].as_u64().unwrap() > 0);
}
