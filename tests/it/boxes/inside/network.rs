//! Ports of a box on the machine, and no others.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use super::super::user::User;
use crate::support::PATIENCE;

/// Says hello to whoever comes, inside.
const SERVER: &str = "use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1:3000', Listen => 5, \
                      ReuseAddr => 1) or die $!; while (my $c = $s->accept) { print $c 'hello from inside'; close $c }";

fn said(port: u16) -> String {
    let mut text = String::new();
    if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
        let _ = stream.read_to_string(&mut text);
    }
    text
}

#[tokio::test]
async fn a_published_port_leads_into_the_box_for_as_long_as_it_runs() {
    let user = User::new();
    user.says(&format!("[box]\ncommand = [\"perl\", \"-e\", \"{SERVER}\"]\n[network]\npublish = [\"0:3000\"]\n")).await;
    let made = user.tries(&["--json"]).await;
    let published = made.json()["published"][0].clone();
    let told = published.as_str().and_then(|told| told.strip_prefix("127.0.0.1:")?.strip_suffix(":3000")?.parse().ok());
    let port: u16 = told.unwrap_or_else(|| panic!("the port that was taken is told: {made:?}"));
    let deadline = Instant::now() + PATIENCE;
    // The program takes a moment until it listens.
    while said(port) != "hello from inside" {
        assert!(Instant::now() < deadline, "nobody answers at port {port}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(TcpStream::connect("127.0.0.1:3000").is_err(), "the box's own port is not the machine's");
    user.run(&["stop", super::NAME]).await.ok();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "the port closes with the box");
}

/// Knocks at a port of the machine, past the proxy and by it, under each name that somebody might try.
fn knocks(port: u16) -> String {
    let script = "use IO::Socket::INET; sub dial { IO::Socket::INET->new(PeerAddr => q(127.0.0.1), PeerPort => shift) } \
                  print dial(PORT) ? q(reached) : q(alone); \
                  for my $host (qw(host.coop 127.0.0.1 localhost)) { my $s = dial(3128) or die $!; \
                  print $s qq(CONNECT $host:PORT HTTP/1.1\\r\\nHost: $host:PORT\\r\\n\\r\\n); print q( ), <$s> =~ m{ (\\d+)} }";
    format!("perl -e '{}'", script.replace("PORT", &port.to_string()))
}

#[tokio::test]
async fn a_filtered_box_reaches_a_server_of_the_machine_only_if_the_list_has_it() {
    let user = User::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    user.has("[network]\nmode = \"filtered\"\nallow = [\"elsewhere.example\"]\n").await;
    assert_eq!(user.told(&knocks(port)).await, "alone 403 403 403");
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "nobody came");
    user.run(&["rm", "--force", super::NAME]).await.ok();

    user.has(&format!("[network]\nmode = \"filtered\"\nallow = [\"host.coop:{port}\"]\n")).await;
    assert!(user.told(&knocks(port)).await.starts_with("alone 200 "), "by the proxy alone");
    assert!(listener.accept().is_ok(), "somebody came");
}

#[tokio::test]
async fn a_port_that_somebody_has_is_told_and_no_box_runs() {
    let user = User::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    user.says(&format!("[network]\npublish = [\"{port}:3000\"]\n")).await;
    let failed = user.tries(&["-d", "--", "cat"]).await;
    assert!(failed.code == Some(1) && failed.err.contains(&port.to_string()), "{failed:?}");
    let boxes = user.run(&["ls", "--json"]).await.json();
    assert_eq!(boxes["boxes"][0]["state"], "stopped");
}
