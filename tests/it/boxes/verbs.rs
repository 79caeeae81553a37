//! The verbs of boxes as a shell sees them, with the real daemon.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::user::{User, pid_of, session_of};
use crate::support::{Ended, PATIENCE, alive};

impl User {
    /// A box with a program that stays, in the project.
    pub async fn up(&self, name: &str, words: &[&str]) -> Value {
        let project = self.project();
        let ended = self.run(&[&["up", &project, "--name", name, "--json", "--"], words].concat()).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.json()
    }

    /// From another directory.
    async fn run_in(&self, dir: &str, words: &[&str]) -> Ended {
        let mut command = self.coop(words);
        command.current_dir(dir);
        crate::support::finished(command).await
    }
}

fn row<'a>(table: &'a str, name: &str) -> &'a str {
    table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in\n{table}"))
}

#[tokio::test]
async fn a_box_is_made_listed_stopped_started_again_and_removed_by_its_name() {
    let user = User::new();
    let project = user.project();
    let ended = user.run(&["up", &project, "--name", "red", "-d", "--label", "team=a", "--", "cat"]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let text = ended.text();
    assert!(text.starts_with("box red runs cat in ") && text.contains("coop attach red"), "{text}");

    let table = user.run(&["ls"]).await.ok();
    assert!(table.lines().next().unwrap().contains("  BOX  "), "{table}");
    let line = row(&table, "red");
    assert!(line.contains("  cat ") && line.contains("  host  ") && line.ends_with("team=a"), "{line}");

    assert_eq!(user.run(&["stop", "red"]).await.ok(), "stopped box red\n");
    assert!(row(&user.run(&["ls"]).await.ok(), "red").contains(" stopped "));
    for verb in ["attach", "screen", "state"] {
        let words: &[&str] = if verb == "attach" { &["state", "--session", "red"] } else { &[verb, "-s", "red"] };
        let ended = user.run(words).await;
        assert_eq!(ended.complaint(), "box red stands still: `coop restart red` starts it");
    }

    let again = user.run(&["restart", "red", "--json"]).await.json();
    assert_eq!(again["state"], "running");
    assert!(user.run(&["state", "--session", "red"]).await.ok().starts_with("running  cat"));

    let ended = user.run(&["rm", "red"]).await;
    assert!(ended.complaint().contains("is running") && ended.complaint().contains("coop stop red"), "{ended:?}");
    assert_eq!(user.run(&["rm", "red", "--force"]).await.ok(), "removed box red\n");
    assert!(!alive(pid_of(&again)));
    assert_eq!(user.run(&["ls", "--json"]).await.json()["boxes"], json!([]));
}

#[tokio::test]
async fn boxes_are_listed_without_a_daemon_and_none_is_started_for_it() {
    let user = User::new();
    let red = user.up("red", &["cat"]).await;
    user.up("blue", &["cat"]).await;
    user.run(&["stop", "blue"]).await.ok();
    let status = user.run(&["daemon", "status", "--json"]).await.json();
    let text = user.run(&["daemon", "stop"]).await.ok();
    assert_eq!(text, "the daemon leaves; 1 box runs on\n");
    super::user::gone(i32::try_from(status["pid"].as_i64().unwrap()).unwrap()).await;

    let listed = user.run(&["ls", "--json"]).await.json();
    let boxes: Vec<(&str, &str)> = listed["boxes"].as_array().unwrap().iter().map(name_and_state).collect();
    assert_eq!(boxes, [("blue", "stopped"), ("red", "running")]);
    assert_eq!((&listed["sessions"], &listed["boxes"][1]["socket"]), (&json!([]), &red["socket"]));
    assert_ne!(listed["boxes"][1]["agent_state"], json!(null));
    let ended = user.run(&["daemon", "status"]).await;
    assert_eq!(
        (ended.code, ended.text().as_str()),
        (Some(1), "no daemon runs; the first verb that needs one starts it\n")
    );
    assert_eq!(user.run(&["daemon", "stop"]).await.code, Some(0), "what was to be ended has ended");
    // The session itself is reached without one.
    assert!(user.run(&["state", "-s", "red"]).await.ok().starts_with("running  cat"));
    assert_eq!(user.run(&["daemon", "status"]).await.code, Some(1), "nothing of that started one");
}

fn name_and_state(told: &Value) -> (&str, &str) {
    (told["name"].as_str().unwrap(), told["state"].as_str().unwrap())
}

#[tokio::test]
async fn a_box_that_was_lost_is_said_to_be_and_is_found_again() {
    let user = User::new().with_git();
    let red = user.up("red", &["cat"]).await;
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid_of(&red)), nix::sys::signal::Signal::SIGKILL).unwrap();
    user.daemon().await.stands("red", "lost").await;
    assert!(row(&user.run(&["ls"]).await.ok(), "red").contains(" lost "));
    assert!(user.run(&["restart", "red"]).await.ok().starts_with("box red started again (pid "));
}

