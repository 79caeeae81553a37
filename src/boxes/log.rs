//! Logs that stay small: of the daemon, and of sidecars, which write theirs themselves.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tracing_subscriber::fmt::MakeWriter;

/// How large a log becomes before it is put aside; one older part is kept.
const LOG_BYTES_MAX: u64 = 1024 * 1024;

/// How much of a log's end is looked at for the reason of a failed start, and how many lines of it are told.
const REASON_BYTES_MAX: u64 = 8 * 1024;
const REASON_LINES_MAX: usize = 5;

/// Opens a log to be written at its end, by us or by a process that we start.
pub fn open(path: &Path) -> io::Result<File> {
    put_aside_if_large(path);
    File::options().append(true).create(true).mode(0o600).open(path)
}

fn put_aside_if_large(path: &Path) {
    if fs::metadata(path).is_ok_and(|found| found.len() > LOG_BYTES_MAX) {
        // If it cannot be done, the log grows on, which is better than none.
        let _ = fs::rename(path, path.with_extension("log.1"));
    }
}

/// The same for a log that a process has open and goes on writing to: its content is moved, not the file.
pub fn empty_if_large(path: &Path) {
    if fs::metadata(path).is_ok_and(|found| found.len() > LOG_BYTES_MAX)
        && fs::copy(path, path.with_extension("log.1")).is_ok()
    {
        let _ = File::options().write(true).open(path).and_then(|file| file.set_len(0));
    }
}

/// Why a process that wrote to this log from an offset on has ended, in its last words.
pub fn reason(path: &Path, from: u64) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let end = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(from.max(end.saturating_sub(REASON_BYTES_MAX)))).ok()?;
    let mut bytes = Vec::new();
    file.take(REASON_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // Its complaint, as on a command line, is made for people; all else is its log.
    if let Some(complaint) = lines.iter().rev().find_map(|line| line.strip_prefix("coop: ")) {
        return Some(complaint.to_owned());
    }
    let last = &lines[lines.len().saturating_sub(REASON_LINES_MAX)..];
    Some(last.join(" / ")).filter(|told| !told.is_empty())
}

/// The daemon's log. Where it cannot be written, the daemon works on without.
pub struct CappedLog {
    path: PathBuf,
    file: Mutex<Option<Open>>,
}

struct Open {
    file: File,
    bytes: u64,
}

impl CappedLog {
    pub fn new(path: PathBuf) -> Self {
        let file = Mutex::new(Open::at(&path).ok());
        Self { path, file }
    }

    fn write(&self, line: &[u8]) {
        let mut held = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_some_and(|open| open.bytes > LOG_BYTES_MAX) {
            *held = Open::at(&self.path).ok();
        }
        if let Some(open) = held.as_mut() {
            open.bytes += line.len() as u64;
            // A full disk costs lines, not the daemon.
            let _ = open.file.write_all(line);
        }
    }
}

impl Open {
    fn at(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { file, bytes })
    }
}

/// One event on its way into the file, written at once.
pub struct Line<'a> {
    log: &'a CappedLog,
    text: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        self.log.write(&self.text);
    }
}

impl<'a> MakeWriter<'a> for CappedLog {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { log: self, text: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scratch;

    #[test]
    fn a_log_is_put_aside_when_it_is_large_and_never_more_than_two_parts_are_kept() {
        let scratch = Scratch::fresh();
        let log = CappedLog::new(scratch.path("daemon.log"));
        let line = [b'x'; 1000];
        for _ in 0..4000 {
            log.make_writer().write_all(&line).unwrap();
        }
        let sizes: Vec<u64> =
            fs::read_dir(scratch.path("")).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).collect();
        assert!(sizes.len() == 2 && sizes.iter().all(|size| *size <= LOG_BYTES_MAX + 1000), "{sizes:?}");
    }

    #[test]
    fn a_log_that_is_still_written_to_is_emptied_in_its_place() {
        let scratch = Scratch::fresh();
        let path = scratch.path("coop.log");
        let mut writer = open(&path).unwrap();
        writer.write_all(&vec![b'x'; 1024 * 1024 + 1]).unwrap();
        empty_if_large(&path);
        writer.write_all(b"on").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"on");
        assert_eq!(fs::metadata(scratch.path("coop.log.1")).unwrap().len(), 1024 * 1024 + 1);
    }

    #[test]
    fn the_reason_is_the_complaint_or_else_the_last_lines_of_this_start() {
        let scratch = Scratch::fresh();
        let path = scratch.file("coop.log", "coop: an old one\n");
        let from = fs::metadata(&path).unwrap().len();
        assert_eq!(reason(&path, from), None);
        let say = |text: &str| open(&path).unwrap().write_all(text.as_bytes()).unwrap();
        say("{\"a\":1}\n{\"b\":2}\n");
        assert_eq!(reason(&path, from).as_deref(), Some("{\"a\":1} / {\"b\":2}"));
        say("coop: no such image\n");
        assert_eq!(reason(&path, from).as_deref(), Some("no such image"));
    }

    #[test]
    fn a_log_that_cannot_be_written_is_no_reason_to_fail() {
        let log = CappedLog::new("/no/such/daemon.log".into());
        log.make_writer().write_all(b"x").unwrap();
    }
}
