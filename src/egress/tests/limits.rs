//! Nothing is without a limit, and no limit takes a stream from one who behaves.

use std::time::Duration;

use super::support::{Far, PUBLIC, Proxy, World, connect};
use crate::egress::proxy::Limits;

async fn open_world() -> (Far, World) {
    let far = Far::listen().await;
    let world = World::around(&far).name("x.org", &[PUBLIC]).name("slow.org", &["203.0.113.9"]).silent("203.0.113.9");
    (far, world)
}

#[tokio::test]
async fn one_connection_too_many_waits_its_turn() {
    let (far, world) = open_world().await;
    let proxy = Proxy::within(Limits { connections: 2, ..Limits::default() }, &["x.org"], world).await;
    let (first, _inner) = proxy.tunnel(&far, "x.org:443").await;
    let (mut second, mut second_inner) = proxy.tunnel(&far, "x.org:443").await;
    let mut third = proxy.say(&connect("x.org:443")).await;
    // What the second still does shows that the proxy works while the third has no answer.
    second.send("busy").await;
    assert_eq!(second_inner.exactly(4).await, "busy");
    assert_eq!(proxy.world.dialled().len(), 2);
    first.reset();
    assert!(third.head().await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn who_does_not_say_whom_it_wants_is_let_go() {
    let (_far, world) = open_world().await;
    let limits = Limits { head_within: Duration::from_millis(50), ..Limits::default() };
    let proxy = Proxy::within(limits, &["x.org"], world).await;
    for beginning in ["", "CONNECT x.org:4", "\u{5}", "\u{5}\u{1}\u{0}"] {
        let mut near = proxy.say(beginning).await;
        let said = near.ending().await.unwrap_or_default();
        assert!(said.len() <= 2 || said.starts_with("HTTP/1.1 408"), "{beginning:?}: {said:?}");
    }
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let (_far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    let mut near = proxy.connect().await;
    let endless = format!("GET http://x.org/ HTTP/1.1\r\nX: {}", "y".repeat(100_000));
    // It may be refused before all of it is sent.
    let _ = tokio::io::AsyncWriteExt::write_all(&mut near.0, endless.as_bytes()).await;
    let head = near.head().await;
    assert!(head.starts_with("HTTP/1.1 431 "), "{head}");
    assert_eq!(proxy.world.dialled(), Vec::<String>::new());
}

#[tokio::test]
async fn a_dial_that_nobody_answers_ends_with_the_reason() {
    let (_far, world) = open_world().await;
    let limits = Limits { dial_within: Duration::from_millis(50), ..Limits::default() };
    let proxy = Proxy::within(limits, &["slow.org"], world).await;
    let head = proxy.say(&connect("slow.org:443")).await.head().await;
    assert!(head.starts_with("HTTP/1.1 504 slow.org:443 did not answer in time\r\n"), "{head}");
}

#[tokio::test]
async fn a_loop_of_refusals_is_one_event_with_their_number_in_the_next() {
    let (_far, world) = open_world().await;
    let mut proxy = Proxy::start(&["x.org"], world).await;
    for _ in 0..50 {
        proxy.say(&connect("evil.org:443")).await.head().await;
    }
    proxy.say(&connect("other.org:443")).await.head().await;
    let (first, second) = (proxy.denial().await, proxy.denial().await);
    assert_eq!((first.host.as_str(), first.untold), ("evil.org", 0));
    assert_eq!((second.host.as_str(), second.untold), ("other.org", 49));
    assert!(proxy.denials.try_recv().is_err());
}

#[tokio::test]
async fn when_the_box_is_gone_so_is_every_connection() {
    let (far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    let (mut near, mut inner) = proxy.tunnel(&far, "x.org:443").await;
    let mut plain = proxy.say("GET http://x.org/ HTTP/1.1\r\nHost: x.org\r\n\r\n").await;
    let mut plain_inner = far.accept().await;
    plain_inner.head().await;
    proxy.stop();
    for line in [&mut near, &mut inner, &mut plain, &mut plain_inner] {
        assert_eq!(line.ending().await.unwrap_or_default(), "");
    }
}
