//! The read half: what the child prints, gathered into as few pieces as it comes in bursts.

use std::{fs::File, io};

use bytes::{BufMut, BytesMut};
use nix::libc;
use tokio::{net::unix::pipe, task::coop::consume_budget};

/// Linux hands out at most 4095 bytes of a PTY per read; a little more memory than that is asked for each time.
const READ_BYTES: usize = 4096;

/// What the child prints.
#[derive(Debug)]
pub struct Output(pipe::Receiver);

impl Output {
    /// Takes a nonblocking PTY master.
    pub(super) fn new(master: File) -> io::Result<Self> {
        // A master is no pipe, but it reports readiness and is read like one.
        pipe::Receiver::from_file_unchecked(master).map(Self)
    }

    /// Waits for output, then appends all that is there, but at most `room` bytes (0 counts as 1).
    /// Returns how much it was; 0 is the end: nothing holds the child's side of the terminal any more.
    /// Dropping the future loses no byte.
    pub async fn read(&mut self, into: &mut BytesMut, room: usize) -> io::Result<usize> {
        let room = room.max(1);
        loop {
            // Readiness alone never yields; a child that floods us must not keep others on this thread from their turn.
            consume_budget().await;
            self.0.readable().await?;
            match self.drain(into, room) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
    }

    /// Reads until nothing is left or the room is full. A short read does not mean that nothing is left, which is
    /// why `AsyncRead`, which takes it for that, is not used: the rest would lie until the next output.
    fn drain(&self, into: &mut BytesMut, room: usize) -> io::Result<usize> {
        let mut got = 0;
        while got < room {
            into.reserve(READ_BYTES.min(room - got));
            match self.0.try_read_buf(&mut into.limit(room - got)) {
                Ok(0) => break,
                Ok(n) => got += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The end, or an error, shows again at the next call.
                Err(_) if got > 0 => break,
                // Linux says EIO where others say end of file.
                Err(error) if error.raw_os_error() == Some(libc::EIO) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        Exit,
        support::{sh, start, within},
    };
    use super::*;

    const MEGABYTE: &str = "head -c 1000000 /dev/zero | tr '\\0' x";

    #[tokio::test]
    async fn a_megabyte_arrives_to_the_last_byte_while_the_child_lives_on() {
        let mut child = start(&sh(&format!("{MEGABYTE}; printf END; exec sleep 1000")));
        let before = child.until("END").await;
        assert!(before.len() == 1_000_000 && before.bytes().all(|byte| byte == b'x'));
    }

    #[tokio::test]
    async fn what_was_printed_just_before_the_end_arrives() {
        let mut child = start(&sh(&format!("{MEGABYTE}; printf END; exit 4")));
        let all = child.rest().await;
        assert!(all.len() == 1_000_003 && all.ends_with("END"));
        assert_eq!(child.exit().await, Exit::Code(4));
    }

    #[tokio::test]
    async fn a_reader_with_always_more_to_read_lets_others_have_their_turn() {
        let mut child = start(&sh("head -c 10000 /dev/zero | tr '\\0' x"));
        child.exit().await;
        let mut into = BytesMut::new();
        let other = tokio::spawn(std::future::ready(()));
        while into.len() < 10_000 {
            child.output.read(&mut into, 1).await.unwrap();
        }
        assert!(other.is_finished(), "10,000 reads in a row were one turn");
    }

    #[tokio::test]
    async fn a_burst_comes_as_one_piece_but_no_larger_than_the_room() {
        let mut child = start(&sh("head -c 10000 /dev/zero | tr '\\0' x"));
        child.exit().await;
        let mut into = BytesMut::from(&b"kept"[..]);
        assert_eq!(within(child.output.read(&mut into, 1)).await.unwrap(), 1);
        assert_eq!(within(child.output.read(&mut into, 6000)).await.unwrap(), 6000);
        assert_eq!(within(child.output.read(&mut into, 65_536)).await.unwrap(), 3999);
        assert!(into.starts_with(b"keptx") && into.len() == 10_004);
        for _ in 0..3 {
            assert_eq!(within(child.output.read(&mut into, 65_536)).await.unwrap(), 0, "the end stays the end");
        }
    }
}
