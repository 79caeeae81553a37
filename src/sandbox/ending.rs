//! How a program in a box ended.

use std::{
    io,
    os::{fd::AsFd, unix::net::UnixDatagram},
};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio::io::Interest;

use super::{channel::Channel, wire::Word};

/// How a program in a box ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Code(i32),
    Signal(i32),
    /// Its box ended first, and took it along.
    BoxGone,
}

/// Tells once how a program ended. Dropping it does not touch the program.
#[derive(Debug)]
pub struct Ending(Channel);

impl Ending {
    pub(super) fn new(channel: Channel) -> Self {
        Self(channel)
    }

    /// Waits in this thread.
    pub fn wait(self) -> Ended {
        loop {
            let mut watched = [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
            let _ = poll(&mut watched, PollTimeout::NONE);
            if let Some(ended) = self.now() {
                return ended;
            }
        }
    }

    /// Waits inside a tokio runtime. Cancelling loses nothing.
    pub async fn ended(&self) -> Ended {
        // tokio has no type for this kind of socket. It only waits here, and that is the same for all of them.
        let socket = self.0.as_fd().try_clone_to_owned().map(UnixDatagram::from);
        let nonblocking = socket.and_then(|socket| socket.set_nonblocking(true).map(|()| socket));
        let Ok(socket) = nonblocking.and_then(tokio::net::UnixDatagram::from_std) else { return Ended::BoxGone };
        loop {
            let look = || self.now().ok_or_else(|| io::Error::from(io::ErrorKind::WouldBlock));
            if let Ok(ended) = socket.async_io(Interest::READABLE, look).await {
                return ended;
            }
        }
    }

    /// What is known now; `None` if it still runs.
    fn now(&self) -> Option<Ended> {
        match self.0.receive_now::<Word>() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Err(_) => Some(Ended::BoxGone),
            Ok(word) => Some(ended(word.map(|received| received.message))),
        }
    }
}

fn ended(word: Option<Word>) -> Ended {
    match word {
        Some(Word::Exited { code }) => Ended::Code(code),
        Some(Word::Killed { signal }) => Ended::Signal(signal),
        _ => Ended::BoxGone,
    }
}
