//! A coop under measurement: the release binary, one process for each measurement.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::binary::binary;
use crate::corpus::{COLS, Corpus, ROWS};
use crate::http::Http;
use crate::proc;

/// Longer than any measurement takes on a slow machine.
const WAIT_MS_MAX: u32 = 600_000;

/// What the printer shows when it is ready to begin.
pub const READY: &str = "READY-TO-PRINT";

/// Prints its file once for each line that is typed, and that line below it. `$1` is the file.
const PRINTER: &str =
    "stty -echo; printf READY-TO-PRINT; while read x; do cat \"$1\"; printf '\\n\\033[0m%s' \"$x\"; done";

/// What is typed to begin the nth turn, and shown at its end.
pub fn word(turn: u64) -> String {
    format!("SHOWN-{turn:06}")
}

/// Bytes that the printer adds to the file: newline (two, in a terminal), colours off, the word.
pub const PRINTER_BYTES: u64 = 2 + 4 + 12;

/// The words that run `PRINTER` with a file.
pub fn printer(corpus: &Corpus) -> Vec<String> {
    let file = corpus.path.display().to_string();
    ["sh", "-c", PRINTER, "sh", &file].map(str::to_owned).to_vec()
}

/// A running coop; killed when dropped.
pub struct Server {
    process: Child,
    pub pid: u32,
    pub url: String,
    pub http: Http,
    /// How often the printer has been told to begin.
    turns: u64,
    /// From the start of the process to its first answer.
    pub answered_after: Duration,
}

impl Server {
    /// Starts coop with this child.
    pub async fn start(child: &[String]) -> Result<Self> {
        let begun = Instant::now();
        let mut process = Command::new(binary())
            .args([
                "--port",
                "0",
                "--log-level",
                "error",
                "--cols",
                &COLS.to_string(),
                "--rows",
                &ROWS.to_string(),
                "--",
            ])
            .args(child)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{} cannot be started", binary().display()))?;
        let pid = process.id().context("coop was gone at once")?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("no stdout")?).read_line(&mut line).await?;
        let listening: Value = serde_json::from_str(&line).with_context(|| format!("coop said {line:?}"))?;
        let url = listening["url"].as_str().context("coop did not say its address")?.to_owned();
        let mut http = Http::connect(&url).await?;
        http.get("/api/v1/health").await?;
        Ok(Self { process, pid, url, http, turns: 0, answered_after: begun.elapsed() })
    }

    /// Starts coop with a child that prints the corpus on each Enter, and waits until it is ready for the first.
    pub async fn printing(corpus: &Corpus) -> Result<Self> {
        let mut server = Self::start(&printer(corpus)).await?;
        server.wait_text(READY).await?;
        Ok(server)
    }

    /// Prints the corpus once and returns when the screen shows its end: wall time and the server's CPU time.
    pub async fn drain(&mut self) -> Result<Spent> {
        let (cpu, begun) = (self.cpu()?, Instant::now());
        let word = self.begin().await?;
        self.wait_text(&word).await?;
        Ok(Spent { wall: begun.elapsed(), cpu: self.cpu()? - cpu })
    }

    /// Lets the printer begin; returns the word that it will end with.
    pub async fn begin(&mut self) -> Result<String> {
        self.turns += 1;
        let word = word(self.turns);
        self.type_bytes(format!("{word}\n").as_bytes()).await?;
        Ok(word)
    }

    /// Types as it is; not as text, for which coop would look in the output.
    pub async fn type_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.http.post("/api/v1/input/raw", &json!({"data": BASE64_STANDARD.encode(bytes)})).await?;
        Ok(())
    }

    pub async fn wait_text(&mut self, text: &str) -> Result<()> {
        self.wait(&json!({"text": text, "timeout_ms": WAIT_MS_MAX})).await
    }

    pub async fn wait_offset(&mut self, offset: u64) -> Result<()> {
        self.wait(&json!({"offset": offset, "timeout_ms": WAIT_MS_MAX})).await
    }

    async fn wait(&mut self, condition: &Value) -> Result<()> {
        let answer = self.http.post("/api/v1/wait", condition).await?;
        ensure!(answer["matched"] == true, "{condition} did not come true: {answer}");
        Ok(())
    }

    /// How many bytes the child has printed.
    pub async fn offset(&mut self) -> Result<u64> {
        let answer = self.http.get_json("/api/v1/output?limit=1").await?;
        answer["total_written"].as_u64().context("no total_written")
    }

    pub fn cpu(&self) -> Result<Duration> {
        proc::cpu(self.pid)
    }

    pub fn rss_kib(&self) -> Result<u64> {
        proc::rss_kib(self.pid)
    }

    /// Ends it and waits until it is gone, so that the next measurement has the machine for itself.
    pub async fn stop(mut self) -> Result<()> {
        self.process.kill().await.context("coop could not be ended")
    }
}

/// What something took.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    pub wall: Duration,
    pub cpu: Duration,
}
