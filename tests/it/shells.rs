//! What coop gives to shells: completions that the real bash uses, and the manual.

use crate::support::{Coop, Scratch, binary, finished, run_coop};

/// Asks bash what it would complete, as it asks itself at a press of Tab.
const ASK: &str = r#"
source "$1"; shift
complete -p coop >&2
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
$(complete -p coop | sed 's/.*-F \([^ ]*\).*/\1/') coop "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

#[tokio::test]
async fn bash_completes_verbs_flags_and_values() {
    let scratch = Scratch::new();
    let script = scratch.file("coop.bash", run_coop(&["completions", "bash"], &[]).await.ok());
    for (words, expected) in [
        (vec!["coop", "sta"], "state\n"),
        (vec!["coop", "st"], "state\nstop\n"),
        (vec!["coop", "gua"], "\n"),
        (vec!["coop", "--exit"], "--exit-with-child\n"),
        (vec!["coop", "--agent", "co"], "codex\n"),
        (vec!["coop", "wait", "--sta"], "--state\n"),
        (vec!["coop", "wait", "--state", "wo"], "working\n"),
        (vec!["coop", "env", "un"], "unset\n"),
        (vec!["coop", "completions", "z"], "zsh\n"),
    ] {
        let mut bash = tokio::process::Command::new("bash");
        bash.args(["--norc", "-c", ASK, "bash", &script]).args(&words);
        let ended = finished(bash).await;
        assert_eq!((ended.code, ended.text().as_str()), (Some(0), expected), "{words:?}: {ended:?}");
        assert!(ended.err.contains("-F _coop"), "{ended:?}");
    }
}

#[tokio::test]
async fn bash_completes_the_names_of_sessions_where_one_is_to_be_named() {
    let scratch = Scratch::new();
    let script = scratch.file("coop.bash", run_coop(&["completions", "bash"], &[]).await.ok());
    let at_home = [("XDG_RUNTIME_DIR", scratch.path("run")), ("COOP_HOME", scratch.path("home"))];
    std::fs::create_dir_all(scratch.path("run")).unwrap();
    std::fs::create_dir_all(scratch.path("bin")).unwrap();
    std::os::unix::fs::symlink(binary(), scratch.path("bin").join("coop")).unwrap();
    let session = |name: &str| {
        Coop::start_with(&["--label", name], &["cat"], |command| {
            command.envs(at_home.clone());
        })
    };
    let _sessions = [session("name=redwood"), session("name=birch")];
    let path = format!("{}:{}", scratch.path("bin").display(), std::env::var("PATH").unwrap());
    for (words, expected) in [
        (vec!["coop", "attach", "r"], "redwood\n"),
        (vec!["coop", "stop", "b"], "birch\n"),
        (vec!["coop", "screen", "--session", "re"], "redwood\n"),
        (vec!["coop", "state", "-s", "x"], "\n"),
    ] {
        let mut bash = tokio::process::Command::new("bash");
        bash.args(["--norc", "-c", ASK, "bash", &script]).args(&words).env("PATH", &path).envs(at_home.clone());
        let ended = finished(bash).await;
        assert_eq!((ended.code, ended.text().as_str()), (Some(0), expected), "{words:?}: {ended:?}");
    }
}

#[tokio::test]
async fn each_shell_has_completions_and_the_manual_a_page_for_each_verb() {
    for (shell, sign) in [("bash", "complete -F"), ("zsh", "#compdef coop"), ("fish", "complete -c coop")] {
        let script = run_coop(&["completions", shell], &[]).await.ok();
        assert!(script.contains(sign) && script.contains("transcripts"), "{shell}");
        assert!(!script.contains("guardian"), "{shell}: nobody types that");
    }
    let page = run_coop(&["man"], &[]).await.ok();
    assert!(page.contains(".TH coop 1") && page.contains("COOP TRANSCRIPTS CATCHUP"), "{page}");
    let scratch = Scratch::new();
    let dir = scratch.path("man1");
    let named = run_coop(&["man", "--dir", dir.to_str().unwrap()], &[]).await.ok();
    let written = std::fs::read_dir(&dir).unwrap().count();
    assert!(written > 20 && named.lines().count() == written, "{named}");
    let wait = std::fs::read_to_string(dir.join("coop-wait.1")).unwrap();
    assert!(wait.contains("coop wait") || wait.contains("coop\\-wait"), "{wait}");
    let help = tokio::process::Command::new(binary()).arg("-h").output().await.unwrap();
    assert!(String::from_utf8_lossy(&help.stdout).contains("Shells  completions, man"));
}
