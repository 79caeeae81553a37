//! One end of a SEQPACKET pair: whole messages as JSON, descriptors beside them, and who sent them.

use std::{
    io::{self, IoSlice, IoSliceMut, Read, Seek, Write},
    mem::MaybeUninit,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::{
        memfd::{MFdFlags, memfd_create},
        socket::{
            AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, sendmsg, setsockopt, socketpair, sockopt,
        },
        time::TimeVal,
    },
};
use rustix::{
    cmsg_space,
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg},
};
use serde::{Serialize, de::DeserializeOwned};

/// The longest message that travels in the socket itself. What is longer goes in a file in memory, since a socket's
/// buffer is the system's to choose and an environment may well be a megabyte.
const INLINE_BYTES_MAX: usize = 32 * 1024;
/// The longest message at all. Linux itself takes no more than some megabytes of arguments and variables.
const MESSAGE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The most descriptors of one message: a file with the message, and three that belong to it.
const DESCRIPTORS_MAX: usize = 4;
/// Says that the message is in the first descriptor. JSON never begins so.
const ELSEWHERE: &[u8] = b"@";

/// One end of a pair.
#[derive(Debug)]
pub(super) struct Channel(OwnedFd);

/// A message as it came.
#[derive(Debug)]
pub(super) struct Received<T> {
    pub(super) message: T,
    pub(super) descriptors: Vec<OwnedFd>,
    /// The sender's process id as *we* see it, from the kernel; only on an end that asks for it.
    pub(super) sender: Option<u32>,
}

/// A message of which a part did not arrive, as when we have too many files open to take its descriptors. Those that
/// came are here: who sent it may be waiting at the other end of one.
#[derive(Debug, thiserror::Error)]
#[error("a message was cut short: too many open files?")]
pub(super) struct CutShort {
    pub(super) descriptors: Vec<OwnedFd>,
}

impl Channel {
    /// Two ends; the first is told by the kernel who sends.
    pub(super) fn pair() -> io::Result<(Self, Self)> {
        let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        setsockopt(&ours, sockopt::PassCred, &true)?;
        Ok((Self(ours), Self(theirs)))
    }

    /// Nothing is waited for longer than this.
    pub(super) fn set_timeout(&self, patience: Duration) -> io::Result<()> {
        let patience = TimeVal::new(patience.as_secs().cast_signed(), patience.subsec_micros().into());
        setsockopt(&self.0, sockopt::ReceiveTimeout, &patience)?;
        setsockopt(&self.0, sockopt::SendTimeout, &patience)?;
        Ok(())
    }

    pub(super) fn send<T: Serialize>(&self, message: &T, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let body = serde_json::to_vec(message)?;
        if body.len() <= INLINE_BYTES_MAX {
            return self.send_bytes(&body, descriptors);
        }
        let file = memfd_create("coop-message", MFdFlags::MFD_CLOEXEC)?;
        let mut file = std::fs::File::from(file);
        file.write_all(&body)?;
        file.rewind()?;
        let mut all = vec![file.as_fd()];
        all.extend_from_slice(descriptors);
        self.send_bytes(ELSEWHERE, &all)
    }

    fn send_bytes(&self, body: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let numbers: Vec<_> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
        let rights = [ControlMessage::ScmRights(&numbers)];
        let beside = if numbers.is_empty() { &[][..] } else { &rights[..] };
        // Without NOSIGNAL a peer that is gone would kill us.
        let flags = MsgFlags::MSG_NOSIGNAL;
        retry(|| sendmsg::<()>(self.0.as_raw_fd(), &[IoSlice::new(body)], beside, flags, None))?;
        Ok(())
    }

