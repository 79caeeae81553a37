//! GNU screen, looked at through hardcopies.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio::process::Command;

use super::on_path;
use crate::corpus::{COLS, Corpus, ROWS};
use crate::proc;
use crate::server::{READY, Spent, printer, word};

/// Between two looks; each is a process of its own, which screen has no way around.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long a window may take to show something.
const PATIENCE: Duration = Duration::from_secs(120);

/// Version, or `None` when it is not installed.
pub fn version() -> Option<String> {
    let output = std::process::Command::new(on_path("screen")?).arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Prints a corpus and returns when the window shows its end. `place` is a directory for hardcopies.
pub async fn drain(corpus: &Corpus, place: &Path) -> Result<Spent> {
    let name = format!("coop-bench-{}", std::process::id());
    let screen = Screen { name, copy: place.join("hardcopy").display().to_string() };
    let mut start = Command::new("screen");
    start.args(["-c", "/dev/null", "-S", &screen.name, "-d", "-m"]).args(printer(corpus));
    ensure!(start.stdin(Stdio::null()).status().await?.success(), "screen could not start");
    screen.tell(&["width", "-w", &COLS.to_string(), &ROWS.to_string()]).await?;
    screen.tell(&["scrollback", "2000"]).await?;
    screen.until_shown(READY).await?;
    let pid = screen.pid().await?;
    let (cpu, begun) = (proc::cpu(pid)?, Instant::now());
    screen.tell(&["stuff", &format!("{}\n", word(1))]).await?;
    screen.until_shown(&word(1)).await?;
    Ok(Spent { wall: begun.elapsed(), cpu: proc::cpu(pid)? - cpu })
}

struct Screen {
    name: String,
    /// Where hardcopies go.
    copy: String,
}

impl Screen {
    /// A command. screen answers before it is carried out, and refuses while it starts.
    async fn tell(&self, words: &[&str]) -> Result<()> {
        self.command(words).status().await?;
        Ok(())
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("screen");
        command.args(["-S", &self.name, "-p", "0", "-X"]).args(words);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    async fn until_shown(&self, word: &str) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            self.tell(&["hardcopy", &self.copy]).await?;
            tokio::time::sleep(LOOK_EVERY).await;
            let copy = std::fs::read(&self.copy).unwrap_or_default();
            if copy.windows(word.len()).any(|window| window == word.as_bytes()) {
                return Ok(());
            }
        }
        bail!("screen never showed {word}")
    }

    /// The server's process, whose number stands before the name in the list of sessions.
    async fn pid(&self) -> Result<u32> {
        let list = Command::new("screen").args(["-ls", &self.name]).stdin(Stdio::null()).output().await?;
        let list = String::from_utf8_lossy(&list.stdout).into_owned();
        let pid = list.split_whitespace().find_map(|word| word.strip_suffix(&format!(".{}", self.name)));
        Ok(pid.context("screen does not list its session")?.parse()?)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // When it has gone by itself, there is nothing to end.
        let _ = self.command(&["quit"]).as_std_mut().status();
    }
}
