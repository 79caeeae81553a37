//! How long a key takes to come back, as a byte on a stream and as a change of the screen.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::Bench;
use crate::peers::tmux::{self, Tmux};
use crate::report::{Row, at_most, both};
use crate::server::{READY, Server};
use crate::stats::Samples;

/// p50 over that of `tmux -C`.
const GATE: f64 = 2.0;
const GOAL: f64 = 1.0;

const STREAM_P99_MS: f64 = 1.0;
const SNAPSHOT_P99_MS: f64 = 2.0;
const DRAINING_P99_MS: f64 = 20.0;

/// Keys that are typed before the count begins, while caches fill.
const WARM_UP: usize = 20;

/// Says back every byte at once, without the terminal's help.
const PARROT: [&str; 3] = ["sh", "-c", "stty raw -echo; printf READY-TO-PRINT; exec cat"];

pub async fn run(bench: &mut Bench) -> Result<()> {
    let has_tmux = tmux::version().is_some();
    let keys = bench.scale.keys;
    let (mut ours, mut theirs) = (Keys::default(), Keys::default());
    let mut snapshots = Keys::default();
    for _ in 0..bench.scale.rounds {
        ours.push(&stream(keys).await?);
        if has_tmux {
            theirs.push(&control_mode(keys).await?);
        }
        snapshots.push(&snapshot(keys).await?);
    }
    let mut row =
        Row::new("latency input → stream", ours.figure()).data(json!({"coop": ours.json(), "tmux": theirs.json()}));
    let p99 = at_most(ours.all.percentile(99.0), STREAM_P99_MS, " ms p99");
    if has_tmux {
        let ratio = ours.medians.over(&theirs.medians);
        row = row.ratio(&ratio, "of tmux -C, p50").gate(at_most(ratio.median(), GATE, " ×"));
        row = row.goal(both(at_most(ratio.median(), GOAL, " ×"), p99));
        bench.report.push(row);
        bench.report.push(Row::new("latency input → tmux -C", theirs.figure()));
    } else {
        bench.report.note("latency: tmux is not installed, so that there is no ratio");
        bench.report.push(row.goal(p99));
    }
    let goal = at_most(snapshots.all.percentile(99.0), SNAPSHOT_P99_MS, " ms p99");
    bench.report.push(Row::new("latency input → snapshot", snapshots.figure()).goal(goal).data(snapshots.json()));
    draining(bench).await
}

/// Milliseconds of all keys, and the median of each round.
#[derive(Default)]
struct Keys {
    all: Samples,
    medians: Samples,
}

impl Keys {
    fn push(&mut self, round: &Samples) {
        self.all.extend(round);
        self.medians.push(round.median());
    }

    fn figure(&self) -> String {
        format!("p50 {:.3} ms, p99 {:.3} ms", self.all.median(), self.all.percentile(99.0))
    }

    fn json(&self) -> Value {
        json!({"ms": self.all.json(), "medians_ms": self.medians.json()})
    }
}

/// A key through the WebSocket, and the byte that comes back through it.
async fn stream(keys: usize) -> Result<Samples> {
    let mut server = Server::start(&PARROT.map(str::to_owned)).await?;
    server.wait_text(READY).await?;
    let from = server.offset().await?;
    let url = format!("{}/ws?mode=raw&from_offset={from}", server.url.replacen("http", "ws", 1));
    let (mut socket, _) = tokio_tungstenite::connect_async_with_config(url, None, true).await?;
    let mut samples = Samples::default();
    for index in 0..WARM_UP + keys {
        let key = BASE64_STANDARD.encode(key(index).to_string());
        let begun = Instant::now();
        socket.send(Message::text(json!({"event": "input:raw", "data": key}).to_string())).await?;
        while !is_output(socket.next().await.context("the socket closed")??.to_text()?, &key)? {}
        if index >= WARM_UP {
            samples.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    server.stop().await?;
    Ok(samples)
}

/// Keys differ from one to the next, so that none is taken for the one before.
fn key(index: usize) -> char {
    char::from(b'a' + u8::try_from(index % 26).unwrap_or(0))
}

fn is_output(message: &str, data: &str) -> Result<bool> {
    let message: Value = serde_json::from_str(message)?;
    Ok(message["event"] == "output" && message["data"] == data)
}

/// The same through a control client of tmux.
async fn control_mode(keys: usize) -> Result<Samples> {
    let mut tmux = Tmux::start(&PARROT.map(str::to_owned), true).await?;
    tmux.until_shown(READY).await?;
    let mut samples = Samples::default();
    for index in 0..WARM_UP + keys {
        let begun = Instant::now();
        tmux.say(&format!("send-keys -t bench -l {}", key(index))).await?;
        tmux.until_output(key(index)).await?;
        if index >= WARM_UP {
            samples.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    Ok(samples)
}

/// Typed over HTTP, then looked for in the screen, again and again, over the same connection.
async fn snapshot(keys: usize) -> Result<Samples> {
    let mut server = Server::start(&PARROT.map(str::to_owned)).await?;
    server.wait_text(READY).await?;
    let mut samples = Samples::default();
    for index in 0..WARM_UP + keys {
        let word = format!("KEY-{index:06}");
        let begun = Instant::now();
        server.type_bytes(format!("\r{word}").as_bytes()).await?;
        look(&mut server, &word).await?;
        if index >= WARM_UP {
            samples.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    server.stop().await?;
    Ok(samples)
}

/// While the child prints as fast as it can.
async fn draining(bench: &mut Bench) -> Result<()> {
    let corpus = bench.mix()?;
    let bench_binary = std::env::current_exe()?.display().to_string();
    let quietly = "stty -echo; exec \"$0\" flood \"$1\"";
    let words = ["sh", "-c", quietly, &bench_binary, &corpus.path.display().to_string()].map(str::to_owned);
    let (mut keys, mut speeds) = (Keys::default(), Samples::default());
    for _ in 0..bench.scale.rounds {
        let mut server = Server::start(&words).await?;
        server.wait_text(READY).await?;
        let mut round = Samples::default();
        let (from, flooding) = (server.offset().await?, Instant::now());
        for index in 0..WARM_UP + bench.scale.keys / 10 {
            let word = format!("KEY-{index:06}");
            let begun = Instant::now();
            server.type_bytes(format!("{word}\n").as_bytes()).await?;
            look(&mut server, &word).await?;
            if index >= WARM_UP {
                round.push(begun.elapsed().as_secs_f64() * 1e3);
            }
        }
        keys.push(&round);
        speeds.push((server.offset().await? - from) as f64 / 1e6 / flooding.elapsed().as_secs_f64());
        server.stop().await?;
    }
    let figure = format!("{}, at {:.1} MB/s", keys.figure(), speeds.median());
    let goal = at_most(keys.all.percentile(99.0), DRAINING_P99_MS, " ms p99");
    bench.report.push(Row::new("latency input → snapshot, draining", figure).goal(goal).data(keys.json()));
    Ok(())
}

/// Asks for the screen until it shows a word, in a row or as the title.
async fn look(server: &mut Server, word: &str) -> Result<()> {
    /// Some tens of seconds.
    const LOOKS_MAX: usize = 100_000;
    for _ in 0..LOOKS_MAX {
        let screen = server.http.get("/api/v1/screen").await?;
        if screen.windows(word.len()).any(|window| window == word.as_bytes()) {
            return Ok(());
        }
    }
    bail!("the screen never showed {word}")
}
