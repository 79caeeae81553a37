//! Boxes that stand on an image: what is written over it stays with the box, and setup commands are run once.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::AsyncBufReadExt;

use super::super::user::User;
use super::image::{archive, layout, rootfs};
use crate::support::{PATIENCE, finished};

/// The box's root, in one of the forms of a reference.
fn reference(user: &User, kind: &str) -> String {
    let root = user.scratch.path("rootfs");
    rootfs(&root, kind);
    let at = match kind {
        "dir" => root,
        "tar" => archive(&root, user.scratch.dir()),
        _ => layout(&root, user.scratch.dir()),
    };
    format!("{kind}:{}", at.display())
}

#[tokio::test]
async fn every_kind_of_image_is_the_root_and_a_restart_keeps_what_was_written_over_it() {
    for kind in ["dir", "tar", "oci"] {
        let user = User::new();
        let image = reference(&user, kind);
        let made = user.has(&format!("[box]\nimage = \"{image}\"\n")).await;
        assert_eq!(made["image"], image);
        assert_eq!(user.told("cat /etc/mark").await, kind);
        assert_eq!(user.told("ls /usr/bin/git 2>&1 || echo none").await.lines().last(), Some("none"), "of the machine");
        if kind != "dir" {
            assert_eq!(user.told("echo $OF_IMAGE").await, "yes", "the image's own variables");
        }
        user.told("echo kept >/etc/note; echo changed >/etc/mark; rm /bin/sleep").await;
        user.restarts().await;
        let seen = user.told("cat /etc/note /etc/mark; ls /bin/sleep 2>/dev/null || echo removed").await;
        assert_eq!(seen, "kept\nchanged\nremoved", "{kind}");
        let below = std::fs::read_to_string(user.scratch.path("rootfs/etc/mark")).unwrap();
        assert_eq!(below.trim(), kind, "what it stands on is shared, and stays as it is");
        // A box of another name begins anew.
        user.run(&["rm", "--force", super::NAME]).await.ok();
        user.has(&format!("[box]\nimage = \"{image}\"\n")).await;
        assert_eq!(user.told("cat /etc/mark").await, kind);
    }
}

/// Tells its version, or with which words it was started.
const AGENT: &str = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '2.1.0 (Claude Code)'; exit; fi\necho \"with $@\" >/tmp/words\ncat\n";
const ITS_WORDS: &str = "until [ -s /tmp/words ]; do sleep 0.02; done; cat /tmp/words";

#[tokio::test]
async fn an_agent_gets_no_hooks_where_coop_itself_does_not_run_and_that_is_told() {
    let user = User::new();
    let image = reference(&user, "dir");
    let agent = user.scratch.path("rootfs/bin/claude");
    std::fs::write(&agent, AGENT).unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    let toml = format!("[box]\nimage = \"{image}\"\nagent = \"claude\"\ncommand = [\"claude\"]\n");
    user.says(&toml).await;
    let made = user.tries(&["--json"]).await;
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(made.json()["warnings"].to_string().contains("coop does not run in this image"), "{made:?}");
    assert!(!user.told(ITS_WORDS).await.contains("settings"), "it is given what it was asked to be given");
    let explained = user.run(&["state", "-s", super::NAME, "--explain"]).await.ok();
    assert!(explained.contains("coop does not run in this image"), "{explained}");
    user.run(&["rm", "--force", super::NAME]).await.ok();

    // With what it is linked to it runs.
    let linked = std::process::Command::new("ldd").arg(env!("CARGO_BIN_EXE_coop")).output().unwrap().stdout;
    let linked = String::from_utf8_lossy(&linked).into_owned();
    for file in linked.split_whitespace().filter(|word| word.starts_with('/')) {
        let to = user.scratch.path("rootfs").join(&file[1..]);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(file, to).unwrap();
    }
    let made = user.tries(&["--json"]).await;
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(!made.json()["warnings"].to_string().contains("coop does not run"), "{made:?}");
    assert!(user.told(ITS_WORDS).await.contains("settings"));
}

