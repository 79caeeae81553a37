//! What was found: a line for each check as it is known, or one JSON object at the end.

use std::io;

use serde::Serialize;

use super::super::words::{print_json, print_line};
use super::list::What;
use super::subjects::Subject;
use super::trouble::Trouble;

/// Wide enough for the longest name.
pub const NAME_WIDTH: usize = 24;

/// One thing that is looked at.
#[derive(Debug, PartialEq, Eq)]
pub struct Check {
    pub name: String,
    /// The way out when it fails.
    pub hint: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Works,
    Fails,
    /// Something before it failed.
    NotTried,
}

#[derive(Debug, Serialize)]
struct Found {
    name: String,
    outcome: Outcome,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// The agent's screen when it failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    screen: Vec<String>,
}

#[derive(Serialize)]
pub struct Report {
    agent: &'static str,
    /// The agent's version, where it is known.
    pub version: Option<String>,
    ok: bool,
    checks: Vec<Found>,
    #[serde(skip)]
    json: bool,
    #[serde(skip)]
    subject: &'static Subject,
}

impl Report {
    pub fn new(subject: &'static Subject, json: bool) -> Self {
        Self { subject, agent: subject.program, version: None, ok: true, checks: Vec::new(), json }
    }

    pub fn has_failures(&self) -> bool {
        !self.ok
    }

    /// Takes what a check found; whether it works.
    pub fn tell(&mut self, what: What, result: Result<String, Trouble>) -> io::Result<bool> {
        let (works, check) = (result.is_ok(), self.subject.check(what));
        let found = match result {
            Ok(detail) => Found { name: check.name, outcome: Outcome::Works, detail, hint: None, screen: Vec::new() },
            Err(Trouble { detail, screen }) => {
                Found { name: check.name, outcome: Outcome::Fails, detail, hint: Some(check.hint), screen }
            }
        };
        self.add(found)?;
        Ok(works)
    }

    fn add(&mut self, found: Found) -> io::Result<()> {
        if !self.json && found.outcome != Outcome::NotTried {
            for line in lines(&found) {
                print_line(&line)?;
            }
        }
        self.ok &= found.outcome == Outcome::Works;
        self.checks.push(found);
        Ok(())
    }

    /// Tells what was not tried, and sums up.
    pub fn finish(&mut self) -> io::Result<()> {
        for what in self.subject.checks() {
            let check = self.subject.check(what);
            if !self.checks.iter().any(|found| found.name == check.name) {
                let detail = "something that it needs failed".to_owned();
                let outcome = Outcome::NotTried;
                self.add(Found { name: check.name, outcome, detail, hint: None, screen: Vec::new() })?;
            }
        }
        if self.json {
            return print_json(self);
        }
        let names =
            |outcome| self.checks.iter().filter(move |found| found.outcome == outcome).map(|found| found.name.as_str());
        let not_tried: Vec<&str> = names(Outcome::NotTried).collect();
        if !not_tried.is_empty() {
            print_line(&format!("– not tried, because of what failed: {}", not_tried.join(", ")))?;
        }
        print_line(&format!("{} of {} work", names(Outcome::Works).count(), self.checks.len()))
    }
}

/// `✓ name  detail`, and the way out below a failure.
fn lines(found: &Found) -> Vec<String> {
    let mark = if found.outcome == Outcome::Works { '✓' } else { '✗' };
    let first = format!("{mark} {:NAME_WIDTH$}{}", found.name, found.detail);
    let rows = found.screen.iter().map(|row| format!("    │ {row}"));
    std::iter::once(first).chain(rows).chain(found.hint.iter().map(|hint| format!("    → {hint}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::subjects::Known;
    use super::*;

    #[test]
    fn a_failure_is_told_with_what_was_seen_and_the_way_out() {
        let mut report = Report::new(Known::Claude.subject(), true);
        assert!(report.tell(What::Screen, Ok("fine".into())).unwrap() && !report.has_failures());
        let trouble = Trouble { detail: "not there".into(), screen: vec!["a row".into()] };
        assert!(!report.tell(What::Screen, Err(trouble)).unwrap() && report.has_failures());
        let told: Vec<String> = report.checks.iter().flat_map(lines).collect();
        let names = [format!("✓ {:24}fine", "screen"), format!("✗ {:24}not there", "screen")];
        assert_eq!(told, [&names[0], &names[1], "    │ a row", told[3].as_str()]);
        assert!(told[3].starts_with("    → if that is a dialog"), "{}", told[3]);
    }
}
