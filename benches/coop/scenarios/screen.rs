//! How often an unchanged screen can be asked for, beside a server that answers nothing.

use anyhow::Result;
use serde_json::json;

use super::Bench;
use crate::corpus::Kind;
use crate::load::Load;
use crate::proc;
use crate::report::{Row, at_least};
use crate::server::Server;
use crate::stats::Samples;

/// Requests answered, over those of an empty handler.
const GATE: f64 = 0.5;
const GOAL: f64 = 0.7;

/// Keep-alive connections, each asking as soon as it is answered.
const CONNECTIONS: usize = 16;

pub async fn run(bench: &mut Bench) -> Result<()> {
    let corpus = bench.library.corpus(Kind::Log, 100_000)?;
    let mut server = Server::printing(&corpus).await?;
    server.drain().await?;
    let body = server.http.get("/api/v1/screen").await?.len();
    let mut empty = Load::start(&["empty".to_owned()])?;
    let empty_url = empty.next_line().await?;
    let (ours_at, empty_at) = ((&*server.url, "/api/v1/screen", server.pid), (&*empty_url, "/", empty.pid()?));
    let (mut ours, mut theirs) = (Rate::default(), Rate::default());
    for _ in 0..bench.scale.rounds {
        for (rate, (url, path, pid)) in [(&mut ours, ours_at), (&mut theirs, empty_at)] {
            let cpu = proc::cpu(pid)?;
            let per_second = Load::requests_per_second(url, path, CONNECTIONS, bench.scale.requests).await?;
            let cpu = (proc::cpu(pid)? - cpu).as_secs_f64();
            rate.per_second.push(per_second);
            rate.cpu_us.push(1e6 * cpu / (per_second * bench.scale.requests.as_secs_f64()));
        }
    }
    let ratio = ours.per_second.over(&theirs.per_second);
    let figure = format!(
        "{:.0} requests/s of {:.1} kB, {:.1} µs CPU each; empty handler {:.0}, {:.1} µs",
        ours.per_second.median(),
        body as f64 / 1e3,
        ours.cpu_us.median(),
        theirs.per_second.median(),
        theirs.cpu_us.median()
    );
    let row = Row::new("screen, unchanged", figure)
        .ratio(&ratio, "of an empty handler")
        .gate(at_least(ratio.median(), GATE, ""))
        .goal(at_least(ratio.median(), GOAL, ""))
        .data(json!({"coop": ours.json(), "empty": theirs.json(), "ratio": ratio.json(), "body_bytes": body}));
    bench.report.push(row);
    server.stop().await?;
    empty.stop().await
}

#[derive(Default)]
struct Rate {
    per_second: Samples,
    /// Of the server, for each request.
    cpu_us: Samples,
}

impl Rate {
    fn json(&self) -> serde_json::Value {
        json!({"per_second": self.per_second.json(), "cpu_us": self.cpu_us.json()})
    }
}
