//! The life of a box: made once, started, stopped, lost, started again, removed.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::user::{User, gone, pid_of, session_of};
use crate::support::{alive, finished};

#[tokio::test]
async fn a_box_is_made_stopped_started_again_and_removed() {
    let user = User::new();
    let daemon = user.daemon().await;
    let mut source = user.source("a", &["cat"]);
    source["labels"] = json!({"team": "red"});
    source["cols"] = 81.into();
    source["rows"] = 25.into();
    let made = daemon.create(source).await.ok();
    assert_eq!((&made["name"], &made["state"], &made["command"]), (&json!("a"), &json!("running"), &json!(["cat"])));
    assert_eq!(made["workspace"], std::fs::canonicalize(user.project()).unwrap().display().to_string());
    let status = session_of(&made).call("GET", "/api/v1/status").send().await.ok();
    assert_eq!(status["labels"], json!({"name": "a", "team": "red"}));
    assert_eq!(status["terminal"], json!({"cols": 81, "rows": 25}));

    let stopped = daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok();
    assert_eq!((&stopped["state"], &stopped["pid"]), (&json!("stopped"), &json!(null)));
    assert!(!alive(pid_of(&made)));
    assert_eq!(daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok()["state"], "stopped", "twice is as good");
    std::fs::write(user.kept("a").join("home/note"), "kept").unwrap();

    let again = daemon.post("/api/v1/boxes/a/restart", json!({})).await.ok();
    assert_eq!(again["state"], "running");
    let other = daemon.post("/api/v1/boxes/a/restart", json!({})).await.ok();
    assert_ne!(pid_of(&again), pid_of(&other));
    assert!(!alive(pid_of(&again)), "one that runs is ended first");
    assert_eq!(std::fs::read_to_string(user.kept("a").join("home/note")).unwrap(), "kept");

    let (status, code, message) = daemon.place.call("DELETE", "/api/v1/boxes/a").send().await.error();
    assert_eq!((status, code.as_str()), (409, "STATE_CHANGED"));
    assert!(message.contains("is running") && message.contains("coop stop a"), "{message}");
    daemon.place.call("DELETE", "/api/v1/boxes/a?force=true").send().await.ok();
    assert!(!alive(pid_of(&other)));
    assert_eq!(std::fs::read_dir(user.home().join("sessions")).unwrap().count(), 0);
    assert!(!user.sockets().join("box-a.sock").exists());
    let (status, code, message) = daemon.get("/api/v1/boxes/a").await.error();
    assert_eq!((status, code.as_str()), (404, "NOT_FOUND"));
    assert!(message.contains("coop ls"), "{message}");
}

#[tokio::test]
async fn what_happens_to_boxes_is_told_as_it_happens() {
    let user = User::new();
    let daemon = user.daemon().await;
    daemon.create(user.source("a", &["cat"])).await.ok();
    let mut news = daemon.watch().await;
    assert_eq!(news.value().await["changed"]["name"], "a");
    assert_eq!(news.value().await["all_told"], true);
    let told = daemon.create(user.source("b", &["sh", "-c", "read line"])).await.ok();
    let mut next = async |name: &str, state: &str| {
        loop {
            let event = news.value().await;
            if event["changed"]["name"] == name && event["changed"]["state"] == state {
                return event["changed"].clone();
            }
            if event["removed"] == name && state == "removed" {
                return event;
            }
        }
    };
    next("b", "running").await;
    let enter = json!({"text": "", "enter": true});
    session_of(&told).call("POST", "/api/v1/input").json(&enter).send().await.ok();
    let ended = next("b", "ended").await;
    assert_eq!(ended["agent_state"]["state"], "exited");
    daemon.post("/api/v1/boxes/b/stop", json!({})).await.ok();
    next("b", "stopped").await;
    daemon.place.call("DELETE", "/api/v1/boxes/b").send().await.ok();
    next("b", "removed").await;
}

