//! tmux, steered through its control mode: no process for each question, which is how a program would use it.

use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::on_path;
use crate::corpus::{COLS, Corpus, ROWS};
use crate::proc;
use crate::server::{READY, Spent, printer, word};

/// Between two looks at the pane while it drains; small against the seconds that takes.
const LOOK_EVERY: Duration = Duration::from_millis(3);

/// How long a pane may take to show something.
const PATIENCE: Duration = Duration::from_secs(120);

/// Version, or `None` when it is not installed.
pub fn version() -> Option<String> {
    let output = std::process::Command::new(on_path("tmux")?).arg("-V").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A server of its own with one pane, and a control client.
pub struct Tmux {
    socket: String,
    /// The server.
    pub pid: u32,
    _client: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Tmux {
    /// Starts a server whose pane runs these words. With `follow` the client is sent what the pane prints.
    pub async fn start(words: &[String], follow: bool) -> Result<Self> {
        // A name of its own for each, since the last one may not be quite gone.
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let socket = format!("coop-bench-{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let (cols, rows) = (COLS.to_string(), ROWS.to_string());
        let begin = ["new-session", "-d", "-s", "bench", "-x", &cols, "-y", &rows];
        let status = tmux(&socket).args(begin).args(words).status().await?;
        ensure!(status.success(), "tmux could not start: {status}");
        let asked = ["display-message", "-p", "-t", "bench", "#{pid} #{window_width}x#{window_height}"];
        let said = tmux(&socket).args(asked).output().await?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let (pid, size) = said.trim().split_once(' ').context("tmux did not say its pid")?;
        ensure!(size == format!("{COLS}x{ROWS}"), "tmux made a window of {size}");
        let flags = if follow { "ignore-size" } else { "no-output,ignore-size" };
        let mut client = tmux(&socket)
            .args(["-C", "attach-session", "-t", "bench", "-f", flags])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let input = client.stdin.take().context("no stdin")?;
        let output = BufReader::new(client.stdout.take().context("no stdout")?);
        let mut tmux = Self { socket, pid: pid.parse()?, _client: client, input, output, line: String::new() };
        // Attaching is answered like a command.
        tmux.answer_holds("").await?;
        Ok(tmux)
    }

    /// Prints a corpus and returns when the pane shows its end.
    pub async fn drain(corpus: &Corpus) -> Result<Spent> {
        let mut tmux = Self::start(&printer(corpus), false).await?;
        tmux.until_shown(READY).await?;
        let (cpu, begun) = (proc::cpu(tmux.pid)?, Instant::now());
        tmux.say(&format!("send-keys -t bench {} Enter", word(1))).await?;
        tmux.answer_holds("").await?;
        tmux.until_shown(&word(1)).await?;
        Ok(Spent { wall: begun.elapsed(), cpu: proc::cpu(tmux.pid)? - cpu })
    }

    /// Looks at the pane until it shows a word.
    pub async fn until_shown(&mut self, word: &str) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            self.say("capture-pane -p -t bench").await?;
            if self.answer_holds(word).await? {
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        bail!("tmux never showed {word}")
    }

    pub async fn say(&mut self, command: &str) -> Result<()> {
        self.input.write_all(format!("{command}\n").as_bytes()).await?;
        Ok(self.input.flush().await?)
    }

    /// Waits until the pane prints this character.
    pub async fn until_output(&mut self, key: char) -> Result<()> {
        loop {
            let line = self.next_line().await?;
            if line.starts_with("%output") && line.trim_end().ends_with(key) {
                return Ok(());
            }
        }
    }

    /// Reads the answer to one command, which ends with a line of its own.
    async fn answer_holds(&mut self, word: &str) -> Result<bool> {
        let mut holds = false;
        while !self.next_line().await?.starts_with("%end") {
            ensure!(!self.line.starts_with("%error"), "tmux refused a command");
            holds |= self.line.contains(word);
        }
        Ok(holds)
    }

    async fn next_line(&mut self) -> Result<&str> {
        self.line.clear();
        ensure!(self.output.read_line(&mut self.line).await? > 0, "tmux hung up");
        Ok(&self.line)
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // When it has gone by itself, there is nothing to end.
        let _ = tmux(&self.socket).as_std_mut().arg("kill-server").status();
    }
}

fn tmux(socket: &str) -> Command {
    let mut command = Command::new("tmux");
    command.args(["-L", socket, "-f", "/dev/null"]).env_remove("TMUX").stdin(Stdio::null()).stderr(Stdio::null());
    command
}
