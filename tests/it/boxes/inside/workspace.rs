//! The project inside: what is hidden, what stays as it is, what is kept for the next time.

use std::time::Instant;

use super::super::user::{User, session_of};
use crate::support::PATIENCE;

#[tokio::test]
async fn what_is_hidden_looks_empty_inside_and_is_untouched_outside() {
    let user = User::new();
    user.scratch.file("project/.env", "SECRET=1");
    std::fs::create_dir(user.scratch.path("project/secrets")).unwrap();
    user.scratch.file("project/secrets/key", "private");
    user.scratch.file("project/plain", "seen");
    user.has("[box]\nhide = [\".env\", \"secrets\"]\n").await;
    assert_eq!(user.told("cat .env; ls -A secrets; cat plain").await, "seen");
    user.inside("echo mine >.env; echo mine >secrets/other; rm -rf secrets .env").await;
    assert_eq!((user.file(".env").as_str(), user.file("secrets/key").as_str()), ("SECRET=1", "private"));
    assert!(!user.scratch.path("project/secrets/other").exists());
}

#[tokio::test]
async fn what_is_protected_is_read_and_not_changed_and_neither_is_the_file_that_says_so() {
    let user = User::new();
    user.scratch.file("project/Makefile", "all:\n");
    user.scratch.file("project/other", "old");
    let toml = "[workspace]\nprotect = [\"Makefile\"]\n";
    user.has(toml).await;
    assert_eq!(user.told("cat Makefile").await, "all:");
    for script in ["echo bad >Makefile", "rm Makefile", "mv Makefile m", "echo bad >coop.toml", "rm coop.toml"] {
        user.fails(script).await;
    }
    user.told("echo new >other").await;
    assert_eq!((user.file("Makefile").as_str(), user.file("other").as_str()), ("all:\n", "new\n"));
    assert_eq!(user.file("coop.toml"), toml);
}

#[tokio::test]
async fn a_coop_toml_that_somebody_makes_while_the_box_runs_is_not_for_it_to_change() {
    let user = User::new().with_git();
    let made = user.tries(&["--json", "--", "cat"]).await.json();
    assert_eq!(made["warnings"], serde_json::json!([]), "that there is none is nothing to warn of");
    user.scratch.file("project/coop.toml", "[box]\n");
    let covered_within = Instant::now() + PATIENCE;
    while user.inside("echo '# bad' >>coop.toml").await.code == Some(0) {
        assert!(Instant::now() < covered_within, "it can be written to");
    }
    user.told("cat coop.toml").await;
}

#[tokio::test]
async fn who_commits_in_a_box_is_who_commits_outside() {
    let user = User::new();
    let home = user.scratch.path("user");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join(".gitconfig"), "[user]\n\tname = Ada L\n\temail = a@b.example\n[core]\n\tpager = evil\n")
        .unwrap();
    let user = user.with("HOME", home.to_str().unwrap());
    user.has("[network]\nmode = \"none\"\n").await;
    let commit = "git init -q . && git commit -q --allow-empty -m one && git log --format='%an <%ae> %cn <%ce>'";
    assert_eq!(user.told(commit).await, "Ada L <a@b.example> Ada L <a@b.example>");
    assert_eq!(user.told("git config --global core.pager || echo none").await, "none");
    // The box has its own word, and keeps it.
    user.told("git config --global user.name Bot").await;
    user.restarts().await;
    assert_eq!(user.told("git config user.name").await, "Bot");
    user.run(&["rm", "--force", super::NAME]).await.ok();

    user.has("[box]\ngit_identity = false\n[network]\nmode = \"none\"\n").await;
    assert_eq!(user.told("git config user.name || echo nobody").await, "nobody");
}

/// A script on the machine, in the project.
fn outside(user: &User, script: &str) {
    let mut shell = std::process::Command::new("sh");
    let done = shell.args(["-ec", script]).current_dir(user.project()).output().unwrap();
    assert!(done.status.success(), "{script}: {done:?}");
}

/// A repository with a commit.
fn repository(user: &User) {
    let script = "git init -q . && git config user.name n && git config user.email e@x && echo one >a && git add a && \
                  git commit -qm one";
    outside(user, script);
}

