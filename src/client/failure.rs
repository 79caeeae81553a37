//! Why there is no answer: one line that names the way out, and the session where that is not clear.

use std::error::Error;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::time::Duration;

use tonic::Status;

use super::{Target, words_for};
use crate::api::{ApiError, Code};

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Flags or variables that make no sense.
    #[error("{0}")]
    Choice(String),
    #[error(
        "no session runs in {}: start one with `coop -- COMMAND`, or a box with `coop up`, or name one that has a port with --url http://HOST:PORT, \
         or one with its own socket with --socket",
        runtime_dir.display()
    )]
    NoSession { runtime_dir: PathBuf },
    #[error(
        "several sessions run: choose one with --session NAME, as `coop ls` has it, or --socket PATH: {}",
        join(sockets)
    )]
    ManySessions { sockets: Vec<PathBuf> },
    #[error("{}", none_called(name, there_are))]
    NoneCalled { name: String, there_are: Vec<String> },
    /// More than one session could be meant: why, and each of them with its name or number first.
    #[error("{why}: say which by its {}, such as --session {}: {}", kind(there_are), first(there_are), there_are.join(", "))]
    Ambiguous { why: String, there_are: Vec<String> },
    #[error(
        "box {name} stands still{}: `coop restart {name}` starts it",
        why.as_ref().map(|why| format!(", because it did not start ({why})")).unwrap_or_default()
    )]
    StandsStill { name: String, why: Option<String> },
    #[error("{target}: {why}")]
    Unreachable { target: String, why: String },
    #[error("{target}: no answer within {} s; it may hang: look at its log", within.as_secs())]
    Silent { target: String, within: Duration },
    #[error("no daemon listens on {}: `coop up` starts a box and the daemon with it", socket.display())]
    NoDaemon { socket: PathBuf },
    /// The session said no. It is named where another one could have been meant.
    #[error("{}{error}", among.as_ref().map(|target| format!("{target}: ")).unwrap_or_default())]
    Refused { among: Option<String>, error: ApiError },
}

impl Failure {
    /// A connection that could not be made.
    pub fn unreachable(target: &Target, error: &(dyn Error + 'static)) -> Self {
        let why = match io_error(error).map(|error| (error.kind(), error)) {
            Some((io::ErrorKind::ConnectionRefused, _)) => match target {
                Target::Url(_) => "nothing listens there; is the session still running?".to_owned(),
                Target::Socket(path) if path.metadata().is_ok_and(|found| !found.file_type().is_socket()) => {
                    "this is no socket".to_owned()
                }
                Target::Socket(_) => "nobody listens on this socket any more; its coop has ended".to_owned(),
            },
            Some((io::ErrorKind::NotFound, _)) => "no such socket; is the session still running?".to_owned(),
            Some((io::ErrorKind::PermissionDenied, _)) => "this socket belongs to another user".to_owned(),
            Some((io::ErrorKind::TimedOut, _)) => "the machine does not answer; is the address right?".to_owned(),
            Some((_, error)) => error.to_string(),
            None => innermost(error).to_string(),
        };
        Self::Unreachable { target: target.to_string(), why }
    }

    /// A call that failed: refused by the session, which is one of several or the only one, or lost on the way.
    pub fn of_status(target: &Target, is_one_of_several: bool, status: &Status) -> Self {
        // Only what went wrong on this side of the wire has a source.
        if status.source().is_some() {
            let why = "the connection broke; has the session ended, or does something else listen there?".to_owned();
            return Self::Unreachable { target: target.to_string(), why };
        }
        // tonic's own words for an HTTP server that does not know gRPC.
        if status.message().starts_with("grpc-status header missing") {
            let why = "what answers there is not coop; does something else listen there?".to_owned();
            return Self::Unreachable { target: target.to_string(), why };
        }
        let ApiError { code, message, facts } = ApiError::from_status(status);
        let message = match code {
            Code::Unauthorized => {
                format!("{}: give the session's token by --token-file FILE or COOP_AUTH_TOKEN", before_colon(&message))
            }
            // What the session names is a call of HTTP; here there are verbs. One that was borrowed has no such call.
            Code::Exited if message.contains("POST ") => {
                let (ended, which) = (before_colon(&message), words_for(target));
                format!(
                    "{ended}; `coop screen {which}` still shows its last words, `coop restart {which}` starts it again"
                )
            }
            _ => message,
        };
        let among = is_one_of_several.then(|| target.to_string());
        Self::Refused { among, error: ApiError { code, message: one_line(&message), facts } }
    }

    /// The session's own word for it, where it said one.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Refused { error, .. } => Some(error.code),
            _ => None,
        }
    }

    /// A word for programs: the session's own, or one for what went wrong before any session answered.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Choice(_) => Code::BadRequest.word(),
            Self::StandsStill { .. } => Code::NotReady.word(),
            Self::NoSession { .. } | Self::NoneCalled { .. } => "NO_SESSION",
            Self::ManySessions { .. } | Self::Ambiguous { .. } => "SEVERAL_SESSIONS",
            Self::Unreachable { .. } | Self::NoDaemon { .. } => "UNREACHABLE",
            Self::Silent { .. } => "NO_ANSWER",
            Self::Refused { error, .. } => error.code.word(),
        }
    }
}

