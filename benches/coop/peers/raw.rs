//! The fastest thing there can be: reads the PTY and throws away what it reads.

use std::fs::File;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::pty::{Winsize, openpty};
use tokio::net::unix::pipe;

use crate::corpus::{COLS, Corpus, ROWS};
use crate::proc;
use crate::server::{READY, Spent, printer, word};

/// As much as a read of a PTY ever returns, and room to spare.
const READ_BYTES: usize = 64 * 1024;

/// Prints a corpus into a terminal that nobody paints.
pub async fn drain(corpus: &Corpus) -> Result<Spent> {
    let size = Winsize { ws_row: u16::try_from(ROWS)?, ws_col: u16::try_from(COLS)?, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(&size, None)?;
    let words = printer(corpus);
    let slave = || -> Result<Stdio> { Ok(pty.slave.try_clone()?.into()) };
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(slave()?).stdout(slave()?).stderr(slave()?);
    let child = Ended(command.spawn().context("sh cannot be started")?);
    drop((command, pty.slave));
    fcntl(&pty.master, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    let mut keyboard = File::from(pty.master.try_clone()?);
    // A master is no pipe, but it reports readiness and is read like one.
    let master = pipe::Receiver::from_file_unchecked(File::from(pty.master))?;
    let mut reader = Reader { master, tail: Vec::new() };
    reader.until(READY).await?;
    let (cpu, begun) = (proc::cpu(std::process::id())?, Instant::now());
    keyboard.write_all(format!("{}\n", word(1)).as_bytes())?;
    reader.until(&word(1)).await?;
    let spent = Spent { wall: begun.elapsed(), cpu: proc::cpu(std::process::id())? - cpu };
    drop(child);
    Ok(spent)
}

struct Reader {
    master: pipe::Receiver,
    /// The last bytes, in which a word may stand that came in two reads.
    tail: Vec<u8>,
}

impl Reader {
    async fn until(&mut self, word: &str) -> Result<()> {
        let mut buffer = vec![0; READ_BYTES];
        while !self.tail.ends_with(word.as_bytes()) {
            self.master.readable().await?;
            let read = match self.master.try_read(&mut buffer) {
                Ok(0) => bail!("the printer ended before it showed {word}"),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                read => read.context("reading the terminal")?,
            };
            self.tail.extend_from_slice(&buffer[read.saturating_sub(word.len())..read]);
            self.tail.drain(..self.tail.len().saturating_sub(word.len()));
        }
        Ok(())
    }
}

/// A child that does not outlive its measurement.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
