//! Measures boxes with coop's release binary: how long one takes beside bubblewrap, and what a hundred idle ones cost.
//!
//! `cargo bench --bench boxes` runs everything; `-- --short` is a smoke test; `-- --json FILE` writes every figure. The exit
//! status is 1 when a gate is missed. How to read the table is told in `docs/performance.md`.

// What both benches need. Not all of it is used here.
#[path = "../coop/about.rs"]
mod about;
#[path = "../coop/binary.rs"]
mod binary;
#[allow(dead_code)]
#[path = "../coop/proc.rs"]
mod proc;
#[allow(dead_code)]
#[path = "../coop/report.rs"]
mod report;
#[allow(dead_code)]
#[path = "../coop/stats.rs"]
mod stats;

mod crowd;
mod making;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

use crate::about::{Begun, heading};
use crate::report::Report;

/// What can be said on the command line.
#[derive(Debug, Parser)]
#[command(about = "Measures the speed, memory and idleness of boxes")]
struct Args {
    /// Few rounds and few boxes, without gates for speed: a smoke test
    #[arg(long)]
    short: bool,
    /// Rounds of each measurement
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// File for every figure, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Given by `cargo bench`; `cargo test` leaves it out, and gets the smoke test
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs everything; `false` when a gate was missed.
fn run(args: &Args) -> Result<bool> {
    let short = args.short || !args.bench;
    let mut report = Report::new(!short);
    let begun = Begun::now();
    if let Some(warning) = begun.warning() {
        report.note(warning);
    }
    let (making, crowd) = (making::Scale::of(short, args.rounds), crowd::Scale::of(short));
    making::run(&making, &mut report).context("making boxes")?;
    crowd::run(&crowd, &mut report).context("many boxes")?;
    let about = begun.about(making.rounds, short);
    println!("{}\n{}", heading(&about), report.table());
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&report.json(about))?;
        std::fs::write(path, text).with_context(|| path.display().to_string())?;
    }
    Ok(!report.failed())
}
