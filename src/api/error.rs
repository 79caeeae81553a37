//! One table of errors, for every face.

use std::collections::{BTreeMap, HashMap};

use tonic_types::{ErrorDetails, StatusExt};

use crate::session::{BadVariable, Refusal};

/// What went wrong, as a word that programs can rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    BadRequest,
    Unauthorized,
    Forbidden,
    NoDriver,
    MethodNotAllowed,
    NotFound,
    Exited,
    WriterBusy,
    AgentBusy,
    NoPrompt,
    StateChanged,
    Borrowed,
    NotReady,
    TooLarge,
    Internal,
}

/// The table: code, word, HTTP status, gRPC code.
const TABLE: &[(Code, &str, u16, tonic::Code)] = &[
    (Code::BadRequest, "BAD_REQUEST", 400, tonic::Code::InvalidArgument),
    (Code::Unauthorized, "UNAUTHORIZED", 401, tonic::Code::Unauthenticated),
    (Code::Forbidden, "FORBIDDEN", 403, tonic::Code::PermissionDenied),
    (Code::NoDriver, "NO_DRIVER", 404, tonic::Code::Unimplemented),
    (Code::MethodNotAllowed, "METHOD_NOT_ALLOWED", 405, tonic::Code::Unimplemented),
    (Code::NotFound, "NOT_FOUND", 404, tonic::Code::NotFound),
    (Code::Exited, "EXITED", 410, tonic::Code::NotFound),
    (Code::WriterBusy, "WRITER_BUSY", 409, tonic::Code::ResourceExhausted),
    (Code::AgentBusy, "AGENT_BUSY", 409, tonic::Code::FailedPrecondition),
    (Code::NoPrompt, "NO_PROMPT", 409, tonic::Code::FailedPrecondition),
    (Code::StateChanged, "STATE_CHANGED", 409, tonic::Code::Aborted),
    (Code::Borrowed, "BORROWED", 409, tonic::Code::FailedPrecondition),
    (Code::NotReady, "NOT_READY", 503, tonic::Code::Unavailable),
    (Code::TooLarge, "TOO_LARGE", 413, tonic::Code::ResourceExhausted),
    (Code::Internal, "INTERNAL", 500, tonic::Code::Internal),
];

/// The domain of the reasons that gRPC clients read.
const DOMAIN: &str = "coop";

/// An error with a code and a sentence: what, with which thing, and the way out.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    pub code: Code,
    pub message: String,
    /// Facts that a program may want, such as the state that was found.
    pub facts: BTreeMap<String, String>,
}

impl Code {
    fn row(self) -> &'static (Code, &'static str, u16, tonic::Code) {
        // A code without a row cannot be added: the test below counts them.
        TABLE.iter().find(|row| row.0 == self).unwrap_or(&TABLE[TABLE.len() - 1])
    }

    pub fn word(self) -> &'static str {
        self.row().1
    }

    pub fn http(self) -> u16 {
        self.row().2
    }

    pub fn grpc(self) -> tonic::Code {
        self.row().3
    }
}

impl ApiError {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), facts: BTreeMap::new() }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, message)
    }

    /// Reads back what became a status; one that tonic made itself is told by its gRPC code.
    pub fn from_status(status: &tonic::Status) -> Self {
        let info = status.get_details_error_info();
        let named = info.as_ref().and_then(|info| TABLE.iter().find(|row| row.1 == info.reason));
        let row = named.or_else(|| TABLE.iter().find(|row| row.3 == status.code()));
        let error = Self::new(row.map_or(Code::Internal, |row| row.0), status.message());
        Self { facts: info.map(|info| info.metadata.into_iter().collect()).unwrap_or_default(), ..error }
    }

    /// The one envelope of HTTP.
    pub fn to_json(&self) -> String {
        let mut error = serde_json::json!({"code": self.code.word(), "message": self.message});
        for (name, value) in &self.facts {
            // gRPC has only texts here; numbers are numbers again.
            error["details"][name] = value.parse::<u64>().map_or_else(|_| value.as_str().into(), Into::into);
        }
        serde_json::json!({ "error": error }).to_string()
    }
}

impl From<ApiError> for tonic::Status {
    fn from(error: ApiError) -> Self {
        let facts: HashMap<String, String> = error.facts.into_iter().collect();
        let details = ErrorDetails::with_error_info(error.code.word(), DOMAIN, facts);
        tonic::Status::with_error_details(error.code.grpc(), error.message, details)
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let code = match &refusal {
            Refusal::Exited | Refusal::Left => Code::Exited,
            Refusal::Borrowed(_) | Refusal::Kept { .. } => Code::Borrowed,
            Refusal::NotReady | Refusal::Closing | Refusal::TooManyWaiters(_) => Code::NotReady,
            Refusal::Locked(_) | Refusal::QueueFull { .. } | Refusal::NoSuchLock => Code::WriterBusy,
            Refusal::TooLarge { .. }
            | Refusal::BadVariable(BadVariable::TooLong { .. } | BadVariable::TooMany { .. }) => Code::TooLarge,
            Refusal::StateChanged { .. } => Code::StateChanged,
            Refusal::UnknownKey(_) | Refusal::BadVariable(_) | Refusal::SeqAhead { .. } => Code::BadRequest,
            Refusal::Failed { .. } => Code::Internal,
        };
        let mut error = Self::new(code, refusal.to_string());
        if let Refusal::StateChanged { state, screen_seq, .. } = refusal {
            error.facts.insert("state".into(), format!("{state:?}").to_lowercase());
            error.facts.insert("screen_seq".into(), screen_seq.0.to_string());
        }
        error
    }
}

impl From<Refusal> for tonic::Status {
    fn from(refusal: Refusal) -> Self {
        ApiError::from(refusal).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives_the_way_through_grpc() {
        for (code, word, ..) in TABLE {
            let status: tonic::Status = ApiError::new(*code, "why").into();
            let back = ApiError::from_status(&status);
            assert_eq!((back.code, back.message.as_str(), back.code.word()), (*code, "why", *word));
        }
        // As many rows as codes: `Internal` is the last of both.
        assert_eq!(TABLE.len(), Code::Internal as usize + 1);
    }

    #[test]
    fn the_envelope_is_one_object() {
        let mut error = ApiError::new(Code::StateChanged, "no");
        assert_eq!(error.to_json(), r#"{"error":{"code":"STATE_CHANGED","message":"no"}}"#);
        error.facts.insert("state".into(), "idle".into());
        assert!(error.to_json().contains(r#""details":{"state":"idle"}"#));
    }
}
