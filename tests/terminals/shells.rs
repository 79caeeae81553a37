//! Completions in the real zsh and the real fish, and the manual in the real troff.

use std::process::{Command, Output};

use crate::support::{Scratch, binary};
use crate::tmux::Tmux;

/// What coop prints.
fn coop(words: &[&str]) -> String {
    let output = Command::new(binary()).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A directory with a `coop` that knows two names, and nothing else.
fn with_names(scratch: &Scratch) -> String {
    let dir = scratch.path("bin").display().to_string();
    let write = r#"mkdir "$0" && printf '#!/bin/sh\n[ "$1" != names ] || printf "redwood\\nbirch\\n"\n' > "$0/coop" && chmod 755 "$0/coop""#;
    assert!(Command::new("sh").args(["-c", write, &dir]).status().unwrap().success());
    dir
}

fn ended(mut command: Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; tests/terminals/run installs it"))
}

#[test]
fn zsh_completes_verbs_flags_and_names_at_a_press_of_tab() {
    let scratch = Scratch::new();
    scratch.file("_coop", coop(&["completions", "zsh"]));
    let tmux = Tmux::running(100, 20, &["zsh", "-f"]);
    let (functions, programs) = (scratch.dir().display(), with_names(&scratch));
    let begin =
        format!("PS1='> '; path=({programs} $path); fpath=({functions} $fpath); autoload -Uz compinit; compinit -u -D");
    tmux.does(&["send-keys", "-t", "main", &begin, "Enter"]);
    tmux.does(&["send-keys", "-t", "main", "clear; print ready", "Enter"]);
    tmux.shows_that("main", |rows| rows.iter().any(|row| row == "ready"));
    for (typed, completed) in [
        ("coop usa", "coop usage"),
        ("coop --exit-w", "coop --exit-with-child"),
        ("coop wait --reg", "coop wait --regex"),
        ("coop wait --state wor", "coop wait --state working"),
        ("coop env uns", "coop env unset"),
        ("coop attach red", "coop attach redwood"),
        ("coop screen --session bi", "coop screen --session birch"),
    ] {
        tmux.does(&["send-keys", "-t", "main", "C-u", typed, "Tab"]);
        tmux.shows("main", &format!("> {completed}"));
    }
}

#[test]
fn fish_completes_verbs_flags_values_and_names() {
    let scratch = Scratch::new();
    let script = scratch.file("coop.fish", coop(&["completions", "fish"]));
    let path = format!("{}:{}", with_names(&scratch), std::env::var("PATH").unwrap());
    for (line, expected) in [
        ("coop usa", "usage"),
        ("coop wait --reg", "--regex"),
        ("coop wait --state work", "working"),
        ("coop env uns", "unset"),
        ("coop attach red", "redwood"),
        ("coop screen --session bi", "birch"),
    ] {
        let mut fish = Command::new("fish");
        fish.args(["--no-config", "-c", "source $argv[1]; complete -C $argv[2]", &script, line]).env("PATH", &path);
        let output = ended(fish);
        let found = String::from_utf8_lossy(&output.stdout).into_owned();
        let words: Vec<&str> = found.lines().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(words, [expected], "{line}: {output:?}");
    }
}

#[test]
fn the_manual_is_set_without_a_warning() {
    let scratch = Scratch::new();
    let dir = scratch.path("man1");
    coop(&["man", "--dir", dir.to_str().unwrap()]);
    let whole = scratch.file("coop.1", coop(&["man"]));
    let pages = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path().display().to_string());
    for page in pages.chain([whole]) {
        let mut groff = Command::new("groff");
        // Without colours and overprinting, so that words are words.
        groff.args(["-man", "-Tutf8", "-P-cbou", "-ww", &page]);
        let output = ended(groff);
        assert!(output.status.success() && output.stderr.is_empty(), "{page}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("SYNOPSIS"), "{page}");
    }
}
