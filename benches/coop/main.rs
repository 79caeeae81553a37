//! Measures coop's release binary against bounds and against its peers, in one interleaved run.
//!
//! `cargo bench --bench coop` runs everything; `-- --short` is a smoke test; `-- --only drain` runs one scenario;
//! `-- --json FILE` writes every figure. The exit status is 1 when a gate is missed. How to read the table is told in
//! `docs/performance.md`.

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
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde_json::{Value, json};

use crate::corpus::Library;
use crate::report::Report;
use crate::scale::Scale;
use crate::scenarios::{Bench, SCENARIOS};

/// Load average for each core above which others disturb the figures.
const BUSY: f64 = 0.5;

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
    let (begun, load_before) = (Instant::now(), proc::load_average());
    // One thread, so that the measuring side costs every peer the same.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if load_before > BUSY * f64::from(u32::try_from(proc::cores())?) {
        bench.report.note(format!(
            "the machine was busy before (load average {load_before}): trust CPU seconds, not wall times"
        ));
    }
    for name in SCENARIOS.into_iter().filter(|name| args.only.is_empty() || args.only.iter().any(|only| only == name)) {
        eprintln!("{name}");
        runtime.block_on(bench.run(name)).with_context(|| format!("scenario {name}"))?;
    }
    let about = json!({
        "date": date(),
        "machine": proc::machine(),
        "version": env!("CARGO_PKG_VERSION"),
        "load_average": [load_before, proc::load_average()],
        "rounds": bench.scale.rounds,
        "short": short,
        "seconds": begun.elapsed().as_secs(),
    });
    println!("{}\n{}", heading(&about), bench.report.table());
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&bench.report.json(about))?;
        std::fs::write(path, text).with_context(|| path.display().to_string())?;
    }
    Ok(!bench.report.failed())
}

fn heading(about: &Value) -> String {
    let machine = &about["machine"];
    format!(
        "coop {} on {}: {} cores, {}, {} MiB, Linux {}; load average {} before, {} after; {} rounds, {} s\n",
        about["version"].as_str().unwrap_or_default(),
        about["date"].as_str().unwrap_or_default(),
        machine["cores"],
        machine["model"].as_str().unwrap_or_default(),
        machine["memory_mib"],
        machine["kernel"].as_str().unwrap_or_default(),
        about["load_average"][0],
        about["load_average"][1],
        about["rounds"],
        about["seconds"],
    )
}

/// Today, as `2026-01-31`, in UTC.
fn date() -> String {
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    // Days since 1 March of the year 0, in eras of 400 years: leap days fall to the end of a year that begins in March.
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day_of_month:02}", era * 400 + year + carry)
}
