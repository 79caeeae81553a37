//! How the session stands: health, readiness, status. None of it waits for the owner or the child.

use super::convert;
use super::service::Service;
use crate::proto::v1;
use crate::session::{Ended, Life, Vitals};

impl Service {
    pub(super) fn health(&self) -> v1::GetHealthResponse {
        let vitals = self.session.vitals();
        v1::GetHealthResponse {
            status: convert::session_state(&vitals.life).into(),
            pid: pid(&vitals),
            uptime_secs: self.session.uptime().as_secs(),
            agent: self.about.agent.clone(),
            terminal: Some(size(&vitals)),
            ws_clients: self.ws_clients(),
            version: self.about.version.to_owned(),
        }
    }

    pub(super) fn ready(&self) -> v1::GetReadyResponse {
        let reason = match &self.session.vitals().life {
            Life::Running { .. } => None,
            Life::Starting => Some("the child is starting".to_owned()),
            Life::Exited(ended) => Some(match ended {
                Ended::NotStarted { reason, .. } => format!("the child could not be started: {reason}"),
                Ended::Left { reason, .. } => reason.clone(),
                Ended::Exited(_) => "the child has exited".to_owned(),
            }),
        };
        v1::GetReadyResponse { ready: reason.is_none(), reason }
    }

    pub(super) fn status(&self) -> v1::GetStatusResponse {
        let vitals = self.session.vitals();
        let (oldest, end) = self.session.output_bounds();
        let ended = match &vitals.life {
            Life::Exited(ended) => Some(ended),
            _ => None,
        };
        v1::GetStatusResponse {
            state: convert::session_state(&vitals.life).into(),
            pid: pid(&vitals),
            uptime_secs: self.session.uptime().as_secs(),
            exit_code: ended.and_then(Ended::code),
            screen_seq: self.session.screen_seq().0,
            bytes_read: end.0,
            bytes_written: self.session.bytes_written(),
            ws_clients: self.ws_clients(),
            exit_signal: ended.and_then(Ended::signal),
            error: ended.and_then(|ended| ended.reason().map(str::to_owned)),
            seq: self.session.seq().0,
            agent: self.about.agent.clone(),
            command: self.about.command.clone(),
            cwd: self.about.cwd.clone(),
            labels: self.about.labels.clone(),
            restarts: vitals.restarts,
            terminal: Some(size(&vitals)),
            oldest_offset: oldest.0,
            input_queued: self.session.input_queued(),
            version: self.about.version.to_owned(),
            started_at_ms: vitals.started_at_ms,
            last_output_at_ms: self.session.last_output_at_ms(),
            last_input_at_ms: self.session.last_input_at_ms(),
            backend: self.about.backend.to_owned(),
            restarts_at_ms: vitals.restarts_at_ms,
            parked: vitals.is_parked,
            warnings: self.about.warnings.all(),
            published: self.about.published.clone(),
            url: self.about.url.clone(),
        }
    }
}

fn pid(vitals: &Vitals) -> Option<u32> {
    match vitals.life {
        Life::Running { pid } => Some(pid),
        _ => None,
    }
}

fn size(vitals: &Vitals) -> v1::TerminalSize {
    v1::TerminalSize { cols: vitals.size.cols().into(), rows: vitals.size.rows().into() }
}
