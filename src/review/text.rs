//! Changes as a unified diff, as `git diff` prints it and `git apply` takes it.
//!
//! What that form cannot say stands in lines that begin with `#`, which `git apply` passes over: directories without
//! files, permissions other than "executable", pipes, files that are too large to show.

use std::{
    io::{self, Read, Write},
    os::unix::ffi::OsStrExt,
    path::Path,
};

use super::{
    binary,
    change::{Change, Entry, EntryKind, Kind},
    changes::Changes,
    error::ReviewError,
    hunks, object, quote,
    tree::{Tree, absent},
};

/// Of each version of a file; larger ones are named, not shown. Nobody reads more, and both are held in memory.
pub const SHOWN_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A zero byte among the first so many makes a file binary; git's rule.
const BINARY_LOOK_BYTES: usize = 8000;

/// How a diff is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Bytes as they are: for files, pipes and `git apply`.
    #[default]
    Plain,
    /// For a terminal, with control characters shown rather than done.
    Terminal { colour: bool },
}

impl Changes {
    /// Writes the diff of all changes, file by file. A writer that is closed ends it.
    pub fn write_diff(&self, out: &mut impl Write, style: Style) -> Result<(), ReviewError> {
        let pen = Pen(style);
        for (nth, change) in self.list.iter().enumerate() {
            let next = self.list.get(nth + 1).map(|next| next.path.as_path());
            self.write_change(out, pen, change, next)?;
        }
        for repository in &self.git {
            pen.note(out, &repository.to_string()).map_err(ReviewError::Output)?;
        }
        for path in &self.unreadable {
            let name = quote::name("", path);
            pen.note(
                out,
                &format!("{name}: cannot be looked into: it is locked, or another filesystem is mounted there"),
            )
            .map_err(ReviewError::Output)?;
        }
        out.flush().map_err(ReviewError::Output)
    }

    fn write_change(
        &self,
        out: &mut impl Write,
        pen: Pen,
        change: &Change,
        next: Option<&Path>,
    ) -> Result<(), ReviewError> {
        let name = quote::name("", &change.path);
        for note in notes(change, next.is_some_and(|next| next.starts_with(&change.path))) {
            pen.note(out, &format!("{name}: {note}")).map_err(ReviewError::Output)?;
        }
        let old = change.old.as_ref().filter(|old| has_text(old));
        let new = change.new.as_ref().filter(|new| has_text(new));
        match (old, new) {
            (None, None) => Ok(()),
            // Git says this as one file that goes and one that comes.
            (Some(old), Some(new)) if old.kind != new.kind => {
                self.write_file(out, pen, &change.path, Some(old), None)?;
                self.write_file(out, pen, &change.path, None, Some(new))
            }
            (Some(old), Some(new)) if change.kind == Kind::ModeChanged && git_mode(old) == git_mode(new) => Ok(()),
            _ => self.write_file(out, pen, &change.path, old, new),
        }
    }

