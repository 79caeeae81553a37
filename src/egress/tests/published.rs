//! Published ports.

use std::io::ErrorKind;
use std::net::SocketAddr;

use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::support::{Far, Line, soon};
use crate::egress::{PublishRule, serve_published};

fn rule(entry: &str) -> PublishRule {
    PublishRule::parse_all(&[entry.to_owned()]).unwrap()[0]
}

/// A published port whose far side is `inside`.
async fn publish(inside: SocketAddr, cancel: &CancellationToken) -> SocketAddr {
    let published = rule(&format!("0:{}", inside.port())).bind().await.unwrap();
    let at = published.at;
    assert!(at.ip().is_loopback() && at.port() != 0, "{at}");
    let dial = |port| std::net::TcpStream::connect(("127.0.0.1", port));
    tokio::spawn(serve_published(published, dial, cancel.clone()));
    at
}

#[tokio::test]
async fn a_published_port_leads_inside_with_both_ends() {
    let (far, cancel) = (Far::listen().await, CancellationToken::new());
    let _ends = cancel.clone().drop_guard();
    let at = publish(far.at(), &cancel).await;
    for _ in 0..2 {
        let mut near = Line(TcpStream::connect(at).await.unwrap());
        let mut inner = far.accept().await;
        near.send("question").await;
        near.end().await;
        assert_eq!(inner.rest().await, "question");
        inner.send("answer").await;
        inner.end().await;
        assert_eq!(near.rest().await, "answer");
    }
}

#[tokio::test]
async fn when_nobody_listens_inside_a_caller_is_reset() {
    let far = Far::listen().await;
    let nobody = far.at();
    drop(far);
    let cancel = CancellationToken::new();
    let _ends = cancel.clone().drop_guard();
    let at = publish(nobody, &cancel).await;
    let mut near = Line(TcpStream::connect(at).await.unwrap());
    assert_eq!(near.ending().await.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn when_the_box_is_gone_its_ports_are_closed() {
    let (far, cancel) = (Far::listen().await, CancellationToken::new());
    let published = rule(&format!("0:{}", far.at().port())).bind().await.unwrap();
    let at = published.at;
    let serving = tokio::spawn(serve_published(
        published,
        |port| std::net::TcpStream::connect(("127.0.0.1", port)),
        cancel.clone(),
    ));
    let mut near = Line(TcpStream::connect(at).await.unwrap());
    let mut inner = far.accept().await;
    cancel.cancel();
    soon("the end of the listener", serving).await.unwrap();
    assert_eq!((near.ending().await.unwrap_or_default(), inner.ending().await.unwrap_or_default()), Default::default());
    assert!(TcpStream::connect(at).await.is_err());
}

#[tokio::test]
async fn a_port_that_is_taken_is_named_with_the_way_out() {
    let taken = Far::listen().await;
    let error = rule(&format!("{}:3000", taken.at().port())).bind().await.unwrap_err().to_string();
    let expected = format!("cannot publish port 3000 of the box at {}: ", taken.at());
    assert!(
        error.starts_with(&expected) && error.contains("network.publish = [\"0:3000\"] takes any free port"),
        "{error}"
    );
    let elsewhere = rule("192.0.2.1:0:3000").bind().await.unwrap_err().to_string();
    assert!(elsewhere.contains("no address of this machine"), "{elsewhere}");
}
