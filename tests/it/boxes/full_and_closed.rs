//! A home or a project that cannot be written to: told clearly, and what is there is still shown.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::user::{Daemon, User};
use crate::support::{PATIENCE, Place, binary, finished};

/// A daemon whose home is a small file system of its own, which only it sees. `then` is done in its home first.
async fn daemon_on_tmpfs(user: &User, options: &str, then: &str) -> Daemon {
    std::fs::create_dir_all(user.home()).unwrap();
    std::fs::set_permissions(user.home(), Permissions::from_mode(0o700)).unwrap();
    // Root may mount; others are root in a user namespace, which boxes need anyway.
    let flags = if nix::unistd::geteuid().is_root() { "-m" } else { "-Urm" };
    let script = format!(
        "mount -t tmpfs -o mode=700,{options} none \"$COOP_HOME\" && cd \"$COOP_HOME\" && {then} && cd / && \
         echo ready && exec \"$0\" daemon run"
    );
    let mut command = tokio::process::Command::new("unshare");
    command.arg(flags).args(["sh", "-c", &script]).arg(binary());
    for (name, value) in user.coop(&[]).as_std().get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
    assert_eq!(line, "ready\n", "a file system could not be mounted by unshare {flags}");
    // It goes when the user does.
    tokio::spawn(async move { child.wait().await });
    let place = Place::unix(user.sockets().join("daemon.sock"));
    let deadline = std::time::Instant::now() + PATIENCE;
    while std::os::unix::net::UnixStream::connect(user.sockets().join("daemon.sock")).is_err() {
        assert!(std::time::Instant::now() < deadline, "the daemon does not listen");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let info = place.call("GET", "/api/v1/daemon").send().await.ok();
    Daemon { pid: i32::try_from(info["pid"].as_i64().unwrap()).unwrap(), place, info }
}

#[tokio::test]
async fn a_home_that_cannot_be_made_is_told() {
    let user = User::new();
    // Not even root may make a directory in /proc.
    let mut command = user.coop(&["daemon", "start"]);
    command.env("COOP_HOME", "/proc/coop");
    let ended = finished(command).await;
    let line = ended.complaint();
    assert!(line.contains("/proc/coop") && line.contains("COOP_HOME"), "{line}");
    assert!(!user.sockets().join("daemon.sock").exists());

    let mut command = user.coop(&["daemon", "start"]);
    command.env("COOP_HOME", "relative");
    let ended = finished(command).await;
    assert!(ended.complaint().contains("no absolute path"), "{ended:?}");
}

#[tokio::test]
async fn a_home_that_is_full_loses_nothing_and_says_so() {
    let user = User::new();
    let daemon = daemon_on_tmpfs(&user, "size=256k", "true").await;
    daemon.create(user.source("a", &["cat"])).await.ok();
    daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok();
    daemon.create(user.source("e", &["echo", "last words"])).await.ok();
    daemon.stands("e", "ended").await;
    // Filled from inside: the HOME of a box is in that of all.
    let fill = user.source("f", &["sh", "-c", "cat /dev/zero > \"$HOME/fill\"; echo full; cat"]);
    daemon.create(fill).await.ok();
    daemon.post("/box/f/api/v1/wait", json!({"text": "full", "timeout_ms": 15_000})).await.ok();
    let (status, _, message) = daemon.create(user.source("b", &["cat"])).await.error();
    assert_eq!(status, 500);
    assert!(message.contains("sessions/b") && message.contains("No space left on device"), "{message}");
    let names = daemon.get("/api/v1/boxes").await.ok();
    let names: Vec<_> = names["boxes"].as_array().unwrap().iter().map(|told| told["name"].clone()).collect();
    assert_eq!(json!(names), json!(["a", "e", "f"]), "nothing half made is left");
    assert_eq!(daemon.get_box("a").await["state"], "stopped");
    // One whose program has ended cannot be started with something else, and what it showed last is not lost for that.
    let (status, _, message) = daemon.create(user.source("e", &["cat"])).await.error();
    assert_eq!(status, 500);
    assert!(message.contains("sessions/e") && message.contains("No space left on device"), "{message}");
    assert_eq!(daemon.get_box("e").await["state"], "ended");
    let screen = daemon.get("/box/e/api/v1/screen").await.ok();
    assert!(screen.to_string().contains("last words"), "{screen}");
    // What it was made with needs no room.
    let again = daemon.post("/api/v1/boxes/a/restart", json!({})).await.ok();
    assert_eq!(again["state"], "running");
    daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok();
    // Room is made again by removing.
    daemon.place.call("DELETE", "/api/v1/boxes/a").send().await.ok();
    daemon.post("/api/v1/boxes/f/stop", json!({})).await.ok();
}

#[tokio::test]
async fn a_project_that_is_full_takes_what_fits_and_the_rest_stays_with_the_box() {
    let user = User::new();
    let then = format!("mount -t tmpfs -o mode=700,size=64k none '{}'", user.project());
    let daemon = daemon_on_tmpfs(&user, "size=4m", &then).await;
    let script = "echo small >a-small; head -c 200000 /dev/zero >large; echo done; cat";
    let mut source = user.source("a", &["sh", "-c", script]);
    source["workspace_mode"] = "overlay".into();
    daemon.create(source).await.ok();
    daemon.post("/box/a/api/v1/wait", json!({"text": "done", "timeout_ms": 15_000})).await.ok();
    daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok();
    let changed = async || daemon.get("/api/v1/boxes/a/diff?names_only=true").await.ok()["changes"].clone();
    assert_eq!(changed().await.as_array().unwrap().len(), 2);
    for _ in 0..2 {
        let (status, _, message) = daemon.post("/api/v1/boxes/a/apply", json!({})).await.error();
        assert_eq!(status, 400);
        assert!(message.contains("large") && message.contains("No space left on device"), "{message}");
        assert_eq!(changed().await, json!([{"path": "large", "kind": "added"}]), "it is not lost");
    }
    daemon.post("/api/v1/boxes/a/discard", json!({})).await.ok();
    assert_eq!(changed().await, json!([]));
}

#[tokio::test]
async fn a_home_that_is_read_only_shows_what_is_there_and_says_why_nothing_can_be_made() {
    let user = User::new();
    let record = json!({"version": 1, "name": "a", "created_at_ms": 1, "plan": {"name": "a", "command": ["cat"]}});
    let then = format!(
        "mkdir -m 700 sessions sessions/a && echo '{record}' > sessions/a/session.json && mount -o remount,bind,ro \"$COOP_HOME\""
    );
    let daemon = daemon_on_tmpfs(&user, "size=256k", &then).await;
    assert_eq!(daemon.get_box("a").await["state"], "stopped");
    for source in [user.source("b", &["cat"]), user.source("c", &["cat"])] {
        let (status, _, message) = daemon.create(source).await.error();
        assert_eq!(status, 500);
        assert!(message.contains("Read-only file system"), "{message}");
    }
    let (status, _, message) = daemon.post("/api/v1/boxes/a/restart", json!({})).await.error();
    assert_eq!(status, 500);
    assert!(message.contains("sessions/a") && message.contains("Read-only file system"), "{message}");
}
