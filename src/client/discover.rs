//! Which sessions of this user run, by the sockets they listen on.

use std::io;
use std::path::{Path, PathBuf};

use tokio::net::UnixStream;

use super::Target;
use super::sessions::number;
use crate::config;

/// How the sockets of boxes begin.
const BOX: &str = "box-";

/// Sockets in a directory that somebody answers on, sorted. What a killed sidecar left behind is passed over.
pub async fn live_sockets(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut live = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| is_sidecars(path)) {
        if answers(&path).await {
            live.push(path);
        }
    }
    live.sort();
    live
}

fn is_sidecars(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_coops = name.is_some_and(|name| name.starts_with("coop-") && name.ends_with(".sock"));
    is_coops || box_name(path).is_some()
}

/// The box whose session listens on a socket of this name.
pub fn box_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_prefix(BOX)?.strip_suffix(".sock").filter(|name| !name.is_empty())
}

/// Where the session of a box listens.
pub fn box_socket(runtime_dir: &Path, name: &str) -> PathBuf {
    runtime_dir.join(format!("{BOX}{name}.sock"))
}

/// The box that is reached at an address of this user's own; `None` for other sessions, and those elsewhere.
pub fn box_of(target: &Target) -> Option<String> {
    let Target::Socket(path) = target else { return None };
    let is_ours = path.parent().is_some_and(|dir| dir == config::runtime_dir());
    box_name(path).filter(|_| is_ours).map(str::to_owned)
}

/// The words after a verb that mean this session and no other, wherever they are typed.
pub fn words_for(target: &Target) -> String {
    match target {
        Target::Url(_) => format!("--url {target}"),
        Target::Socket(path) => {
            let is_listed = is_sidecars(path) && path.parent().is_some_and(|dir| dir == config::runtime_dir());
            let name = box_of(target).or_else(|| is_listed.then(|| number(path)));
            name.map_or_else(|| format!("--socket {}", path.display()), |name| format!("-s {name}"))
        }
    }
}

pub async fn answers(path: &Path) -> bool {
    match UnixStream::connect(path).await {
        Ok(_) => true,
        // Its queue of callers is full, so it lives.
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::config::Scratch;

    #[tokio::test]
    async fn only_sockets_that_answer_are_sessions() {
        let scratch = Scratch::fresh();
        let (first, second) = (scratch.path("coop-1.sock"), scratch.path("coop-2.sock"));
        let _alive = [UnixListener::bind(&second).unwrap(), UnixListener::bind(&first).unwrap()];
        drop(UnixListener::bind(scratch.path("coop-3.sock")).unwrap());
        let _other = UnixListener::bind(scratch.path("other.sock")).unwrap();
        std::fs::write(scratch.path("coop-4.sock"), "").unwrap();
        let boxed = scratch.path("box-red.sock");
        let _boxed = UnixListener::bind(&boxed).unwrap();
        assert_eq!((box_name(&boxed), box_name(&first)), (Some("red"), None));
        assert_eq!(live_sockets(&scratch.path("")).await, [boxed, first, second]);
        assert_eq!(live_sockets(&scratch.path("no/such")).await, [] as [PathBuf; 0]);
    }
}
