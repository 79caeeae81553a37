//! Plain requests with a whole address.

use super::support::{Far, PUBLIC, Proxy, World};

async fn open_world() -> (Far, World) {
    let far = Far::listen().await;
    let world = World::around(&far).name("x.org", &[PUBLIC]).name("y.org", &["203.0.113.2"]);
    (far, world)
}

const GET: &str = "GET http://x.org/ HTTP/1.1\r\nHost: x.org\r\n\r\n";

#[tokio::test]
async fn a_request_arrives_as_if_it_had_been_made_directly() {
    let (far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org:8080"], world).await;
    let mut near = proxy
        .say(
            "GET http://x.org:8080/a/b?c=d%20e HTTP/1.1\r\nHost: other.org\r\nX-Mixed: One\r\nAuthorization: Bearer s\r\n\
             Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\nConnection: x-hop\r\nX-Hop: 1\r\n\r\n",
        )
        .await;
    let mut inner = far.accept().await;
    let head = inner.head().await;
    let mut lines: Vec<&str> = head.trim_end().split("\r\n").collect();
    assert_eq!(lines.remove(0), "GET /a/b?c=d%20e HTTP/1.1");
    lines.sort_unstable();
    // The Host is the one that was checked; names keep the case in which they were written.
    assert_eq!(lines, ["Authorization: Bearer s", "Connection: close", "Host: x.org:8080", "X-Mixed: One"]);
    inner.send("HTTP/1.1 200 Fine\r\nContent-Length: 2\r\nX-Two: b\r\nConnection: close\r\nProxy-Authenticate: x\r\n\r\nok").await;
    let (head, body) = near.answer().await;
    assert_eq!((head.as_str(), body.as_str()), ("HTTP/1.1 200 Fine\r\nContent-Length: 2\r\nX-Two: b\r\n\r\n", "ok"));
}

#[tokio::test]
async fn each_request_of_a_connection_is_asked_about_and_dialled_for_itself() {
    let (far, world) = open_world().await;
    let mut proxy = Proxy::start(&["x.org", "y.org"], world).await;
    let mut near = proxy.say(GET).await;
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1";
    far.accept().await.send(answer).await;
    assert_eq!(near.answer().await.1, "1");
    near.send("GET http://evil.org/ HTTP/1.1\r\nHost: x.org\r\n\r\n").await;
    let (head, body) = near.answer().await;
    assert!(head.starts_with("HTTP/1.1 403 evil.org:80 is not allowed"), "{head}");
    assert!(body.contains("add \"evil.org\" to network.allow"), "{body}");
    near.send(&GET.replace("x.org", "y.org")).await;
    far.accept().await.send(answer).await;
    assert_eq!(near.answer().await.1, "1");
    assert_eq!(proxy.world.dialled(), ["203.0.113.1:80", "203.0.113.2:80"]);
    assert_eq!(proxy.denial().await.host, "evil.org");
}

#[tokio::test]
async fn bodies_pass_in_both_directions_whatever_their_framing() {
    let (far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    let large = "b".repeat(1_000_000);
    let mut near = proxy.connect().await;
    let head = format!("POST http://x.org/up HTTP/1.1\r\nHost: x.org\r\nContent-Length: {}\r\n\r\n", large.len());
    let (mut inner, ()) = tokio::join!(far.accept(), async {
        near.send(&head).await;
    });
    let ((), (seen, body)) = tokio::join!(near.send(&large), inner.answer());
    assert!(seen.starts_with("POST /up HTTP/1.1\r\n") && body == large, "{seen}");
    inner.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n").await;
    assert_eq!(near.head().await, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_eq!(near.exactly(13).await, "3\r\nabc\r\n0\r\n\r\n");

    near.send("GET http://x.org/ HTTP/1.1\r\nHost: x.org\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
        .await;
    let mut inner = far.accept().await;
    let seen = inner.head().await.to_ascii_lowercase();
    assert!(seen.contains("transfer-encoding: chunked\r\n") && !seen.contains("content-length"), "{seen}");
    assert_eq!(inner.exactly(12).await, "2\r\nhi\r\n0\r\n\r\n");
    // Nothing says how long this answer is but its end.
    inner.send("HTTP/1.0 200 OK\r\n\r\nuntil the end").await;
    drop(inner);
    near.head().await;
    assert_eq!(near.exactly(23).await, "D\r\nuntil the end\r\n0\r\n\r\n");
}

#[tokio::test]
async fn an_answer_to_head_keeps_its_length_and_has_no_body() {
    let (far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    let mut near = proxy.say(&GET.replace("GET", "HEAD")).await;
    far.accept().await.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n").await;
    assert_eq!(near.head().await, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
    near.send(GET).await;
    far.accept().await.send("HTTP/1.1 204 No Content\r\n\r\n").await;
    assert_eq!(near.head().await, "HTTP/1.1 204 No Content\r\n\r\n");
}

#[tokio::test]
async fn one_who_waits_to_go_on_is_told_to_and_one_who_is_refused_is_not() {
    let (far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    let post = "POST http://x.org/ HTTP/1.1\r\nHost: x.org\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    let mut near = proxy.say(post).await;
    assert_eq!(near.head().await, "HTTP/1.1 100 Continue\r\n\r\n");
    near.send("hi").await;
    assert_eq!(far.accept().await.answer().await.1, "hi");
    let head = proxy.say(&post.replace("x.org", "evil.org")).await.head().await;
    assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
}

#[tokio::test]
async fn a_refusal_is_read_even_by_one_who_is_still_sending() {
    let (_far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    let mut near = proxy.connect().await;
    let body = "b".repeat(500_000);
    near.send(&format!(
        "POST http://evil.org/ HTTP/1.1\r\nHost: evil.org\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ))
    .await;
    let (head, body) = near.answer().await;
    assert!(head.starts_with("HTTP/1.1 403 ") && body.contains("evil.org"), "{head}");
}

#[tokio::test]
async fn a_program_that_gives_up_ends_its_request_on_the_far_side_too() {
    let (far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    let near = proxy.say(GET).await;
    let mut inner = far.accept().await;
    inner.head().await;
    drop(near);
    assert_eq!(inner.ending().await.unwrap_or_default(), "", "before an answer");

    let mut near = proxy.say(GET).await;
    let mut inner = far.accept().await;
    inner.head().await;
    inner.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nfirst").await;
    near.head().await;
    near.exactly(5).await;
    drop(near);
    assert_eq!(inner.ending().await.unwrap_or_default(), "", "in the middle of one");
}

#[tokio::test]
async fn an_answer_that_is_cut_off_does_not_look_whole() {
    let (far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    for framing in ["Content-Length: 1000\r\n\r\nfirst", "Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"] {
        let mut near = proxy.say(GET).await;
        let mut inner = far.accept().await;
        inner.head().await;
        inner.send(&format!("HTTP/1.1 200 OK\r\n{framing}")).await;
        near.head().await;
        inner.end().await;
        let seen = near.ending().await.unwrap_or_default();
        assert!(!seen.ends_with("0\r\n\r\n") && seen.len() < 1000, "{seen:?}");
    }
}

#[tokio::test]
async fn a_far_side_that_talks_nonsense_is_a_bad_gateway() {
    let (far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    let flood = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(200_000));
    for nonsense in
        ["SSH-2.0-OpenSSH_9.9\r\n\r\n", "", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", &flood]
    {
        let mut near = proxy.say(GET).await;
        let mut inner = far.accept().await;
        inner.head().await;
        // A flood is not taken to its end.
        let _ = tokio::io::AsyncWriteExt::write_all(&mut inner.0, nonsense.as_bytes()).await;
        drop(inner);
        let head = near.head().await;
        assert!(head.starts_with("HTTP/1.1 502 x.org:80 "), "{head}");
    }
}

#[tokio::test]
async fn what_is_no_request_to_a_proxy_is_answered_with_what_would_be() {
    let (_far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    for (line, says) in [
        ("GET / HTTP/1.1", "HTTP_PROXY"),
        ("GET https://x.org/ HTTP/1.1", "CONNECT"),
        ("GET ftp://x.org/ HTTP/1.1", "only http://"),
        ("GET http://user:pass@x.org/ HTTP/1.1", "is no host"),
        ("GET http://x.org@evil.org/ HTTP/1.1", "is no host"),
        ("GET http://evil.org#@x.org/ HTTP/1.1", ""),
        ("GET http://2130706433/ HTTP/1.1", "all four numbers"),
    ] {
        let head = proxy.say(&format!("{line}\r\nHost: x.org\r\n\r\n")).await.head().await;
        let refused =
            head.starts_with("HTTP/1.1 400 ") || (says.is_empty() && head.starts_with("HTTP/1.1 403 evil.org"));
        assert!(refused && head.contains(says), "{line}: {head}");
    }
    assert_eq!(proxy.world.dialled(), Vec::<String>::new());
}
