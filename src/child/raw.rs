//! The kernel calls that the compiler cannot check; all unsafe code of this room is in this file.
#![allow(unsafe_code)]

use std::{
    io::{self, Write},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::Command,
    sync::Arc,
};

use nix::{
    libc,
    sys::{
        resource::{Resource, setrlimit},
        signal::{SigHandler, Signal, signal},
    },
    unistd::{getpid, setsid, write},
};

use super::open_files::Limits;

mod request {
    use nix::libc;
    nix::ioctl_write_int_bad!(become_controlling, libc::TIOCSCTTY);
    nix::ioctl_write_ptr_bad!(set_window, libc::TIOCSWINSZ, libc::winsize);
    nix::ioctl_read_bad!(get_window, libc::TIOCGWINSZ, libc::winsize);
    #[cfg(target_os = "linux")]
    nix::ioctl_write_int_bad!(open_peer, libc::TIOCGPTPEER);
    #[cfg(target_os = "linux")]
    nix::ioctl_read_bad!(count_unread, libc::FIONREAD, libc::c_int);
}

/// Sets the window of a terminal; the kernel tells the foreground group by SIGWINCH if it changed.
pub(super) fn set_window(tty: BorrowedFd<'_>, window: &libc::winsize) -> io::Result<()> {
    // SAFETY: the descriptor is borrowed and thus open; the pointer is a live reference to the struct that this
    // request reads.
    unsafe { request::set_window(tty.as_raw_fd(), window) }?;
    Ok(())
}

/// The window of a terminal as the kernel has it.
pub(super) fn get_window(tty: BorrowedFd<'_>) -> io::Result<libc::winsize> {
    let mut window = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: as above; this request writes one such struct.
    unsafe { request::get_window(tty.as_raw_fd(), &mut window) }?;
    Ok(window)
}

/// The child's end of a terminal, opened anew from ours: its name may mean nothing here, as that of a box does.
#[cfg(target_os = "linux")]
pub(super) fn open_peer(master: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = libc::O_RDONLY | libc::O_NOCTTY | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the descriptor is borrowed and thus open; the request takes a plain integer.
    let peer = unsafe { request::open_peer(master.as_raw_fd(), flags) }?;
    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(peer) })
}

/// How many bytes wait at the child's end of a terminal.
#[cfg(target_os = "linux")]
pub(super) fn count_unread(peer: BorrowedFd<'_>) -> io::Result<libc::c_int> {
    let mut count = 0;
    // SAFETY: as above; this request writes one integer.
    unsafe { request::count_unread(peer.as_raw_fd(), &raw mut count) }?;
    Ok(count)
}

/// What a child does between fork and exec.
pub(super) struct Entry {
    /// Its stdin becomes its controlling terminal.
    pub(super) terminal_controls: bool,
    /// The limits on open files to go back to, if we raised our own.
    pub(super) open_files: Option<Limits>,
    /// The pipe on which it announces itself to the guardian.
    pub(super) guardian: Option<Arc<OwnedFd>>,
}

/// Makes the command start as the leader of a session of its own.
pub(super) fn enter_session(command: &mut Command, entry: Entry) {
    // SAFETY: between fork and exec of a threaded process only async-signal-safe calls are allowed. `Entry::run`
    // makes system calls only; it takes no lock and allocates nothing (errors carry a bare errno).
    unsafe { command.pre_exec(move || entry.run()) };
}

impl Entry {
    fn run(&self) -> io::Result<()> {
        setsid()?;
        if self.terminal_controls {
            // SAFETY: a plain integer request on stdin, which std has already made the slave of our PTY.
            unsafe { request::become_controlling(libc::STDIN_FILENO, 0) }?;
        }
        handle_all_signals_by_default();
        self.announce();
        if let Some(Limits { soft, hard }) = self.open_files {
            setrlimit(Resource::RLIMIT_NOFILE, soft, hard)?;
        }
        Ok(())
    }

    /// Tells the guardian about this process before it runs anything, so that no moment is unwatched: our copy of
    /// the pipe keeps it from ending until exec. A dead guardian is no reason not to start.
    fn announce(&self) {
        let Some(pipe) = &self.guardian else { return };
        let mut line = [0; 32];
        let mut rest = &mut line[..];
        let fits = writeln!(rest, "watch {}", getpid()).is_ok();
        let unused = rest.len();
        if fits {
            // SAFETY: dispositions without a handler; without them a broken pipe would kill the child here, which
            // would look like a program that started and died.
            unsafe {
                let _ = signal(Signal::SIGPIPE, SigHandler::SigIgn);
                let _ = write(pipe.as_fd(), &line[..line.len() - unused]);
                let _ = signal(Signal::SIGPIPE, SigHandler::SigDfl);
            }
        }
    }
}

/// Ignored signals survive exec. Were coop started by `nohup` or by a script's `&`, the child would be deaf to
/// hang-ups or to Ctrl-C.
fn handle_all_signals_by_default() {
    for each in Signal::iterator() {
        // SAFETY: the default disposition runs none of our code. KILL and STOP refuse, rightly.
        let _ = unsafe { signal(each, SigHandler::SigDfl) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::support::{printed, sh};
    use super::*;

    #[tokio::test]
    async fn a_child_ignores_no_signal_that_coop_was_started_to_ignore() {
        // SAFETY: no handler; nothing in these tests uses this signal.
        unsafe { signal(Signal::SIGUSR2, SigHandler::SigIgn) }.unwrap();
        let ignored = printed(&sh("grep SigIgn /proc/self/status | cut -f2")).await;
        // Bit 0 is signal 1. Those above 31 have no names, and the C library keeps two of them to itself.
        let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap() & 0x7fff_ffff;
        assert_eq!(ignored, 0, "{ignored:x}");
    }
}
