//! A program that is called `claude`: it notes the words that it was started with, and what is typed.

use std::process::Command;
use std::sync::Arc;

use serde_json::json;

use crate::support::{Claude, Coop, Scratch, at_home, binary};

/// Shows that it runs, then everything that it is given.
const NOTES_ITS_WORDS: &str = r#"case $1 in --version) echo "2.1.197 (Claude Code)"; exit;; esac
printf '%s\0' "$@" > "$HOME/words.new"; mv "$HOME/words.new" "$HOME/words"
stty -echo -icanon -icrnl; echo "ready $$"; cat -v; exit"#;

/// A home with a program of the name `claude`.
pub fn installed() -> Arc<Scratch> {
    let home = Arc::new(Scratch::new());
    // Written by another process: a file that this one has open, and a child of another test with it, cannot run.
    let write = r#"mkdir "$1/bin" && printf '#!/bin/sh\n%s\n' "$0" > "$1/bin/claude" && chmod 755 "$1/bin/claude""#;
    let written = Command::new("sh").args(["-c", write, NOTES_ITS_WORDS]).arg(home.dir()).status().unwrap();
    assert!(written.success());
    home
}

/// Starts coop in front of it, as an orchestrator does.
pub async fn started(home: &Scratch, flags: &[&str], program: &[&str], env: &[(&str, &str)]) -> Coop {
    let path = format!("PATH={}:{}", home.path("bin").display(), std::env::var("PATH").unwrap());
    let coop = Coop::start_with(&[flags, &["--env", &path]].concat(), program, |command| {
        at_home(command, home);
        command.envs(env.iter().copied());
    });
    coop.shows("ready").await;
    coop
}

/// The words that the program was started with.
pub fn words(home: &Scratch) -> Vec<String> {
    let text = std::fs::read_to_string(home.path("words")).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

/// An agent with an input box (a bash that reads single characters gets Enter as a new line): shows what is pasted into it, notes what is sent, and tells by its hook that it took it.
pub const TAKES_MESSAGES: &str = r#"stty -echo -icanon -icrnl -isig; text=
bar=$(printf '─%.0s' {1..80})
draw() { printf '\033[H\033[2Jready\r\n\r\n%s\r\n❯\302\240%s\r\n%s\r\n  ? for shortcuts\033[4;%dH' "$bar" "$text" "$bar" $((${#text} + 3)); }
draw
while IFS= read -rn1 -d '' c; do case $c in
  $'\033') while IFS= read -rn1 -d '' c; do case $c in [A-Za-z~]) break;; esac; done;;
  $'\n') printf '%s\n' "$text" >> "$HOME/prompts"; printf '{"prompt":"%s"}' "$text" | "$COOP_PROGRAM" hook UserPromptSubmit; text=; draw;;
  $'\025') text=; draw;;
  *) text+=$c; draw;;
esac; done; exit"#;

/// Such an agent, at rest.
pub async fn at_rest() -> Claude {
    at_rest_with(TAKES_MESSAGES).await
}

/// The same with another script.
pub async fn at_rest_with(script: &str) -> Claude {
    let program = format!("COOP_PROGRAM={}", binary().display());
    let flags = ["--env", &program, "--nudge-timeout-ms", "15000"];
    let claude = Claude::start_in(&Arc::new(Scratch::new()), &flags, script).await;
    claude.hook("Stop", json!({"stop_hook_active": false})).await;
    claude.is("idle").await;
    claude
}

/// What was sent to it, message by message.
pub fn prompts(home: &Scratch) -> Vec<String> {
    std::fs::read_to_string(home.path("prompts")).unwrap().lines().map(str::to_owned).collect()
}
