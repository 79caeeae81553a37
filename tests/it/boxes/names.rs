//! Names that shells offer, and the place where boxes are kept.

use super::user::User;
use crate::support::{Ended, binary, finished, sh};

/// Asks bash what it would complete, as it asks itself at a press of Tab: by the function that is registered for coop.
const ASK: &str = r#"
source "$1"; shift
[[ $(complete -p coop) =~ -F\ ([^ ]+) ]] || exit 1
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
"${BASH_REMATCH[1]}" coop "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// A shell of this user, in which `coop` is the one that is tested.
fn shell(user: &User, program: &str) -> tokio::process::Command {
    let bin = user.scratch.path("bin");
    if !bin.exists() {
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(binary(), bin.join("coop")).unwrap();
    }
    let mut command = tokio::process::Command::new(program);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("COOP_HOME", user.home()).env("XDG_RUNTIME_DIR", user.scratch.path("run"));
    command
}

async fn completed(user: &User, words: &[&str]) -> Ended {
    let script = user.scratch.file("coop.bash", user.run(&["completions", "bash"]).await.ok());
    let mut bash = shell(user, "bash");
    bash.args(["--norc", "-c", ASK, "bash", &script, "coop"]).args(words);
    finished(bash).await
}

#[tokio::test]
async fn bash_offers_the_names_of_boxes_and_sessions_where_one_is_to_be_named() {
    let user = User::new();
    user.up("red", &["cat"]).await;
    user.up("rose", &["cat"]).await;
    user.run(&["stop", "rose"]).await.ok();
    let mut session = user.coop(&[&["--label", "name=blue", "--"], &sh("sleep 1000")[..]].concat());
    session.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).kill_on_drop(true);
    let mut session = session.spawn().unwrap();
    // It says that it listens.
    tokio::io::AsyncReadExt::read_u8(session.stdout.as_mut().unwrap()).await.unwrap();
    for (words, expected) in [
        (vec!["attach", ""], "blue\nred\nrose\n"),
        (vec!["attach", "r"], "red\nrose\n"),
        (vec!["shell", "ro"], "rose\n"),
        (vec!["rm", "x"], "\n"),
        (vec!["diff", "re"], "red\n"),
        (vec!["state", "-s", "b"], "blue\n"),
        (vec!["wait", "--session", ""], "blue\nred\nrose\n"),
        (vec!["attach", "--vi"], "--view\n"),
        (vec!["sta"], "state\n"),
    ] {
        let ended = completed(&user, &words).await;
        assert_eq!((ended.code, ended.text().as_str(), ended.err.as_str()), (Some(0), expected, ""), "{words:?}");
    }
}

#[tokio::test]
async fn where_nothing_is_nothing_is_offered_made_or_started() {
    let user = User::new();
    let ended = completed(&user, &["attach", ""]).await;
    assert_eq!((ended.code, ended.text().as_str(), ended.err.as_str()), (Some(0), "\n", ""));
    assert!(!user.home().exists() && !user.sockets().exists());
    for shell in ["zsh", "fish"] {
        let script = user.run(&["completions", shell]).await.ok();
        assert!(script.contains("coop names 2>/dev/null") && !script.contains("users"), "{shell}: {script}");
    }
}

#[tokio::test]
async fn boxes_are_kept_where_coop_home_says_and_a_daemon_of_elsewhere_is_not_asked() {
    let user = User::new();
    user.up("red", &["cat"]).await;
    let other = user.scratch.path("elsewhere").display().to_string();
    let there = async |words: &[&str]| {
        let mut command = user.coop(words);
        command.env("COOP_HOME", &other);
        finished(command).await
    };
    let project = user.scratch.path("other").display().to_string();
    let ended = there(&["up", &project, "--name", "blue", "--json", "--", "cat"]).await;
    let home = user.home().display().to_string();
    assert!(ended.err.contains(&format!("keeps boxes in {home}, and COOP_HOME says {other}")), "{ended:?}");
    assert_eq!(there(&["volume", "ls"]).await.ok(), "");
    user.run(&["rm", "--force", "red"]).await.ok();
    // One that keeps nothing makes room.
    let ended = there(&["up", &project, "--name", "blue", "--json", "--", "cat"]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(user.scratch.path("elsewhere/sessions/blue").is_dir() && !user.kept("blue").exists());
    there(&["rm", "--force", "blue"]).await.ok();
}
