//! Follows a file of lines that another process writes: nothing lost, nothing twice, in bounded memory.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::fence;
use super::lines::{LINE_BYTES_MAX, Line, Splitter};

/// How much one call reads, so that a large file is taken in steps and its reader stays answerable.
const READ_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How much one system call reads.
const CHUNK_BYTES: usize = 64 * 1024;

/// Where following begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Beginning,
    /// After the last whole line that is there at the first read; all of the file when it appears later.
    End,
    /// At a byte that an earlier follower reached.
    Offset(u64),
}

/// What one call read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Batch {
    pub lines: Vec<Line>,
    /// The file was truncated or replaced: the lines begin again at its start.
    pub restarted: bool,
    /// There may be more to read right now.
    pub more: bool,
}

/// A file that is followed. It need not exist yet.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    start: Start,
    splitter: Splitter,
    /// Kept open, so that a new file cannot come by the old one's inode.
    open: Option<Opened>,
    /// The file that was followed before is gone; the next one is read from its start.
    lost: bool,
}

#[derive(Debug)]
struct Opened {
    file: File,
    identity: (u64, u64),
}

impl Tail {
    pub fn new(path: impl Into<PathBuf>, start: Start) -> Self {
        let offset = if let Start::Offset(offset) = start { offset } else { 0 };
        Self { path: path.into(), start, splitter: Splitter::new(offset), open: None, lost: false }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the first line begins that was not read yet.
    pub fn offset(&self) -> u64 {
        self.splitter.offset()
    }

    /// Reads the lines that were finished since the last call. A file that is not there gives none; one that cannot be
    /// read is an error that names it, and the next call tries again.
    pub fn read(&mut self) -> io::Result<Batch> {
        self.read_step().map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", self.path.display())))
    }

    fn read_step(&mut self) -> io::Result<Batch> {
        let present = match fence::metadata(&self.path) {
            Ok(metadata) => Some(identity(&metadata)),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        let mut batch = Batch::default();
        if let Some(opened) = self.open.take() {
            // What the old file still holds comes before what replaced it.
            let same = present == Some(opened.identity);
            let read = self.splitter.take_from(&opened.file, &mut batch);
            if same || batch.more {
                self.open = Some(opened);
            } else {
                self.lost = true;
                batch.more = present.is_some();
            }
            read?;
            return Ok(batch);
        }
        if present.is_none() {
            // Whatever appears from now on is new.
            if self.start == Start::End {
                self.start = Start::Beginning;
            }
            return Ok(batch);
        }
        let file = open(&self.path)?;
        if std::mem::take(&mut self.lost) {
            self.splitter = Splitter::new(0);
            batch.restarted = true;
        } else if self.start == Start::End {
            self.splitter = Splitter::new(after_last_newline(&file)?);
            self.start = Start::Beginning;
        }
        let opened = Opened { identity: identity(&file.metadata()?), file };
        let read = self.splitter.take_from(&opened.file, &mut batch);
        self.open = Some(opened);
        read?;
        Ok(batch)
    }
}

impl Splitter {
    /// Adds the lines that a file has after the present position, or from its start when it became shorter than that.
    fn take_from(&mut self, file: &File, batch: &mut Batch) -> io::Result<()> {
        if file.metadata()?.len() < self.position() {
            *self = Self::new(0);
            batch.restarted = true;
        }
        let mut file = file;
        file.seek(SeekFrom::Start(self.position()))?;
        let mut chunk = vec![0; CHUNK_BYTES];
        for _ in 0..READ_BYTES_MAX / CHUNK_BYTES {
            match file.read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(length) => self.push(&chunk[..length], &mut batch.lines),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // What was read before the error is counted as read, so it must reach the caller.
                Err(_) if !batch.lines.is_empty() => break,
                Err(e) => return Err(e),
            }
        }
        batch.more = true;
        Ok(())
    }
}

pub(super) fn open(path: &Path) -> io::Result<File> {
    let file = fence::open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Where the unfinished last line of a file begins.
fn after_last_newline(file: &File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let floor = length.saturating_sub(LINE_BYTES_MAX as u64);
    let mut end = length;
    let mut chunk = vec![0; CHUNK_BYTES];
    while end > floor {
        let begin = end.saturating_sub(CHUNK_BYTES as u64);
        let part = &mut chunk[..usize::try_from(end - begin).unwrap_or(CHUNK_BYTES)];
        file.read_exact_at(part, begin)?;
        if let Some(at) = part.iter().rposition(|&byte| byte == b'\n') {
            return Ok(begin + at as u64 + 1);
        }
        end = begin;
    }
    Ok(if floor == 0 { 0 } else { length })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::agent::lines::Content;
    use crate::config::Scratch;
    use std::fs::OpenOptions;

    fn append(path: &Path, text: &str) {
        OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn texts(tail: &mut Tail) -> Vec<String> {
        let batch = tail.read().unwrap();
        batch.lines.iter().filter_map(|line| line.text().map(str::to_owned)).collect()
    }

    #[test]
    fn a_file_may_come_later_and_grow() {
        let scratch = Scratch::fresh();
        let path = scratch.path("log.jsonl");
        let mut tail = Tail::new(&path, Start::Beginning);
        assert_eq!(tail.read().unwrap(), Batch::default());
        append(&path, "one\ntw");
        assert_eq!(texts(&mut tail), ["one"]);
        assert_eq!(tail.offset(), 4);
        append(&path, "o\n");
        assert_eq!(texts(&mut tail), ["two"]);
        assert_eq!(texts(&mut tail), [""; 0]);
        assert_eq!(tail.offset(), 8);
    }

    #[test]
    fn a_follower_from_the_end_gets_the_line_that_was_half_written() {
        let scratch = Scratch::fresh();
        let path = scratch.file("log.jsonl", "old\nhalf");
        let mut tail = Tail::new(&path, Start::End);
        assert_eq!(texts(&mut tail), [""; 0]);
        append(&path, " and whole\n");
        assert_eq!(texts(&mut tail), ["half and whole"]);
    }

    #[test]
    fn a_follower_from_the_end_of_a_file_that_is_not_there_gets_all_of_it() {
        let scratch = Scratch::fresh();
        let path = scratch.path("log.jsonl");
        let mut tail = Tail::new(&path, Start::End);
        tail.read().unwrap();
        append(&path, "one\n");
        assert_eq!(texts(&mut tail), ["one"]);
    }

    #[test]
    fn a_follower_goes_on_from_an_offset() {
        let scratch = Scratch::fresh();
        let path = scratch.file("log.jsonl", "one\ntwo\n");
        assert_eq!(texts(&mut Tail::new(&path, Start::Offset(4))), ["two"]);
    }

    #[test]
    fn a_truncated_file_is_read_again() {
        let scratch = Scratch::fresh();
        let path = scratch.file("log.jsonl", "one\ntwo\n");
        let mut tail = Tail::new(&path, Start::Beginning);
        tail.read().unwrap();
        scratch.file("log.jsonl", "new\n");
        let batch = tail.read().unwrap();
        assert!(batch.restarted);
        assert_eq!(batch.lines, [Line { content: Content::Text("new".to_owned()), offset_after: 4 }]);
        assert!(!tail.read().unwrap().restarted, "it is told once");
    }

    #[test]
    fn a_replaced_file_is_read_from_its_start_after_the_rest_of_the_old_one() {
        let scratch = Scratch::fresh();
        let path = scratch.file("log.jsonl", "one\n");
        let mut tail = Tail::new(&path, Start::Beginning);
        tail.read().unwrap();
        append(&path, "last words\n");
        let other = scratch.file("other", "first\nsecond\nthird\n");
        std::fs::rename(other, &path).unwrap();
        let batch = tail.read().unwrap();
        assert!(batch.more && !batch.restarted);
        assert_eq!(batch.lines[0].text(), Some("last words"));
        let batch = tail.read().unwrap();
        assert!(batch.restarted);
        assert_eq!(batch.lines.len(), 3);
    }

    #[test]
    fn a_file_that_goes_and_comes_back_is_read_from_its_start() {
        let scratch = Scratch::fresh();
        let path = scratch.file("log.jsonl", "one\n");
        let mut tail = Tail::new(&path, Start::Beginning);
        tail.read().unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(texts(&mut tail), [""; 0]);
        assert_eq!(texts(&mut tail), [""; 0]);
        append(&path, "a new one\n");
        assert_eq!(texts(&mut tail), ["a new one"]);
    }

    #[test]
    fn what_cannot_be_read_is_an_error_with_its_name_and_is_tried_again() {
        let scratch = Scratch::fresh();
        let path = scratch.path("log.jsonl");
        std::fs::create_dir(&path).unwrap();
        let mut tail = Tail::new(&path, Start::Beginning);
        let error = tail.read().unwrap_err().to_string();
        assert!(error.contains("log.jsonl") && error.contains("not a regular file"), "{error}");
        std::fs::remove_dir(&path).unwrap();
        append(&path, "one\n");
        assert_eq!(texts(&mut tail), ["one"]);
    }

    #[test]
    fn a_fifo_does_not_hold_the_reader() {
        let scratch = Scratch::fresh();
        let path = scratch.path("fifo");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(Tail::new(&path, Start::Beginning).read().is_err());
    }

    #[test]
    fn a_large_file_comes_in_steps_and_a_line_that_is_too_long_is_left_out() {
        let scratch = Scratch::fresh();
        let path = scratch.path("log.jsonl");
        append(&path, "first\n");
        append(&path, &"x".repeat(LINE_BYTES_MAX + 1));
        append(&path, "\nlast\n");
        let mut tail = Tail::new(&path, Start::Beginning);
        let mut lines = Vec::new();
        let mut calls = 0;
        loop {
            let batch = tail.read().unwrap();
            lines.extend(batch.lines);
            calls += 1;
            if !batch.more {
                break;
            }
        }
        assert!(calls >= LINE_BYTES_MAX / READ_BYTES_MAX, "{calls} calls");
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1].content, Content::TooLong { bytes: LINE_BYTES_MAX as u64 + 1 });
        assert_eq!(lines[2].text(), Some("last"));
    }
}
