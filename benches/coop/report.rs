//! What was found: a table for people, JSON for programs, and an exit status.

use serde_json::{Value, json};

use crate::stats::Samples;

/// A line that a figure is held against.
#[derive(Clone, Debug)]
pub struct Bound {
    text: String,
    met: bool,
}

pub fn at_most(figure: f64, limit: f64, unit: &str) -> Bound {
    Bound { text: format!("≤ {limit}{unit}"), met: figure <= limit }
}

pub fn at_least(figure: f64, limit: f64, unit: &str) -> Bound {
    Bound { text: format!("≥ {limit}{unit}"), met: figure >= limit }
}

/// Something that is either so or not.
pub fn is_so(text: &str, met: bool) -> Bound {
    Bound { text: text.to_owned(), met }
}

/// Several bounds as one.
pub fn both(one: Bound, other: Bound) -> Bound {
    Bound { text: format!("{}, {}", one.text, other.text), met: one.met && other.met }
}

/// One line of the table.
#[derive(Debug)]
pub struct Row {
    scenario: String,
    figure: String,
    ratio: String,
    gate: Option<Bound>,
    goal: Option<Bound>,
    /// Must hold in every run, also in a short one on a busy machine: it is no matter of speed.
    promise: Option<Bound>,
    data: Value,
}

impl Row {
    pub fn new(scenario: impl Into<String>, figure: impl Into<String>) -> Self {
        Self {
            scenario: scenario.into(),
            figure: figure.into(),
            ratio: String::new(),
            gate: None,
            goal: None,
            promise: None,
            data: Value::Null,
        }
    }

    /// A ratio of two things measured in the same rounds, and of what to what.
    pub fn ratio(mut self, ratio: &Samples, of: &str) -> Self {
        self.ratio = format!("{:.2} ({:.2}–{:.2}) {of}", ratio.median(), ratio.least(), ratio.most());
        self
    }

    pub fn gate(mut self, bound: Bound) -> Self {
        self.gate = Some(bound);
        self
    }

    pub fn goal(mut self, bound: Bound) -> Self {
        self.goal = Some(bound);
        self
    }

    pub fn promise(mut self, bound: Bound) -> Self {
        self.promise = Some(bound);
        self
    }

    pub fn data(mut self, data: Value) -> Self {
        self.data = data;
        self
    }

    fn verdict(&self, gated: bool) -> String {
        let mut words = Vec::new();
        if let Some(promise) = &self.promise {
            words.push(format!("{}: {}", promise.text, if promise.met { "kept" } else { "BROKEN" }));
        }
        if gated {
            words.extend(self.gate.iter().filter(|gate| !gate.met).map(|_| "GATE MISSED".to_owned()));
            words.extend(self.goal.as_ref().map(|goal| if goal.met { "goal met" } else { "goal not met" }.to_owned()));
            if self.goal.is_none() && self.gate.as_ref().is_some_and(|gate| gate.met) {
                words.push("gate met".to_owned());
            }
        }
        words.join("; ")
    }

    fn failed(&self, gated: bool) -> bool {
        let missed = |bound: &Option<Bound>| bound.as_ref().is_some_and(|bound| !bound.met);
        missed(&self.promise) || gated && missed(&self.gate)
    }

    fn json(&self, gated: bool) -> Value {
        let bound = |bound: &Option<Bound>| bound.as_ref().map(|bound| json!({"bound": bound.text, "met": bound.met}));
        json!({
            "scenario": self.scenario, "figure": self.figure, "ratio": self.ratio, "gate": bound(&self.gate),
            "goal": bound(&self.goal), "promise": bound(&self.promise), "verdict": self.verdict(gated), "data": self.data,
        })
    }
}

/// All lines of a run.
pub struct Report {
    rows: Vec<Row>,
    /// What a reader must know beside the figures, such as a peer that is not installed.
    notes: Vec<String>,
    /// Whether bounds on speed decide the exit status.
    gated: bool,
}

impl Report {
    pub fn new(gated: bool) -> Self {
        Self { rows: Vec::new(), notes: Vec::new(), gated }
    }

    pub fn push(&mut self, row: Row) {
        eprintln!("  {}: {} {}", row.scenario, row.figure, row.ratio);
        self.rows.push(row);
    }

    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        eprintln!("  note: {note}");
        self.notes.push(note);
    }

    pub fn failed(&self) -> bool {
        self.rows.iter().any(|row| row.failed(self.gated))
    }

    pub fn json(&self, about: Value) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(|row| row.json(self.gated)).collect();
        json!({"about": about, "gated": self.gated, "failed": self.failed(), "rows": rows, "notes": self.notes})
    }

    /// The table, in Markdown, with columns wide enough to be read as it is.
    pub fn table(&self) -> String {
        let text = |bound: &Option<Bound>| bound.as_ref().map(|bound| bound.text.clone()).unwrap_or_default();
        let head = ["scenario", "figure", "ratio (spread)", "gate", "goal", "verdict"].map(str::to_owned);
        let mut lines = vec![head];
        lines.extend(self.rows.iter().map(|row| {
            let (scenario, figure, ratio) = (row.scenario.clone(), row.figure.clone(), row.ratio.clone());
            [scenario, figure, ratio, text(&row.gate), text(&row.goal), row.verdict(self.gated)]
        }));
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..6).map(width).collect();
        let mut table = String::new();
        for (index, line) in lines.iter().enumerate() {
            let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            table += &format!("| {} |\n", cells.join(" | "));
            if index == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
                table += &format!("| {} |\n", rules.join(" | "));
            }
        }
        for note in &self.notes {
            table += &format!("\nNote: {note}\n");
        }
        table
    }
}
