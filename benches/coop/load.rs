//! The clients, in a process of their own, so that the server's CPU time is the server's alone.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::{Subcommand, ValueEnum};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::http::Http;
use crate::{empty, flood, subscriber};

/// What this very binary does when the bench starts it as a helper.
#[derive(Clone, Debug, Subcommand)]
pub enum Part {
    /// Subscribes to output and counts it.
    #[command(hide = true)]
    Subscribe {
        url: String,
        face: Face,
        count: usize,
        /// First byte that is asked for.
        from: u64,
        /// Where each subscriber has seen everything.
        until: u64,
    },
    /// Asks for one path again and again.
    #[command(hide = true)]
    Ask { url: String, path: String, connections: usize, seconds: f64 },
    /// Serves nothing, as axum does it.
    #[command(hide = true)]
    Empty,
    /// Prints a file for ever, and what is typed as the window's title.
    #[command(hide = true)]
    Flood { file: std::path::PathBuf },
}

/// How a subscriber is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Face {
    Grpc,
    Websocket,
}

impl Face {
    pub fn name(self) -> &'static str {
        match self {
            Face::Grpc => "grpc",
            Face::Websocket => "websocket",
        }
    }
}

/// What all subscribers saw.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Seen {
    /// Bytes of output, of all subscribers together.
    pub bytes: u64,
    /// Bytes that were missing and said to be.
    pub gap_bytes: u64,
    pub gaps: u64,
    /// Pieces of output that did not begin where the last one ended, without a gap that says so.
    pub breaks: u64,
    /// Pieces of output.
    pub pieces: u64,
}

/// A helper process, seen from the bench.
pub struct Load {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Load {
    /// Starts this binary as a helper.
    pub fn start(words: &[String]) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut process = command.args(words).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let lines = BufReader::new(process.stdout.take().context("no stdout")?).lines();
        Ok(Self { process, lines })
    }

    /// Subscribers, all of them connected.
    pub async fn subscribers(url: &str, face: Face, count: usize, from: u64, until: u64) -> Result<Self> {
        let (count, from, until) = (count.to_string(), from.to_string(), until.to_string());
        let words = ["subscribe", url, face.name(), &count, &from, &until].map(str::to_owned);
        let mut load = Self::start(&words)?;
        load.next_line().await?;
        Ok(load)
    }

    /// How many requests a server answered in a second.
    pub async fn requests_per_second(url: &str, path: &str, connections: usize, time: Duration) -> Result<f64> {
        let (connections, seconds) = (connections.to_string(), time.as_secs_f64().to_string());
        let words = ["ask", url, path, &connections, &seconds].map(str::to_owned);
        let mut load = Self::start(&words)?;
        let answer: Value = serde_json::from_str(&load.next_line().await?)?;
        answer["per_second"].as_f64().context("no per_second")
    }

    pub async fn seen(&mut self) -> Result<Seen> {
        Ok(serde_json::from_str(&self.next_line().await?)?)
    }

    pub async fn next_line(&mut self) -> Result<String> {
        self.lines.next_line().await?.context("a helper process ended early")
    }

    pub fn pid(&self) -> Result<u32> {
        self.process.id().context("a helper process ended early")
    }

    pub async fn stop(mut self) -> Result<()> {
        Ok(self.process.kill().await?)
    }
}

/// Plays the part in a runtime like any client's.
pub fn play(part: Part) -> Result<()> {
    if let Part::Flood { file } = part {
        return flood::flood(&file);
    }
    // A thousand connections need as many descriptors.
    coop::child::raise_open_files_limit()?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        match part {
            Part::Subscribe { url, face, count, from, until } => subscribe(&url, face, count, from, until).await,
            Part::Ask { url, path, connections, seconds } => ask(&url, &path, connections, seconds).await,
            Part::Empty => empty::serve().await,
            Part::Flood { .. } => bail!("floods need no runtime"),
        }
    })
}

async fn subscribe(url: &str, face: Face, count: usize, from: u64, until: u64) -> Result<()> {
    let mut readers = Vec::new();
    for _ in 0..count {
        readers.push(subscriber::subscribe(url, face, from).await?);
    }
    println!("ready");
    let tasks: Vec<_> = readers.into_iter().map(|reader| tokio::spawn(reader.read_until(until))).collect();
    let mut sum = Seen::default();
    for task in tasks {
        let seen = task.await??;
        sum.bytes += seen.bytes;
        sum.gap_bytes += seen.gap_bytes;
        sum.gaps += seen.gaps;
        sum.breaks += seen.breaks;
        sum.pieces += seen.pieces;
    }
    let Seen { bytes, gap_bytes, gaps, breaks, pieces } = sum;
    println!("{}", json!({"bytes": bytes, "gap_bytes": gap_bytes, "gaps": gaps, "breaks": breaks, "pieces": pieces}));
    Ok(())
}

async fn ask(url: &str, path: &str, connections: usize, seconds: f64) -> Result<()> {
    let mut open = Vec::new();
    for _ in 0..connections {
        open.push(Http::connect(url).await?);
    }
    let begun = Instant::now();
    let until = begun + Duration::from_secs_f64(seconds);
    let tasks: Vec<_> = open
        .into_iter()
        .map(|mut http| {
            let path = path.to_owned();
            tokio::spawn(async move {
                let mut answers = 0u64;
                while Instant::now() < until {
                    http.get(&path).await?;
                    answers += 1;
                }
                anyhow::Ok(answers)
            })
        })
        .collect();
    let mut answers = 0;
    for task in tasks {
        answers += task.await??;
    }
    ensure!(answers > 0, "nobody answered");
    println!("{}", json!({"per_second": answers as f64 / begun.elapsed().as_secs_f64()}));
    Ok(())
}
