//! PID 1 at work: starts what it is asked to start, buries what has ended.

use std::{
    collections::HashMap,
    os::fd::{AsFd, OwnedFd},
    process::ExitCode,
};

use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        signal::{SigSet, Signal},
        signalfd::{SfdFlags, SignalFd},
    },
    unistd::Pid,
};
use rustix::process::{WaitOptions, wait};

use super::{
    super::{
        channel::{Channel, CutShort, Received},
        raw::let_go_of_code,
        spec::Limits,
        wire::{Request, RunFailure, Word},
    },
    network,
    run::Starter,
};

/// The most programs that are watched at once; each takes a descriptor here.
const PROGRAMS_MAX: usize = 900;

/// After so long without anything to do, PID 1 needs no more memory than it takes to wait.
const RESTS_AFTER_MS: u16 = 1000;

/// Who wants to know of which process.
type Watched = HashMap<Pid, Channel>;

/// Serves until the starter closes its end. That is the end of the box: the kernel ends everything in it with PID 1.
pub(super) fn until_closed(control: &Channel, terminals: &OwnedFd, limits: &Limits) -> ExitCode {
    let mut children = SigSet::empty();
    children.add(Signal::SIGCHLD);
    let ready = children
        .thread_block()
        .and_then(|()| SignalFd::with_flags(&children, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK));
    let Ok(deaths) = ready else { return ExitCode::FAILURE };
    let starter = Starter { terminals, limits };
    let mut watched = Watched::new();
    let mut wakes_after = PollTimeout::from(RESTS_AFTER_MS);
    loop {
        let mut both =
            [PollFd::new(control.as_fd(), PollFlags::POLLIN), PollFd::new(deaths.as_fd(), PollFlags::POLLIN)];
        if poll(&mut both, wakes_after) == Ok(0) {
            let_go_of_code();
            wakes_after = PollTimeout::NONE;
            continue;
        }
        wakes_after = PollTimeout::from(RESTS_AFTER_MS);
        let said = |at: usize| both[at].revents().is_some_and(|events| !events.is_empty());
        let (asked, died) = (said(0), said(1));
        if died {
            while let Ok(Some(_)) = deaths.read_signal() {}
            bury(&mut watched);
        }
        if asked {
            match control.receive_now::<Request>() {
                Ok(Some(received)) => serve(&starter, &mut watched, received),
                Ok(None) => return ExitCode::SUCCESS,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                // A message that we do not understand has no one to be answered: its ends were closed with it. But an
                // error of the socket itself would come again and again.
                Err(error) if error.raw_os_error().is_some() => return ExitCode::FAILURE,
                Err(error) => refuse(error),
            }
        }
    }
}

/// Answers a request that we could not take whole, where its answer can still be sent.
fn refuse(error: std::io::Error) {
    let cut = error.into_inner().and_then(|inner| inner.downcast::<CutShort>().ok());
    if let Some(answer) = cut.and_then(|cut| cut.descriptors.into_iter().next()) {
        let _ = Channel::from(answer).send(&Word::Failed(RunFailure::TooMany), &[]);
    }
}

fn serve(starter: &Starter<'_>, watched: &mut Watched, received: Received<Request>) {
    let mut ends = received.descriptors.into_iter().map(Channel::from);
    let Some(answer) = ends.next() else { return };
    // Nobody waits for an answer that can not be sent.
    match received.message {
        Request::Dial { port } => {
            let _ = match network::dial(port) {
                Ok(socket) => answer.send(&Word::Dialled, &[socket.as_fd()]),
                Err(error) => {
                    answer.send(&Word::Failed(RunFailure::Connect { errno: error.raw_os_error().unwrap_or(0) }), &[])
                }
            };
        }
        Request::Run { program, pipes } => {
            let Some(exit) = ends.next() else { return };
            let started = if watched.len() < PROGRAMS_MAX {
                starter.start(program.into(), pipes, &answer)
            } else {
                Err(RunFailure::TooMany)
            };
            match started {
                Ok(pid) => {
                    watched.insert(pid, exit);
                }
                Err(failure) => {
                    let _ = answer.send(&Word::Failed(failure), &[]);
                }
            }
        }
    }
}

/// Takes the remains of all that has ended, orphans too, and tells who asked.
fn bury(watched: &mut Watched) {
    // Not with nix, which loses an end by a real-time signal: it has no name for it.
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        let word = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Word::Exited { code },
            (None, Some(signal)) => Word::Killed { signal },
            (None, None) => continue,
        };
        if let Some(exit) = watched.remove(&Pid::from_raw(pid.as_raw_nonzero().get())) {
            let _ = exit.send(&word, &[]);
        }
    }
}