#[tokio::test]
async fn what_the_user_replaces_while_the_box_runs_stays_protected_and_is_told() {
    let user = User::new();
    repository(&user);
    user.scratch.file("project/.env", "SECRET=1");
    let made = user.has("[box]\nhide = [\".env\"]\n[network]\nmode = \"none\"\n").await;
    let session = session_of(&made);
    let mut log = session.call("GET", "/api/v1/stream/log?follow=true").stream().await;
    outside(&user, "git config color.ui never");
    while !log.value().await.to_string().contains(".git/config was replaced outside, and is protected again") {}
    user.fails("git config core.fsmonitor /tmp/x").await;
    assert_eq!(user.told("git config color.ui").await, "never");
    outside(&user, "sed -i s/1/2/ .env");
    while !log.value().await.to_string().contains(".env was replaced outside, and is hidden again") {}
    assert_eq!(user.told("cat .env").await, "");
    // What can not be covered is a warning for as long as it is so.
    outside(&user, "mv .env real && ln -s real .env");
    while !log.value().await.to_string().contains(".env was replaced outside, is NOT hidden any more") {}
    let state = user.run(&["state", "-s", super::NAME]).await.ok();
    assert!(state.contains("is NOT hidden") && state.contains("overlay"), "{state}");
    outside(&user, "rm .env && mv real .env");
    while !log.value().await.to_string().contains(".env was replaced outside, and is hidden again") {}
    let state = user.run(&["state", "-s", super::NAME]).await.ok();
    assert!(!state.contains("is NOT hidden"), "{state}");
}

#[tokio::test]
async fn git_is_led_into_submodules_by_nothing_that_can_be_changed_inside() {
    let user = User::new();
    repository(&user);
    let script = "git init -q ../other/inner && git init -q ../other/lib
        for at in inner lib; do git -C ../other/$at -c user.name=n -c user.email=e@x commit -q --allow-empty -m one; done
        with='-c protocol.file.allow=always -c user.name=n -c user.email=e@x'
        git -C ../other/lib $with submodule --quiet add $PWD/../other/inner inner
        git -C ../other/lib $with commit -qm two
        git $with submodule --quiet add $PWD/../other/lib deep/lib
        git $with submodule --quiet update --init --recursive
        git init -q own && git -C own -c user.name=n -c user.email=e@x commit -q --allow-empty -m one
        git add -f own 2>/dev/null && git -c user.name=n -c user.email=e@x commit -qam two
        git init -q vendor";
    outside(&user, script);
    user.has("[network]\nmode = \"none\"\n").await;
    for script in [
        "echo 'gitdir: ../evil' >deep/lib/.git",
        "echo 'gitdir: ../evil' >deep/lib/inner/.git",
        "mv deep/lib deep/other",
        "echo '[core]' >>own/.git/config",
        "echo x >own/.git/hooks/pre-commit",
        "git -C deep/lib config core.fsmonitor /tmp/x",
    ] {
        user.fails(script).await;
    }
    user.told("git status --short && cd deep/lib && echo new >file && git add file && git status --short").await;
    user.told("git -C vendor config core.fsmonitor /tmp/x").await;
}

#[tokio::test]
async fn gits_hooks_and_configuration_stay_as_they_are_unless_the_file_says_otherwise() {
    let user = User::new();
    repository(&user);
    let before = user.file(".git/config");
    user.has("[network]\nmode = \"none\"\n").await;
    let bad = ["echo '[core]' >>.git/config", "git config core.fsmonitor /tmp/x", "echo x >.git/hooks/pre-commit"];
    for script in bad {
        user.fails(script).await;
    }
    user.told("echo two >a && git commit -qam two").await;
    assert_eq!(user.file(".git/config"), before);
    assert!(!user.scratch.path("project/.git/hooks/pre-commit").exists());
    user.run(&["rm", "--force", super::NAME]).await.ok();

    user.has("[workspace]\nprotect_git = false\n").await;
    user.told("git config user.name changed").await;
    assert!(user.file(".git/config").contains("changed"));
}

#[tokio::test]
async fn whoever_has_no_repository_yet_is_told_what_one_that_is_made_inside_can_do() {
    let user = User::new();
    let warned = |told: &serde_json::Value| told["warnings"].to_string().contains("`git init` before `coop up`");
    user.says("[network]\nmode = \"none\"\n").await;
    let made = user.tries(&["-d", "--", "cat"]).await;
    assert!(made.code == Some(0) && made.err.contains("no git repository yet"), "{made:?}");
    assert!(warned(&user.run(&["ls", "--json"]).await.json()["boxes"][0]), "and whoever asks later");
    user.run(&["rm", "--force", super::NAME]).await.ok();
    let aside = user.has("[workspace]\nmode = \"overlay\"\n").await;
    assert!(!warned(&aside), "what is made there waits to be looked at: {aside}");
    user.run(&["rm", "--force", super::NAME]).await.ok();
    repository(&user);
    let made = user.has("[network]\nmode = \"none\"\n").await;
    assert!(!warned(&made), "{made}");
}

