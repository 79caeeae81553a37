//! That cost grows in step with bytes and with subscribers, and not at all with history.

use anyhow::Result;
use serde_json::json;

use super::Bench;
use super::subscribers::Cost;
use crate::corpus::Kind;
use crate::load::Face;
use crate::report::{Row, at_most};
use crate::server::Server;
use crate::stats::Samples;

/// How far the cost of one unit may rise when there are four times as many; less is noise.
const STEP_MAX: f64 = 1.25;

pub async fn run(bench: &mut Bench) -> Result<()> {
    bytes(bench).await?;
    history(bench).await?;
    for face in [Face::Grpc, Face::Websocket] {
        subscribers(bench, face).await?;
    }
    Ok(())
}

/// CPU for each MB, from half a corpus to two.
async fn bytes(bench: &mut Bench) -> Result<()> {
    let sizes = [1, 2, 4].map(|halves| halves * bench.scale.corpus_bytes / 2);
    let mut costs = sizes.map(|_| Samples::default());
    for _ in 0..bench.scale.rounds {
        for (size, cost) in sizes.iter().zip(&mut costs) {
            let corpus = bench.library.corpus(Kind::Mix, *size)?;
            let mut server = Server::printing(&corpus).await?;
            cost.push(1e3 * server.drain().await?.cpu.as_secs_f64() / corpus.mb());
            server.stop().await?;
        }
    }
    push(bench, "growth with bytes", &sizes.map(|size| format!("{} MB", size as f64 / 1e6)), &costs, "CPU-ms per MB");
    Ok(())
}

/// CPU for each MB at the beginning, and after a long history.
async fn history(bench: &mut Bench) -> Result<()> {
    let corpus = bench.mix()?;
    let mut costs = [Samples::default(), Samples::default()];
    for _ in 0..bench.scale.long_rounds {
        let mut server = Server::printing(&corpus).await?;
        for turn in 0..=bench.scale.history_corpora {
            let ms_per_mb = 1e3 * server.drain().await?.cpu.as_secs_f64() / corpus.mb();
            if turn == 0 {
                costs[0].push(ms_per_mb);
            } else if turn == bench.scale.history_corpora {
                costs[1].push(ms_per_mb);
            }
        }
        server.stop().await?;
    }
    let after = corpus.mb() * bench.scale.history_corpora as f64;
    push(bench, "growth with history", &["fresh".to_owned(), format!("after {after:.0} MB")], &costs, "CPU-ms per MB");
    Ok(())
}

/// CPU for each GB that reached subscribers, beyond what the session takes without any, from half the usual number to twice as many.
async fn subscribers(bench: &mut Bench, face: Face) -> Result<()> {
    let corpus = bench.mix()?;
    let counts = [1, 2, 4].map(|halves| halves * bench.scale.subscribers / 2);
    let mut costs = counts.map(|_| Samples::default());
    for _ in 0..bench.scale.long_rounds {
        let mut none = Cost::new();
        none.measure(&corpus, face, 0).await?;
        for (count, samples) in counts.iter().zip(&mut costs) {
            let mut cost = Cost::new();
            cost.measure(&corpus, face, *count).await?;
            samples.push((cost.cpu_seconds.median() - none.cpu_seconds.median()) / cost.gigabytes.median());
        }
    }
    let name = format!("growth with subscribers, {}", face.name());
    push(bench, &name, &counts.map(|count| format!("{count}")), &costs, "CPU-s per GB");
    Ok(())
}

fn push(bench: &mut Bench, name: &str, steps: &[String], costs: &[Samples], unit: &str) {
    let figures: Vec<String> =
        steps.iter().zip(costs).map(|(step, cost)| format!("{step}: {:.1}", cost.median())).collect();
    let (first, last) = (&costs[0], &costs[costs.len() - 1]);
    let ratio = last.over(first);
    let data: Vec<_> = steps.iter().zip(costs).map(|(step, cost)| json!({"step": step, "cost": cost.json()})).collect();
    let row = Row::new(name, format!("{} {unit}", figures.join(", ")))
        .ratio(&ratio, "last of first")
        .goal(at_most(ratio.median(), STEP_MAX, ""))
        .data(json!({"unit": unit, "steps": data}));
    bench.report.push(row);
}
