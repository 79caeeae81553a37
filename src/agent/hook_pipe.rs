//! A named pipe for scripts that tell what an agent does: one JSON object in each line, and no answer.
//!
//! ```text
//! {"event":"post_tool_use","data":{"tool_name":"Bash"}}
//! ```
//! Lines over 4096 bytes of several writers may mix, as on every pipe; `coop hook` has no such limit.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::hook_call::{Call, HookAnswer, HookCall};

/// Payloads of hooks that scripts pass on; what tools print is cut by agents far below this.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The pipe. Its name goes when it is dropped.
#[derive(Debug)]
pub struct HookPipe {
    path: PathBuf,
    _reading: AbortOnDropHandle<()>,
}

/// One line.
#[derive(Debug, Deserialize)]
struct Line {
    event: String,
    #[serde(default)]
    data: Value,
}

impl HookPipe {
    /// Makes the pipe and reads it from now on. Must be called inside a tokio runtime.
    pub fn open(path: PathBuf, calls: mpsc::Sender<HookCall>) -> io::Result<Self> {
        nix::unistd::mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR)?;
        // Open for writing too: writers never wait for a reader, and the end of one is not the end of all.
        let flags = OFlag::O_NONBLOCK.bits();
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&path)?;
        let receiver = pipe::Receiver::from_file(file)?;
        Ok(Self { path, _reading: AbortOnDropHandle::new(tokio::spawn(read(receiver, calls))) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for HookPipe {
    fn drop(&mut self) {
        // It may have gone with its directory.
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn read(mut pipe: pipe::Receiver, calls: mpsc::Sender<HookCall>) {
    let mut lines = Lines::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = match pipe.read(&mut buffer).await {
            Ok(count) => count,
            Err(error) => return tracing::warn!(%error, "the hook pipe cannot be read any more"),
        };
        for line in lines.push(&buffer[..count]) {
            let call = match line.and_then(|line| understand(&line)) {
                Ok(call) => call,
                Err(why) => {
                    tracing::warn!(why, "a line on the hook pipe was dropped");
                    continue;
                }
            };
            if calls.send(HookCall { call, answer: HookAnswer::unheard() }).await.is_err() {
                return;
            }
        }
    }
}

fn understand(line: &[u8]) -> Result<Call, String> {
    let Line { event, data } = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    // An event of which there is nothing more to say.
    let data = if data.is_null() { Value::Object(Map::new()) } else { data };
    Ok(Call::Event { event: event_name(&event), payload: Ok(data) })
}

/// `post_tool_use` is the agent's `PostToolUse`; a name in the agent's own spelling stays.
fn event_name(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    });
    words.collect()
}

/// Cuts bytes into lines, none longer than allowed.
#[derive(Default)]
struct Lines {
    begun: Vec<u8>,
    /// The line that has begun is too long already; the rest of it is passed over.
    too_long: bool,
}

impl Lines {
    fn push(&mut self, mut bytes: &[u8]) -> Vec<Result<Vec<u8>, String>> {
        let mut done = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.extend(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.begun);
            if std::mem::take(&mut self.too_long) {
                done.push(Err(format!("it is longer than {LINE_BYTES_MAX} bytes")));
            } else if !line.trim_ascii().is_empty() {
                done.push(Ok(line));
            }
        }
        self.extend(bytes);
        done
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.too_long || self.begun.len() + bytes.len() > LINE_BYTES_MAX {
            (self.begun, self.too_long) = (Vec::new(), true);
        } else {
            self.begun.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::super::hook_call;
    use super::*;
    use crate::config::Scratch;

    fn told(call: HookCall) -> (String, Value) {
        let Call::Event { event, payload } = call.call else { panic!("an event") };
        (event, payload.unwrap())
    }

    #[tokio::test]
    async fn lines_become_events_and_writers_do_not_wait_for_a_reader() {
        let scratch = Scratch::fresh();
        let (calls, mut heard) = hook_call::channel();
        let pipe = HookPipe::open(scratch.path("hooks"), calls).unwrap();
        assert_eq!(pipe.path().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        for _ in 0..2 {
            // Each opens, writes and closes, as a shell's redirection does; nothing has read yet.
            let mut writer = OpenOptions::new().write(true).open(pipe.path()).unwrap();
            writer.write_all(b"\nno json\n{\"event\":\"post_tool_use\",\"data\":{\"a\":1}}\n{\"event\":").unwrap();
            writer.write_all(b"\"stop\"}\n").unwrap();
        }
        for _ in 0..2 {
            assert_eq!(told(heard.recv().await.unwrap()), ("PostToolUse".into(), serde_json::json!({"a": 1})));
            let call = heard.recv().await.unwrap();
            assert!(call.answer.is_gone());
            assert_eq!(told(call), ("Stop".into(), serde_json::json!({})));
        }
        let path = pipe.path().to_owned();
        drop(pipe);
        assert!(!path.exists());
    }

    #[test]
    fn names_are_the_agents_own() {
        let pairs = [
            ("pre_tool_use", "PreToolUse"),
            ("user_prompt_submit", "UserPromptSubmit"),
            ("session_start", "SessionStart"),
            ("notification", "Notification"),
            ("stop", "Stop"),
            ("PermissionRequest", "PermissionRequest"),
            ("_", ""),
        ];
        for (given, name) in pairs {
            assert_eq!(event_name(given), name);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_dropped_and_the_next_is_not() {
        let mut lines = Lines::default();
        let part = vec![b'x'; LINE_BYTES_MAX / 2 + 1];
        assert!(lines.push(&part).is_empty() && lines.push(&part).is_empty());
        assert!(lines.begun.is_empty(), "nothing of it is held");
        let done = lines.push(b"tail\nnext\nbegun");
        assert!(done[0].as_ref().unwrap_err().contains("longer"));
        assert_eq!(done[1..], [Ok(b"next".to_vec())]);
        assert_eq!(lines.push(b"!\n"), [Ok(b"begun!".to_vec())]);
    }
}
