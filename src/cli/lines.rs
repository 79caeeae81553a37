//! How a session, its changes and its end are told to people, one line each.

use std::path::Path;
use std::time::Duration;

use super::words::{ago, plain, word};
use crate::proto::v1::{
    AgentState, AgentStateEvent, AgentStateKind, DetectionTier, Evidence, ExitEvent, GetStatusResponse, SessionState,
};

/// `running  bash (pid 123)  200x50  state unknown since seq 3`
pub fn describe(status: &GetStatusResponse, agent: Option<&AgentState>) -> String {
    let program = status.command.first().map_or("", String::as_str);
    let name = Path::new(program).file_name().map_or(program.into(), |name| name.to_string_lossy());
    let pid = status.pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
    // That it is not started again says more than that it has ended.
    let state = if status.parked { "parked".to_owned() } else { word::<SessionState>(status.state) };
    let mut parts = vec![state, format!("{}{pid}", plain(&name))];
    parts.extend(ending(status.exit_code, status.exit_signal, status.error.as_deref()));
    parts.extend(status.terminal.map(|size| format!("{}x{}", size.cols, size.rows)));
    parts.extend(agent.map(|a| format!("state {} since seq {}", word::<AgentStateKind>(a.state), a.since_seq)));
    parts.extend(agent.and_then(|a| a.error_detail.as_deref()).map(plain));
    parts.extend(status.labels.iter().map(|(name, value)| plain(&format!("{name}={value}"))));
    parts.join("  ")
}

/// What becomes of a program that has ended, where `--restart` says that something does.
pub fn sequel(status: &GetStatusResponse, now_ms: u64) -> Option<String> {
    if status.parked {
        let name = status.labels.get("name").map(|name| format!(" {}", plain(name))).unwrap_or_default();
        return Some(format!(
            "  parked: it ended five times within a minute, and is not started again by itself: `coop restart{name}` starts it"
        ));
    }
    let wait_ms = status.restarts_at_ms?.saturating_sub(now_ms);
    Some(format!("  it is started again in {}", ago(Duration::from_millis(wait_ms))))
}

/// How a child ended, if it did.
pub fn ending(code: Option<i32>, signal: Option<i32>, error: Option<&str>) -> Option<String> {
    match (error, signal, code) {
        (Some(error), _, Some(_)) => Some(format!("could not be started: {}", plain(error))),
        // What was borrowed has left, and nobody knows with what.
        (Some(error), ..) => Some(plain(error)),
        (None, Some(signal), _) => Some(format!("ended by signal {signal}")),
        (None, None, Some(code)) => Some(format!("exit code {code}")),
        (None, None, None) => None,
    }
}

pub fn exit_ending(exit: &ExitEvent) -> Option<String> {
    ending(exit.code, exit.signal, exit.error.as_deref())
}

/// `seq 12  working → idle  (rule)`
pub fn change(event: &AgentStateEvent) -> String {
    let (before, now) = (word::<AgentStateKind>(event.prev), word::<AgentStateKind>(event.next));
    let step = if before == now { now } else { format!("{before} → {now}") };
    let mut parts = vec![format!("seq {}", event.seq), step];
    parts.extend(event.exit.as_ref().and_then(exit_ending));
    parts.extend(event.error_detail.as_deref().map(plain));
    parts.extend(Some(plain(&event.cause)).filter(|cause| !cause.is_empty()).map(|cause| format!("({cause})")));
    if event.gap.is_some() {
        parts.push("(earlier changes are not known any more)".to_owned());
    }
    parts.join("  ")
}

/// What the state rests on; decisive evidence is marked.
pub fn reasons(agent: &AgentState) -> Vec<String> {
    let line = |evidence: &Evidence| {
        let (tier, source) = (word::<DetectionTier>(evidence.tier), plain(&evidence.source));
        let mark = if evidence.decisive { "*" } else { " " };
        let detail = evidence.detail.as_deref().map(|detail| format!(": {}", plain(detail))).unwrap_or_default();
        if evidence.claim == AgentStateKind::Unspecified as i32 {
            return format!("{mark} {source} is silent{detail}");
        }
        let claim = word::<AgentStateKind>(evidence.claim);
        format!("{mark} {source} ({tier}) says {claim}, {} ago{detail}", age(evidence.age_ms))
    };
    let disagreement = agent.disagreement.as_deref().map(|text| format!("! not all agree: {}", plain(text)));
    agent.evidence.iter().map(line).chain(disagreement).collect()
}