#[tokio::test]
async fn setup_commands_are_run_once_and_kept_by_what_they_say() {
    let user = User::new();
    let image = reference(&user, "tar");
    let toml = |setup: &str| format!("[box]\nimage = \"{image}\"\nsetup = [{setup}]\n");
    // Each run would leave another number.
    let first = toml("\"cat /proc/sys/kernel/random/uuid >/uuid\", \"id -u >/uid; echo said\"");
    user.says(&first).await;
    let made = user.tries(&["-d", "--", "cat"]).await;
    assert!(made.code == Some(0) && made.err.contains("setup") && made.err.contains("said"), "{made:?}");
    assert_eq!(user.told("cat /uid").await, "0", "installing is root's work, of the box only");
    let uuid = user.told("cat /uuid").await;
    user.restarts().await;
    assert_eq!(user.told("cat /uuid").await, uuid);
    user.run(&["rm", "--force", super::NAME]).await.ok();
    let again = user.tries(&["-d", "--", "cat"]).await;
    assert!(again.code == Some(0) && !again.err.contains("said"), "{again:?}");
    assert_eq!(user.told("cat /uuid").await, uuid, "another box stands on the same");
    user.run(&["rm", "--force", super::NAME]).await.ok();
    user.has(&toml("\"cat /proc/sys/kernel/random/uuid >/uuid\", \"true\"")).await;
    assert_ne!(user.told("cat /uuid").await, uuid, "other commands make something else");
}

#[tokio::test]
async fn setup_commands_use_no_more_than_the_box_may() {
    let user = User::new();
    let image = reference(&user, "dir");
    user.has(&format!("[box]\nimage = \"{image}\"\nsetup = [\"ulimit -n >/files\"]\n[limits]\nopen_files = 64\n"))
        .await;
    assert_eq!(user.told("cat /files; ulimit -n").await, "64\n64");
}

#[tokio::test]
async fn an_image_is_not_removed_while_setup_commands_make_something_of_it() {
    let user = User::new();
    let image = reference(&user, "tar");
    // Longer than anybody waits, and known by its number.
    let nap = format!("{}", 1_000_000 + std::process::id());
    user.says(&format!("[box]\nimage = \"{image}\"\nsetup = [\"sleep {nap} || echo woken\"]\n")).await;
    let up = user.coop(&["up", &user.project(), "--name", super::NAME, "-d", "--", "cat"]);
    let up = tokio::spawn(finished(up));
    let asleep = running(&["sleep", &nap]).await;
    let refused = user.run(&["image", "rm", &image]).await;
    kill(Pid::from_raw(asleep), Signal::SIGTERM).unwrap();
    assert!(refused.code == Some(1) && refused.err.contains("image"), "{refused:?}");
    let made = up.await.unwrap();
    assert!(made.code == Some(0) && made.err.contains("woken"), "{made:?}");
    assert_eq!(user.told("cat /etc/mark").await, "tar");
}

#[tokio::test]
async fn setup_commands_end_when_nobody_waits_for_them_and_the_next_goes_on() {
    let user = User::new();
    let image = reference(&user, "tar");
    let nap = format!("{}", 2_000_000 + std::process::id());
    user.says(&format!("[box]\nimage = \"{image}\"\nsetup = [\"sleep {nap} || echo woken\"]\n")).await;
    let up = || user.coop(&["up", &user.project(), "--name", super::NAME, "-d", "--", "cat"]);
    let first = tokio::spawn(finished(up()));
    let asleep = running(&["sleep", &nap]).await;
    let mut second = up().stderr(Stdio::piped()).stdout(Stdio::null()).kill_on_drop(true).spawn().unwrap();
    let mut told = tokio::io::BufReader::new(second.stderr.take().unwrap()).lines();
    let mut hears = async |word: &str| while !told.next_line().await.unwrap().expect(word).contains(word) {};
    hears("waits for another").await;
    // Whoever was first goes away, as with Ctrl-C.
    first.abort();
    ended(asleep).await;
    let asleep = running(&["sleep", &nap]).await;
    kill(Pid::from_raw(asleep), Signal::SIGTERM).unwrap();
    hears("woken").await;
    assert!(second.wait().await.unwrap().success());
    assert_eq!(user.told("cat /etc/mark").await, "tar");
}

#[tokio::test]
async fn a_daemon_that_leaves_waits_for_no_setup() {
    let user = User::new();
    let image = reference(&user, "tar");
    let nap = format!("{}", 3_000_000 + std::process::id());
    user.says(&format!("[box]\nimage = \"{image}\"\nsetup = [\"sleep {nap}\"]\n")).await;
    let up = user.coop(&["up", &user.project(), "--name", super::NAME, "-d", "--", "cat"]);
    let up = tokio::spawn(finished(up));
    let asleep = running(&["sleep", &nap]).await;
    user.run(&["daemon", "stop"]).await.ok();
    ended(asleep).await;
    let told = up.await.unwrap();
    assert!(told.code == Some(1) && told.err.contains("the daemon leaves"), "{told:?}");
}