    fn write_file(
        &self,
        out: &mut impl Write,
        pen: Pen,
        path: &Path,
        old: Option<&Entry>,
        new: Option<&Entry>,
    ) -> Result<(), ReviewError> {
        let before = old.map_or(Ok(Content::Nothing), |old| Content::read(&self.lower, path, old))?;
        let after = new.map_or(Ok(Content::Nothing), |new| Content::read(&self.upper, path, new))?;
        let (from, to) = (quote::name("a/", path), quote::name("b/", path));
        let write = |out: &mut dyn Write| -> io::Result<()> {
            let mut out = out;
            pen.head(&mut out, &format!("diff --git {from} {to}"))?;
            match (old, new) {
                (None, Some(new)) => pen.head(&mut out, &format!("new file mode {}", git_mode(new)))?,
                (Some(old), None) => pen.head(&mut out, &format!("deleted file mode {}", git_mode(old)))?,
                (Some(old), Some(new)) if git_mode(old) != git_mode(new) => {
                    pen.head(&mut out, &format!("old mode {}", git_mode(old)))?;
                    pen.head(&mut out, &format!("new mode {}", git_mode(new)))?;
                }
                _ => {}
            }
            // A name with a space ends with a tab, or a reader could take its tail for a date.
            let tail = if path.as_os_str().as_bytes().contains(&b' ') { "\t" } else { "" };
            let from = if old.is_some() { format!("{from}{tail}") } else { "/dev/null".into() };
            let to = if new.is_some() { format!("{to}{tail}") } else { "/dev/null".into() };
            match (before.bytes(), after.bytes()) {
                (Ok(before), Ok(after)) if before == after => Ok(()),
                (Ok(old_bytes), Ok(new_bytes)) if before.is_binary() || after.is_binary() => {
                    if let Style::Terminal { .. } = pen.0 {
                        return pen.binaries(&mut out, &from, &to);
                    }
                    let name = |entry: Option<&Entry>, bytes| {
                        entry.map_or_else(|| object::NOTHING.to_owned(), |_| object::name_of(bytes))
                    };
                    let same_mode = old.zip(new).map(|(old, new)| (git_mode(old), git_mode(new)));
                    let mode = same_mode
                        .filter(|(old, new)| old == new)
                        .map_or_else(String::new, |(mode, _)| format!(" {mode}"));
                    pen.head(&mut out, &format!("index {}..{}{mode}", name(old, old_bytes), name(new, new_bytes)))?;
                    binary::write(&mut out, old_bytes, new_bytes)
                }
                (Ok(before), Ok(after)) => {
                    pen.head(&mut out, &format!("--- {from}"))?;
                    pen.head(&mut out, &format!("+++ {to}"))?;
                    hunks::write(&mut out, pen, before, after)
                }
                (Err(why), _) | (_, Err(why)) => {
                    if before.is_binary() || after.is_binary() {
                        pen.binaries(&mut out, &from, &to)?;
                    }
                    pen.note(&mut out, &format!("{}: {why}", quote::name("", path)))
                }
            }
        };
        write(out).map_err(ReviewError::Output)
    }
}

/// What a diff in git's form cannot say of a change.
fn notes(change: &Change, more_inside: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let (old, new) = (change.old.as_ref(), change.new.as_ref());
    if change.was_dir() && !new.is_some_and(Entry::is_dir) && !more_inside {
        notes.push("empty directory deleted".to_owned());
    }
    match (old, new) {
        (Some(old), Some(new)) if old.kind == new.kind && old.mode != new.mode && git_mode(old) == git_mode(new) => {
            notes.push(format!("mode {:04o}, was {:04o}", new.mode, old.mode));
        }
        (_, Some(new)) if new.is_dir() && change.makes_dir() => {
            if !more_inside {
                notes.push("empty directory added".to_owned());
            }
            if new.mode != 0o755 {
                notes.push(format!("mode {:04o}", new.mode));
            }
        }
        (old, Some(new))
            if new.is_file() && ![0o644, 0o755].contains(&new.mode) && old.is_none_or(|old| old.mode != new.mode) =>
        {
            notes.push(format!("mode {:04o}", new.mode));
        }
        _ => {}
    }
    let special = |entry: &&Entry| !has_text(entry) && !entry.is_dir();
    if let Some(old) = old.filter(special).filter(|_| change.kind != Kind::ModeChanged) {
        notes.push(format!("{} deleted", word(old.kind)));
    }
    if let Some(new) = new.filter(special).filter(|_| change.kind != Kind::ModeChanged) {
        notes.push(format!("{} added", word(new.kind)));
    }
    notes
}

pub(super) fn word(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "file",
        EntryKind::Directory => "directory",
        EntryKind::Symlink => "link",
        EntryKind::Fifo => "named pipe",
        EntryKind::Socket => "socket",
        EntryKind::Device => "device",
    }
}

fn has_text(entry: &Entry) -> bool {
    entry.is_file() || entry.is_symlink()
}

/// Git knows two kinds of files, and links.
fn git_mode(entry: &Entry) -> &'static str {
    match entry.kind {
        EntryKind::Symlink => "120000",
        EntryKind::File if entry.mode & 0o100 != 0 => "100755",
        EntryKind::File => "100644",
        _ => "040000",
    }
}

/// What one side of a diff holds.
enum Content {
    Nothing,
    Text(Vec<u8>),
    Binary(Vec<u8>),
    /// And why not.
    NotShown {
        why: String,
        is_binary: bool,
    },
}