#[tokio::test]
async fn what_is_only_to_be_read_is_read_and_stays_as_it_is() {
    let user = User::new();
    user.scratch.file("project/plain", "old");
    user.scratch.file("other/data", "given");
    let other = user.scratch.path("other").display().to_string();
    let mounts = format!("[box]\nmounts = [\"./d:/d:ro\", \"{other}:/data:ro\"]\n");
    std::fs::create_dir(user.scratch.path("project/d")).unwrap();
    user.scratch.file("project/d/inner", "deep");
    user.has(&format!("{mounts}[workspace]\nmode = \"ro\"\n")).await;
    assert_eq!(user.told("cat plain /d/inner /data/data").await, "olddeepgiven");
    for place in [".", "d", "/d", "/data"] {
        for script in ["touch new", "mkdir new", "echo bad >\"$(ls -A | head -n 1)\"", "rm -r ./*", "chmod 700 ."] {
            let said = user.fails(&format!("cd {place} && {script}")).await;
            assert!(said.contains("Read-only file system"), "{place}: {script}: {said}");
        }
    }
    let files = |dir: &str| std::fs::read_dir(user.scratch.path(dir)).unwrap().count();
    assert_eq!((files("project"), files("project/d"), files("other")), (3, 1, 1));
    assert_eq!((user.file("plain").as_str(), user.file("d/inner").as_str()), ("old", "deep"));
    user.run(&["rm", "--force", super::NAME]).await.ok();

    // A mount says for itself what it is, whatever the project is.
    user.has(&format!("[box]\nmounts = [\"./d:/d:ro\", \"{other}:/data\"]\n")).await;
    user.fails("echo bad >/d/inner").await;
    user.told("echo new >d/inner; echo more >/data/data; echo made >/data/made").await;
    assert_eq!(user.told("cat /d/inner").await, "new");
    let written = ["data", "made"].map(|name| std::fs::read_to_string(user.scratch.path("other").join(name)).unwrap());
    assert_eq!(written, ["more\n", "made\n"], "outside");
}

#[tokio::test]
async fn a_volume_is_written_inside_shared_by_boxes_and_outlives_them() {
    let user = User::new();
    let toml = "[box]\nmounts = [{ volume = \"cache\", to = \"~/.cache\" }, { volume = \"cache\", to = \"/seen\", mode = \"ro\" }]\n";
    user.has(toml).await;
    user.told("echo one >~/.cache/one").await;
    assert_eq!(user.told("cat /seen/one").await, "one", "it is one and the same");
    user.fails("echo bad >/seen/one").await;
    let second = user.run(&["up", &user.project(), "--name", "blue", "--json", "--", "cat"]).await;
    assert_eq!(second.code, Some(0), "{second:?}");
    let blue = ["shell", "blue", "--", "/bin/sh", "-c", "cat ~/.cache/one; echo two >~/.cache/two"];
    assert_eq!(user.run(&blue).await.ok(), "one\n", "another box has it at the same time");
    assert_eq!(user.told("cat ~/.cache/two").await, "two");
    assert!(user.run(&["volume", "rm", "cache"]).await.complaint().contains("blue"), "not while it is used");
    for name in [super::NAME, "blue"] {
        user.run(&["rm", "--force", name]).await.ok();
    }
    user.has(toml).await;
    assert_eq!(user.told("cat ~/.cache/one ~/.cache/two").await, "one\ntwo", "no box took it along");
}

#[tokio::test]
async fn what_is_persisted_lies_apart_from_home_and_is_there_again_after_a_restart() {
    let user = User::new();
    user.has("[session]\npersist = [\".cache/pip\"]\n").await;
    user.told("echo wheel >~/.cache/pip/wheel; echo note >~/note").await;
    let kept = user.kept(super::NAME);
    assert_eq!(std::fs::read_to_string(kept.join("persist/.cache/pip/wheel")).unwrap(), "wheel\n");
    user.restarts().await;
    assert_eq!(user.told("cat ~/.cache/pip/wheel ~/note").await, "wheel\nnote");
}