/// Waits until there is no such process, or nothing is left of it but its number.
async fn ended(pid: i32) {
    let deadline = std::time::Instant::now() + PATIENCE;
    while std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|words| !words.is_empty()) {
        assert!(std::time::Instant::now() < deadline, "{pid} still runs");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

/// The process with these words, as soon as there is one.
async fn running(words: &[&str]) -> i32 {
    let line: Vec<u8> = words.iter().flat_map(|word| word.bytes().chain([0])).collect();
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        let pids =
            std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_it = |pid: &i32| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|found| found == line);
        if let Some(pid) = pids.into_iter().find(is_it) {
            return pid;
        }
        assert!(std::time::Instant::now() < deadline, "nobody runs {words:?}");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn root_of_the_box_only_is_the_caller_outside() {
    use std::os::unix::fs::MetadataExt;
    let user = User::new();
    let image = reference(&user, "dir");
    for toml in [
        "[box]\nuidmap = \"root\"\n".to_owned(),
        format!("[box]\nimage = \"{image}\"\nuidmap = \"root\"\nuser = \"root\"\n"),
    ] {
        user.has(&toml).await;
        assert_eq!(user.told("id -u; id -g; echo made >made; echo home >~/made").await, "0\n0", "{toml}");
        user.fails("echo bad >/proc/sys/kernel/core_pattern").await;
        for made in [user.scratch.path("project/made"), user.kept(super::NAME).join("home/made")] {
            let owner = std::fs::metadata(&made).unwrap();
            let own = (nix::unistd::geteuid().as_raw(), nix::unistd::getegid().as_raw());
            assert_eq!((owner.uid(), owner.gid()), own, "{toml}: {}", made.display());
        }
        user.run(&["rm", "--force", super::NAME]).await.ok();
    }
    user.says(&format!("[box]\nimage = \"{image}\"\nuser = \"nobody\"\n")).await;
    let refused = user.tries(&["-d", "--", "cat"]).await;
    assert!(refused.code == Some(1) && refused.err.contains("a box has one user"), "{refused:?}");
}

#[tokio::test]
async fn a_setup_command_that_fails_is_told_with_what_it_printed_and_tried_again() {
    let user = User::new();
    let image = reference(&user, "tar");
    let toml = format!("[box]\nimage = \"{image}\"\nsetup = [\"true\", \"echo no such package; exit 3\"]\n");
    user.says(&toml).await;
    for _ in 0..2 {
        let failed = user.tries(&["-d", "--", "cat"]).await;
        assert!(failed.code == Some(1) && failed.err.contains("ended with 3"), "{failed:?}");
        assert!(failed.err.contains("no such package") && failed.err.contains("exit 3"), "{failed:?}");
    }
    assert_eq!(user.run(&["ls", "--json"]).await.json()["boxes"], serde_json::json!([]), "no box was made of it");
}

#[tokio::test]
async fn an_image_whose_resolver_is_a_link_to_nothing_resolves_as_the_machine_does() {
    let user = User::new();
    let root = user.scratch.path("rootfs");
    rootfs(&root, "linked");
    // As images of systems with systemd-resolved have it.
    std::os::unix::fs::symlink("../run/systemd/resolve/stub-resolv.conf", root.join("etc/resolv.conf")).unwrap();
    let setup = "setup = [\"cat /etc/resolv.conf >/seen\"]";
    user.has(&format!("[box]\nimage = \"dir:{}\"\n{setup}\n[network]\nmode = \"host\"\n", root.display())).await;
    let machines = std::fs::read_to_string("/etc/resolv.conf").unwrap();
    assert_eq!(user.told("cat /seen").await, machines.trim_end(), "while it was made ready");
    assert_eq!(user.told("cat /etc/resolv.conf").await, machines.trim_end());
    let kept = root.join("etc/resolv.conf").read_link().unwrap();
    assert_eq!(kept.to_str(), Some("../run/systemd/resolve/stub-resolv.conf"), "the image is as it was");
}

#[tokio::test]
async fn what_was_written_over_one_setup_is_not_put_over_another() {
    let user = User::new();
    let image = reference(&user, "dir");
    let toml = |setup: &str| format!("[box]\nimage = \"{image}\"\nsetup = [\"{setup}\"]\n");
    user.has(&toml("echo one >/made")).await;
    user.told("echo mine >>/made").await;
    user.run(&["stop", super::NAME]).await.ok();
    user.says(&toml("echo two >/made")).await;
    let refused = user.tries(&["-d", "--", "cat"]).await;
    assert!(refused.code == Some(1) && refused.err.contains("other setup commands"), "{refused:?}");
    assert!(refused.err.contains("does not fit: `coop rm red` first"), "{refused:?}");
    user.says(&toml("echo one >/made")).await;
    assert_eq!(user.tries(&["-d", "--", "cat"]).await.code, Some(0));
    assert_eq!(user.told("cat /made").await, "one\nmine");
}