    /// The next message; `None` when the other end is closed. Waits as long as the timeout says.
    pub(super) fn receive<T: DeserializeOwned>(&self) -> io::Result<Option<Received<T>>> {
        self.receive_with(RecvFlags::empty()).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => io::Error::new(io::ErrorKind::TimedOut, "there was no answer in time"),
            _ => error,
        })
    }

    /// The next message if there is one already; `WouldBlock` if there is none.
    pub(super) fn receive_now<T: DeserializeOwned>(&self) -> io::Result<Option<Received<T>>> {
        self.receive_with(RecvFlags::DONTWAIT)
    }

    fn receive_with<T: DeserializeOwned>(&self, flags: RecvFlags) -> io::Result<Option<Received<T>>> {
        let mut body = vec![0; INLINE_BYTES_MAX];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(DESCRIPTORS_MAX), ScmCredentials(1))];
        // What is not taken out of it is closed with it. nix does not show the descriptors of a message that was cut short.
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let flags = flags | RecvFlags::CMSG_CLOEXEC;
        let got =
            rustix::io::retry_on_intr(|| recvmsg(&self.0, &mut [IoSliceMut::new(&mut body)], &mut beside, flags))?;
        let (mut descriptors, mut sender) = (Vec::new(), None);
        for each in beside.drain() {
            match each {
                RecvAncillaryMessage::ScmRights(files) => descriptors.extend(files),
                RecvAncillaryMessage::ScmCredentials(who) => {
                    sender = u32::try_from(who.pid.as_raw_nonzero().get()).ok()
                }
                _ => {}
            }
        }
        let length = got.bytes;
        body.truncate(length);
        if got.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
            // The file with a long message is nobody's end.
            let long = usize::from(body == ELSEWHERE).min(descriptors.len());
            return Err(io::Error::other(CutShort { descriptors: descriptors.split_off(long) }));
        }
        if length == 0 {
            return Ok(None);
        }
        if body == ELSEWHERE {
            if descriptors.is_empty() {
                return Err(io::Error::other("a message names a file but brings none"));
            }
            let file = std::fs::File::from(descriptors.remove(0));
            body.clear();
            let read = file.take(MESSAGE_BYTES_MAX + 1).read_to_end(&mut body)?;
            if read as u64 > MESSAGE_BYTES_MAX {
                return Err(io::Error::other("a message is too long"));
            }
        }
        Ok(Some(Received { message: serde_json::from_slice(&body)?, descriptors, sender }))
    }
}

/// A signal in between is no reason to fail.
fn retry<T>(mut call: impl FnMut() -> nix::Result<T>) -> nix::Result<T> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            other => return other,
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Channel {
    fn as_raw_fd(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

impl From<OwnedFd> for Channel {
    fn from(end: OwnedFd) -> Self {
        Self(end)
    }
}

impl From<Channel> for OwnedFd {
    fn from(channel: Channel) -> Self {
        channel.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_any_length_arrive_whole_and_say_who_sent_them() {
        let (ours, theirs) = Channel::pair().unwrap();
        for length in [0, 10, INLINE_BYTES_MAX - 2, INLINE_BYTES_MAX, 3_000_000] {
            let text = "x".repeat(length);
            theirs.send(&text, &[theirs.as_fd()]).unwrap();
            let received = ours.receive::<String>().unwrap().unwrap();
            assert_eq!(received.message.len(), length);
            assert_eq!((received.descriptors.len(), received.sender), (1, Some(std::process::id())));
        }
    }

    #[test]
    fn an_end_a_silence_and_nonsense_are_told_apart() {
        let (ours, theirs) = Channel::pair().unwrap();
        assert_eq!(ours.receive_now::<String>().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        ours.set_timeout(Duration::from_millis(1)).unwrap();
        assert_eq!(ours.receive::<String>().unwrap_err().kind(), io::ErrorKind::TimedOut);
        theirs.send_bytes(b"{", &[]).unwrap();
        assert!(ours.receive::<String>().unwrap_err().raw_os_error().is_none());
        theirs.send_bytes(ELSEWHERE, &[]).unwrap();
        assert!(ours.receive::<String>().unwrap_err().to_string().contains("brings none"));
        drop(theirs);
        assert!(ours.receive::<String>().unwrap().is_none());
        assert_eq!(ours.send(&"late", &[]).unwrap_err().raw_os_error(), Some(nix::libc::EPIPE));
    }
    #[test]
    fn of_a_message_that_is_cut_short_nothing_stays_open() {
        let (ours, theirs) = Channel::pair().unwrap();
        let (reads, writes) = nix::unistd::pipe().unwrap();
        theirs.send(&"too many", &[writes.as_fd(); 3 * DESCRIPTORS_MAX]).unwrap();
        drop(writes);
        let cut = ours.receive::<String>().unwrap_err();
        assert!(cut.raw_os_error().is_none(), "the channel itself is well: {cut}");
        let cut = cut.into_inner().unwrap().downcast::<CutShort>().unwrap();
        assert!(cut.descriptors.len() >= DESCRIPTORS_MAX, "those that came may be answered: {cut:?}");
        drop(cut);
        let mut nothing = String::new();
        std::fs::File::from(reads).read_to_string(&mut nothing).unwrap();
        theirs.send(&"next", &[]).unwrap();
        assert_eq!(ours.receive::<String>().unwrap().unwrap().message, "next");
    }
}
