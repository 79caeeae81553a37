//! The first process of a box, written down beside its record: everything inside ends before it does, so that its end is
//! the box's, also after its session was killed.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::files::read_bounded;
use crate::child::Stat;
use crate::sandbox::ended_within;

const FILE: &str = "first";
/// Two numbers.
const FILE_BYTES_MAX: u64 = 256;

/// How long the end of a box is waited for. All that runs inside is killed at once, and much memory takes a second to
/// go; a disk that does not answer holds a process for ever.
const GONE_WITHIN: Duration = Duration::from_secs(10);

/// Names a process for good: its id alone may be another's by now.
#[derive(Debug, Serialize, Deserialize)]
struct First {
    pid: u32,
    born_ticks: u64,
}

/// Keeps who the first process is; before any program is started in its box.
pub fn note(dir: &Path, pid: u32) -> io::Result<()> {
    let stat = Stat::of(pid.cast_signed()).ok_or(io::ErrorKind::NotFound)?;
    let first = First { pid, born_ticks: stat.born.ticks() };
    let (new, path) = (dir.join("first.new"), dir.join(FILE));
    // Not synced: what a machine forgets that stops has ended with it.
    std::fs::write(&new, serde_json::to_vec(&first)?)?;
    std::fs::rename(new, path)
}

/// Ends a box whose session is gone, and waits for that. `Err` is one that does not end.
pub async fn end(dir: &Path) -> Result<(), u32> {
    let Some((pid, handle)) = standing(dir) else { return Ok(()) };
    // It leaves by itself when its session does, unless something holds it.
    let _ = pidfd_send_signal(&handle, Signal::KILL);
    until_gone(pid, handle).await
}

/// Waits until a box whose session is gone has ended by itself. `Err` is one that does not.
pub async fn gone(dir: &Path) -> Result<(), u32> {
    match standing(dir) {
        Some((pid, handle)) => until_gone(pid, handle).await,
        None => Ok(()),
    }
}

async fn until_gone(pid: u32, handle: OwnedFd) -> Result<(), u32> {
    let ended = spawn_blocking(move || ended_within(handle.as_fd(), GONE_WITHIN)).await;
    if ended.unwrap_or(false) { Ok(()) } else { Err(pid) }
}

/// The first process that was noted last, if it is there.
fn standing(dir: &Path) -> Option<(u32, OwnedFd)> {
    let bytes = read_bounded(&dir.join(FILE), FILE_BYTES_MAX).ok()?;
    let First { pid, born_ticks } = serde_json::from_slice(&bytes).ok()?;
    let handle = pidfd_open(Pid::from_raw(pid.cast_signed())?, PidfdFlags::empty()).ok()?;
    // Asked after it was opened, so that both are of the same process.
    let is_it = Stat::of(pid.cast_signed()).is_some_and(|stat| stat.alive && stat.born.ticks() == born_ticks);
    is_it.then_some((pid, handle))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::config::Scratch;

    #[tokio::test]
    async fn a_box_is_gone_when_its_first_process_is_and_no_other_is_ended_in_its_place() {
        let scratch = Scratch::fresh();
        let dir = scratch.path("");
        assert_eq!(gone(&dir).await, Ok(()), "none was ever made");
        let mut process = Command::new("sleep").arg("1000").spawn().unwrap();
        note(&dir, process.id()).unwrap();
        let mut waiting = Box::pin(gone(&dir));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        end(&dir).await.unwrap();
        assert_eq!(waiting.await, Ok(()));
        process.wait().unwrap();
        let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
        let reborn = First { pid: other.id(), born_ticks: 1 };
        std::fs::write(dir.join(FILE), serde_json::to_vec(&reborn).unwrap()).unwrap();
        end(&dir).await.unwrap();
        assert!(other.try_wait().unwrap().is_none(), "its number is another's by now");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
