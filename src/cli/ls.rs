//! `coop ls`: the sessions and boxes of this user on this machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use serde::Serialize;

use super::boxes::Daemon;
use super::words::{ago, complain, in_columns, plain, print_json, print_line, word};
use crate::api::Code;
use crate::client::{Credentials, Failure, Found, Wish, connect, kept, sessions, whole_path};
use crate::config;
use crate::proto::v1::{AgentState, AgentStateKind, Box, BoxState, GetStatusRequest, GetStatusResponse};

/// List the sessions that run on this machine, and all boxes
///
/// All sessions of your user are listed, except those with a --socket elsewhere, and the boxes, also those that stand still.
/// --session of every verb takes the NAME, which is a box or the session's label `name`, or the NUMBER, which is the process id
/// of its coop. BOX says what a box is made of. Starts nothing.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  coop ls\n  coop ls --label role=worker --cwd ~/project --json | jq -r '.sessions[].socket'"
)]
pub struct Ls {
    /// Only those with this label, or with any value of it (repeatable)
    #[arg(long, value_name = "NAME[=VALUE]")]
    label: Vec<String>,
    /// Only those that were started in this directory or below it
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The sessions' token [env: COOP_AUTH_TOKEN]
    #[arg(long, help_heading = "Session", conflicts_with = "token_file")]
    token: Option<OsString>,
    /// File that holds the token [env: COOP_AUTH_TOKEN_FILE]
    #[arg(long, help_heading = "Session", value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Print JSON: for each session its socket, its status and its agent's state; and the boxes
    #[arg(long, help_heading = "Session")]
    json: bool,
}

#[derive(Serialize)]
struct Listed<'a> {
    sessions: Vec<&'a Row>,
    boxes: Vec<&'a Box>,
}

/// One session, or one box.
#[derive(Serialize)]
struct Row {
    /// Its label `name`, or else its number.
    name: String,
    /// The process id of its coop.
    number: Option<u32>,
    socket: PathBuf,
    status: Option<GetStatusResponse>,
    agent: Option<AgentState>,
    /// Why it did not tell how it stands.
    error: Option<String>,
    #[serde(skip)]
    boxed: Option<Box>,
}

