//! What readers of the output cost the server, and whether they get all of it.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::Bench;
use crate::corpus::{Corpus, Kind};
use crate::load::{Face, Load, Seen};
use crate::report::{Row, at_most, is_so};
use crate::server::{PRINTER_BYTES, Server};
use crate::stats::Samples;

/// Server CPU with a hundred subscribers, over that with none.
const GATE: f64 = 8.0;
const GOAL: f64 = 5.0;

const IDLE_KIB_MAX: f64 = 64.0;

/// A server has settled when its memory is looked at so long after the last connection.
const SETTLE: Duration = Duration::from_millis(500);

/// What one way of subscribing cost and brought, round by round.
#[derive(Default)]
pub struct Cost {
    pub cpu_seconds: Samples,
    wall_seconds: Samples,
    /// Bytes that reached subscribers, in GB.
    pub gigabytes: Samples,
    /// Of all bytes that all subscribers should see.
    delivered: Samples,
    gaps: u64,
    /// Every byte came, or a gap said that it would not.
    accounted: bool,
}

impl Cost {
    pub fn new() -> Self {
        Self { accounted: true, ..Self::default() }
    }

    /// One drain with so many subscribers.
    pub async fn measure(&mut self, corpus: &Corpus, face: Face, subscribers: usize) -> Result<()> {
        let mut server = Server::printing(corpus).await?;
        let from = server.offset().await?;
        let until = from + corpus.printed_bytes + PRINTER_BYTES;
        let mut load = match subscribers {
            0 => None,
            count => Some(Load::subscribers(&server.url, face, count, from, until).await?),
        };
        let (cpu, begun) = (server.cpu()?, std::time::Instant::now());
        server.begin().await?;
        // Not by text: looking for it would cost the server, and here only the readers shall.
        server.wait_offset(until).await?;
        let seen = match &mut load {
            None => Seen::default(),
            Some(load) => load.seen().await?,
        };
        self.cpu_seconds.push((server.cpu()? - cpu).as_secs_f64());
        self.wall_seconds.push(begun.elapsed().as_secs_f64());
        let due = (until - from) * subscribers as u64;
        self.gigabytes.push(seen.bytes as f64 / 1e9);
        self.delivered.push(if due == 0 { 1.0 } else { seen.bytes as f64 / due as f64 });
        self.gaps += seen.gaps;
        self.accounted &= seen.breaks == 0 && seen.bytes + seen.gap_bytes == due;
        server.stop().await
    }
}

pub async fn run(bench: &mut Bench) -> Result<()> {
    let corpus = bench.mix()?;
    let many = bench.scale.subscribers;
    let variants = [(Face::Grpc, 1), (Face::Grpc, many), (Face::Websocket, 1), (Face::Websocket, many)];
    let mut none = Cost::new();
    let mut costs = variants.map(|_| Cost::new());
    for _ in 0..bench.scale.rounds {
        none.measure(&corpus, Face::Grpc, 0).await?;
        for ((face, count), cost) in variants.iter().zip(&mut costs) {
            cost.measure(&corpus, *face, *count).await?;
        }
    }
    for ((face, count), cost) in variants.iter().zip(&costs) {
        bench.report.push(row(*face, *count, cost, &none));
    }
    for face in [Face::Grpc, Face::Websocket] {
        idle(bench, face).await?;
    }
    Ok(())
}

fn row(face: Face, count: usize, cost: &Cost, none: &Cost) -> Row {
    let ratio = cost.cpu_seconds.over(&none.cpu_seconds);
    let figure = format!(
        "{:.2} CPU-s (none: {:.2}), {:.2} s; {:.1} % of bytes came, the rest in {} gaps",
        cost.cpu_seconds.median(),
        none.cpu_seconds.median(),
        cost.wall_seconds.median(),
        100.0 * cost.delivered.median(),
        cost.gaps
    );
    let data = json!({
        "cpu_seconds": cost.cpu_seconds.json(), "wall_seconds": cost.wall_seconds.json(),
        "delivered": cost.delivered.json(), "gaps": cost.gaps, "none_cpu_seconds": none.cpu_seconds.json(),
        "none_wall_seconds": none.wall_seconds.json(),
    });
    let row = Row::new(format!("subscribers {} × {count}", face.name()), figure)
        .ratio(&ratio, "of CPU with none")
        .promise(is_so("every byte or a gap", cost.accounted))
        .data(data);
    if count > 1 {
        row.gate(at_most(ratio.median(), GATE, " ×")).goal(at_most(ratio.median(), GOAL, " ×"))
    } else {
        row
    }
}

/// Many that wait: what each takes, and whether all are told when something happens.
async fn idle(bench: &mut Bench, face: Face) -> Result<()> {
    let count = bench.scale.idle_subscribers;
    let line = bench.library.corpus(Kind::Yes, 2)?;
    let mut kib = Samples::default();
    let mut accounted = true;
    for _ in 0..bench.scale.long_rounds {
        let mut server = Server::printing(&line).await?;
        let from = server.offset().await?;
        let until = from + line.printed_bytes + PRINTER_BYTES;
        let before = server.rss_kib()?;
        let mut load = Load::subscribers(&server.url, face, count, from, until).await?;
        tokio::time::sleep(SETTLE).await;
        kib.push(server.rss_kib()?.saturating_sub(before) as f64 / count as f64);
        server.begin().await?;
        let seen = load.seen().await?;
        accounted &= seen.breaks == 0 && seen.gaps == 0 && seen.bytes == (until - from) * count as u64;
        server.stop().await?;
    }
    let row = Row::new(format!("subscribers {} × {count}, idle", face.name()), format!("{:.1} KiB each", kib.median()))
        .goal(at_most(kib.median(), IDLE_KIB_MAX, " KiB"))
        .promise(is_so("all served", accounted))
        .data(json!({"kib_each": kib.json()}));
    bench.report.push(row);
    Ok(())
}
