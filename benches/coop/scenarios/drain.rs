//! How fast output is taken in, timed until the terminal shows its last byte.

use anyhow::Result;
use serde_json::json;

use super::Bench;
use crate::corpus::{Corpus, Kind};
use crate::peers::tmux::{self, Tmux};
use crate::peers::{raw, screen};
use crate::report::{Row, at_least};
use crate::server::{Server, Spent};
use crate::stats::Samples;

/// Of the reader that paints nothing.
const GATE: f64 = 0.5;
const GOAL: f64 = 0.9;
/// Of tmux, which paints too.
const TMUX_GATE: f64 = 2.0;

/// Speeds and CPU times of one contestant.
#[derive(Default)]
struct Times {
    mb_per_second: Samples,
    cpu_seconds: Samples,
}

impl Times {
    fn push(&mut self, corpus: &Corpus, spent: Spent) {
        self.mb_per_second.push(corpus.mb() / spent.wall.as_secs_f64());
        self.cpu_seconds.push(spent.cpu.as_secs_f64());
    }

    fn json(&self) -> serde_json::Value {
        json!({"mb_per_second": self.mb_per_second.json(), "cpu_seconds": self.cpu_seconds.json()})
    }
}

pub async fn run(bench: &mut Bench) -> Result<()> {
    let (has_tmux, has_screen) = (tmux::version(), screen::version());
    for (name, version) in [("tmux", &has_tmux), ("GNU screen", &has_screen)] {
        match version {
            Some(version) => bench.report.note(format!("drain: beside {version}")),
            None => bench.report.note(format!("drain: {name} is not installed, so that it is missing as a peer")),
        }
    }
    for kind in Kind::ALL {
        let corpus = bench.library.corpus(kind, bench.scale.corpus_bytes)?;
        let [mut ours, mut bare, mut tmux, mut screen] = std::array::from_fn(|_| Times::default());
        for _ in 0..bench.scale.rounds {
            bare.push(&corpus, raw::drain(&corpus).await?);
            let mut server = Server::printing(&corpus).await?;
            ours.push(&corpus, server.drain().await?);
            server.stop().await?;
            if has_tmux.is_some() {
                tmux.push(&corpus, Tmux::drain(&corpus).await?);
            }
            if has_screen.is_some() {
                screen.push(&corpus, screen::drain(&corpus, bench.library.path()).await?);
            }
        }
        bench.report.push(row(kind, [&ours, &bare, &tmux, &screen]));
        if kind == Kind::Mix && !tmux.mb_per_second.is_empty() {
            bench.report.push(beside_tmux(&ours, &tmux));
        }
    }
    Ok(())
}

fn row(kind: Kind, [ours, bare, tmux, screen]: [&Times; 4]) -> Row {
    let mut figure = format!(
        "{:.1} MB/s, {:.2} CPU-s; raw {:.1} MB/s",
        ours.mb_per_second.median(),
        ours.cpu_seconds.median(),
        bare.mb_per_second.median()
    );
    for (name, peer) in [("tmux", tmux), ("screen", screen)] {
        if !peer.mb_per_second.is_empty() {
            figure += &format!(", {name} {:.1}", peer.mb_per_second.median());
        }
    }
    let ratio = ours.mb_per_second.over(&bare.mb_per_second);
    let data = json!({"coop": ours.json(), "raw": bare.json(), "tmux": tmux.json(), "screen": screen.json(), "ratio": ratio.json()});
    let row = Row::new(format!("drain {}", kind.name()), figure).ratio(&ratio, "of raw").data(data);
    // The bounds are about what an agent prints; the other kinds tell where the time goes.
    if kind == Kind::Mix {
        row.gate(at_least(ratio.median(), GATE, "")).goal(at_least(ratio.median(), GOAL, ""))
    } else {
        row
    }
}

fn beside_tmux(ours: &Times, tmux: &Times) -> Row {
    let (ratio, cpu) = (ours.mb_per_second.over(&tmux.mb_per_second), tmux.cpu_seconds.over(&ours.cpu_seconds));
    let figure = format!("tmux takes {:.2} times the CPU", cpu.median());
    let gate = at_least(ratio.median(), TMUX_GATE, " × tmux");
    Row::new("drain mix, tmux", figure).ratio(&ratio, "of tmux").gate(gate).data(json!({"ratio": ratio.json()}))
}
