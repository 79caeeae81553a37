//! docs/migration.md: what it tells to type beside a tmux that runs is typed, as it stands there.

use crate::support::{Scratch, binary, finished};
use crate::tmux::Tmux;

const PAGE: &str = include_str!("../../docs/migration.md");

/// The programs for bash in a part of the page.
fn programs(heading: &str) -> Vec<&'static str> {
    let (_, part) = PAGE.split_once(heading).unwrap();
    let part = part.split_once("\n## ").map_or(part, |(part, _)| part);
    part.split("```bash\n").skip(1).filter_map(|block| block.split_once("```")).map(|(program, _)| program).collect()
}

#[tokio::test]
async fn phase_1_runs_as_it_is_written_and_changes_nothing_for_whoever_looks() {
    let (scratch, tmux) =
        (Scratch::new(), Tmux::running(80, 24, &["bash", "--norc", "-c", "exec -a claude sleep 1000"]));
    tmux.does(&["rename-session", "-t", "main", "gt-alpha"]);
    let below = tmux.known_as("default");
    let place = scratch.path("bin");
    std::fs::create_dir(&place).unwrap();
    std::os::unix::fs::symlink(binary(), place.join("coop")).unwrap();
    let [begin, count] = programs("\n## Phase 1")[..] else { panic!("two programs are there") };
    // Nobody else looks, so that the others are none, and grep says so by its code.
    let script = format!("set -e; trap 'coop stop -s gt-alpha' EXIT\n{begin}\n{{ {count} }} || true\n");
    let mut bash = tokio::process::Command::new("bash");
    bash.args(["--norc", "-c", &script]).env("TMUX_TMPDIR", below).env_remove("TMUX").env("HOME", scratch.dir());
    // The page writes its files where the reader stands.
    bash.current_dir(scratch.dir());
    bash.env("XDG_RUNTIME_DIR", scratch.dir())
        .env("PATH", format!("{}:{}", place.display(), std::env::var("PATH").unwrap()));
    let ended = finished(bash).await;
    let text = ended.text();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(text.starts_with("ready\n") && text.contains("could give it no hooks"), "{ended:?}");
    assert!(text.lines().any(|line| line == "0"), "only coop has it open: {ended:?}");
    assert_eq!(
        tmux.does(&["display-message", "-p", "-t", "gt-alpha", "#{window_width}x#{window_height}"]).trim(),
        "80x24"
    );
}