impl Ls {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let wish = Wish { token: self.token.clone(), token_file: self.token_file.clone(), ..Wish::default() };
        let credentials = wish.credentials(|name| std::env::var_os(name))?;
        let found = sessions(&config::runtime_dir(), &credentials).await;
        if !found.as_ref().is_ok_and(|found| !found.is_empty()) {
            refused_inside(&wish, credentials).await?;
        }
        let found = found?;
        let rows = self.wanted(together(found, boxes().await));
        if self.json {
            let (boxed, plain): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.boxed.is_some());
            let boxes = boxed.into_iter().filter_map(|row| row.boxed.as_ref()).collect();
            print_json(&Listed { sessions: plain, boxes })?;
            return Ok(ExitCode::SUCCESS);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if rows.is_empty() && std::io::stderr().is_terminal() {
            let such = if self.label.is_empty() && self.cwd.is_none() { "no" } else { "no such" };
            let runtime_dir = config::runtime_dir();
            let place = runtime_dir.display();
            let way_out = "`coop up` makes a box, `coop -- COMMAND` a session";
            complain(&format!(
                "{such} session runs in {place}: {way_out}; one with a --socket elsewhere is not listed"
            ));
        }
        for line in table(&rows, now) {
            print_line(&line)?;
        }
        for error in rows.iter().filter_map(|row| row.error.as_deref()) {
            complain(error);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn wanted(&self, rows: Vec<Row>) -> Vec<Row> {
        let cwd = self.cwd.as_deref().map(whole_path);
        let is_wanted = |row: &Row| {
            self.label.iter().all(|label| has_label(row, label))
                && cwd
                    .as_ref()
                    .is_none_or(|dir| row.cwd().is_some_and(|cwd| whole_path(Path::new(cwd)).starts_with(dir)))
        };
        rows.into_iter().filter(is_wanted).collect()
    }
}

/// From inside a box nothing is to be seen of the machine's sessions. That is said, instead of what else could be wrong.
async fn refused_inside(wish: &Wish, credentials: Credentials) -> Result<(), Failure> {
    let own = wish.named(|name| std::env::var_os(name));
    let Ok(Some(own)) = own else { return Ok(()) };
    let Ok(client) = connect(own, credentials).await else { return Ok(()) };
    match client.answer(client.calls().get_status(GetStatusRequest {})).await {
        Err(failure) if failure.code() == Some(Code::Forbidden) => Err(failure),
        _ => Ok(()),
    }
}

/// All boxes: as the daemon tells, or as their directories do where none runs.
async fn boxes() -> Vec<Box> {
    if let Some(daemon) = Daemon::running().await.filter(Daemon::is_of_this_home)
        && let Ok(boxes) = daemon.boxes().await
    {
        return boxes;
    }
    let mut boxes = Vec::new();
    for kept in config::coop_home().map(|home| kept(&home)).unwrap_or_default() {
        boxes.push(kept.told(&config::runtime_dir()).await);
    }
    boxes
}

/// Sessions, then boxes; the session of a box is told with it.
fn together(found: Vec<Found>, boxes: Vec<Box>) -> Vec<Row> {
    let is_listed = |found: &Found| found.box_name().is_some_and(|name| boxes.iter().any(|one| one.name == name));
    let (inside, rest): (Vec<Found>, Vec<Found>) = found.into_iter().partition(is_listed);
    let mut inside: BTreeMap<String, Row> = inside.into_iter().map(|found| (found.name(), Row::from(found))).collect();
    let boxed = boxes.into_iter().map(|mut one| {
        let session = inside.remove(&one.name);
        let (status, agent, error) = session.map(|row| (row.status, row.agent, row.error)).unwrap_or_default();
        let number = one.pid;
        let agent = agent.or_else(|| one.agent_state.clone());
        one.agent_state.clone_from(&agent);
        let (name, socket) = (one.name.clone(), PathBuf::from(&one.socket));
        Row { name, number, socket, status, agent, error, boxed: Some(one) }
    });
    rest.into_iter().map(Row::from).chain(boxed).collect()
}

impl From<Found> for Row {
    fn from(found: Found) -> Self {
        let (name, number) = (found.name(), found.number().parse().ok());
        let (socket, boxed) = (found.socket, None);
        let (status, agent, error) = match found.told {
            Ok((status, agent)) => (Some(status), Some(agent), None),
            Err(failure) => (None, None, Some(failure.to_string())),
        };
        Self { name, number, socket, status, agent, error, boxed }
    }
}

impl Row {
    fn labels(&self) -> Option<&BTreeMap<String, String>> {
        let of_status = self.status.as_ref().map(|status| &status.labels);
        of_status.or(self.boxed.as_ref().map(|one| &one.labels))
    }

    fn cwd(&self) -> Option<&str> {
        let of_box = self.boxed.as_ref().map(|one| one.workspace.as_str());
        of_box.or(self.status.as_ref().map(|status| status.cwd.as_str()))
    }

    /// What the agent does, or how the box stands where that says more.
    fn state(&self) -> String {
        let agent = self.agent.as_ref().map(|agent| word::<AgentStateKind>(agent.state));
        match self.boxed.as_ref().map(|one| (one.state(), one.state)) {
            None | Some((BoxState::Running | BoxState::Ended, _)) if agent.is_some() => agent.unwrap_or_default(),
            Some((_, number)) => word::<BoxState>(number),
            None => "?".to_owned(),
        }
    }

    fn program(&self) -> String {
        let status = self.status.as_ref().map(|status| (status.agent.as_str(), &status.command));
        let known = status.or(self.boxed.as_ref().map(|one| (one.agent.as_str(), &one.command)));
        known.map_or_else(|| "?".to_owned(), |(agent, command)| program(agent, command))
    }

