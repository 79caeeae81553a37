//! One daemon for each user: started by whoever needs it first, gone when nobody does, and never missed by a session.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};

use futures_util::future::join_all;
use nix::sys::signal::Signal;
use serde_json::json;

use super::user::{Daemon, User, gone, pid_of, session_of};
use crate::support::{alive, binary, finished, started_in};

/// Those that are, or want to be, the daemon.
fn daemons(user: &User) -> Vec<i32> {
    let is_daemon = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("daemon\0run")
    };
    started_in(&user.scratch).into_iter().filter(is_daemon).collect()
}

#[tokio::test]
async fn twenty_first_clients_at_once_make_one_daemon() {
    let user = User::new();
    let started = join_all((0..20).map(|_| user.daemon())).await;
    let first = started[0].pid;
    assert!(
        started.iter().all(|daemon| daemon.pid == first),
        "{:?}",
        started.iter().map(|d| d.pid).collect::<Vec<_>>()
    );
    for pid in daemons(&user).into_iter().filter(|pid| *pid != first) {
        // One that came too late is on its way out.
        gone(pid).await;
    }
    assert!(alive(first));
    let lock = std::fs::read_to_string(user.sockets().join("daemon.lock")).unwrap();
    assert_eq!(lock, format!("{first}\n"));
}

#[tokio::test]
async fn a_daemon_that_was_killed_is_replaced_and_every_session_is_found() {
    let user = User::new();
    let first = user.daemon().await;
    let before = [
        first.create(user.source("a", &["cat"])).await.ok(),
        first.create(user.source("b", &["cat"])).await.ok(),
        first.create(user.source("c", &["cat"])).await.ok(),
    ];
    first.post("/api/v1/boxes/c/stop", json!({})).await.ok();
    first.kill(Signal::SIGKILL);
    first.left().await;
    assert!(user.sockets().join("daemon.sock").exists(), "a killed daemon leaves its socket behind");
    let second = user.daemon().await;
    assert_ne!(second.pid, first.pid);
    let boxes = second.get("/api/v1/boxes").await.ok();
    let found: Vec<_> = boxes["boxes"].as_array().unwrap().iter().map(|told| (&told["name"], &told["state"])).collect();
    assert_eq!(json!(found), json!([["a", "running"], ["b", "running"], ["c", "stopped"]]));
    for told in &before[..2] {
        assert_eq!(second.get_box(told["name"].as_str().unwrap()).await["pid"], told["pid"]);
    }
    let stopped = second.post("/api/v1/boxes/a/stop", json!({})).await.ok();
    assert_eq!(stopped["state"], "stopped", "it is ended by a daemon that did not start it");
    assert!(!alive(pid_of(&before[0])));
}

#[tokio::test]
async fn told_to_leave_the_daemon_leaves_nothing_behind_but_its_sessions() {
    for by_signal in [true, false] {
        let user = User::new();
        let daemon = user.daemon().await;
        let told = daemon.create(user.source("a", &["cat"])).await.ok();
        if by_signal {
            daemon.kill(Signal::SIGTERM);
        } else {
            assert_eq!(daemon.post("/api/v1/daemon/shutdown", json!({})).await.ok(), json!({"running": 1}));
        }
        daemon.left().await;
        assert!(!user.sockets().join("daemon.sock").exists());
        let status = session_of(&told).call("GET", "/api/v1/status").send().await.ok();
        assert_eq!(status["labels"]["name"], "a");
        assert_eq!(user.daemon().await.get_box("a").await["state"], "running");
    }
}

#[tokio::test]
async fn a_daemon_that_nobody_needs_leaves() {
    let user = User::new().with("COOP_DAEMON_LINGER", "100");
    let daemon = user.daemon().await;
    daemon.left().await;
    assert!(!user.sockets().join("daemon.sock").exists());
}

/// A daemon that has not left, and a connection that keeps it; one that came too late finds another daemon.
async fn connected(user: &User) -> (Daemon, UnixStream) {
    loop {
        let daemon = user.daemon().await;
        if let Ok(kept) = UnixStream::connect(user.sockets().join("daemon.sock")) {
            return (daemon, kept);
        }
    }
}

#[tokio::test]
async fn while_a_session_runs_the_daemon_stays() {
    let user = User::new().with("COOP_DAEMON_LINGER", "1000");
    // A connection keeps the daemon until the session is there.
    let (daemon, kept) = connected(&user).await;
    let told = daemon.create(user.source("a", &["sh", "-c", "sleep 4; echo later; cat"])).await.ok();
    drop(kept);
    let wait = json!({"text": "later", "timeout_ms": 15_000});
    session_of(&told).call("POST", "/api/v1/wait").json(&wait).send().await.ok();
    assert!(alive(daemon.pid), "it stayed for longer than it lingers");
    daemon.post("/api/v1/boxes/a/stop", json!({"now": true})).await.ok();
    daemon.left().await;
}

