//! `coop ls`: the sessions of this user on this machine.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use serde::Serialize;

use super::words::{complain, plain, print_json, print_line, word};
use crate::client::{Found, Wish, sessions};
use crate::config;
use crate::proto::v1::{AgentState, AgentStateKind, GetStatusResponse};

/// List the sessions that run on this machine
///
/// Those of your user that listen on a private socket, which is where coop listens unless it is told otherwise. A session
/// is called by its label `name`, else by the number of its process; --session takes either.
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
    /// Print JSON: for each session its socket, its status and its agent's state
    #[arg(long, help_heading = "Session")]
    json: bool,
}

#[derive(Serialize)]
struct Listed {
    sessions: Vec<Row>,
}

/// One session.
#[derive(Serialize)]
struct Row {
    name: String,
    socket: PathBuf,
    status: Option<GetStatusResponse>,
    agent: Option<AgentState>,
    /// Why it did not tell how it stands.
    error: Option<String>,
}

impl Ls {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let wish = Wish { token: self.token.clone(), token_file: self.token_file.clone(), ..Wish::default() };
        let credentials = wish.credentials(|name| std::env::var_os(name))?;
        let found = sessions(&config::runtime_dir(), &credentials).await?;
        let cwd = self.cwd.as_deref().map(whole_path);
        let is_wanted = |row: &Row| {
            let Some(status) = &row.status else { return self.label.is_empty() && cwd.is_none() };
            self.label.iter().all(|label| has_label(status, label))
                && cwd.as_ref().is_none_or(|dir| whole_path(Path::new(&status.cwd)).starts_with(dir))
        };
        let rows: Vec<Row> = found.into_iter().map(Row::from).filter(is_wanted).collect();
        if self.json {
            print_json(&Listed { sessions: rows })?;
            return Ok(ExitCode::SUCCESS);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if rows.is_empty() && std::io::stderr().is_terminal() {
            complain("no such session runs here; one with only --port, or with a --socket elsewhere, is not listed");
        }
        for line in table(&rows, now) {
            print_line(&line)?;
        }
        for error in rows.iter().filter_map(|row| row.error.as_deref()) {
            complain(error);
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl From<Found> for Row {
    fn from(found: Found) -> Self {
        let name = found.name();
        let socket = found.socket;
        match found.told {
            Ok((status, agent)) => Self { name, socket, status: Some(status), agent: Some(agent), error: None },
            Err(failure) => Self { name, socket, status: None, agent: None, error: Some(failure.to_string()) },
        }
    }
}

/// Through links, so that one directory has one name; one that is gone keeps its own.
fn whole_path(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

fn has_label(status: &GetStatusResponse, wanted: &str) -> bool {
    match wanted.split_once('=') {
        Some((name, value)) => status.labels.get(name).is_some_and(|found| found == value),
        None => status.labels.contains_key(wanted),
    }
}

/// One line for each session under a line that says what is what; nothing where there are none.
fn table(rows: &[Row], now: Duration) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let heading = ["NAME", "STATE", "PROGRAM", "ACTIVE", "DIRECTORY", "LABELS"].map(str::to_owned);
    let lines: Vec<[String; 6]> = std::iter::once(heading).chain(rows.iter().map(|row| cells(row, now))).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..6).map(width).collect();
    let joined = |line: &[String; 6]| {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    lines.iter().map(joined).collect()
}

fn cells(row: &Row, now: Duration) -> [String; 6] {
    let name = plain(&row.name);
    let Some(status) = &row.status else {
        return [name, "?".into(), "?".into(), "?".into(), plain(&row.socket.to_string_lossy()), String::new()];
    };
    let state = row.agent.as_ref().map(|agent| word::<AgentStateKind>(agent.state)).unwrap_or_default();
    let active = status.last_output_at_ms.max(status.last_input_at_ms).unwrap_or(status.started_at_ms);
    let labels: Vec<String> = status.labels.iter().map(|(name, value)| plain(&format!("{name}={value}"))).collect();
    let since = ago(now.saturating_sub(Duration::from_millis(active)));
    [name, state, program(status), since, plain(&status.cwd), labels.join(" ")]
}

/// The agent, or else the program that runs there.
fn program(status: &GetStatusResponse) -> String {
    if !["", config::Agent::Unknown.word()].contains(&status.agent.as_str()) {
        return plain(&status.agent);
    }
    let words = status.command.first().map_or("", String::as_str);
    plain(&Path::new(words).file_name().unwrap_or_default().to_string_lossy())
}

/// How long ago, in the largest unit that is not 0.
fn ago(time: Duration) -> String {
    let secs = time.as_secs();
    match secs {
        0..60 => format!("{secs}s"),
        60..3600 => format!("{}m", secs / 60),
        3600..86400 => format!("{}h", secs / 3600),
        _ => format!("{}d", secs / 86400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, labels: &[(&str, &str)]) -> Row {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (agent, cwd) = ("claude".to_owned(), "/work\x1b".to_owned());
        let status = GetStatusResponse { agent, cwd, labels, last_output_at_ms: Some(1000), ..Default::default() };
        let agent = AgentState { state: AgentStateKind::Idle.into(), ..Default::default() };
        Row { name: name.into(), socket: "/s".into(), status: Some(status), agent: Some(agent), error: None }
    }

    #[test]
    fn sessions_are_told_in_columns() {
        let rows = [row("red", &[("team", "a")]), row("a-longer-name", &[])];
        let lines = table(&rows, Duration::from_secs(121));
        assert_eq!(lines[0], "NAME           STATE  PROGRAM  ACTIVE  DIRECTORY    LABELS");
        assert_eq!(lines[1], "red            idle   claude   2m      /work\\u{1b}  team=a");
        assert_eq!(lines[2], "a-longer-name  idle   claude   2m      /work\\u{1b}");
        assert!(table(&[], Duration::ZERO).is_empty());
    }

    #[test]
    fn a_label_is_looked_for_by_name_or_with_its_value() {
        let row = row("red", &[("team", "a=b")]);
        let has = |wanted| has_label(row.status.as_ref().unwrap(), wanted);
        assert!(has("team") && has("team=a=b") && !has("team=a") && !has("tea"));
    }

    #[test]
    fn time_is_told_in_one_unit() {
        let told = |secs| ago(Duration::from_secs(secs));
        assert_eq!(
            [told(0), told(59), told(60), told(7199), told(86399), told(86400)],
            ["0s", "59s", "1m", "1h", "23h", "1d"]
        );
    }
}
