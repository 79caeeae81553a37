//! Runs the script that a start gate gives to a hook, within bounds of time and size.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// An agent waits for this before its user can type.
pub const SCRIPT_WITHIN: Duration = Duration::from_secs(30);

/// Far more than an agent takes in at its start.
const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// How long the last words of an ended script may take. What it left running in the background holds the pipe open
/// for ever.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(200);

/// How often to look whether the shell has ended while something holds its output open.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The script comes by stdin, because an argument may not be larger than 128 KiB; its commands then find stdin empty.
const READ_AND_RUN: &str = r#"script=$(cat); exec </dev/null; eval "$script""#;

/// What a script prints; as much of it as came in time. Its complaints are dropped: an agent would show them as its own.
pub fn output_of(script: &str, within: Duration) -> io::Result<Vec<u8>> {
    let mut shell = Command::new("sh")
        .args(["-c", READ_AND_RUN])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let (tell, heard) = sync_channel(4);
    if let Some(output) = shell.stdout.take() {
        Builder::new().spawn(move || listen(output, &tell))?;
    }
    if let Some(mut stdin) = shell.stdin.take() {
        let script = script.to_owned();
        // A shell that does not read its script says nothing, which is what will be heard.
        Builder::new().spawn(move || stdin.write_all(script.as_bytes()))?;
    }
    let output = hear(&mut shell, &heard, Instant::now() + within);
    if !matches!(shell.try_wait(), Ok(Some(_))) {
        // It had its time. Nobody has waited for it yet, so that its id means no other group.
        let _ = killpg(Pid::from_raw(shell.id().cast_signed()), Signal::SIGKILL);
        let _ = shell.wait();
    }
    Ok(output)
}

/// Collects what is said until the end of it, of the time, or of the place.
fn hear(shell: &mut Child, heard: &Receiver<Vec<u8>>, mut until: Instant) -> Vec<u8> {
    let (mut output, mut ended) = (Vec::new(), false);
    while output.len() < OUTPUT_BYTES_MAX {
        let left = until.saturating_duration_since(Instant::now());
        match heard.recv_timeout(left.min(LOOK_EVERY)) {
            Ok(bytes) => output.extend(bytes),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if left.is_zero() => break,
            Err(RecvTimeoutError::Timeout) if !ended && matches!(shell.try_wait(), Ok(Some(_))) => {
                (until, ended) = (Instant::now() + LAST_WORDS_WITHIN, true);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    output.truncate(OUTPUT_BYTES_MAX);
    output
}

fn listen(mut output: impl Read, tell: &SyncSender<Vec<u8>>) {
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = output.read(&mut buffer) {
        if tell.send(buffer[..count].to_vec()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(script: &str, millis: u64) -> String {
        String::from_utf8(output_of(script, Duration::from_millis(millis)).unwrap()).unwrap()
    }

    #[test]
    fn a_script_finds_an_empty_stdin_and_its_complaints_are_dropped() {
        assert_eq!(output("echo a; cat; no-such-command; echo b >&2\nprintf c", 10_000), "a\nc");
        assert_eq!(output("", 10_000), "");
    }

    #[test]
    fn a_script_may_be_longer_than_an_argument() {
        let text = "x".repeat(300_000);
        assert_eq!(output(&format!("printf %s {text} | wc -c | tr -d ' '"), 10_000), "300000\n");
    }

    #[test]
    fn a_script_that_takes_too_long_is_ended_and_what_it_said_counts() {
        let began = Instant::now();
        assert_eq!(output("echo begun; sleep 1000; echo late", 500), "begun\n");
        assert!(began.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_script_that_never_stops_talking_is_cut() {
        assert_eq!(output("while :; do echo aaaaaaaaaaaaaaaa; done", 60_000).len(), OUTPUT_BYTES_MAX);
    }

    #[test]
    fn what_a_script_leaves_behind_does_not_hold_it() {
        let began = Instant::now();
        assert_eq!(output("sleep 5 & echo done", 60_000), "done\n");
        assert!(began.elapsed() < Duration::from_secs(4));
    }
}