/// Waits for longer than such a daemon lingers: until another, which lingers for twice as long, has left.
async fn longer_than_it_lingers() {
    let other = User::new().with("COOP_DAEMON_LINGER", "2000");
    other.daemon().await.left().await;
}

#[tokio::test]
async fn while_a_client_is_connected_the_daemon_stays() {
    let user = User::new().with("COOP_DAEMON_LINGER", "1000");
    let (daemon, kept) = connected(&user).await;
    longer_than_it_lingers().await;
    assert!(alive(daemon.pid), "there is no session, only somebody who may say something");
    drop(kept);
    daemon.left().await;
}

#[tokio::test]
async fn while_an_image_is_fetched_the_daemon_stays_though_nobody_waits_for_it() {
    let user = User::new().with("COOP_DAEMON_LINGER", "1000");
    let registry = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let image = format!("{}/name:1", registry.local_addr().unwrap());
    let (daemon, kept) = connected(&user).await;
    let pull = daemon.place.call("POST", "/api/v1/images/pull").json(&json!({ "image": image }));
    let pulling = tokio::spawn(pull.send());
    // A registry that takes its time.
    let asked = registry.accept().await.unwrap();
    pulling.abort();
    drop(kept);
    longer_than_it_lingers().await;
    assert!(alive(daemon.pid), "it does what it was asked for");
    drop((asked, registry));
    daemon.left().await;
}

#[tokio::test]
async fn a_daemon_that_comes_second_leaves_quietly() {
    let user = User::new();
    let daemon = user.daemon().await;
    let second = user.run(&["daemon", "run"]).await;
    assert_eq!((second.code, second.text().as_str(), second.err.as_str()), (Some(0), "", ""));
    assert_eq!(user.daemon().await.pid, daemon.pid);
}

#[tokio::test]
async fn only_its_user_reaches_the_daemon() {
    let user = User::new();
    let daemon = user.daemon().await;
    let socket = user.sockets().join("daemon.sock");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&socket), mode(&user.sockets()), mode(&user.home())), (0o600, 0o700, 0o700));
    if !nix::unistd::geteuid().is_root() {
        // Only root can be somebody else; the modes above are what keeps others out.
        return;
    }
    let open = |path: &std::path::Path| std::fs::set_permissions(path, PermissionsExt::from_mode(0o777)).unwrap();
    open(&user.sockets());
    open(&socket);
    let ask = |uid: u32| {
        let mut command = tokio::process::Command::new(binary());
        command.args(["state", "--socket"]).arg(&socket).env_clear().uid(uid);
        finished(command)
    };
    let nobody = ask(65534).await;
    // Turned away without a word; at which moment the other side notices is not the same each time.
    assert!(nobody.code == Some(1) && !nobody.err.contains("which box?"), "{nobody:?}");
    let own = ask(0).await;
    assert!(own.err.contains("which box?"), "the daemon itself answers its user: {own:?}");
    assert!(alive(daemon.pid));
}

#[tokio::test]
async fn a_place_without_room_for_a_socket_is_told() {
    let user = User::new();
    let long = user.scratch.path(&"x".repeat(80));
    std::fs::create_dir(&long).unwrap();
    let mut command = user.coop(&["daemon", "start"]);
    command.env("XDG_RUNTIME_DIR", &long);
    let ended = finished(command).await;
    let line = ended.complaint();
    assert!(line.contains("107 bytes") && line.contains("XDG_RUNTIME_DIR"), "{line}");
}

#[tokio::test]
async fn clients_take_no_socket_away_that_is_not_answered() {
    let user = User::new();
    let socket = user.sockets().join("daemon.sock");
    std::fs::DirBuilder::new().create(user.sockets()).unwrap();
    std::fs::set_permissions(user.sockets(), PermissionsExt::from_mode(0o700)).unwrap();
    drop(UnixListener::bind(&socket).unwrap());
    let daemon = user.daemon().await;
    assert_eq!(daemon.info["socket"], socket.display().to_string());
}

#[tokio::test]
async fn an_idle_daemon_costs_nothing() {
    let user = User::new();
    let daemon = user.daemon().await;
    daemon.create(user.source("a", &["cat"])).await.ok();
    daemon.stands("a", "running").await;
    let deadline = std::time::Instant::now() + crate::support::PATIENCE;
    while !crate::support::at_rest(&[daemon.pid]) {
        assert!(std::time::Instant::now() < deadline, "the daemon never rests");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}
