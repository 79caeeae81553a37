//! What an agent said before it forgot: immutable copies of its session log, numbered from 1.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::EpochMs;

/// How many bytes of lines one answer holds; the largest message of the API has room for it.
pub const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How much is copied at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// The name under which a copy is written until it is whole; what a crash left there is overwritten.
const UNFINISHED: &str = "unfinished.tmp";

/// One copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its number, counted from 1.
    pub number: u32,
    /// When it was taken.
    pub at: EpochMs,
    pub line_count: u64,
    pub byte_size: u64,
}

/// Why a transcript cannot be given.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    #[error("there is no transcript {0}; the list tells which there are")]
    Unknown(u32),
    #[error(
        "transcript {number} has {byte_size} bytes, more than the {ANSWER_BYTES_MAX} of one answer: read {path} itself, \
         and go on with since_transcript={number}"
    )]
    TooLarge { number: u32, byte_size: u64, path: PathBuf },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The copies of one session's log.
#[derive(Debug)]
pub struct Transcripts {
    dir: PathBuf,
    /// Oldest first.
    taken: Vec<Taken>,
}

impl Transcripts {
    /// Those under `state_dir` that belong to a session; none of them need exist.
    pub fn open(state_dir: &Path, session_id: &str) -> io::Result<Self> {
        if !is_plain_name(session_id) {
            return Err(io::Error::new(ErrorKind::InvalidInput, format!("`{session_id}` is no session's id")));
        }
        let dir = state_dir.join("sessions").join(session_id).join("transcripts");
        let taken = found_in(&dir).map_err(|e| naming(&dir, e))?;
        Ok(Self { dir, taken })
    }

    /// Oldest first.
    pub fn list(&self) -> &[Taken] {
        &self.taken
    }

    /// Copies the whole lines that a log has now. When that fails, nothing of the copy stays.
    pub fn take(&mut self, log: &Path, now: EpochMs) -> io::Result<Taken> {
        let number = self.taken.last().map_or(1, |last| last.number.saturating_add(1));
        let path = self.path(number);
        if path.exists() {
            return Err(naming(&path, io::Error::new(ErrorKind::AlreadyExists, "somebody else took a transcript")));
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir).map_err(|e| naming(&self.dir, e))?;
        let source = super::tail::open(log).map_err(|e| naming(log, e))?;
        let unfinished = self.dir.join(UNFINISHED);
        let copied = copy_lines(source, &unfinished, now).and_then(|sizes| {
            std::fs::rename(&unfinished, &path)?;
            Ok(sizes)
        });
        match copied {
            Ok((line_count, byte_size)) => {
                let taken = Taken { number, at: now, line_count, byte_size };
                self.taken.push(taken.clone());
                Ok(taken)
            }
            Err(e) => {
                let _ = std::fs::remove_file(&unfinished);
                Err(naming(&path, e))
            }
        }
    }

    /// The text of one.
    pub fn read(&self, number: u32) -> Result<String, Missing> {
        let taken = self.taken.iter().find(|taken| taken.number == number).ok_or(Missing::Unknown(number))?;
        let path = self.path(number);
        if taken.byte_size > ANSWER_BYTES_MAX {
            return Err(Missing::TooLarge { number, byte_size: taken.byte_size, path });
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(|e| naming(&path, e))?;
        file.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes).map_err(|e| naming(&path, e))?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
    }

    fn path(&self, number: u32) -> PathBuf {
        self.dir.join(format!("{number}.jsonl"))
    }
}

/// Copies what a log has now, up to its last newline, and tells how many lines and bytes that is.
fn copy_lines(log: File, to: &Path, now: EpochMs) -> io::Result<(u64, u64)> {
    let mut copy = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to)?;
    // A log that grows meanwhile is copied as it was.
    let length = log.metadata()?.len();
    let mut log = log.take(length);
    let mut chunk = vec![0; CHUNK_BYTES];
    let (mut lines, mut position, mut after_newline) = (0, 0, 0);
    loop {
        let read = match log.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => &chunk[..read],
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        copy.write_all(read)?;
        for (at, _) in read.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            lines += 1;
            after_newline = position + at as u64 + 1;
        }
        position += read.len() as u64;
    }
    copy.set_len(after_newline)?;
    copy.set_modified(UNIX_EPOCH + Duration::from_millis(now.0))?;
    copy.sync_all()?;
    Ok((lines, after_newline))
}

fn found_in(dir: &Path) -> io::Result<Vec<Taken>> {
    let entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut taken = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".jsonl")?.parse().ok());
        let Some(number) = number.filter(|number| *number > 0) else { continue };
        let metadata = entry.metadata()?;
        if metadata.is_file() {
            let line_count = count_lines(&entry.path())?;
            taken.push(Taken { number, at: metadata.modified()?.into(), line_count, byte_size: metadata.len() });
        }
    }
    taken.sort_unstable_by_key(|taken| taken.number);
    Ok(taken)
}

fn count_lines(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut lines = 0;
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(lines),
            Ok(read) => lines += chunk[..read].iter().filter(|byte| **byte == b'\n').count() as u64,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Whether a session's id can name a directory and nothing else.
fn is_plain_name(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !id.starts_with('.') && (1..=128).contains(&id.len()) && id.bytes().all(plain)
}

fn naming(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