#[tokio::test]
async fn the_box_of_a_directory_needs_no_name() {
    let user = User::new().with_git();
    let (project, other) = (user.project(), user.scratch.path("other").display().to_string());
    user.up("red", &["cat"]).await;
    let ended = user.run(&["up", &other, "--name", "blue", "--json", "--", "cat"]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let name =
        async |dir: &str| user.run_in(dir, &["state", "--json"]).await.json()["status"]["labels"]["name"].clone();
    assert_eq!((name(&project).await, name(&other).await), (json!("red"), json!("blue")));
    let ended = user.run_in("/", &["state"]).await;
    let which = "several sessions run: say which by its name or number, such as --session blue: ";
    assert!(ended.complaint().starts_with(which), "{ended:?}");
    assert_eq!(user.run_in(&other, &["stop"]).await.ok(), "stopped box blue\n");
    assert!(user.run_in(&other, &["restart"]).await.ok().starts_with("box blue started again"));
    let ended = user.run_in("/", &["diff"]).await;
    assert!(ended.complaint().contains("several boxes: name one of blue, red"), "{ended:?}");
    user.up("green", &["cat"]).await;
    let ended = user.run_in(&project, &["state"]).await;
    let which = "several boxes belong to this directory: say which by its name or number, such as --session green";
    assert_eq!(ended.complaint(), format!("{which}: green, red"));
}

#[tokio::test]
async fn what_makes_no_sense_is_told_with_a_way_out_and_changes_nothing() {
    let user = User::new();
    let ended = user.run(&["rm", "red"]).await;
    assert!(ended.complaint().contains("there is no box red"), "{ended:?}");
    let ended = user.run(&["stop", "red"]).await;
    assert!(ended.complaint().starts_with("there is no box or session called \"red\""), "{ended:?}");
    assert!(user.run(&["diff"]).await.complaint().contains("`coop up` makes one"));
    let ended = user.run(&["up", "/no/such/dir", "-d", "--", "cat"]).await;
    assert!(ended.complaint().starts_with("/no/such/dir: No such file"), "{ended:?}");
    let project = user.project();
    let ended = user.run(&["up", &project, "--name", "Not/A/Name", "-d", "--", "cat"]).await;
    assert!(ended.code == Some(1) && ended.err.contains("Not/A/Name"), "{ended:?}");
    let ended = user.run(&["up", &project, "--name", "red", "-d", "--", "/no/such/program"]).await;
    assert!(ended.code == Some(1) && ended.err.contains("/no/such/program"), "{ended:?}");
    user.run(&["rm", "red", "--force"]).await;

    user.up("red", &["cat"]).await;
    let other = user.scratch.path("other").display().to_string();
    let ended = user.run(&["up", &other, "--name", "red", "-d", "--", "cat"]).await;
    assert!(ended.complaint().contains("choose another name"), "{ended:?}");
    assert!(user.run(&["shell", "red"]).await.complaint().contains("needs a terminal"));
    for words in [&["stop", "green"][..], &["restart", "green"], &["logs", "green"], &["shell", "green", "--", "ls"]] {
        let ended = user.run(words).await;
        assert!(ended.complaint().contains("green"), "{words:?}: {ended:?}");
    }
    let ended = user.run(&["diff", "red"]).await;
    assert!(ended.complaint().contains("not an overlay"), "{ended:?}");
    let ended = user.run(&["rm", "green", "red", "--force", "--json"]).await;
    assert_eq!(
        (ended.code, &ended.json()["removed"]),
        (Some(1), &json!(["red"])),
        "one that is not there keeps no other"
    );
    assert_eq!(ended.json()["failed"][0]["name"], "green");
}

#[tokio::test]
async fn the_log_of_a_box_is_read_also_when_it_stands_still() {
    let user = User::new();
    user.up("red", &["cat"]).await;
    user.run(&["logs", "red"]).await.ok();
    user.run(&["stop", "red"]).await.ok();
    let text = user.run(&["logs", "red"]).await.ok();
    assert!(text.contains("the child has exited"), "{text}");
    assert_eq!(user.run(&["logs", "red", "-n", "1"]).await.ok().lines().count(), 1);
    let ended = user.run(&["logs", "red", "--output"]).await;
    assert_eq!(ended.complaint(), "box red stands still: `coop restart red` starts it");
}

#[tokio::test]
async fn up_attaches_in_a_terminal_and_tells_how_to_come_back() {
    let user = User::new();
    let project = user.project();
    let script = "stty size; while read line; do echo \"got $line\"; done; exit 7";
    let mut seat = user.seat(&["up", &project, "--name", "red", "--", "sh", "-c", script]);
    seat.shows("11 90").await;
    seat.types("words\r").await;
    seat.shows("got words").await;
    seat.types("\x1d").await;
    seat.shows("detached from red; it goes on: `coop attach red` comes back").await;
    assert_eq!(seat.ended().await.code(), Some(0));

    let mut seat = user.seat(&["attach", "red"]);
    seat.shows("got words").await;
    seat.types("\x04").await;
    seat.shows("`coop restart -s red` starts it again").await;
    assert_eq!(seat.ended().await.code(), Some(7));
}

#[tokio::test]
async fn a_shell_opens_beside_the_program_and_ends_with_its_code() {
    let user = User::new();
    let red = user.up("red", &["cat"]).await;
    let mut seat = user.seat(&["shell", "red", "--", "sh"]);
    seat.shows("ctrl-] closes the shell").await;
    seat.types("stty size\r").await;
    seat.shows("11 90").await;
    // With its end the screen goes that it stood on.
    seat.types("exit 5\r").await;
    assert_eq!(seat.ended().await.code(), Some(5));

    let mut seat = user.seat(&["shell", "red", "--", "sh", "-c", "echo ready; exec sleep 1000"]);
    seat.shows("ready").await;
    let session = session_of(&red);
    let terminals = async || session.call("GET", "/api/v1/terminals").send().await.ok()["terminals"].clone();
    let pid = i32::try_from(terminals().await[0]["pid"].as_i64().unwrap()).unwrap();
    seat.types("\x1d").await;
    seat.shows("the shell was closed").await;
    assert_eq!(seat.ended().await.code(), Some(0));
    super::user::gone(pid).await;
    // The session hears of it a moment later.
    let deadline = Instant::now() + PATIENCE;
    while terminals().await != json!([]) {
        assert!(Instant::now() < deadline, "the terminal is still listed");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(session.call("GET", "/api/v1/status").send().await.ok()["state"], "running");
}

#[tokio::test]
async fn a_directory_with_a_box_of_its_own_never_means_another_session() {
    let user = User::new().with_git();
    let other = user.scratch.path("other").display().to_string();
    let below = user.scratch.path("other/below").display().to_string();
    std::fs::create_dir(&below).unwrap();
    let ended = user.run(&["up", &other, "--name", "base", "--json", "--", "cat"]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    user.run(&["stop", "base"]).await.ok();
    let made = user.up("flag", &["cat"]).await;
    let (flag, address) = (session_of(&made), made["socket"].as_str().unwrap());
    for dir in [&other, &below] {
        for line in ["state", "screen", "input -e hello", "keys enter", "wait --exited", "signal INT", "shell -- pwd"] {
            let ended = user.run_in(dir, &line.split(' ').collect::<Vec<_>>()).await;
            assert_eq!(ended.complaint(), "box base stands still: `coop restart base` starts it", "{line}");
        }
    }
    let ended = user.run_in(&below, &["state", "--json"]).await;
    let told: Value = serde_json::from_str(&ended.err).unwrap();
    assert_eq!((ended.code, &told["error"]["code"]), (Some(1), &json!("NOT_READY")));
    let status = flag.call("GET", "/api/v1/status").send().await.ok();
    assert_eq!((&status["bytes_written"], &status["state"]), (&json!(0), &json!("running")));
    // Elsewhere it is the only one, and a name goes before the directory.
    assert!(user.run_in("/", &["state"]).await.ok().starts_with("running  cat"));
    assert!(user.run_in(&other, &["state", "-s", "flag"]).await.ok().starts_with("running  cat"));
    assert!(user.run_in(&other, &["state", "--socket", address]).await.ok().starts_with("running  cat"));
    user.run_in(&other, &["restart"]).await.ok();
    let told = user.run_in(&below, &["state", "--json"]).await.json();
    assert_eq!(told["status"]["labels"]["name"], "base");
}

#[tokio::test]
async fn rm_without_a_name_takes_the_box_of_this_directory_and_no_other() {
    let user = User::new();
    user.up("red", &["cat"]).await;
    user.run(&["stop", "red"]).await.ok();
    let other = user.scratch.path("other").display().to_string();
    let ended = user.run_in(&other, &["rm"]).await;
    assert_eq!(ended.complaint(), "no box belongs to this directory: name one of red");
    assert_eq!(user.run_in(&user.project(), &["rm"]).await.ok(), "removed box red\n");
}
