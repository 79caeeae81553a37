//! A session by the name that a person gives it: its socket, its process id, or one of its labels.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::discover::live_sockets;
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
    let mut labelled = Vec::new();
    for path in &sockets {
        let status = status(path, credentials).await;
        if status.is_some_and(|status| status.labels.iter().any(|(k, v)| v == name || format!("{k}={v}") == name)) {
            labelled.push(path.clone());
        }
    }
    match (labelled.len(), sockets.is_empty()) {
        (1, _) => Ok(Target::Socket(labelled.remove(0))),
        (_, true) => Err(Failure::NoSession { runtime_dir: runtime_dir.to_owned() }),
        (0, _) => Err(list(&format!("no session is called {name:?}"), &sockets, credentials).await),
        _ => Err(list(&format!("several sessions are called {name:?}"), &labelled, credentials).await),
    }
}

/// Several sessions run: who they are, so that one can be chosen.
pub async fn introduce(sockets: &[PathBuf], credentials: &Credentials) -> Failure {
    list("several sessions run", sockets, credentials).await
}

async fn list(why: &str, sockets: &[PathBuf], credentials: &Credentials) -> Failure {
    let mut told = Vec::new();
    for path in sockets {
        let labels = status(path, credentials).await.map(|status| describe(&status)).unwrap_or_default();
        told.push(format!("{}{labels}", stem(path)));
    }
    let example = sockets.first().map(|path| stem(path)).unwrap_or_default();
    Failure::Choice(format!("{why}; name one, such as {example}: {}", told.join(", ")))
}

/// ` (bash, team=red)`
fn describe(status: &GetStatusResponse) -> String {
    let program = status.command.first().map(|program| program.rsplit('/').next().unwrap_or_default().to_owned());
    let labels = status.labels.iter().map(|(name, value)| format!("{name}={value}"));
    let words = program.into_iter().chain(labels).collect::<Vec<_>>().join(", ");
    format!(" ({})", words.replace(char::is_control, "\u{fffd}"))
}

async fn status(path: &Path, credentials: &Credentials) -> Option<GetStatusResponse> {
    let asked = async {
        let client = connect(Target::Socket(path.to_owned()), credentials.clone()).await.ok()?;
        client.answer(client.calls().get_status(GetStatusRequest {})).await.ok()
    };
    tokio::time::timeout(TELLS_WITHIN, asked).await.ok().flatten()
}

/// By its file, with or without the ending, or by the process id in it.
fn is_called(path: &Path, name: &str) -> bool {
    let stem = stem(path);
    stem == name || format!("{stem}.sock") == name || stem.strip_prefix("coop-") == Some(name)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
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
    }
}
