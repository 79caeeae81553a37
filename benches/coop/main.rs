//! Measures coop's release binary against bounds and against its peers, in one interleaved run.
//!
//! `cargo bench --bench coop` runs everything; `-- --short` is a smoke test; `-- --only drain` runs one scenario;
//! `-- --json FILE` writes every figure. The exit status is 1 when a gate is missed. How to read the table is told in
//! `docs/performance.md`.

mod about;
mod binary;
mod corpus;
mod empty;
mod flood;
mod http;
mod load;
mod peers;
mod proc;
mod report;
mod scale;
mod scenarios;
mod server;
mod stats;
mod subscriber;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;

use crate::about::{Begun, heading};
use crate::corpus::Library;
use crate::report::Report;
use crate::scale::Scale;
use crate::scenarios::{Bench, SCENARIOS};

/// What can be said on the command line.
#[derive(Debug, Parser)]
#[command(about = "Measures coop's speed, memory and growth")]
struct Args {
    /// Few rounds and small corpora, without gates on speed: a smoke test
    #[arg(long)]
    short: bool,
    /// Only these scenarios (repeatable): drain, subscribers, latency, screen, memory, idle, start, growth
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Rounds of each measurement
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// File for every figure, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Given by `cargo bench`; `cargo test` leaves it out, and gets the smoke test
    #[arg(long, hide = true)]
    bench: bool,
    #[command(subcommand)]
    part: Option<load::Part>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match args.part.clone() {
        Some(part) => load::play(part).map(|()| true),
        None => run(&args),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs what was asked for; `false` when a gate was missed.
fn run(args: &Args) -> Result<bool> {
    for name in &args.only {
        ensure!(SCENARIOS.contains(&name.as_str()), "there is no scenario {name:?}: {}", SCENARIOS.join(", "));
    }
    let short = args.short || !args.bench;
    let mut scale = if short { Scale::short() } else { Scale::full() };
    scale.rounds = args.rounds.unwrap_or(scale.rounds);
    let mut bench = Bench { scale, library: Library::new()?, report: Report::new(!short) };
    let begun = Begun::now();
    // One thread, so that the measuring side costs every peer the same.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if let Some(warning) = begun.warning() {
        bench.report.note(warning);
    }
    for name in SCENARIOS.into_iter().filter(|name| args.only.is_empty() || args.only.iter().any(|only| only == name)) {
        eprintln!("{name}");
        runtime.block_on(bench.run(name)).with_context(|| format!("scenario {name}"))?;
    }
    let about = begun.about(bench.scale.rounds, short);
    println!("{}\n{}", heading(&about), bench.report.table());
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&bench.report.json(about))?;
        std::fs::write(path, text).with_context(|| path.display().to_string())?;
    }
    Ok(!bench.report.failed())
}