#[tokio::test]
async fn a_box_whose_session_was_killed_is_lost_until_it_is_started_again() {
    let user = User::new();
    let daemon = user.daemon().await;
    let told = daemon.create(user.source("a", &["cat"])).await.ok();
    let pid = pid_of(&told);
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    let lost = daemon.stands("a", "lost").await;
    assert_eq!(lost["pid"], json!(null));
    // A daemon that comes later sees the same.
    daemon.kill(Signal::SIGKILL);
    daemon.left().await;
    let daemon = user.daemon().await;
    assert_eq!(daemon.get_box("a").await["state"], "lost");
    let again = daemon.post("/api/v1/boxes/a/restart", json!({})).await.ok();
    assert_eq!(again["state"], "running");
    assert_ne!(pid_of(&again), pid);
}

#[tokio::test]
async fn a_box_is_found_and_spared_by_whoever_has_another_runtime_directory() {
    let user = User::new();
    let daemon = user.daemon().await;
    let made = daemon.create(user.source("a", &["cat"])).await.ok();
    // As cron has none, and a login has one.
    std::fs::create_dir(user.scratch.path("elsewhere")).unwrap();
    let elsewhere = async |words: &[&str]| {
        let mut command = user.coop(words);
        command.env("XDG_RUNTIME_DIR", user.scratch.path("elsewhere"));
        finished(command).await
    };
    assert_eq!(elsewhere(&["ls", "--json"]).await.json()["boxes"][0]["state"], "running");
    let up = elsewhere(&["up", &user.project(), "--name", "a", "-d", "--", "cat"]).await;
    assert!(up.code == Some(0) && up.err.contains("runs already"), "{up:?}");
    assert_eq!(elsewhere(&["ls", "--json"]).await.json()["boxes"][0]["pid"], made["pid"], "the same session");
    elsewhere(&["input", "-s", "a", "-e", "hello"]).await.ok();
    elsewhere(&["wait", "a", "--text", "hello"]).await.ok();
    let kept = elsewhere(&["rm", "a"]).await;
    assert!(kept.complaint().contains("is running"), "{kept:?}");
    assert!(alive(pid_of(&made)));
    elsewhere(&["stop", "a"]).await.ok();
    gone(pid_of(&made)).await;
    daemon.stands("a", "stopped").await;
    elsewhere(&["daemon", "stop"]).await.ok();
}

#[tokio::test]
async fn making_a_box_twice_gives_the_one_that_runs() {
    let user = User::new();
    let daemon = user.daemon().await;
    let create = || daemon.create(user.source("a", &["cat"]));
    let (first, second) = tokio::join!(create(), create());
    assert_eq!(first.ok()["pid"], second.ok()["pid"]);
    assert_eq!(create().await.ok()["pid"], first.ok()["pid"]);
    assert_eq!(daemon.get("/api/v1/boxes").await.ok()["boxes"].as_array().unwrap().len(), 1);

    let mut source = user.source("a", &["cat"]);
    source["directory"] = user.scratch.path("other").display().to_string().into();
    let (status, code, message) = daemon.create(source).await.error();
    assert_eq!((status, code.as_str()), (409, "STATE_CHANGED"));
    assert!(message.contains(&user.project()) && message.contains("another name"), "{message}");
}

#[tokio::test]
async fn a_box_that_stands_still_is_started_with_what_is_asked_for_now() {
    let user = User::new();
    let daemon = user.daemon().await;
    let first = daemon.create(user.source("a", &["cat"])).await.ok();
    daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok();
    let second = daemon.create(user.source("a", &["sh"])).await.ok();
    assert_eq!((&second["state"], &second["command"]), (&json!("running"), &json!(["sh"])));
    assert_eq!(second["created_at_ms"], first["created_at_ms"]);
}

#[tokio::test]
async fn a_command_that_cannot_be_run_tells_why() {
    let user = User::new();
    let daemon = user.daemon().await;
    let (status, code, message) = daemon.create(user.source("a", &["no-such-program"])).await.error();
    assert_eq!((status, code.as_str()), (400, "BAD_REQUEST"));
    assert!(message.contains("box a was not started") && message.contains("no-such-program"), "{message}");
    let told = daemon.get_box("a").await;
    assert_eq!(told["state"], "stopped");
    assert!(message.ends_with(told["error"].as_str().unwrap()), "{told}");
    let fixed = daemon.create(user.source("a", &["cat"])).await.ok();
    assert_eq!((&fixed["state"], &fixed["error"]), (&json!("running"), &json!(null)));
}

