//! The write half: what the child is typed.

use std::{fs::File, io};

use tokio::{io::Interest, net::unix::pipe, task::coop::consume_budget};

/// What the child is typed. A child that does not read makes only its writer wait.
#[derive(Debug)]
pub struct Input(pipe::Sender);

impl Input {
    /// Takes a nonblocking PTY master.
    pub(super) fn new(master: File) -> io::Result<Self> {
        pipe::Sender::from_file_unchecked(master).map(Self)
    }

    /// Waits until the terminal takes something and says how much it took.
    /// Dropping the future before it is ready means that nothing was taken. An error once the terminal has hung up;
    /// a moment of taking into the void may precede it, so that whoever knows of the exit refuses by that.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        loop {
            // Readiness alone never yields; others on this thread want a turn too.
            consume_budget().await;
            // Linux goes on swallowing what is written when nothing holds the child's side any more.
            if self.0.ready(Interest::WRITABLE).await?.is_write_closed() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            match self.0.try_write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                result => return result,
            }
        }
    }

    /// Writes all of it. Dropping the future leaves unwritten what was not yet taken; use [`Input::write`] to know
    /// how much that is.
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let taken = self.write(bytes).await?;
            bytes = &bytes[taken..];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::super::{
        Signal,
        support::{sh, start, within},
    };

    #[tokio::test]
    async fn a_flood_through_a_raw_cat_comes_back_whole() {
        let mut child = start(&sh("stty raw -echo; printf ready; exec cat"));
        child.until("ready").await;
        let flood: Vec<u8> = (0..1_500_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let mut back = BytesMut::new();
        let read = async {
            while back.len() < flood.len() {
                assert!(child.output.read(&mut back, 65_536).await.unwrap() > 0);
            }
        };
        let (written, ()) = within(async { tokio::join!(child.input.write_all(&flood), read) }).await;
        written.unwrap();
        assert!(back == flood[..], "it came back changed");
    }

    #[tokio::test]
    async fn a_child_that_never_reads_stops_only_its_writer() {
        let script = "stty raw -echo; trap 'printf alive' USR1; printf ready; while :; do sleep 1000 & wait $!; done";
        let mut child = start(&sh(script));
        child.until("ready").await;
        let flood = vec![b'x'; 1_000_000];
        let mut seen = BytesMut::new();
        let reader = async {
            child.group.signal(Signal::SIGUSR1).unwrap();
            while !seen.ends_with(b"alive") {
                assert!(child.output.read(&mut seen, 100).await.unwrap() > 0);
            }
        };
        within(async {
            tokio::select! {
                biased;
                _ = child.input.write_all(&flood) => panic!("nobody took this"),
                () = reader => {}
            }
        })
        .await;
    }

    #[tokio::test]
    async fn writing_to_what_has_ended_is_an_error() {
        let mut child = start(&sh("exit 0"));
        child.rest().await;
        let refused = async { while child.input.write(b"late").await.is_ok() {} };
        within(refused).await;
    }
}
