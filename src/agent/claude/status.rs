//! The small file in which a running Claude Code keeps its status (2.1.197).

use serde_json::Value;

use super::message::word;
use crate::agent::{Claim, EpochMs, Evidence, Source};

/// What a status file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// `None` while Claude starts.
    pub status: Option<StatusWord>,
    /// What it waits for, such as `permission prompt` or `dialog open`.
    pub waiting_for: Option<String>,
    /// When the status changed. Claude writes it a few milliseconds earlier than the file.
    pub updated_at: Option<EpochMs>,
    /// The conversation; `/clear` changes it and nothing else in the file.
    pub session_id: Option<String>,
    pub cwd: Option<String>,
    pub version: Option<String>,
}

/// The word for what Claude does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusWord {
    Busy,
    Idle,
    /// A dialog is open, one that asks or one that the user opened.
    Waiting,
    /// It is idle and takes messages, while a shell command of its own runs in the background.
    Shell,
    /// A word that this version does not know.
    Other(String),
}

/// A file that is no status file, or is being written: Claude writes it in place, so that a reader may find it empty.
#[derive(Debug, thiserror::Error)]
#[error("the status file is not a JSON object: {0}")]
pub struct BadStatus(String);

impl Status {
    pub fn parse(text: &str) -> Result<Self, BadStatus> {
        let file: Value = serde_json::from_str(text).map_err(|e| BadStatus(e.to_string()))?;
        if !file.is_object() {
            return Err(BadStatus("it holds something else".to_owned()));
        }
        let moment = |name: &str| file[name].as_u64().map(EpochMs);
        Ok(Self {
            status: file["status"].as_str().map(StatusWord::of),
            waiting_for: word(&file, "waitingFor"),
            updated_at: moment("statusUpdatedAt").or_else(|| moment("updatedAt")),
            session_id: word(&file, "sessionId"),
            cwd: word(&file, "cwd"),
            version: word(&file, "version"),
        })
    }

    /// What the status says about the state; `None` when it starts, or is not understood.
    pub fn evidence(&self, seen_at: EpochMs) -> Option<Evidence> {
        let (rule, claim) = match self.status.as_ref()? {
            StatusWord::Busy => ("busy", Claim::Working),
            StatusWord::Idle => ("idle", Claim::Idle),
            StatusWord::Shell => ("shell", Claim::Idle),
            StatusWord::Waiting => ("waiting", Claim::Waiting),
            StatusWord::Other(_) => return None,
        };
        let detail = self.waiting_for.clone().filter(|_| claim == Claim::Waiting);
        Some(Evidence { detail, ..Evidence::new(Source::Status, rule, claim, self.moment(seen_at)) })
    }

    /// Since when it says so. A clock that was set back must not make the file's word last longer than it is true.
    pub fn moment(&self, seen_at: EpochMs) -> EpochMs {
        self.updated_at.map_or(seen_at, |at| at.min(seen_at))
    }
}

impl StatusWord {
    fn of(word: &str) -> Self {
        match word {
            "busy" => Self::Busy,
            "idle" => Self::Idle,
            "waiting" => Self::Waiting,
            "shell" => Self::Shell,
            other => Self::Other(other.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::StateKind;

    const SEEN_AT: EpochMs = EpochMs(1_794_900_000_000);

    macro_rules! status {
        ($name:literal) => {
            Status::parse(include_str!(concat!("../../../tests/fixtures/claude/status/", $name, ".json"))).unwrap()
        };
    }

    #[test]
    fn every_recorded_status_says_what_it_meant() {
        for (status, expected) in [
            (status!("starting"), None),
            (status!("idle"), Some(StateKind::Idle)),
            (status!("busy"), Some(StateKind::Working)),
            (status!("shell"), Some(StateKind::Idle)),
            (status!("waiting-permission"), Some(StateKind::Prompt)),
            (status!("waiting-dialog"), Some(StateKind::Prompt)),
        ] {
            assert_eq!(status.evidence(SEEN_AT).map(|evidence| evidence.claim.kind()), expected, "{status:?}");
            assert_eq!(status.cwd.as_deref(), Some("/home/dev/project"));
            assert_eq!(status.version.as_deref(), Some("2.1.197"));
        }
    }

    #[test]
    fn a_dialog_is_told_with_what_it_is_about() {
        let status = status!("waiting-permission");
        assert_eq!(status.status, Some(StatusWord::Waiting));
        assert_eq!(status.waiting_for.as_deref(), Some("permission prompt"));
        assert_eq!(status.updated_at, Some(EpochMs(1_794_806_980_230)));
        assert_eq!(status.session_id.as_deref(), Some("d047c21d-d00d-4093-bd3a-bd5e55796f49"));
        assert_eq!(status!("waiting-dialog").waiting_for.as_deref(), Some("dialog open"));
    }

    #[test]
    fn evidence_has_the_time_of_the_change_and_never_one_to_come() {
        let status = status!("busy");
        assert_eq!(status.evidence(SEEN_AT).unwrap().at, EpochMs(1_794_806_976_751));
        assert_eq!(status.evidence(EpochMs(5)).unwrap().at, EpochMs(5));
        assert_eq!(Status::parse(r#"{"status":"busy"}"#).unwrap().evidence(SEEN_AT).unwrap().at, SEEN_AT);
    }

    #[test]
    fn half_a_file_is_an_error_and_strange_fields_are_left_out() {
        for text in ["", "{\"pid\":1635", "[]", "null"] {
            assert!(Status::parse(text).is_err(), "{text}");
        }
        let status = Status::parse(r#"{"status":"dreaming","updatedAt":"now","sessionId":7,"cwd":null}"#).unwrap();
        assert_eq!(status.status, Some(StatusWord::Other("dreaming".to_owned())));
        assert_eq!((status.evidence(SEEN_AT), status.updated_at, status.session_id), (None, None, None));
    }
}
