//! What is in a box gets no further by what coop does for it: not by its session, and not by what it leaves for the next start.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::user::User;

impl User {
    /// A box that was made from this coop.toml, which the user trusts.
    async fn boxed(&self, file: &str) -> Value {
        std::fs::write(self.scratch.path("project/coop.toml"), file).unwrap();
        let project = self.project();
        self.run(&["trust", &project, "--yes"]).await;
        let ended = self.run(&["up", &project, "--name", "red", "--json", "--", "cat"]).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.json()
    }

    /// What a script in the box prints.
    async fn shell_says(&self, script: &str) -> String {
        self.run(&["shell", "red", "--", "sh", "-c", script]).await.ok()
    }

    /// A directory that nobody gave to a box.
    fn secret(&self) -> String {
        let dir = self.scratch.path("secret");
        std::fs::create_dir_all(dir.join(".ssh")).unwrap();
        std::fs::write(dir.join(".ssh/id"), "s3cret").unwrap();
        dir.display().to_string()
    }
}

#[tokio::test]
async fn a_program_in_a_box_does_not_steer_its_own_session() {
    let user = User::new();
    user.boxed("").await;
    for verb in ["state", "screen", "input hello", "restart", "stop", "ls"] {
        let said = user.shell_says(&format!("coop {verb} 2>&1; echo code $?")).await;
        assert!(said.contains("from inside a box only"), "{verb}: {said}");
        assert!(!said.contains("code 0"), "{verb}: {said}");
    }
    // What hooks call is let in, and answered by the session itself.
    let said = user.shell_says("/run/coop/coop send '{}' 2>&1; true").await;
    assert!(!said.contains("from inside a box only"), "{said}");
    let sockets = user.sockets();
    let said = user.shell_says(&format!("find {} -type s", sockets.display())).await;
    assert_eq!(said.trim(), sockets.join("box-red.d/coop.sock").display().to_string(), "and no other socket");
    assert!(user.run(&["state", "-s", "red"]).await.ok().starts_with("running  cat"));
}

#[tokio::test]
async fn a_persisted_directory_that_was_made_a_link_is_not_followed_at_the_next_start() {
    let user = User::new();
    let secret = user.secret();
    user.boxed("[session]\npersist = [\"x\", \"x/y/.ssh\"]\n").await;
    user.shell_says(&format!("cd ~/x && mv y o && ln -s {secret} y")).await;
    let ended = user.run(&["restart", "red"]).await;
    assert!(ended.complaint().contains("link"), "{ended:?}");
}

#[tokio::test]
async fn a_mount_of_the_project_that_was_made_a_link_is_not_followed_at_the_next_start() {
    let user = User::new();
    let secret = user.secret();
    std::fs::create_dir(user.scratch.path("project/data")).unwrap();
    user.boxed("[box]\nmounts = [\"./data:/data\"]\n").await;
    user.shell_says(&format!("rmdir data && ln -s {secret} data")).await;
    assert!(user.run(&["restart", "red"]).await.complaint().contains("has a link in it"));
    let project = user.project();
    let ended = user.run(&["up", &project, "--name", "red", "--json", "--", "cat"]).await;
    assert!(ended.code == Some(1) && ended.err.contains("is a link to"), "{ended:?}");
}

#[tokio::test]
async fn an_image_of_the_project_that_was_made_a_link_is_not_used() {
    let user = User::new();
    symlink("/", user.scratch.path("project/rootfs")).unwrap();
    std::fs::write(user.scratch.path("project/coop.toml"), "[box]\nimage = \"dir:./rootfs\"\n").unwrap();
    let project = user.project();
    user.run(&["trust", &project, "--yes"]).await;
    let ended = user.run(&["up", &project, "--name", "red", "--json", "--", "/bin/cat"]).await;
    assert!(ended.code == Some(1) && ended.err.contains("is a link to"), "{ended:?}");
}

#[tokio::test]
async fn what_is_to_be_protected_and_is_not_there_is_told() {
    let user = User::new();
    let made = user.boxed("[workspace]\nprotect = [\"Makefile\"]\n").await;
    assert!(made["warnings"].to_string().contains("Makefile is not there"), "{made}");
    std::fs::create_dir(user.scratch.path("project/.git")).unwrap();
    std::fs::write(user.scratch.path("project/.git/config"), "[core]\n").unwrap();
    let ended = user.run(&["restart", "red"]).await;
    assert!(ended.code == Some(0) && ended.err.contains("Makefile is not there"), "{ended:?}");
    let script = "(mkdir -p .git/hooks && echo x > .git/hooks/pre-commit) 2>&1 || echo refused";
    let said = user.shell_says(script).await;
    assert!(said.contains("Read-only") && said.contains("refused"), "a repository without hooks gets none: {said}");
    let hooks = std::fs::read_dir(user.scratch.path("project/.git/hooks")).unwrap().count();
    assert_eq!(hooks, 0, "nor is there one outside");
}

#[tokio::test]
async fn a_box_that_becomes_another_keeps_what_it_wrote_or_says_that_it_cannot() {
    let user = User::new();
    let daemon = user.daemon().await;
    let of_mode = |mode: &str| {
        let mut source = user.source("a", &["cat"]);
        source["workspace_mode"] = mode.into();
        source
    };
    daemon.create(of_mode("rw")).await.ok();
    daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok();
    daemon.create(of_mode("overlay")).await.ok();
    daemon.post("/api/v1/boxes/a/stop", json!({})).await.ok();
    assert!(user.kept("a").join("baseline.jsonl").exists(), "changes are compared with how the project was");
    std::fs::write(user.kept("a").join("ws-upper/work"), "done").unwrap();
    let (status, _, message) = daemon.create(of_mode("rw")).await.error();
    assert_eq!(status, 409);
    assert!(message.contains("coop apply a") && message.contains("coop discard a"), "{message}");
    daemon.post("/api/v1/boxes/a/apply", json!({})).await.ok();
    assert_eq!(std::fs::read_to_string(user.scratch.path("project/work")).unwrap(), "done");
    daemon.create(of_mode("rw")).await.ok();
}
