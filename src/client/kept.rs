//! The boxes that are kept on this machine, as their directories tell: also where no daemon runs that could be asked.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::discover::{answers, box_socket};
use crate::proto::v1;

/// What a box is made from is written down in a few kilobytes; more is not ours.
const RECORD_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A box's own directory.
#[derive(Clone, Debug)]
pub struct Kept {
    pub name: String,
    pub dir: PathBuf,
    /// What it was made from.
    record: Value,
}

/// All of them, sorted by name; what cannot be read is passed over.
pub fn kept(home: &Path) -> Vec<Kept> {
    let Ok(entries) = std::fs::read_dir(home.join("sessions")) else { return Vec::new() };
    let mut kept: Vec<Kept> = entries.flatten().filter_map(|entry| Kept::read(entry.path())).collect();
    kept.sort_by(|one, other| one.name.cmp(&other.name));
    kept
}

impl Kept {
    fn read(dir: PathBuf) -> Option<Self> {
        // What is being made or removed has a dot before its name.
        let name = dir.file_name()?.to_str().filter(|name| !name.starts_with('.'))?.to_owned();
        let mut text = Vec::new();
        File::open(dir.join("session.json")).ok()?.take(RECORD_BYTES_MAX).read_to_end(&mut text).ok()?;
        Some(Self { name, dir, record: serde_json::from_slice(&text).ok()? })
    }

    /// The project's directory.
    pub fn workspace(&self) -> PathBuf {
        PathBuf::from(self.text("/plan/workspace/path"))
    }

    /// Where its session writes its log.
    pub fn log(&self) -> PathBuf {
        self.dir.join("coop.log")
    }

    /// Where its session listens. A box that should run says so itself: it may have been started by somebody whose sockets are
    /// in another directory.
    pub fn socket(&self, runtime_dir: &Path) -> PathBuf {
        let wanted = std::fs::read(self.dir.join("wanted")).map(|bytes| PathBuf::from(OsString::from_vec(bytes)));
        wanted.ok().filter(|path| path.is_absolute()).unwrap_or_else(|| box_socket(runtime_dir, &self.name))
    }

    /// Why it did not start when that was tried last.
    pub fn last_error(&self) -> Option<String> {
        let error = std::fs::read_to_string(self.dir.join("error")).ok()?;
        error.lines().next().map(str::to_owned)
    }

    /// As far as its directory tells; what its agent does is not in it.
    pub async fn told(&self, runtime_dir: &Path) -> v1::Box {
        let socket = self.socket(runtime_dir);
        let state = match (answers(&socket).await, self.dir.join("wanted").exists()) {
            (true, _) => v1::BoxState::Running,
            (false, true) => v1::BoxState::Lost,
            (false, false) => v1::BoxState::Stopped,
        };
        let mode = match self.text("/plan/workspace/mode").as_str() {
            "rw" => v1::WorkspaceMode::Rw,
            "ro" => v1::WorkspaceMode::Ro,
            "overlay" => v1::WorkspaceMode::Overlay,
            _ => v1::WorkspaceMode::Unspecified,
        };
        let network = match self.text("/plan/network/mode").as_str() {
            "host" => v1::NetworkMode::Host,
            "none" => v1::NetworkMode::None,
            "filtered" => v1::NetworkMode::Filtered,
            _ => v1::NetworkMode::Unspecified,
        };
        let command = self.record.pointer("/plan/command").and_then(Value::as_array);
        let words = command.into_iter().flatten().filter_map(Value::as_str);
        v1::Box {
            name: self.name.clone(),
            state: state.into(),
            workspace: self.text("/plan/workspace/path"),
            workspace_mode: mode.into(),
            image: self.text("/plan/image"),
            network: network.into(),
            agent: self.text("/plan/agent"),
            command: words.map(str::to_owned).collect(),
            created_at_ms: self.record["created_at_ms"].as_u64().unwrap_or_default(),
            socket: socket.display().to_string(),
            ..v1::Box::default()
        }
    }

    fn text(&self, pointer: &str) -> String {
        self.record.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

/// Whether a box's workspace holds this directory. No workspace is no place.
pub fn contains(workspace: &Path, dir: &Path) -> bool {
    !workspace.as_os_str().is_empty() && dir.starts_with(whole_path(workspace))
}

/// Through links, so that one directory has one name; one that is gone keeps its own.
pub fn whole_path(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scratch;

    #[tokio::test]
    async fn a_box_is_told_by_its_directory_alone_and_a_broken_one_is_passed_over() {
        let scratch = Scratch::fresh();
        let record = r#"{"version": 1, "created_at_ms": 7, "plan": {"image": "debian:12", "agent": "claude",
            "command": ["claude", "-c"], "workspace": {"path": "/work", "mode": "overlay"}}}"#;
        for (name, text) in [("red", record), ("blue", record), ("broken", "{"), (".new", record)] {
            std::fs::create_dir_all(scratch.path(&format!("sessions/{name}"))).unwrap();
            std::fs::write(scratch.path(&format!("sessions/{name}/session.json")), text).unwrap();
        }
        std::fs::write(scratch.path("sessions/red/wanted"), "").unwrap();
        let found = kept(&scratch.path(""));
        let names: Vec<&str> = found.iter().map(|kept| kept.name.as_str()).collect();
        assert_eq!(names, ["blue", "red"]);
        let (blue, red) = (found[0].told(&scratch.path("")).await, found[1].told(&scratch.path("")).await);
        assert_eq!((blue.state(), red.state()), (v1::BoxState::Stopped, v1::BoxState::Lost));
        assert_eq!((blue.image.as_str(), blue.workspace_mode()), ("debian:12", v1::WorkspaceMode::Overlay));
        assert_eq!((blue.command.join(" ").as_str(), blue.created_at_ms), ("claude -c", 7));
        assert!(kept(&scratch.path("no/such")).is_empty());
    }

    #[test]
    fn a_workspace_holds_itself_and_what_is_below() {
        let holds = |workspace: &str, dir: &str| contains(Path::new(workspace), Path::new(dir));
        assert!(holds("/work", "/work") && holds("/work", "/work/a/b"));
        assert!(!holds("/work", "/workshop") && !holds("", "/work") && !holds("/work/a", "/work"));
    }
}
