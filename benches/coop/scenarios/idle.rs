//! What coop does while nothing happens.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::Bench;
use crate::proc;
use crate::report::{Row, at_most};
use crate::server::Server;

const WAKE_UPS_MAX: f64 = 2.0;

/// What starting has set in motion is over by then.
const SETTLE: Duration = Duration::from_secs(1);

pub async fn run(bench: &mut Bench) -> Result<()> {
    let server = Server::start(&["sleep", "1000"].map(str::to_owned)).await?;
    tokio::time::sleep(SETTLE).await;
    let (switches, cpu) = (proc::switches(server.pid)?, server.cpu()?);
    tokio::time::sleep(bench.scale.idle).await;
    let per_second = (proc::switches(server.pid)? - switches) as f64 / bench.scale.idle.as_secs_f64();
    let cpu = server.cpu()? - cpu;
    let row = Row::new("idle, wake-ups", format!("{per_second:.1} a second, {:.2} CPU-s", cpu.as_secs_f64()))
        .goal(at_most(per_second, WAKE_UPS_MAX, " a second"))
        .data(json!({"per_second": per_second, "cpu_seconds": cpu.as_secs_f64()}));
    bench.report.push(row);
    server.stop().await
}
