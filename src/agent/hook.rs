//! `coop hook EVENT`: hands what an agent tells its hook to the coop around it, and prints what that answers.
//!
//! Agents start this for every event, so it has no runtime and no parser of flags. It never fails, and says nothing of
//! its own: agents show errors of their hooks to their users, and some stop at them.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use serde_json::json;

use super::hook_script::{SCRIPT_WITHIN, output_of};
use super::hook_wire::{self as wire, Act, Answer, BODY_BYTES_MAX, Kind, Question};

/// The variable that names coop's private socket to the child.
pub const SOCKET_VARIABLE: &str = "COOP_HOOK_SOCKET";

/// The variable that holds the token for it.
pub const TOKEN_VARIABLE: &str = "COOP_HOOK_TOKEN";

/// Reading the payload, connecting and sending take milliseconds; a coop that needs longer is stuck.
const SEND_WITHIN: Duration = Duration::from_secs(5);

/// Most events are answered at once. Agents let their hooks run for 15 s, see `claude/hooks.rs`.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Events that coop may hold open: until somebody answers the dialog, or lets the agent stop.
const HELD_OPEN: [&str; 3] = ["PermissionRequest", "Stop", "AfterAgent"];

/// An answer, and where it came from.
type Answered = (Answer, UnixStream);

/// What one call of `coop hook` is to do.
#[derive(Clone, Debug)]
pub struct Errand {
    pub event: String,
    pub socket: PathBuf,
    pub token: String,
    /// How long the answer may take; as long as the connection lasts if `None`.
    pub wait: Option<Duration>,
}

/// What the hidden verb does. `arguments` are those after `hook`.
pub fn main(arguments: impl Iterator<Item = OsString>) {
    let stdin = io::stdin();
    match Errand::read(arguments, |name| std::env::var_os(name)) {
        Some(errand) => run(errand, stdin, &mut io::stdout()),
        // Not inside a session. The agent's write must not fail all the same.
        None if stdin.is_terminal() => {}
        None => within(SEND_WITHIN, move || drain(stdin)),
    }
}

impl Errand {
    /// Reads `EVENT [--wait SECS]`; nothing to do without an event or outside of a session.
    fn read(
        mut arguments: impl Iterator<Item = OsString>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Option<Self> {
        let (mut event, mut wait) = (None, None);
        while let Some(word) = arguments.next() {
            if word == "--wait" {
                wait = arguments.next().and_then(|secs| secs.to_str()?.parse().ok()).map(Duration::from_secs);
            } else {
                event = event.or(word.into_string().ok());
            }
        }
        let (event, socket) = (event?, variable(SOCKET_VARIABLE).filter(|path| !path.is_empty())?);
        let token = variable(TOKEN_VARIABLE).and_then(|token| token.into_string().ok()).unwrap_or_default();
        let patience = Some(ANSWER_WITHIN).filter(|_| !HELD_OPEN.contains(&event.as_str()));
        Some(Self { event, socket: socket.into(), token, wait: wait.or(patience) })
    }
}

/// Carries out an errand. All that blocks is done by a thread which may be left behind.
pub fn run(errand: Errand, stdin: impl Read + Send + 'static, stdout: &mut impl Write) {
    let (wait, event) = (errand.wait, errand.event.clone());
    let (tell, news) = sync_channel(2);
    aside(move || {
        // Whatever fails, nothing is told, which ends the wait.
        let _ = converse(&errand, stdin, &tell);
    });
    let Ok(None) = news.recv_timeout(SEND_WITHIN) else { return };
    let answer = match wait {
        Some(wait) => news.recv_timeout(wait).ok(),
        None => news.recv().ok(),
    };
    let Some((answer, mut coop)) = answer.flatten() else { return };
    let output = match answer.act {
        Act::Print => answer.body,
        Act::Run => said(&answer.body),
        Act::RunForContext => as_context(&event, &said(&answer.body)),
        Act::Accept | Act::Refuse => return,
    };
    // An agent that has closed its end does not want to know, nor does a coop that has left.
    let _ = stdout.write_all(&output).and_then(|()| stdout.flush()).and_then(|()| coop.write_all(&[wire::PRINTED]));
}

/// What a script says.
fn said(script: &[u8]) -> Vec<u8> {
    output_of(&String::from_utf8_lossy(script), SCRIPT_WITHIN).unwrap_or_default()
}

/// What was said, in the form in which some agents take it for the model; plain text they show to their user instead.
fn as_context(event: &str, said: &[u8]) -> Vec<u8> {
    if said.is_empty() {
        return Vec::new();
    }
    let output = json!({"hookEventName": event, "additionalContext": String::from_utf8_lossy(said)});
    json!({"hookSpecificOutput": output}).to_string().into_bytes()
}

/// Tells `None` when the question is out, and then the answer, with the way back to whom it came from.
fn converse(errand: &Errand, mut stdin: impl Read, tell: &SyncSender<Option<Answered>>) -> io::Result<()> {
    let mut payload = Vec::new();
    // What cannot be read to its end is sent as far as it came.
    let _ = stdin.by_ref().take(BODY_BYTES_MAX as u64 + 1).read_to_end(&mut payload);
    let truncated = payload.len() > BODY_BYTES_MAX;
    if truncated {
        payload = Vec::new();
        drain(stdin);
    }
    let kind = Kind::Event { event: errand.event.clone(), truncated };
    let mut stream = UnixStream::connect(&errand.socket)?;
    wire::write(&mut stream, &Question { token: errand.token.clone(), kind }, &payload)?;
    // The other side stops listening when it runs out of time.
    let _ = tell.send(None);
    let answer = Answer::read(&mut stream)?;
    let _ = tell.send(Some((answer, stream)));
    Ok(())
}

/// What became of a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// It was taken; with words for the one who gave it.
    Accepted(String),
    /// It was not, for these reasons.
    Refused(Vec<String>),
}

/// Gives the signal that opens the stop gate.
pub fn resolve_stop(socket: PathBuf, token: String, signal: Vec<u8>) -> io::Result<Resolved> {
    let (tell, news) = sync_channel(1);
    aside(move || {
        let ask = || {
            let mut stream = UnixStream::connect(&socket)?;
            wire::write(&mut stream, &Question { token, kind: Kind::ResolveStop }, &signal)?;
            Answer::read(&mut stream)
        };
        let _ = tell.send(ask());
    });
    let answer = news.recv_timeout(ANSWER_WITHIN).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
    let words = String::from_utf8_lossy(&answer.body).into_owned();
    match answer.act {
        Act::Accept => Ok(Resolved::Accepted(words)),
        Act::Refuse => Ok(Resolved::Refused(words.lines().map(str::to_owned).collect())),
        Act::Print | Act::Run | Act::RunForContext => {
            Err(io::Error::new(io::ErrorKind::InvalidData, "an answer to another question"))
        }
    }
}

fn within(limit: Duration, work: impl FnOnce() + Send + 'static) {
    let (tell, done) = sync_channel(1);
    aside(move || {
        work();
        let _ = tell.send(());
    });
    let _ = done.recv_timeout(limit);
}

/// Does something in a thread of its own. Where the system has none left, it is not done: the wait for it ends at once.
fn aside(work: impl FnOnce() + Send + 'static) {
    let _ = std::thread::Builder::new().spawn(work);
}

/// Reads to the end, so that whoever writes does not fail.
fn drain(mut stdin: impl Read) {
    let _ = io::copy(&mut stdin, &mut io::sink());
}

#[cfg(test)]
mod tests;