impl Content {
    fn read(tree: &Tree, path: &Path, entry: &Entry) -> Result<Self, ReviewError> {
        if entry.is_symlink() {
            return match tree.link_target(path) {
                Ok(target) => Ok(Self::Text(target.as_bytes().to_vec())),
                Err(error) => Self::unread(error),
            };
        }
        let file = match tree.file(path) {
            Ok(file) => file,
            Err(error) => return Self::unread(error),
        };
        // The file may grow while it is read.
        let mut bytes = Vec::new();
        if let Err(error) = file.take(SHOWN_BYTES_MAX + 1).read_to_end(&mut bytes) {
            return Self::unread(ReviewError::io("read", tree.full(path))(error));
        }
        let is_binary = bytes[..bytes.len().min(BINARY_LOOK_BYTES)].contains(&0);
        if bytes.len() as u64 > SHOWN_BYTES_MAX {
            let size = entry.size.max(SHOWN_BYTES_MAX + 1);
            let why = format!("{size} bytes, more than the {SHOWN_BYTES_MAX} that are shown");
            return Ok(Self::NotShown { why, is_binary });
        }
        Ok(if is_binary { Self::Binary(bytes) } else { Self::Text(bytes) })
    }

    /// The box runs on while it is looked at, so a file may be gone or locked: no reason to show nothing.
    fn unread(error: ReviewError) -> Result<Self, ReviewError> {
        if absent(&error) {
            return Ok(Self::NotShown { why: "changed while it was looked at".into(), is_binary: false });
        }
        match error {
            ReviewError::Io { source, .. } => {
                Ok(Self::NotShown { why: format!("cannot be read: {source}"), is_binary: false })
            }
            other => Err(other),
        }
    }

    /// All of it, or why it is not shown.
    fn bytes(&self) -> Result<&[u8], &str> {
        match self {
            Self::Nothing => Ok(&[]),
            Self::Text(bytes) | Self::Binary(bytes) => Ok(bytes),
            Self::NotShown { why, .. } => Err(why),
        }
    }

    fn is_binary(&self) -> bool {
        matches!(self, Self::Binary(_) | Self::NotShown { is_binary: true, .. })
    }
}

/// Writes lines in a style.
#[derive(Clone, Copy)]
pub(super) struct Pen(Style);

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const CYAN: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[m";

impl Pen {
    fn head(self, out: &mut impl Write, line: &str) -> io::Result<()> {
        self.coloured(out, BOLD, line.as_bytes())
    }

    pub(super) fn hunk(self, out: &mut impl Write, line: &str) -> io::Result<()> {
        self.coloured(out, CYAN, line.as_bytes())
    }

    fn note(self, out: &mut impl Write, line: &str) -> io::Result<()> {
        self.coloured(out, YELLOW, format!("# {line}").as_bytes())
    }

    fn binaries(self, out: &mut impl Write, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (from.trim_end_matches('\t'), to.trim_end_matches('\t'));
        self.head(out, &format!("Binary files {from} and {to} differ"))
    }

    /// A line of a file with its sign, and what git says if it has no newline.
    pub(super) fn line(self, out: &mut impl Write, sign: u8, line: &[u8]) -> io::Result<()> {
        let (text, ended) = line.strip_suffix(b"\n").map_or((line, false), |text| (text, true));
        let text = match self.0 {
            Style::Plain => text.into(),
            Style::Terminal { .. } => quote::for_eyes(text),
        };
        let whole = [&[sign], &*text].concat();
        match sign {
            b'-' => self.coloured(out, RED, &whole)?,
            b'+' => self.coloured(out, GREEN, &whole)?,
            _ => self.coloured(out, "", &whole)?,
        }
        if ended { Ok(()) } else { self.coloured(out, "", b"\\ No newline at end of file") }
    }

    fn coloured(self, out: &mut impl Write, colour: &str, line: &[u8]) -> io::Result<()> {
        if self.0 == (Style::Terminal { colour: true }) && !colour.is_empty() {
            out.write_all(colour.as_bytes())?;
            out.write_all(line)?;
            out.write_all(PLAIN.as_bytes())?;
        } else {
            out.write_all(line)?;
        }
        out.write_all(b"\n")
    }
}
