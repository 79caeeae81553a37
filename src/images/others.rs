//! Removes what the users of a box with a range have made: it is not ours, but their root's, who lives in a namespace.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

use nix::sched::{CloneFlags, unshare};

use super::trees;
use crate::sandbox;

/// The hidden verb that removes: coop anew, because a namespace of users is made by a process without threads.
pub const CLEAR_VERB: &str = "box-clear";

const COOP: &str = "/proc/self/exe";

/// Said by each side when the other may go on.
const GO: &[u8] = b"!";

/// Removes a path with all below it in a namespace that has the users of a range, as their root. On failure: why.
pub(super) fn remove(path: &Path) -> Result<(), String> {
    let mut clearing = Command::new(COOP)
        .arg0("coop")
        .arg(CLEAR_VERB)
        .arg(path)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("coop could not be started: {error}"))?;
    let begun = let_begin(&mut clearing);
    // This closes its stdin, so that it ends also where it was not let begin.
    let ended = clearing.wait_with_output().map_err(|error| error.to_string())?;
    begun?;
    match ended.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&ended.stderr).trim().to_owned()),
    }
}

fn let_begin(clearing: &mut Child) -> Result<(), String> {
    let pid = clearing.id();
    let (Some(said), Some(heard)) = (clearing.stdout.as_mut(), clearing.stdin.as_mut()) else { return Ok(()) };
    // One that failed says nothing now, and tells why at its end.
    if said.read_exact(&mut [0; GO.len()]).is_err() {
        return Ok(());
    }
    sandbox::map_range(pid)?;
    heard.write_all(GO).map_err(|error| error.to_string())
}

/// The other side: makes the namespace, waits until it has its users, and removes what is named.
pub fn clear_main(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let removed = unshare(CloneFlags::CLONE_NEWUSER)
        .map_err(io::Error::from)
        .and_then(|()| io::stdout().write_all(GO))
        .and_then(|()| io::stdout().flush())
        .and_then(|()| io::stdin().read_exact(&mut [0; GO.len()]))
        .and_then(|()| words.next().map_or(Ok(()), |path| trees::remove_own(Path::new(&path))));
    match removed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
