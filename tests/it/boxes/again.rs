//! `coop up` where there is a box already: what it was made with holds, and what becomes another is told.

use serde_json::{Value, json};

use super::user::{User, pid_of};
use crate::support::{Ended, finished};

impl User {
    /// `coop up -d` for the box `red` of the project, with further words.
    async fn ups(&self, words: &[&str]) -> Ended {
        let ended = self.run(&[&["up", &self.project(), "--name", "red", "-d"], words].concat()).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended
    }

    async fn stops(&self) {
        self.run(&["stop", "red"]).await.ok();
    }

    async fn red(&self) -> Value {
        self.run(&["ls", "--json"]).await.json()["boxes"][0].clone()
    }

    fn writes(&self, toml: &str) {
        std::fs::write(self.scratch.path("project/coop.toml"), toml).unwrap();
    }
}

fn modes(told: &Value) -> (&str, &str) {
    (told["workspace_mode"].as_str().unwrap(), told["network"].as_str().unwrap())
}

#[tokio::test]
async fn a_box_that_is_started_again_is_not_wider_than_it_was_made() {
    let user = User::new();
    let flags = ["--workspace", "overlay", "--network", "none", "--label", "team=a", "--env", "GREETING=hello"];
    user.ups(&[&flags[..], &["--", "cat"]].concat()).await;
    user.stops().await;
    let again = user.ups(&[]).await;
    assert_eq!(again.err, "", "nothing is another");
    let told = user.red().await;
    assert_eq!(modes(&told), ("overlay", "none"));
    assert_eq!((&told["command"], &told["labels"]), (&json!(["cat"]), &json!({"team": "a"})));
    let inside = user.run(&["shell", "red", "--", "sh", "-c", "echo $GREETING"]).await;
    assert_eq!(inside.ok(), "hello\n");
}

#[tokio::test]
async fn a_flag_that_is_given_again_wins_and_is_told() {
    let user = User::new().with_git();
    user.ups(&["--workspace", "overlay", "--network", "none", "--", "cat"]).await;
    user.stops().await;
    let again = user.ups(&["--workspace", "rw"]).await;
    assert_eq!(again.err, "coop: box red: workspace overlay -> rw\n");
    assert_eq!(modes(&user.red().await), ("rw", "none"));
    user.stops().await;
    let again = user.ups(&["--", "sh", "-c", "cat"]).await;
    assert_eq!(again.err, "coop: box red: command cat -> sh -c cat\n");
    assert_eq!(modes(&user.red().await), ("rw", "none"), "also what was said the second time holds");
}

#[tokio::test]
async fn the_file_is_read_anew_below_the_flags() {
    let user = User::new();
    user.writes("[workspace]\nmode = \"rw\"\n[network]\nmode = \"none\"\n");
    user.ups(&["--workspace", "ro", "--", "cat"]).await;
    user.stops().await;
    user.writes("[workspace]\nmode = \"overlay\"\n[network]\nmode = \"filtered\"\n");
    let again = user.ups(&[]).await;
    assert_eq!(again.err, "coop: box red: network none -> filtered\n");
    assert_eq!(modes(&user.red().await), ("ro", "filtered"));
}

#[tokio::test]
async fn a_new_box_of_the_same_name_knows_nothing_of_the_one_before() {
    let user = User::new();
    user.ups(&["--workspace", "ro", "--network", "none", "--", "cat"]).await;
    user.run(&["rm", "red", "--force"]).await.ok();
    user.ups(&["--", "cat"]).await;
    assert_eq!(modes(&user.red().await), ("rw", "filtered"));
}

#[tokio::test]
async fn one_whose_program_has_ended_is_started_again_and_one_that_runs_is_left() {
    let user = User::new().with_git();
    let daemon = user.daemon().await;
    user.ups(&["--", "sh", "-c", "exit 3"]).await;
    let ended = daemon.stands("red", "ended").await;
    let again = user.ups(&["--", "cat"]).await;
    assert_eq!(again.err, "coop: box red: command sh -c exit 3 -> cat\n");
    assert!(again.text().starts_with("box red runs cat in "), "{again:?}");
    let runs = user.red().await;
    assert_eq!(runs["state"], "running");
    assert_ne!(pid_of(&runs), pid_of(&ended));
    let third = user.ups(&["--", "sh"]).await;
    assert!(third.err.contains("runs already and was left as it is"), "{third:?}");
    assert_eq!(pid_of(&user.red().await), pid_of(&runs));
}

#[tokio::test]
async fn one_whose_program_has_ended_is_not_in_the_way_of_its_own_removal() {
    let user = User::new().with_git();
    let daemon = user.daemon().await;
    user.ups(&["--", "sh", "-c", "exit 3"]).await;
    daemon.stands("red", "ended").await;
    assert_eq!(user.run(&["rm", "red"]).await.ok(), "removed box red\n");
}

#[tokio::test]
async fn the_shell_is_the_callers_and_not_the_daemons() {
    let user = User::new().with("SHELL", "/bin/false");
    user.daemon().await;
    let project = user.project();
    let mut command = user.coop(&["up", &project, "--name", "red", "--json"]);
    command.env("SHELL", "/bin/sh");
    assert_eq!(finished(command).await.json()["command"], json!(["/bin/sh"]));
}

#[tokio::test]
async fn a_restart_says_that_the_file_has_changed_since() {
    const HINT: &str = "coop: warning: coop.toml has changed since: `coop stop red` and `coop up` use it\n";
    let user = User::new().with_git();
    user.ups(&["--network", "none", "--", "cat"]).await;
    let restart = async || user.run(&["restart", "red"]).await.err;
    assert_eq!(restart().await, "");
    user.writes("[workspace]\nmode = \"ro\"\n");
    assert_eq!(restart().await, HINT, "one has come");
    user.stops().await;
    user.ups(&[]).await;
    assert_eq!(restart().await, "");
    user.writes("[workspace]\nmode = \"overlay\"\n");
    assert_eq!(restart().await, HINT);
    assert_eq!(user.red().await["workspace_mode"], "ro", "it is what it was");
}

#[tokio::test]
async fn ports_and_variables_that_are_missing_are_told() {
    let user = User::new();
    user.writes("[env]\nexport = [\"NOT_SET_IN_TEST\"]\n");
    let project = user.project();
    assert_eq!(user.run(&["trust", &project, "--yes"]).await.code, Some(0));
    let made = user.ups(&["--publish", "0:3000", "--", "cat"]).await;
    assert!(made.err.contains("warning: env.export: NOT_SET_IN_TEST is not set"), "{made:?}");
    let text = made.text();
    let line = text.lines().nth(1).unwrap_or_default();
    assert!(line.starts_with("127.0.0.1:") && line.ends_with(" leads to its port 3000"), "{text}");
    assert!(!line.starts_with("127.0.0.1:0 "), "the port that was taken: {text}");
}

#[tokio::test]
async fn a_box_that_never_started_is_said_to_stay() {
    let user = User::new();
    let project = user.project();
    let failed = user.run(&["up", &project, "--name", "red", "-d", "--", "/no/such/program"]).await;
    assert!(failed.code == Some(1) && failed.err.contains("stays as it is until `coop rm red`"), "{failed:?}");
    assert_eq!(user.red().await["state"], "stopped");
    user.run(&["rm", "red"]).await.ok();
}
