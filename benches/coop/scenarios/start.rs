//! How soon coop answers after it was started, and how large its binary is.

use anyhow::Result;
use serde_json::json;

use super::Bench;
use crate::binary::binary;
use crate::report::{Row, at_most};
use crate::server::Server;
use crate::stats::Samples;

const GATE_MS: f64 = 20.0;
const GOAL_MS: f64 = 10.0;
const BINARY_MB_MAX: f64 = 12.0;

pub async fn run(bench: &mut Bench) -> Result<()> {
    let mut ms = Samples::default();
    for _ in 0..bench.scale.starts {
        let server = Server::start(&["sleep", "1000"].map(str::to_owned)).await?;
        ms.push(server.answered_after.as_secs_f64() * 1e3);
        server.stop().await?;
    }
    let figure = format!("{:.1} ms ({:.1}–{:.1})", ms.median(), ms.least(), ms.most());
    let row = Row::new("start to first answer", figure)
        .gate(at_most(ms.median(), GATE_MS, " ms"))
        .goal(at_most(ms.median(), GOAL_MS, " ms"))
        .data(json!({"ms": ms.json()}));
    bench.report.push(row);
    let mb = std::fs::metadata(binary())?.len() as f64 / 1e6;
    let row = Row::new("binary, stripped", format!("{mb:.1} MB")).goal(at_most(mb, BINARY_MB_MAX, " MB"));
    bench.report.push(row.data(json!({"mb": mb})));
    Ok(())
}
