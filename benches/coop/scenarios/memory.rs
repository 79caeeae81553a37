//! How much memory a session takes, and that output does not add to it.

use anyhow::Result;
use serde_json::json;

use super::Bench;
use crate::report::{Row, at_most};
use crate::server::Server;
use crate::stats::Samples;

const IDLE_MIB_MAX: f64 = 15.0;
const PRINTED_MIB_MAX: f64 = 40.0;
/// What counts as flat: an allocator breathes.
const GROWTH_MIB_MAX: f64 = 1.0;

pub async fn run(bench: &mut Bench) -> Result<()> {
    let corpus = bench.mix()?;
    let (mut idle, mut printed, mut growth) = (Samples::default(), Samples::default(), Samples::default());
    let turns = bench.scale.history_corpora;
    for _ in 0..bench.scale.long_rounds {
        let mut server = Server::printing(&corpus).await?;
        idle.push(mib(&server)?);
        for _ in 0..turns {
            server.drain().await?;
        }
        let after = mib(&server)?;
        printed.push(after);
        for _ in 0..turns {
            server.drain().await?;
        }
        growth.push(mib(&server)? - after);
        server.stop().await?;
    }
    let mb = corpus.mb() * turns as f64;
    let rows = [
        ("memory, idle".to_owned(), &idle, IDLE_MIB_MAX),
        (format!("memory after {mb:.0} MB"), &printed, PRINTED_MIB_MAX),
        (format!("memory, growth by {mb:.0} MB more"), &growth, GROWTH_MIB_MAX),
    ];
    for (name, samples, limit) in rows {
        let figure = format!("{:.1} MiB ({:.1}–{:.1})", samples.median(), samples.least(), samples.most());
        let row = Row::new(name, figure).goal(at_most(samples.median(), limit, " MiB"));
        bench.report.push(row.data(json!({"mib": samples.json()})));
    }
    Ok(())
}

fn mib(server: &Server) -> Result<f64> {
    Ok(server.rss_kib()? as f64 / 1024.0)
}
