//! When and where figures were measured, for whoever reads them later.

use std::time::{Instant, SystemTime};

use serde_json::{Value, json};

use crate::proc;

/// Load average for each core above which others disturb the figures.
const BUSY: f64 = 0.5;

/// A run that has begun.
pub struct Begun {
    at: Instant,
    load_before: f64,
}

impl Begun {
    pub fn now() -> Self {
        Self { at: Instant::now(), load_before: proc::load_average() }
    }

    /// What a reader must know if others had work for the machine.
    pub fn warning(&self) -> Option<String> {
        let load = self.load_before;
        let busy = load > BUSY * proc::cores() as f64;
        busy.then(|| format!("the machine was busy before (load average {load}): trust CPU seconds, not wall times"))
    }

    pub fn about(&self, rounds: usize, short: bool) -> Value {
        json!({
            "date": date(),
            "machine": proc::machine(),
            "version": env!("CARGO_PKG_VERSION"),
            "load_average": [self.load_before, proc::load_average()],
            "rounds": rounds,
            "short": short,
            "seconds": self.at.elapsed().as_secs(),
        })
    }
}

pub fn heading(about: &Value) -> String {
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
