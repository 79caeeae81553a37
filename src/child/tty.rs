//! The terminal device as such: its window size, whether it echoes, and whether what was typed is read.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::Arc,
};

#[cfg(target_os = "linux")]
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::{
    libc,
    sys::termios::{LocalFlags, tcgetattr},
};

use super::{Size, raw};

/// A handle on the child's terminal. As long as a clone lives, the terminal is not hung up.
#[derive(Clone, Debug)]
pub struct Tty(Arc<OwnedFd>);

impl Tty {
    pub(super) fn new(master: OwnedFd) -> Self {
        Self(Arc::new(master))
    }

    /// Changes the window; the kernel sends SIGWINCH to the foreground group if the size differs.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        set_size(self.0.as_fd(), size)
    }

    /// The window as the kernel has it. The child may have set one that no [`Size`] can hold: an error then.
    pub fn size(&self) -> io::Result<Size> {
        window_of(self.0.as_fd())
    }

    /// Whether typed characters are shown, `false` at a password prompt and in full-screen programs; `None` if the
    /// terminal does not say.
    pub fn echoes(&self) -> Option<bool> {
        let settings = tcgetattr(&*self.0).ok()?;
        Some(settings.local_flags.contains(LocalFlags::ECHO))
    }

    /// Whether the child has read all that it was typed; `None` if the terminal does not say, as while it edits lines.
    ///
    /// The child's own end is opened for a moment. While the child holds it too this is not noticed; afterwards the
    /// terminal hangs up once more, which is as good as once.
    #[cfg(target_os = "linux")]
    pub fn is_read(&self) -> Option<bool> {
        let settings = tcgetattr(&*self.0).ok()?;
        if settings.local_flags.contains(LocalFlags::ICANON) {
            return None;
        }
        let peer = raw::open_peer(self.0.as_fd()).ok()?;
        // What was written a moment ago may still be on its way; polling brings it to its end.
        poll(&mut [PollFd::new(peer.as_fd(), PollFlags::POLLIN)], PollTimeout::ZERO).ok()?;
        Some(raw::count_unread(peer.as_fd()).ok()? == 0)
    }

    #[cfg(not(target_os = "linux"))]
    pub fn is_read(&self) -> Option<bool> {
        None
    }
}

/// The window of any terminal, such as the one that a person sits at.
pub fn window_of(tty: BorrowedFd<'_>) -> io::Result<Size> {
    let window = raw::get_window(tty)?;
    Size::new(window.ws_col.into(), window.ws_row.into()).map_err(|bad| io::Error::new(io::ErrorKind::InvalidData, bad))
}

pub(super) fn set_size(tty: BorrowedFd<'_>, size: Size) -> io::Result<()> {
    raw::set_window(tty, &libc::winsize { ws_row: size.rows(), ws_col: size.cols(), ws_xpixel: 0, ws_ypixel: 0 })
}

#[cfg(test)]
mod tests {
    use super::super::{
        Signal,
        support::{sh, start},
    };
    use super::*;

    fn size(cols: u32, rows: u32) -> Size {
        Size::new(cols, rows).unwrap()
    }

    #[tokio::test]
    async fn the_window_is_there_from_the_start_and_follows_a_resize() {
        let mut child = start(&sh("stty size; read line; stty size"));
        child.until("24 80").await;
        child.tty.resize(size(132, 50)).unwrap();
        assert_eq!(child.tty.size().unwrap(), size(132, 50));
        child.input.write_all(b"\n").await.unwrap();
        child.until("50 132").await;
    }

    #[tokio::test]
    async fn a_burst_of_resizes_ends_with_the_last() {
        let script = "trap 'stty size' WINCH; echo ready; while :; do sleep 1000 & wait $!; done";
        let mut child = start(&sh(script));
        child.until("ready").await;
        for cols in 100..=300 {
            child.tty.resize(size(cols, 24)).unwrap();
        }
        child.until("24 300").await;
    }

    #[tokio::test]
    async fn a_size_that_the_child_made_up_is_an_error() {
        let mut child = start(&sh("stty cols 5000; echo done; read line"));
        child.until("done").await;
        assert!(child.tty.size().unwrap_err().to_string().contains("5000x24"));
    }

    #[tokio::test]
    async fn echo_is_seen_from_outside() {
        let mut child = start(&sh("echo on; read line; stty -echo; echo off; read line"));
        child.until("on").await;
        assert_eq!(child.tty.echoes(), Some(true));
        child.input.write_all(b"\n").await.unwrap();
        child.until("off").await;
        assert_eq!(child.tty.echoes(), Some(false));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn what_the_child_has_not_read_is_seen_from_outside() {
        let waits = "while [ -z \"$go\" ]; do sleep 0.01; done";
        let script = format!("stty raw -echo; trap go=1 USR1; echo ready; {waits}; dd bs=1 count=2; sleep 1000");
        let mut child = start(&sh(&script));
        child.until("ready").await;
        assert_eq!(child.tty.is_read(), Some(true), "nothing was typed");
        child.input.write_all(b"ab").await.unwrap();
        assert_eq!(child.tty.is_read(), Some(false));
        child.group.signal(Signal::SIGUSR1).unwrap();
        child.until("ab").await;
        assert_eq!(child.tty.is_read(), Some(true));
        child.group.signal(Signal::SIGKILL).unwrap();
        child.exit().await;
        child.tty.is_read();
        child.rest().await;
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_terminal_hangs_up_however_often_it_was_looked_at() {
        let mut child = start(&sh("stty raw -echo; echo ready; dd bs=1 count=1; exit 3"));
        child.until("ready").await;
        let tty = child.tty.clone();
        let over = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let is_over = over.clone();
        let looking = std::thread::spawn(move || {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                tty.is_read();
            }
        });
        child.input.write_all(b"x").await.unwrap();
        child.rest().await;
        assert_eq!(child.exit().await, crate::child::Exit::Code(3));
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        looking.join().unwrap();
    }

    #[tokio::test]
    async fn erase_takes_a_whole_character() {
        let mut child = start(&sh("stty -a; read line; echo \"<$line>\""));
        assert!(!child.until("iutf8").await.ends_with('-'));
        child.input.write_all("aé\x7f\n".as_bytes()).await.unwrap();
        child.until("<a>").await;
    }
}