    fn active(&self, now: Duration) -> String {
        let Some(status) = &self.status else { return if self.boxed.is_some() { "-" } else { "?" }.to_owned() };
        let active = status.last_output_at_ms.max(status.last_input_at_ms).unwrap_or(status.started_at_ms);
        ago(now.saturating_sub(Duration::from_millis(active)))
    }
}

fn has_label(row: &Row, wanted: &str) -> bool {
    let Some(labels) = row.labels() else { return false };
    match wanted.split_once('=') {
        Some((name, value)) => labels.get(name).is_some_and(|found| found == value),
        None => labels.contains_key(wanted),
    }
}

const COLUMNS: [&str; 8] = ["NAME", "NUMBER", "STATE", "PROGRAM", "ACTIVE", "BOX", "DIRECTORY", "LABELS"];

/// What stands for a name or a number where there is none.
const NONE: &str = "-";

/// One line for each session under a line that says what is what; nothing where there are none.
fn table(rows: &[Row], now: Duration) -> Vec<String> {
    let rows: Vec<[String; COLUMNS.len()]> = rows.iter().map(|row| cells(row, now)).collect();
    in_columns(COLUMNS, &rows)
}

fn cells(row: &Row, now: Duration) -> [String; COLUMNS.len()] {
    let boxed = row.boxed.as_ref().map_or_else(|| "-".to_owned(), |one| plain(&one.image));
    let place = row.cwd().map_or_else(|| plain(&row.socket.to_string_lossy()), plain);
    // Every box has its name for a label; it stands there already.
    let is_name = |label: &str, value: &str| label == "name" && value == row.name && row.boxed.is_some();
    let labels = row.labels().into_iter().flatten().filter(|(label, value)| !is_name(label, value));
    let labels: Vec<String> = labels.map(|(name, value)| plain(&format!("{name}={value}"))).collect();
    let number = row.number.map_or_else(|| NONE.to_owned(), |number| number.to_string());
    let name = if row.name == number { NONE.to_owned() } else { plain(&row.name) };
    [name, number, row.state(), row.program(), row.active(now), boxed, place, labels.join(" ")]
}

/// The agent, or else the program that runs there.
fn program(agent: &str, command: &[String]) -> String {
    if !["", config::Agent::Unknown.word()].contains(&agent) {
        return plain(agent);
    }
    let words = command.first().map_or("", String::as_str);
    plain(&Path::new(words).file_name().unwrap_or_default().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, number: u32, labels: &[(&str, &str)]) -> Row {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (agent, cwd) = ("claude".to_owned(), "/work\x1b".to_owned());
        let status = GetStatusResponse { agent, cwd, labels, last_output_at_ms: Some(1000), ..Default::default() };
        let agent = AgentState { state: AgentStateKind::Idle.into(), ..Default::default() };
        let (name, number, socket) = (name.into(), Some(number), "/s".into());
        Row { name, number, socket, status: Some(status), agent: Some(agent), error: None, boxed: None }
    }

    fn boxed(name: &str, state: BoxState) -> Box {
        let (image, workspace, agent) = ("debian:12".to_owned(), "/p".to_owned(), "codex".to_owned());
        Box { name: name.into(), state: state.into(), image, workspace, agent, ..Box::default() }
    }

    #[test]
    fn sessions_are_told_in_columns() {
        let rows = [row("longer-name", 7, &[("team", "a")]), row("4711", 4711, &[])];
        let lines = table(&rows, Duration::from_secs(121));
        assert_eq!(lines[0], "NAME         NUMBER  STATE  PROGRAM  ACTIVE  BOX  DIRECTORY    LABELS");
        assert_eq!(lines[1], "longer-name  7       idle   claude   2m      -    /work\\u{1b}  team=a");
        assert_eq!(lines[2], "-            4711    idle   claude   2m      -    /work\\u{1b}");
        assert!(table(&[], Duration::ZERO).is_empty());
    }

    #[test]
    fn boxes_are_told_with_what_they_are_made_of_and_how_they_stand() {
        let rows = together(Vec::new(), vec![boxed("one", BoxState::Stopped), boxed("two", BoxState::Lost)]);
        let lines = table(&rows, Duration::ZERO);
        assert_eq!(lines[1], "one   -       stopped  codex    -       debian:12  /p");
        assert_eq!(lines[2], "two   -       lost     codex    -       debian:12  /p");
        let mut runs = row("red", 7, &[("name", "red"), ("team", "a")]);
        runs.boxed = Some(boxed("red", BoxState::Running));
        let lines = table(&[runs], Duration::from_secs(61));
        assert_eq!(lines[1], "red   7       idle   claude   1m      debian:12  /p         team=a");
        let mut parked = row("red", 7, &[]);
        parked.boxed = Some(boxed("red", BoxState::Parked));
        assert_eq!(parked.state(), "parked", "that it is not started again says more than what it did last");
    }

    #[test]
    fn a_label_is_looked_for_by_name_or_with_its_value() {
        let row = row("red", 7, &[("team", "a=b")]);
        let has = |wanted| has_label(&row, wanted);
        assert!(has("team") && has("team=a=b") && !has("team=a") && !has("tea"));
    }
}