#[tokio::test]
async fn a_session_that_cannot_start_tells_why() {
    let user = User::new();
    let daemon = user.daemon().await;
    // Somebody sits where the session would listen, and is no session.
    std::fs::write(user.sockets().join("box-a.sock"), "").unwrap();
    let (status, _, message) = daemon.create(user.source("a", &["cat"])).await.error();
    assert_eq!(status, 400);
    assert!(message.contains("box-a.sock") && message.contains("no socket"), "{message}");
    assert_eq!(daemon.get_box("a").await["state"], "stopped");
}

#[tokio::test]
async fn nonsense_is_refused_and_makes_nothing() {
    let user = User::new();
    let daemon = user.daemon().await;
    let mut wrong = Vec::new();
    for (key, value) in [
        ("name", json!("../a")),
        ("name", json!("A")),
        ("directory", json!("relative")),
        ("directory", json!(user.scratch.path("no-such").display().to_string())),
        ("agent", json!("no-agent")),
        ("cols", json!(70_000)),
    ] {
        let mut source = user.source("a", &["cat"]);
        source["rows"] = 24.into();
        source[key] = value;
        wrong.push(source);
    }
    for source in wrong {
        let (status, code, message) = daemon.create(source.clone()).await.error();
        assert_eq!((status, code.as_str()), (400, "BAD_REQUEST"), "{source}: {message}");
    }
    assert_eq!(daemon.post("/api/v1/boxes", json!({})).await.refused(), (400, "BAD_REQUEST".to_owned()));
    for path in ["/api/v1/boxes/b/stop", "/api/v1/boxes/b/restart"] {
        assert_eq!(daemon.post(path, json!({})).await.refused(), (404, "NOT_FOUND".to_owned()));
    }
    assert_eq!(daemon.get("/api/v1/boxes").await.ok(), json!({"boxes": []}));
    assert_eq!(std::fs::read_dir(user.home().join("sessions")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_caller_who_goes_away_breaks_nothing_off() {
    let user = User::new();
    let daemon = user.daemon().await;
    let mut news = daemon.watch().await;
    let source = user.source("a", &["cat"]);
    let creating = tokio::spawn(daemon.place.call("POST", "/api/v1/boxes").json(&json!({ "source": source })).send());
    while news.value().await["changed"]["name"] != "a" {}
    creating.abort();
    daemon.stands("a", "running").await;
}

/// A box that could be started while its layer is emptied would be started on half of it.
#[tokio::test]
async fn a_caller_who_goes_away_lets_nobody_else_at_a_layer_that_is_being_worked_on() {
    for verb in ["apply", "discard"] {
        let user = User::new();
        let daemon = user.daemon().await;
        let mut source = user.source("a", &["cat"]);
        source["workspace_mode"] = "overlay".into();
        daemon.create(source).await.ok();
        daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok();
        let upper = user.kept("a").join("ws-upper");
        std::fs::create_dir(upper.join("many")).unwrap();
        for number in 0..FILES_MANY {
            std::fs::write(upper.join("many").join(number.to_string()), "").unwrap();
        }
        let path = format!("/api/v1/boxes/a/{verb}");
        let working = tokio::spawn(daemon.place.call("POST", &path).json(&json!({})).send());
        // Whoever works on a layer holds it; before that nothing has begun.
        while !is_held(&upper) {
            tokio::task::yield_now().await;
        }
        working.abort();
        daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok();
        let left = std::fs::read_dir(&upper).unwrap().count();
        assert!(left == 0 && !is_held(&upper), "{verb}: {left} are left, and another had its turn with the box");
    }
}

/// So many that they are not all worked on before anybody could ask for something else.
const FILES_MANY: usize = 8000;

/// Whether somebody works on a layer, by what the kernel tells of locks: trying it would be in their way.
fn is_held(upper: &std::path::Path) -> bool {
    let inode = std::fs::metadata(upper).unwrap().ino();
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    locks.lines().any(|line| line.contains("FLOCK") && line.contains(&format!(":{inode} ")))
}

#[tokio::test]
async fn a_box_is_removed_with_what_its_program_made_unwritable() {
    let user = User::new();
    let daemon = user.daemon().await;
    daemon.create(user.source("a", &["cat"])).await.ok();
    let closed = user.kept("a").join("home/cache/deep");
    std::fs::create_dir_all(&closed).unwrap();
    std::fs::write(closed.join("file"), "").unwrap();
    std::fs::set_permissions(&closed, Permissions::from_mode(0o500)).unwrap();
    std::fs::set_permissions(closed.parent().unwrap(), Permissions::from_mode(0o000)).unwrap();
    daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok();
    daemon.place.call("DELETE", "/api/v1/boxes/a").send().await.ok();
    assert_eq!(std::fs::read_dir(user.home().join("sessions")).unwrap().count(), 0);
}

#[tokio::test]
async fn changes_that_were_not_applied_are_not_lost_by_accident() {
    let user = User::new();
    let daemon = user.daemon().await;
    let mut source = user.source("a", &["cat"]);
    source["workspace_mode"] = "overlay".into();
    daemon.create(source).await.ok();
    daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok();
    let upper = user.kept("a").join("ws-upper");
    std::fs::create_dir_all(&upper).unwrap();
    std::fs::write(upper.join("work"), "").unwrap();
    let (status, _, message) = daemon.place.call("DELETE", "/api/v1/boxes/a").send().await.error();
    assert_eq!(status, 409);
    assert!(message.contains("coop diff a"), "{message}");
    assert!(upper.join("work").exists());
    daemon.place.call("DELETE", "/api/v1/boxes/a?force=true").send().await.ok();
}

#[tokio::test]
async fn a_broken_record_is_told_and_can_be_removed() {
    let user = User::new();
    let daemon = user.daemon().await;
    daemon.create(user.source("a", &["cat"])).await.ok();
    daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok();
    std::fs::write(user.kept("a").join("session.json"), "{\"version\":1,").unwrap();
    let (status, _, message) = daemon.post("/api/v1/boxes/a/restart", json!({})).await.error();
    assert_eq!(status, 500);
    assert!(message.contains("session.json") && message.contains("coop rm"), "{message}");
    daemon.place.call("DELETE", "/api/v1/boxes/a").send().await.ok();
}

/// What runs in a box outlives neither its box nor the killing of its session.
#[tokio::test]
async fn a_program_ends_with_its_session() {
    let user = User::new();
    let daemon = user.daemon().await;
    let told = daemon.create(user.source("a", &["cat"])).await.ok();
    let status = session_of(&told).call("GET", "/api/v1/status").send().await.ok();
    kill(Pid::from_raw(pid_of(&told)), Signal::SIGKILL).unwrap();
    gone(pid_of(&status)).await;
}

#[tokio::test]
async fn variables_of_the_source_reach_the_program_and_the_callers_secrets_do_not() {
    let user = User::new().with("SECRET_OF_CALLER", "hush").with("TMUX", "x");
    let daemon = user.daemon().await;
    let mut source = user.source("a", &["sh", "-c", "echo \"[$GREETING|$SECRET_OF_CALLER|$TMUX]\"; cat"]);
    source["env"] = json!({"GREETING": "hello"});
    let told = daemon.create(source).await.ok();
    let wait = json!({"text": "[hello||]", "timeout_ms": 15_000});
    let met = session_of(&told).call("POST", "/api/v1/wait").json(&wait).send().await.ok();
    assert_eq!(met["matched"], true);
}

#[tokio::test]
async fn a_program_that_ends_too_often_is_parked_and_a_restart_gives_it_another_chance() {
    let user = User::new();
    std::fs::write(user.scratch.path("project/coop.toml"), "[session]\nrestart = \"always\"\n").unwrap();
    let project = user.project();
    assert_eq!(user.run(&["trust", &project, "--yes"]).await.code, Some(0));
    let daemon = user.daemon().await;
    daemon.create(user.source("red", &["true"])).await.ok();
    daemon.stands("red", "parked").await;
    assert!(daemon.get_box("red").await["pid"].is_number(), "its session is still there to be looked at");
    let told = user.run(&["state", "-s", "red"]).await.ok();
    assert!(told.starts_with("parked  true  exit code 0") && told.contains("`coop restart red` starts it"), "{told}");
    let told = daemon.post("/api/v1/boxes/red/restart", serde_json::json!({})).await.ok();
    assert_ne!(told["state"], "parked");
}
