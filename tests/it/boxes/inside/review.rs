//! What an agent did in an overlay, as coop tells and applies it, beside what git says of the same.

use std::process::{Command, Stdio};

use super::super::user::User;

/// Everything that can happen to a file.
const WORK: &str = "echo changed >text; rm gone; mkdir -p deep/er; echo new >deep/er/file; chmod +x tool; mv old renamed; \
                    ln -s text link; printf 'a\\000c' >binary; printf 'no newline' >unfinished; rm -r dir; echo now a file >dir";

fn git(dir: &str, words: &[&str]) -> String {
    let done = Command::new("git").args(words).current_dir(dir).stdin(Stdio::null()).output().unwrap();
    assert!(done.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// All that git has to say about a working tree, untracked files with their content.
fn seen_by_git(dir: &str) -> String {
    git(dir, &["add", "-A"]);
    without_objects(&git(dir, &["diff", "--cached", "--no-renames", "--binary", "HEAD"]))
}

/// Without the names of git's own objects, which coop has a use for only in binary files.
fn without_objects(told: &str) -> String {
    told.lines().filter(|line| !line.starts_with("index ")).map(|line| format!("{line}\n")).collect()
}

/// A repository, and a copy of it.
fn repository(user: &User) -> String {
    let project = user.project();
    let script = "printf 'one\\ntwo\\n' >text; echo x >gone; echo '#!/bin/sh' >tool; echo moved >old; \
                  printf 'a\\000b' >binary; echo end >unfinished; mkdir dir; echo in >dir/inner; printf 'coop.toml\\n' >.gitignore; \
                  git init -q .; git config user.name n; git config user.email e@x; git config commit.gpgsign false; \
                  git add -A; git commit -qm one";
    assert!(Command::new("sh").args(["-ec", script]).current_dir(&project).status().unwrap().success());
    let copy = user.scratch.path("copy").display().to_string();
    git("/", &["clone", "-q", &project, &copy]);
    copy
}

#[tokio::test]
async fn what_is_told_and_applied_is_what_git_sees_of_the_same_work() {
    let user = User::new();
    let (project, copy) = (user.project(), repository(&user));
    user.has("[workspace]\nmode = \"overlay\"\n").await;
    assert_eq!(user.run(&["diff", super::NAME]).await.ok(), "", "nothing was done yet");
    user.told(WORK).await;
    assert_eq!(git(&project, &["status", "--porcelain"]), "", "the project is as it was");
    user.restarts().await;
    for verb in ["apply", "discard"] {
        let refused = user.run(&[verb, super::NAME]).await;
        assert!(refused.complaint().contains("coop stop"), "before anything is asked: {refused:?}");
        assert!(!refused.err.contains('?'), "{refused:?}");
    }
    user.run(&["stop", super::NAME]).await.ok();
    let diff = user.run(&["diff", super::NAME]).await.ok();
    // The same work where nobody looked on.
    assert!(Command::new("sh").args(["-ec", WORK]).current_dir(&copy).status().unwrap().success());
    let wanted = seen_by_git(&copy);
    assert_eq!(without_objects(&diff), wanted, "what coop tells is what git would");
    let applied = user.run(&["apply", super::NAME, "--yes"]).await;
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert_eq!(seen_by_git(&project), wanted);
    assert_eq!(user.run(&["diff", super::NAME]).await.ok(), "", "nothing is left to apply");
}

#[tokio::test]
async fn a_box_that_is_started_again_goes_on_from_what_the_project_became() {
    let user = User::new();
    let project = user.project();
    repository(&user);
    user.has("[workspace]\nmode = \"overlay\"\n").await;
    for round in ["1", "2"] {
        user.told(&format!("echo box {round} >>text; echo box >mine{round}")).await;
        user.run(&["stop", super::NAME]).await.ok();
        let applied = user.run(&["apply", super::NAME, "--yes"]).await;
        assert_eq!(applied.code, Some(0), "{applied:?}");
        git(&project, &["add", "-A"]);
        git(&project, &["commit", "-qm", round]);
        std::fs::write(format!("{project}/old"), round).unwrap();
        let text = std::fs::read_to_string(format!("{project}/text")).unwrap();
        std::fs::write(format!("{project}/text"), format!("{text}host {round}\n")).unwrap();
        user.restarts().await;
    }
    let text = std::fs::read_to_string(format!("{project}/text")).unwrap();
    assert_eq!(text, "one\ntwo\nbox 1\nhost 1\nbox 2\nhost 2\n");
    // What both changed stays a conflict, also after another start.
    user.told("echo box >>old").await;
    user.run(&["stop", super::NAME]).await.ok();
    std::fs::write(format!("{project}/old"), "host").unwrap();
    user.restarts().await;
    user.run(&["stop", super::NAME]).await.ok();
    let applied = user.run(&["apply", super::NAME, "--yes"]).await;
    assert!(applied.code == Some(1) && applied.err.contains("\"old\""), "{applied:?}");
    assert_eq!(std::fs::read_to_string(format!("{project}/old")).unwrap(), "host");
}

#[tokio::test]
async fn what_is_discarded_is_as_if_it_had_not_been_done() {
    let user = User::new();
    repository(&user);
    user.has("[workspace]\nmode = \"overlay\"\n").await;
    user.told(WORK).await;
    user.run(&["stop", super::NAME]).await.ok();
    let discarded = user.run(&["discard", super::NAME, "text", "--yes"]).await;
    assert_eq!(discarded.code, Some(0), "{discarded:?}");
    let diff = user.run(&["diff", super::NAME]).await.ok();
    assert!(!diff.contains("b/text\n") && diff.contains("deep/er/file"), "{diff}");
    assert_eq!(user.run(&["discard", super::NAME, "--yes"]).await.code, Some(0));
    assert_eq!(user.run(&["diff", super::NAME]).await.ok(), "");
    assert_eq!(git(&user.project(), &["status", "--porcelain"]), "");
    user.restarts().await;
    assert_eq!(
        user.told("cat text; ls | cat").await,
        "one\ntwo\nbinary\ncoop.toml\ndir\ngone\nold\ntext\ntool\nunfinished"
    );
    user.run(&["stop", super::NAME]).await.ok();
    assert_eq!(user.run(&["rm", super::NAME]).await.code, Some(0), "nothing is lost by it");
}

#[tokio::test]
async fn what_is_hidden_is_neither_deleted_nor_emptied_for_the_project() {
    let user = User::new();
    let project = user.project();
    repository(&user);
    let made = user.has("[box]\nhide = [\"old\", \"dir\", \"elsewhere\"]\n[workspace]\nmode = \"overlay\"\n").await;
    let warnings = made["warnings"].as_array().unwrap();
    let told = warnings.iter().filter_map(|warning| warning.as_str()).find(|warning| warning.starts_with("box.hide"));
    assert!(told.is_some_and(|told| told.contains("git keeps dir, old: its history can be read")), "{warnings:?}");
    assert_eq!(user.told("git status --porcelain; cat old; ls dir").await, " D dir/inner\n M old");
    user.told("echo changed >text; rm -rf dir old || true; git stash -q 2>/dev/null || true; echo changed >text").await;
    user.run(&["stop", super::NAME]).await.ok();
    let names = user.run(&["diff", super::NAME, "--names"]).await.ok();
    assert!(names.contains("M text\n") && !names.contains("old") && !names.contains("dir"), "{names}");
    user.run(&["apply", super::NAME, "--yes"]).await;
    assert_eq!((user.file("old").as_str(), user.file("dir/inner").as_str()), ("moved\n", "in\n"));
    assert_eq!(std::fs::read_to_string(format!("{project}/text")).unwrap(), "changed\n");
}

#[tokio::test]
async fn a_text_that_is_no_utf_8_is_told_byte_for_byte_and_git_takes_it() {
    let user = User::new();
    let copy = repository(&user);
    let latin = b"caf\xe9\nna\xefve\n";
    for dir in [&user.project(), &copy] {
        std::fs::write(format!("{dir}/text"), latin).unwrap();
    }
    user.has("[workspace]\nmode = \"overlay\"\n").await;
    user.told("printf 'th\\351\\n' >>text; printf '\\374ber\\n' >new").await;
    let diff = user.run(&["diff", super::NAME]).await.out;
    assert!(diff.windows(6).any(|six| six == b"\n+th\xe9\n"), "{}", String::from_utf8_lossy(&diff));
    let patch = user.scratch.path("patch");
    std::fs::write(&patch, &diff).unwrap();
    git(&copy, &["apply", patch.to_str().unwrap()]);
    assert_eq!(std::fs::read(format!("{copy}/text")).unwrap(), [&latin[..], b"th\xe9\n"].concat());
    assert_eq!(std::fs::read(format!("{copy}/new")).unwrap(), b"\xfcber\n");
    // The same over HTTP, where the text is asked for alone; as JSON it is a text, with the bytes beside it.
    let daemon = user.daemon().await;
    assert_eq!(daemon.get("/api/v1/boxes/red/diff/text").await.body, diff);
    let told = daemon.get("/api/v1/boxes/red/diff").await.ok();
    assert!(told["text"].as_str().unwrap().contains("+th\u{fffd}\n") && told["exact"].is_string(), "{told}");
}

#[tokio::test]
async fn a_file_that_was_only_touched_is_no_change_that_could_be_lost() {
    let user = User::new();
    repository(&user);
    user.has("[workspace]\nmode = \"overlay\"\n").await;
    user.told("touch text").await;
    user.run(&["stop", super::NAME]).await.ok();
    assert_eq!(user.run(&["diff", super::NAME]).await.ok(), "");
    let plain = user.tries(&["-d", "--workspace", "rw"]).await;
    assert_eq!(plain.code, Some(0), "nothing is lost without its overlay: {plain:?}");
    user.run(&["stop", super::NAME]).await.ok();
    assert_eq!(user.tries(&["-d", "--workspace", "overlay"]).await.code, Some(0));
    user.told("touch text").await;
    user.run(&["stop", super::NAME]).await.ok();
    let removed = user.run(&["rm", super::NAME]).await;
    assert_eq!(removed.code, Some(0), "{removed:?}");
}
