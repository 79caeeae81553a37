//! Tunnels by CONNECT.

use std::io::ErrorKind;
use std::time::Duration;

use super::support::{Far, PUBLIC, Proxy, World, connect};
use crate::egress::Why;
use crate::egress::proxy::Limits;

async fn open_world() -> (Far, World) {
    let far = Far::listen().await;
    let world = World::around(&far).name("x.org", &[PUBLIC]);
    (far, world)
}

#[tokio::test]
async fn a_tunnel_carries_bytes_both_ways_and_those_that_came_early() {
    let (far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    let mut near = proxy.say(&(connect("X.org:443") + "early")).await;
    assert_eq!(near.head().await, "HTTP/1.1 200 OK\r\n\r\n");
    let mut inner = far.accept().await;
    assert_eq!(inner.exactly(5).await, "early");
    near.send("\u{16}hello").await;
    assert_eq!(inner.exactly(6).await, "\u{16}hello");
    inner.send("welcome").await;
    assert_eq!(near.exactly(7).await, "welcome");
    assert_eq!(proxy.world.dialled(), [format!("{PUBLIC}:443")]);
}

#[tokio::test]
async fn one_side_may_end_while_the_other_goes_on() {
    let (far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    let (mut near, mut inner) = proxy.tunnel(&far, "x.org:443").await;
    near.send("question").await;
    near.end().await;
    assert_eq!(inner.rest().await, "question");
    inner.send("a long answer").await;
    inner.end().await;
    assert_eq!(near.rest().await, "a long answer");

    let (mut near, mut inner) = proxy.tunnel(&far, "x.org:443").await;
    inner.send("greeting").await;
    inner.end().await;
    assert_eq!(near.rest().await, "greeting");
    near.send("still here").await;
    near.end().await;
    assert_eq!(inner.rest().await, "still here");
}

#[tokio::test]
async fn a_side_that_breaks_off_is_not_taken_for_one_that_ended() {
    let (far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    let (mut near, mut inner) = proxy.tunnel(&far, "x.org:443").await;
    inner.send("half of i").await;
    assert_eq!(near.exactly(9).await, "half of i");
    inner.reset();
    assert_eq!(near.ending().await.unwrap_err().kind(), ErrorKind::ConnectionReset);

    let (near, mut inner) = proxy.tunnel(&far, "x.org:443").await;
    near.reset();
    assert_eq!(inner.ending().await.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn an_open_tunnel_may_be_silent_for_longer_than_any_limit_but_half_of_one_may_not() {
    let (far, world) = open_world().await;
    let brief = Duration::from_millis(50);
    let limits = Limits { head_within: brief, half_open_idle: brief, ..Limits::default() };
    let proxy = Proxy::within(limits, &["x.org"], world).await;
    let (mut near, mut inner) = proxy.tunnel(&far, "x.org:443").await;
    let (mut forgotten, mut forgotten_inner) = proxy.tunnel(&far, "x.org:443").await;
    forgotten.end().await;
    assert_eq!(forgotten_inner.rest().await, "");
    // Its end shows that the time is over, and more than that for the one which was opened before.
    assert_eq!(forgotten.ending().await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    near.send("awake").await;
    assert_eq!(inner.exactly(5).await, "awake");
}

#[tokio::test]
async fn a_refusal_says_who_and_what_would_allow_it_and_is_an_event() {
    let (_far, world) = open_world().await;
    let mut proxy = Proxy::start(&["x.org:22"], world).await;
    let mut near = proxy.say(&connect("Evil.example.:443")).await;
    let (head, body) = near.answer().await;
    assert!(
        head.starts_with("HTTP/1.1 403 evil.example:443 is not allowed (network.allow of coop.toml, or --allow)\r\n"),
        "{head}"
    );
    assert!(head.contains("proxy-status: coop; error=http_request_denied\r\n"), "{head}");
    let expected = "coop: evil.example:443 is not allowed (network.allow of coop.toml, or --allow)\n\n\
                    To allow it, add \"evil.example\" to network.allow in coop.toml, or give `coop up` --allow evil.example.\n";
    assert_eq!(body, expected);
    assert_eq!(near.rest().await, "", "the connection is closed");
    let denial = proxy.denial().await;
    assert_eq!((denial.host.as_str(), denial.port, denial.why), ("evil.example", 443, Why::NotListed));

    let (head, _) = proxy.say(&connect("x.org:443")).await.answer().await;
    assert!(
        head.starts_with(
            "HTTP/1.1 403 x.org:443 is allowed (network.allow of coop.toml, or --allow) only with port 22\r\n"
        ),
        "{head}"
    );
    assert_eq!(proxy.denial().await.why, Why::PortNotListed(vec![22]));
    assert_eq!((proxy.world.lookups(), proxy.world.dialled()), (vec![], vec![]), "nobody was asked, nobody dialled");
}

#[tokio::test]
async fn what_follows_a_refused_tunnel_is_not_taken_for_a_request() {
    let (_far, world) = open_world().await;
    let proxy = Proxy::start(&["x.org"], world).await;
    let text = connect("evil.org:80") + "GET http://x.org/ HTTP/1.1\r\nHost: x.org\r\n\r\n";
    let mut near = proxy.say(&text).await;
    let (head, _) = near.answer().await;
    assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
    assert_eq!(near.until_quiet().await, "", "nothing more is said");
    assert_eq!(proxy.world.dialled(), Vec::<String>::new());
}

#[tokio::test]
async fn a_tunnel_to_nowhere_in_particular_is_a_bad_request() {
    let (_far, world) = open_world().await;
    let mut proxy = Proxy::start(&["x.org", "*.x.org"], world).await;
    for to in ["x.org", "x.org:0", "x.org:", "x.org:99999", "me@x.org:443", "127.1:443", "x..org:443", "a:b:443"] {
        let head = proxy.say(&connect(to)).await.head().await;
        assert!(head.starts_with("HTTP/1.1 400 "), "{to}: {head}");
    }
    let body = "CONNECT x.org:443 HTTP/1.1\r\nHost: x.org\r\nContent-Length: 5\r\n\r\nhello";
    let head = proxy.say(body).await.head().await;
    assert!(head.starts_with("HTTP/1.1 400 CONNECT takes no body"), "{head}");
    assert_eq!(proxy.world.dialled(), Vec::<String>::new());
    assert!(proxy.denials.try_recv().is_err(), "nobody was refused");
}