fn none_called(name: &str, there_are: &[String]) -> String {
    if there_are.is_empty() {
        return format!("there is no box or session called {name:?}: `coop ls` lists those there are");
    }
    format!("no session is called {name:?}; there are: {}", there_are.join(", "))
}

/// What each goes by: boxes have names, other sessions always a number.
fn kind(there_are: &[String]) -> &'static str {
    let is_number = |told: &String| head(told).bytes().all(|byte| byte.is_ascii_digit());
    if there_are.iter().all(is_number) { "number" } else { "name or number" }
}

fn first(there_are: &[String]) -> &str {
    there_are.first().map_or("NUMBER", |told| head(told))
}

fn head(told: &str) -> &str {
    told.split(' ').next().unwrap_or_default()
}

fn join(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Whatever a session sends becomes one line that no terminal obeys.
fn one_line(message: &str) -> String {
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    words.replace(char::is_control, "\u{fffd}")
}

/// A session tells the way out over HTTP, which is of little use on a command line.
fn before_colon(message: &str) -> &str {
    message.split_once(':').map_or(message, |(before, _)| before)
}

type Cause = dyn Error + 'static;

fn causes(error: &Cause) -> impl Iterator<Item = &Cause> {
    std::iter::successors(Some(error), |&error| error.source())
}

fn io_error(error: &Cause) -> Option<&io::Error> {
    causes(error).find_map(|error| error.downcast_ref())
}

fn innermost(error: &Cause) -> &Cause {
    causes(error).last().unwrap_or(error)
}

#[cfg(test)]
mod tests {
    use super::super::{Credentials, connect};
    use super::*;
    use crate::config::Scratch;

    fn refused(code: Code, message: &str) -> String {
        let target = Target::parse("localhost:1").unwrap();
        Failure::of_status(&target, false, &ApiError::new(code, message).into()).to_string()
    }

    #[test]
    fn a_refusal_names_the_way_out_and_the_session_only_if_it_is_one_of_several() {
        let text = refused(Code::Unauthorized, "wrong token: send the session's token as `Authorization: Bearer …`");
        assert_eq!(text, "wrong token: give the session's token by --token-file FILE or COOP_AUTH_TOKEN");
        let exited = refused(Code::Exited, "the child has exited: restart it (POST /api/v1/session/restart)");
        assert!(exited.contains("`coop restart --url http://localhost:1` starts it again"), "{exited}");
        let borrowed = refused(Code::Exited, "what was borrowed has ended: serve another with a new coop --attach");
        assert!(borrowed.contains("--attach") && !borrowed.contains("coop restart"), "{borrowed}");
        assert_eq!(refused(Code::WriterBusy, "another\n  writer\x1b[2J"), "another writer\u{fffd}[2J");
        let (target, status) = (Target::parse("localhost:1").unwrap(), ApiError::new(Code::NotReady, "no").into());
        assert_eq!(Failure::of_status(&target, true, &status).to_string(), "http://localhost:1: no");
    }

    async fn failure(target: Target) -> String {
        connect(target, Credentials::default()).await.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn what_cannot_be_reached_is_told_apart() {
        let scratch = Scratch::fresh();
        let path = scratch.path("coop-1.sock");
        assert!(failure(Target::Socket(path.clone())).await.ends_with("no such socket; is the session still running?"));
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(failure(Target::Socket(path)).await.contains("nobody listens"));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let text = failure(Target::parse(&address.to_string()).unwrap()).await;
        assert_eq!(text, format!("http://{address}: nothing listens there; is the session still running?"));
    }
}
