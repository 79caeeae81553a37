//! Recorded sessions of real agents, played through sources and referee: the same states in the same order, every time.
//!
//! `NAME.jsonl` is what `coop --agent-record` wrote, `NAME.states` the states that were expected when it was recorded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::agent::EpochMs;
use crate::agent::driver::{self, Driver};
use crate::agent::facts::Printed;
use crate::agent::mind::Mind;
use crate::agent::record::{Record, Screen, What};
use crate::child::Size;
use crate::config::Agent;
use crate::session::State;
use crate::terminal::{Cursor, Seq, Snapshot};

/// Plays a recording; the clock is the recording's own.
struct Player {
    mind: Mind,
    rows: BTreeMap<usize, String>,
    driver: &'static dyn Driver,
    stream: Box<dyn Printed>,
    look_again: Option<EpochMs>,
    told: Vec<String>,
}

impl Player {
    fn new(driver: &'static dyn Driver, started: EpochMs) -> Self {
        let rules = Arc::new(driver.rules(None).expect("the rules that come with coop"));
        let mind = Mind::new(driver, started, 0, Arc::default(), rules);
        Self { mind, rows: BTreeMap::new(), driver, stream: driver.printed(), look_again: None, told: Vec::new() }
    }

    fn play(&mut self, record: Record) {
        let at = EpochMs(record.at);
        while let Some(earlier) = self.look_again.filter(|earlier| *earlier < at) {
            self.decide(earlier);
        }
        match record.what {
            What::Hook { event, payload } => drop(self.mind.hear(&event, &payload, at)),
            What::Answered { asked } => self.mind.answered(&asked, at),
            What::Agreed { asked } => self.mind.agreed(&asked),
            What::Stopped { held_back } => self.mind.stopped(held_back, at),
            What::Status(text) => {
                let status = text.and_then(|text| self.driver.read_status(&text, at).ok());
                self.mind.read_status(status);
            }
            What::Line(line) => drop(self.driver.read_line(&line, at).map(|facts| self.mind.read_line(facts, at))),
            What::Printed(line) => {
                let facts = self.stream.read_line(&line, at);
                facts.into_iter().for_each(|facts| self.mind.read_printed(facts, at));
            }
            What::Screen(screen) => {
                let snapshot = self.snapshot(screen);
                self.mind.see(&snapshot, at);
            }
        }
        self.decide(at);
    }

    fn decide(&mut self, now: EpochMs) {
        let (decided, look_again) = self.mind.decide(now);
        self.look_again = look_again.filter(|at| *at > now);
        let Some(decided) = decided else { return };
        let word = in_words(&decided.state);
        if self.told.last() != Some(&word) {
            self.told.push(word);
        }
    }

    fn snapshot(&mut self, screen: Screen) -> Snapshot {
        self.rows.extend(screen.changed);
        let (row, col, visible) = screen.cursor;
        Snapshot {
            seq: Seq(0),
            size: Size::new(screen.cols.into(), screen.rows.into()).expect("a recorded size"),
            lines: (0..usize::from(screen.rows)).map(|row| self.rows.get(&row).cloned().unwrap_or_default()).collect(),
            cursor: Cursor { row, col, visible },
            alt_screen: false,
            title: screen.title,
            signal: screen.signal.map(Into::into),
            mid_frame: screen.mid_frame,
        }
    }
}

/// A state in one line: what an orchestrator would act on.
fn in_words(state: &State) -> String {
    match (state.prompt(), state.trouble(), state.parked()) {
        (Some(prompt), ..) => {
            let tool = prompt.tool.as_deref().or(prompt.subtype.as_deref()).unwrap_or("?");
            let ready = if prompt.ready { "ready" } else { "opening" };
            format!("prompt {:?} {tool} {} options {} {ready}", prompt.kind, prompt.options.len(), prompt.id)
        }
        (_, Some(trouble), _) => format!("error {:?}", trouble.category),
        (_, _, Some(parked)) => format!("parked {:?} until {:?}", parked.category, parked.resume_at_epoch_ms),
        _ => state.kind().word().to_owned(),
    }
}

/// What a recording holds.
fn recorded(path: &Path) -> Vec<Record> {
    let text = std::fs::read_to_string(path).expect("a recording");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{path:?}: {e}"))).collect()
}

fn played(driver: &'static dyn Driver, records: Vec<Record>) -> Vec<String> {
    let started = EpochMs(records.first().map_or(0, |first| first.at.saturating_sub(1000)));
    let end = records.last().map_or(started, |last| EpochMs(last.at).plus(5000));
    let mut player = Player::new(driver, started);
    records.into_iter().for_each(|record| player.play(record));
    // What time alone still changes.
    while let Some(at) = player.look_again.filter(|at| *at <= end) {
        player.decide(at);
    }
    player.told
}

/// Plays all recordings of an agent.
fn play_all(agent: Agent, name: &str) {
    let driver = driver::of(agent).expect("it has a driver");
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let dir = fixtures.join(name).join("recordings");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&dir).expect("recordings").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        count += 1;
        let (told, states) = (played(driver, recorded(&path)), path.with_extension("states"));
        if std::env::var_os("COOP_BLESS").is_some() {
            std::fs::write(&states, told.join("\n") + "\n").expect("the states can be written");
        }
        let expected = std::fs::read_to_string(&states).unwrap_or_default();
        if expected.trim_end() != told.join("\n") {
            wrong.push(format!("{}:\n  expected {expected:?}\n  played   {told:?}", path.display()));
        }
    }
    assert!(count >= 5, "only {count} recordings in {}", dir.display());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn recorded_sessions_of_claude_code_give_the_states_that_were_seen() {
    play_all(Agent::Claude, "claude");
}

#[test]
fn recorded_sessions_of_codex_give_the_states_that_were_seen() {
    play_all(Agent::Codex, "codex");
}

#[test]
fn recorded_sessions_of_gemini_cli_give_the_states_that_were_seen() {
    play_all(Agent::Gemini, "gemini");
}

/// What an orchestrator must not miss, and how it ends.
fn essence<'a>(told: impl Iterator<Item = &'a str> + Clone) -> (Vec<&'a str>, Option<&'a str>) {
    (told.clone().filter(|state| !["idle", "working"].contains(state)).collect(), told.last())
}

/// A terminal between Codex and coop may swallow what others pass over. Then it is idle later at its start, and for a
/// moment between two turns; every dialog and every error is told all the same.
#[test]
fn recorded_sessions_of_codex_without_its_signal_miss_no_dialog_and_no_error() {
    let driver = driver::of(Agent::Codex).expect("it has a driver");
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/codex/recordings");
    let paths = std::fs::read_dir(&dir).expect("recordings").flatten().map(|entry| entry.path());
    for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")) {
        let mut records = recorded(&path);
        for record in &mut records {
            if let What::Screen(screen) = &mut record.what {
                screen.signal = None;
            }
        }
        let told = played(driver, records);
        let expected = std::fs::read_to_string(path.with_extension("states")).expect("its states");
        let asks_at_once = |pair: &[String]| pair[0] != "idle" || !pair[1].starts_with("prompt Plan");
        assert!(told.windows(2).all(asks_at_once), "a plan that is about to be shown is no rest: {told:?}");
        assert_eq!(essence(told.iter().map(String::as_str)), essence(expected.lines()), "{}", path.display());
    }
}
