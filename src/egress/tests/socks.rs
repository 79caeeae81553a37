//! SOCKS5.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::{Far, Line, PUBLIC, Proxy, World, soon};
use crate::egress::Why;

const GREETING: [u8; 3] = [5, 1, 0];

fn by_name(name: &str, port: u16) -> Vec<u8> {
    let length = u8::try_from(name.len()).unwrap();
    [&[5, 1, 0, 3, length], name.as_bytes(), &port.to_be_bytes()].concat()
}

async fn proxy(far: &Far) -> Proxy {
    let world = World::around(far).name("x.org", &[PUBLIC]).name("down.org", &["203.0.113.2"]).refuses("203.0.113.2");
    Proxy::start(&["x.org", "down.org", "198.51.100.1", "2001:db8::1"], world).await
}

/// Greets and asks; how the proxy answers.
async fn ask(proxy: &Proxy, request: &[u8]) -> (Line, [u8; 10]) {
    let mut line = proxy.connect().await;
    line.0.write_all(&GREETING).await.unwrap();
    assert_eq!(read(&mut line).await, [5, 0]);
    line.0.write_all(request).await.unwrap();
    let reply = read(&mut line).await;
    (line, reply)
}

async fn read<const N: usize>(line: &mut Line) -> [u8; N] {
    let mut bytes = [0; N];
    soon("a reply", line.0.read_exact(&mut bytes)).await.unwrap();
    bytes
}

const CONNECTED: [u8; 10] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0];

#[tokio::test]
async fn names_and_addresses_are_reached_and_bytes_pass_with_both_ends() {
    let far = Far::listen().await;
    let proxy = proxy(&far).await;
    let v4 = [&[5, 1, 0, 1, 198, 51, 100, 1][..], &443u16.to_be_bytes()].concat();
    let v6: [u8; 16] = "2001:db8::1".parse::<std::net::Ipv6Addr>().unwrap().octets();
    let v6 = [&[5, 1, 0, 4][..], &v6, &443u16.to_be_bytes()].concat();
    for request in [by_name("X.org.", 443), by_name("198.51.100.1", 80), v4, v6] {
        let (mut near, reply) = ask(&proxy, &request).await;
        assert_eq!(reply, CONNECTED);
        let mut inner = far.accept().await;
        near.send("question").await;
        near.end().await;
        assert_eq!(inner.rest().await, "question");
        inner.send("answer").await;
        inner.end().await;
        assert_eq!(near.rest().await, "answer");
    }
    assert_eq!(proxy.world.dialled(), ["203.0.113.1:443", "198.51.100.1:80", "198.51.100.1:443", "[2001:db8::1]:443"]);
}

#[tokio::test]
async fn a_refusal_is_reply_2_and_an_event() {
    let far = Far::listen().await;
    let mut proxy = proxy(&far).await;
    let (mut near, reply) = ask(&proxy, &by_name("evil.org", 443)).await;
    assert_eq!((reply[1], near.rest().await.as_str()), (2, ""));
    let denial = proxy.denial().await;
    assert_eq!((denial.host.as_str(), denial.port, denial.why), ("evil.org", 443, Why::NotListed));
    let loopback = [&[5, 1, 0, 1, 127, 0, 0, 1][..], &80u16.to_be_bytes()].concat();
    assert_eq!(ask(&proxy, &loopback).await.1[1], 2);
    assert_eq!(proxy.denial().await.host, "127.0.0.1");
    assert_eq!(proxy.world.dialled(), Vec::<String>::new());
}

#[tokio::test]
async fn what_fails_or_is_not_served_has_its_own_reply() {
    let far = Far::listen().await;
    let proxy = proxy(&far).await;
    let bind = [&[5, 2], &by_name("x.org", 443)[2..]].concat();
    let strange = [5, 1, 0, 9, 1, 2, 3];
    for (request, reply) in [
        (by_name("down.org", 443), 5),
        (by_name("a..b", 443), 4),
        (by_name("", 443), 4),
        (by_name("b\u{fc}cher.example", 443), 4),
        (bind, 7),
        (strange.to_vec(), 8),
    ] {
        assert_eq!(ask(&proxy, &request).await.1[1], reply, "{request:?}");
    }
    let mut passwords_only = proxy.connect().await;
    passwords_only.0.write_all(&[5, 1, 2]).await.unwrap();
    assert_eq!(read(&mut passwords_only).await, [5, 0xff]);
    assert_eq!(passwords_only.rest().await, "");
}

#[tokio::test]
async fn a_request_may_come_in_single_bytes() {
    let far = Far::listen().await;
    let proxy = proxy(&far).await;
    let mut near = proxy.connect().await;
    near.0.set_nodelay(true).unwrap();
    for byte in GREETING.into_iter().chain(by_name("x.org", 80)) {
        near.0.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(read(&mut near).await, [5, 0]);
    assert_eq!(read(&mut near).await, CONNECTED);
}
