//! What the system tells an attached terminal.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The outer terminal has another size.
    Resized,
    /// Leave; the signal's number.
    End(i32),
    /// Step aside for the shell. Ctrl-Z is the program's, but others may ask for it.
    Suspend,
    /// And back.
    Resume,
}

pub struct Signals {
    resized: Signal,
    suspend: Signal,
    resume: Signal,
    ending: [Signal; 4],
}

const ENDING: [SignalKind; 4] =
    [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit(), SignalKind::terminate()];

impl Signals {
    pub fn new() -> io::Result<Self> {
        let [hangup, interrupt, quit, terminate] = ENDING;
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            suspend: signal(SignalKind::from_raw(nix::libc::SIGTSTP))?,
            resume: signal(SignalKind::from_raw(nix::libc::SIGCONT))?,
            ending: [signal(hangup)?, signal(interrupt)?, signal(quit)?, signal(terminate)?],
        })
    }

    pub async fn next(&mut self) -> Sign {
        let [hangup, interrupt, quit, terminate] = &mut self.ending;
        let which = tokio::select! {
            _ = self.resized.recv() => return Sign::Resized,
            _ = self.suspend.recv() => return Sign::Suspend,
            _ = self.resume.recv() => return Sign::Resume,
            _ = hangup.recv() => 0,
            _ = interrupt.recv() => 1,
            _ = quit.recv() => 2,
            _ = terminate.recv() => 3,
        };
        Sign::End(ENDING[which].as_raw_value())
    }
}