#[tokio::test]
async fn a_login_that_is_copied_is_the_boxs_own_and_one_that_is_shared_is_renewed_for_both() {
    let user = User::new();
    let home = user.scratch.path("user");
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    let key = home.join(".claude/.credentials.json");
    std::fs::write(&key, "{\"key\":1}").unwrap();
    let user = user.with("HOME", home.to_str().unwrap());
    let toml = |login: &str| format!("[box]\nagent = \"claude\"\ncommand = [\"cat\"]\nlogin = \"{login}\"\n");
    user.says(&toml("copy")).await;
    let made = user.tries(&["-d"]).await;
    assert_eq!(made.code, Some(0), "{made:?}");
    assert_eq!(user.told("cat ~/.claude/.credentials.json").await, "{\"key\":1}");
    user.told("echo renewed >~/.claude/.credentials.json").await;
    assert_eq!(std::fs::read_to_string(&key).unwrap(), "{\"key\":1}");
    user.run(&["rm", "--force", super::NAME]).await.ok();

    user.says(&toml("share")).await;
    assert_eq!(user.tries(&["-d"]).await.code, Some(0));
    user.told("echo renewed >~/.claude/.credentials.json").await;
    assert_eq!(std::fs::read_to_string(&key).unwrap(), "renewed\n", "one login for both");
    std::fs::write(&key, "renewed outside").unwrap();
    assert_eq!(user.told("cat ~/.claude/.credentials.json").await, "renewed outside");
    user.run(&["rm", "--force", super::NAME]).await.ok();
    assert!(key.exists(), "what was shared is not the box's to take along");

    user.says(&toml("none")).await;
    assert_eq!(user.tries(&["-d"]).await.code, Some(0));
    user.fails("cat ~/.claude/.credentials.json").await;
}

#[tokio::test]
async fn a_box_that_exists_is_given_the_login_when_its_file_says_so() {
    let user = User::new();
    let home = user.scratch.path("user");
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    std::fs::write(home.join(".claude/.credentials.json"), "{\"key\":1}").unwrap();
    let user = user.with("HOME", home.to_str().unwrap());
    let toml = |login: &str| format!("[box]\nagent = \"claude\"\ncommand = [\"cat\"]\nlogin = \"{login}\"\n");
    let again = async |login: &str| {
        user.says(&toml(login)).await;
        let up = user.tries(&["-d"]).await;
        assert_eq!(up.code, Some(0), "{up:?}");
        let key = user.inside("cat ~/.claude/.credentials.json").await.text();
        user.run(&["stop", super::NAME]).await.ok();
        (key, up.err)
    };
    assert_eq!(again("none").await.0, "");
    let (key, said) = again("copy").await;
    assert_eq!(key, "{\"key\":1}");
    assert!(said.contains("box.login: ~/.claude/.credentials.json was copied into the box"), "{said}");
    let own = user.kept(super::NAME).join("home/.claude/.credentials.json");
    std::fs::write(&own, "renewed inside").unwrap();
    let (key, said) = again("copy").await;
    assert_eq!(key, "renewed inside");
    assert!(!said.contains("box.login"), "{said}");
    again("none").await;
    let (key, said) = again("copy").await;
    assert_eq!(key, "renewed inside");
    assert!(said.contains("was not copied, the box has a newer one"), "{said}");
}

/// Something in Claude's place that keeps a status.
const KEEPS_A_STATUS: &str = r#"
mkdir -p "$HOME/.claude/sessions"
printf '{"pid":%s,"status":"busy"}' $$ >"$HOME/.claude/sessions/$$.json"
echo ready
read -r _
"#;

#[tokio::test]
async fn an_agents_files_are_read_also_where_something_is_mounted_over_its_directory() {
    for mounted in ["[session]\npersist = [\".claude\"]\n", "mounts = [{ volume = \"c\", to = \"~/.claude\" }]\n"] {
        let user = User::new();
        user.scratch.file("project/agent.sh", KEEPS_A_STATUS);
        let command = "command = [\"bash\", \"-c\", \"(exec -a claude bash agent.sh); cat\"]";
        user.says(&format!("[box]\nagent = \"claude\"\n{command}\n{mounted}")).await;
        let made = user.tries(&["-d"]).await;
        assert_eq!(made.code, Some(0), "{made:?}");
        let waited = user.run(&["wait", "--session", super::NAME, "--state", "working", "--timeout", "60"]).await;
        assert_eq!(waited.code, Some(0), "{waited:?}");
        let state = user.run(&["state", "--session", super::NAME, "--json"]).await.json();
        assert_eq!(state["agent"]["detection_cause"], "status: busy", "{state}");
    }
}