/// Below this age, milliseconds tell who spoke first.
const AGE_IN_MS_BELOW: u64 = 10_000;

fn age(ms: u64) -> String {
    if ms < AGE_IN_MS_BELOW { format!("{ms} ms") } else { ago(Duration::from_millis(ms)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::TerminalSize;

    fn running() -> GetStatusResponse {
        GetStatusResponse {
            state: SessionState::Running.into(),
            pid: Some(123),
            command: vec!["/bin/bash".into(), "-l".into()],
            terminal: Some(TerminalSize { cols: 200, rows: 50 }),
            ..Default::default()
        }
    }

    fn agent(state: AgentStateKind, since_seq: u64) -> AgentState {
        AgentState { state: state.into(), since_seq, ..Default::default() }
    }

    #[test]
    fn a_session_is_told_in_one_line() {
        let unknown = agent(AgentStateKind::Unknown, 3);
        assert_eq!(describe(&running(), Some(&unknown)), "running  bash (pid 123)  200x50  state unknown since seq 3");
        let labels = [("team".to_owned(), "red\x1b".to_owned())].into();
        assert_eq!(
            describe(&GetStatusResponse { labels, ..running() }, None),
            "running  bash (pid 123)  200x50  team=red\\u{1b}"
        );
    }

    #[test]
    fn the_end_of_a_program_is_told() {
        let exited = |exit_code, exit_signal, error: Option<&str>| {
            let (state, error) = (SessionState::Exited.into(), error.map(str::to_owned));
            let status = GetStatusResponse { state, pid: None, exit_code, exit_signal, error, ..running() };
            describe(&status, Some(&agent(AgentStateKind::Exited, 9)))
        };
        assert_eq!(exited(Some(3), None, None), "exited  bash  exit code 3  200x50  state exited since seq 9");
        assert!(exited(None, Some(9), None).contains("ended by signal 9"));
        assert!(exited(Some(127), None, Some("no such file")).contains("could not be started: no such file"));
    }

    #[test]
    fn of_a_program_that_ended_too_often_it_is_told_why_it_stays_so_and_how_it_goes_on() {
        let exited =
            GetStatusResponse { state: SessionState::Exited.into(), pid: None, exit_code: Some(1), ..running() };
        assert_eq!(sequel(&exited, 0), None);
        let waiting = GetStatusResponse { restarts_at_ms: Some(9_000), ..exited.clone() };
        assert_eq!(sequel(&waiting, 5_000).unwrap(), "  it is started again in 4s");
        let labels = [("name".to_owned(), "red".to_owned())].into();
        let parked = GetStatusResponse { parked: true, labels, ..exited };
        assert_eq!(describe(&parked, None), "parked  bash  exit code 1  200x50  name=red");
        assert!(sequel(&parked, 0).unwrap().ends_with("by itself: `coop restart red` starts it"));
    }

    #[test]
    fn changes_say_from_what_to_what() {
        let event = |prev: AgentStateKind, next: AgentStateKind| AgentStateEvent {
            prev: prev.into(),
            next: next.into(),
            seq: 12,
            cause: "process:exit".into(),
            ..Default::default()
        };
        let same = event(AgentStateKind::Unknown, AgentStateKind::Unknown);
        assert_eq!(change(&same), "seq 12  unknown  (process:exit)");
        let exit = Some(ExitEvent { code: Some(0), ..Default::default() });
        let gone = AgentStateEvent { exit, ..event(AgentStateKind::Unknown, AgentStateKind::Exited) };
        assert_eq!(change(&gone), "seq 12  unknown → exited  exit code 0  (process:exit)");
    }

    #[test]
    fn decisive_evidence_is_marked() {
        let evidence = Evidence {
            tier: DetectionTier::Process.into(),
            source: "alive".into(),
            claim: AgentStateKind::Unknown.into(),
            age_ms: 5,
            decisive: true,
            ..Default::default()
        };
        let agent =
            AgentState { evidence: vec![evidence], disagreement: Some("two minds".into()), ..Default::default() };
        assert_eq!([age(9_999), age(61_000)], ["9999 ms", "1m"]);
        assert_eq!(reasons(&agent), ["* alive (process) says unknown, 5 ms ago", "! not all agree: two minds"]);
    }
}
