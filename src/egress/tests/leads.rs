//! Where names lead: never to the machine itself, and never to another address than the one that was checked.

use super::support::{Far, PUBLIC, Proxy, World, connect};
use crate::egress::{Kind, Why};

#[tokio::test]
async fn a_listed_name_is_no_way_to_the_machine_or_its_neighbours() {
    let far = Far::listen().await;
    for (address, kind, opened_by) in [
        ("127.0.0.1", Kind::Loopback, "127.0.0.1"),
        ("::1", Kind::Loopback, "::1"),
        ("::ffff:127.0.0.1", Kind::Loopback, "127.0.0.1"),
        ("0.0.0.0", Kind::Unspecified, ""),
        ("169.254.169.254", Kind::Metadata, "169.254.169.254"),
        ("fe80::1", Kind::LinkLocal, "fe80::/10"),
        ("10.0.0.1", Kind::Private, "10.0.0.0/24"),
        ("203.0.113.99", Kind::ThisMachine, "203.0.113.99"),
    ] {
        let world = || World::around(&far).name("rebound.org", &[address]).own("203.0.113.99");
        let mut proxy = Proxy::start(&["rebound.org", "0.0.0.0/0", "::/0"], world()).await;
        let (head, body) = proxy.say(&connect("rebound.org:443")).await.answer().await;
        assert!(head.starts_with("HTTP/1.1 403 rebound.org:443 leads to "), "{address}: {head}");
        assert!(head.contains("error=destination_ip_prohibited"), "{head}");
        assert!(body.contains("coop.toml"), "{body}");
        let told = proxy.denial().await.why;
        assert!(matches!(told, Why::Address { kind: seen, .. } if seen == kind), "{address}: {told:?}");
        assert_eq!(proxy.world.dialled(), Vec::<String>::new(), "{address}");
        if !opened_by.is_empty() {
            let proxy = Proxy::start(&["rebound.org", opened_by], world()).await;
            proxy.tunnel(&far, "rebound.org:443").await;
        }
    }
}

#[tokio::test]
async fn the_address_that_was_checked_is_dialled_and_nothing_is_looked_up_twice() {
    let far = Far::listen().await;
    let world = World::around(&far).name("mixed.org", &["127.0.0.1", "10.0.0.1", PUBLIC, "::1"]);
    let proxy = Proxy::start(&["mixed.org"], world).await;
    proxy.tunnel(&far, "mixed.org:443").await;
    assert_eq!(proxy.world.dialled(), [format!("{PUBLIC}:443")]);
    assert_eq!(proxy.world.lookups(), ["mixed.org"]);
}

#[tokio::test]
async fn host_coop_is_the_machines_loopback_and_is_never_looked_up() {
    let far = Far::listen().await;
    let world = World::around(&far).name("host.coop", &[PUBLIC]);
    let mut proxy = Proxy::start(&["host.coop:8080", "*.coop"], world).await;
    proxy.tunnel(&far, "HOST.coop:8080").await;
    assert_eq!((proxy.world.dialled(), proxy.world.lookups()), (vec!["127.0.0.1:8080".to_owned()], vec![]));
    let (head, body) = proxy.say(&connect("host.coop:80")).await.answer().await;
    assert!(head.starts_with("HTTP/1.1 403 host.coop:80 "), "{head}");
    assert!(body.contains("add \"host.coop:80\" to network.allow"), "{body}");
    assert_eq!(proxy.denial().await.why, Why::PortNotListed(vec![8080]));
}

#[tokio::test]
async fn an_address_is_asked_for_as_it_is() {
    let far = Far::listen().await;
    let proxy = Proxy::start(&["[2001:db8::7]:8443", "198.51.100.0/24"], World::around(&far)).await;
    proxy.tunnel(&far, "[2001:db8::7]:8443").await;
    proxy.tunnel(&far, "198.51.100.9:80").await;
    proxy.tunnel(&far, "[::ffff:198.51.100.9]:80").await;
    assert_eq!(proxy.world.dialled(), ["[2001:db8::7]:8443", "198.51.100.9:80", "198.51.100.9:80"]);
    let head = proxy.say(&connect("[2001:db8::8]:8443")).await.head().await;
    assert!(head.starts_with("HTTP/1.1 403 [2001:db8::8]:8443 is not allowed"), "{head}");
    assert_eq!(proxy.world.lookups(), Vec::<String>::new());
}

#[tokio::test]
async fn an_address_that_fails_or_is_silent_gives_way_to_the_next() {
    let far = Far::listen().await;
    let world = World::around(&far)
        .name("x.org", &["2001:db8::1", "2001:db8::2", PUBLIC])
        .silent("2001:db8::1")
        .refuses(PUBLIC);
    let proxy = Proxy::start(&["x.org"], world).await;
    proxy.tunnel(&far, "x.org:443").await;
    assert_eq!(proxy.world.dialled(), ["[2001:db8::1]:443", "203.0.113.1:443", "[2001:db8::2]:443"]);
}

#[tokio::test]
async fn who_cannot_be_reached_is_named_with_the_reason() {
    let far = Far::listen().await;
    let world = World::around(&far).name("down.org", &[PUBLIC]).refuses(PUBLIC).name("empty.org", &[]);
    let mut proxy = Proxy::start(&["down.org", "unknown.org", "empty.org"], world).await;
    for (to, says) in [
        ("down.org:443", "502 down.org:443 cannot be reached: connection refused"),
        ("unknown.org:443", "502 unknown.org:443 cannot be looked up: no such name"),
        ("empty.org:443", "502 empty.org:443 cannot be reached: the name has no address"),
    ] {
        let head = proxy.say(&connect(to)).await.head().await;
        assert!(head.starts_with(&format!("HTTP/1.1 {says}\r\n")), "{head}");
    }
    assert!(proxy.denials.try_recv().is_err(), "a failure is no refusal");
}
