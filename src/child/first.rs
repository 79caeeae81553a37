//! The first process of a container: it adopts every process whose parent has gone, and somebody must take their ends.
//!
//! coop itself waits only for children of its own, so it runs below this one, which waits for all, passes signals on, and
//! ends as it does. The kernel then ends whatever is left.

use std::io;
use std::process::{Command, ExitCode};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// What is passed on: whatever asks a program for something. The rest is about this process alone, or cannot be had.
const PASSED_ON: [Signal; 6] =
    [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGUSR1, Signal::SIGUSR2];

/// What a shell adds to the number of a signal.
const SIGNAL_BASE: i32 = 128;

/// Runs coop, with the words and variables that this process was given, to its end.
pub fn run_first() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("coop: as the first process of a container: {error}");
        ExitCode::FAILURE
    })
}

fn run() -> io::Result<ExitCode> {
    // Before anything is blocked, which it would inherit.
    let coop = Command::new(std::env::current_exe()?).args(std::env::args_os().skip(1)).spawn()?;
    let coop = Pid::from_raw(coop.id().cast_signed());
    let mut awaited: SigSet = PASSED_ON.into_iter().collect();
    awaited.add(Signal::SIGCHLD);
    awaited.thread_block()?;
    let signals = SignalFd::new(&awaited)?;
    // An end in the meantime was told to nobody.
    let mut code = reap(coop);
    while code.is_none() {
        let told = match signals.read_signal() {
            Ok(Some(told)) => told,
            Ok(None) | Err(Errno::EINTR) => continue,
            Err(error) => return Err(error.into()),
        };
        let signal = i32::try_from(told.ssi_signo).ok().and_then(|number| Signal::try_from(number).ok());
        match signal {
            Some(Signal::SIGCHLD) => code = reap(coop),
            // Ctrl-C at a terminal goes to coop without our help; twice would mean more than once.
            Some(signal) if told.ssi_code != libc::SI_KERNEL => drop(kill(coop, signal)),
            _ => {}
        }
    }
    Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// Takes the ends of all that have ended; what coop ended with, if it is among them.
fn reap(coop: Pid) -> Option<i32> {
    let mut code = None;
    loop {
        let ended = waitpid(None, Some(WaitPidFlag::WNOHANG));
        match ended {
            Ok(WaitStatus::Exited(pid, status)) if pid == coop => code = Some(status),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == coop => code = Some(SIGNAL_BASE + signal as i32),
            // Nobody is left, or nobody has ended.
            Ok(WaitStatus::StillAlive) | Err(_) => return code,
            Ok(_) => {}
        }
    }
}
