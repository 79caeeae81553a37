//! A session by the name that a person gives it: its socket, its process id, its label `name`, or any label in full.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::discover::{box_name, live_sockets};
use super::sessions::number;
use super::{Credentials, Failure, Target, connect};
use crate::proto::v1::{GetStatusRequest, GetStatusResponse};

/// A session that does not tell its labels within this time is known by its socket alone.
const TELLS_WITHIN: Duration = Duration::from_secs(2);

/// The session of this name among those that listen in `runtime_dir`.
pub async fn choose(runtime_dir: &Path, name: &str, credentials: &Credentials) -> Result<Target, Failure> {
    if name.contains("://") || name.starts_with("unix:") {
        return Target::parse(name).map_err(Failure::Choice);
    }
    if name.contains('/') {
        return Ok(Target::Socket(name.into()));
    }
    let sockets = live_sockets(runtime_dir).await;
    if let Some(path) = sockets.iter().find(|path| is_called(path, name)) {
        return Ok(Target::Socket(path.clone()));
    }
    let (mut called, mut labelled) = (Vec::new(), Vec::new());
    for path in &sockets {
        let labels = status(path, credentials).await.map(|status| status.labels).unwrap_or_default();
        // Not by the mere value of another label: `coop stop red` must not end what only belongs to the team red.
        if labels.get("name").is_some_and(|called| called == name) {
            called.push(path.clone());
        } else if labels.iter().any(|(label, value)| format!("{label}={value}") == name) {
            labelled.push(path.clone());
        }
    }
    let mut meant = if called.is_empty() { labelled } else { called };
    match meant.len() {
        1 => Ok(Target::Socket(meant.remove(0))),
        0 => {
            let there_are = list(&sockets, credentials).await;
            Err(Failure::NoneCalled { name: name.to_owned(), there_are })
        }
        _ => {
            let (why, there_are) = (format!("several sessions are called {name:?}"), list(&meant, credentials).await);
            Err(Failure::Ambiguous { why, there_are })
        }
    }
}

/// Several sessions run: who they are, so that one can be chosen.
pub async fn introduce(sockets: &[PathBuf], credentials: &Credentials) -> Failure {
    Failure::Ambiguous { why: "several sessions run".to_owned(), there_are: list(sockets, credentials).await }
}

/// Each by its name or number, with what tells it from the others.
async fn list(sockets: &[PathBuf], credentials: &Credentials) -> Vec<String> {
    let mut told = Vec::new();
    for path in sockets {
        let untold = || " (does not tell its name; it may want its token)".to_owned();
        let about = status(path, credentials).await.map_or_else(untold, |status| describe(&status));
        told.push(format!("{}{about}", short(path)));
    }
    told
}

/// ` (bash in /home/me, team=red)`
fn describe(status: &GetStatusResponse) -> String {
    let program =
        status.command.first().map(|program| program.rsplit('/').next().unwrap_or_default()).unwrap_or_default();
    let labels = status.labels.iter().map(|(name, value)| format!("{name}={value}"));
    let words = std::iter::once(format!("{program} in {}", status.cwd)).chain(labels).collect::<Vec<_>>().join(", ");
    format!(" ({})", words.replace(char::is_control, "\u{fffd}"))
}

async fn status(path: &Path, credentials: &Credentials) -> Option<GetStatusResponse> {
    let asked = async {
        let client = connect(Target::Socket(path.to_owned()), credentials.clone()).await.ok()?;
        client.answer(client.calls().get_status(GetStatusRequest {})).await.ok()
    };
    tokio::time::timeout(TELLS_WITHIN, asked).await.ok().flatten()
}

/// By the box it is, by its file, with or without the ending, or by the process id in it.
fn is_called(path: &Path, name: &str) -> bool {
    let name = name.strip_suffix(".sock").unwrap_or(name);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem == name || short(path) == name
}

/// What it goes by: the box that it is, or the process id of its coop.
fn short(path: &Path) -> String {
    box_name(path).map_or_else(|| number(path), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scratch;
    use std::os::unix::net::UnixListener;

    #[tokio::test]
    async fn a_session_goes_by_its_socket_its_process_or_an_address() {
        let scratch = Scratch::fresh();
        let (dir, path) = (scratch.path(""), scratch.path("coop-12.sock"));
        let _alive = UnixListener::bind(&path).unwrap();
        let chosen = async |name: &str| choose(&dir, name, &Credentials::default()).await.map(|t| t.to_string());
        for name in ["12", "coop-12", "coop-12.sock", path.to_str().unwrap()] {
            assert_eq!(chosen(name).await.unwrap(), path.display().to_string(), "{name}");
        }
        assert_eq!(chosen("http://host:1").await.unwrap(), "http://host:1");
        let boxed = scratch.path("box-red.sock");
        let _boxed = UnixListener::bind(&boxed).unwrap();
        for name in ["red", "box-red"] {
            assert_eq!(chosen(name).await.unwrap(), boxed.display().to_string(), "{name}");
        }
    }
}
