//! What the measured child prints: the same bytes on every machine and in every run.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// The terminal's size in every scenario, coop's own default.
pub const COLS: usize = 200;
pub const ROWS: usize = 50;

/// How much of one kind a mix shows before it turns to the next.
const SEGMENT_BYTES: usize = 64 * 1024;

/// Kinds of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Log lines, plain.
    Log,
    /// Words in 16, 256 and all colours.
    Sgr,
    /// A full-screen program on the alternate screen.
    Tui,
    /// A block of lines that is erased and printed again, as Ink does.
    Ink,
    /// Chinese, Japanese, Korean and emoji.
    Wide,
    /// `yes`: the shortest lines there are.
    Yes,
    /// Everything an agent prints: all kinds above but `yes`, in turn.
    Mix,
}

impl Kind {
    pub const ALL: [Kind; 7] = [Kind::Log, Kind::Sgr, Kind::Tui, Kind::Ink, Kind::Wide, Kind::Yes, Kind::Mix];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Log => "log",
            Kind::Sgr => "sgr",
            Kind::Tui => "tui",
            Kind::Ink => "ink",
            Kind::Wide => "wide",
            Kind::Yes => "y",
            Kind::Mix => "mix",
        }
    }
}

/// A file of output.
#[derive(Clone, Debug)]
pub struct Corpus {
    pub path: PathBuf,
    pub bytes: u64,
    /// Its size once the terminal has put a carriage return before each newline.
    pub printed_bytes: u64,
}

impl Corpus {
    pub fn mb(&self) -> f64 {
        self.bytes as f64 / 1e6
    }
}

/// A directory of corpora that is gone when the bench is.
pub struct Library(PathBuf);

impl Library {
    pub fn new() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("coop-bench-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// At least `bytes` of one kind; made once.
    pub fn corpus(&self, kind: Kind, bytes: usize) -> io::Result<Corpus> {
        let path = self.0.join(format!("{}-{bytes}", kind.name()));
        if !path.exists() {
            let mut file = BufWriter::new(File::create(&path)?);
            let mut scribe = Scribe::default();
            let mut written = 0;
            while written < bytes {
                scribe.segment(kind, (bytes - written).min(SEGMENT_BYTES));
                file.write_all(scribe.text.as_bytes())?;
                written += scribe.text.len();
                scribe.text.clear();
            }
            file.flush()?;
        }
        let text = fs::read(&path)?;
        let newlines = text.iter().filter(|byte| **byte == b'\n').count();
        let (bytes, newlines) = (text.len() as u64, newlines as u64);
        Ok(Corpus { path, bytes, printed_bytes: bytes + newlines })
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // What cannot be removed now is the system's to clean: it lies in the temporary directory.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes text of the wanted kind.
#[derive(Default)]
struct Scribe {
    text: String,
    dice: Dice,
    /// Counts segments, frames and lines.
    count: u64,
}

impl Scribe {
    /// One piece that leaves the terminal as it found it: no colour on, primary screen.
    fn segment(&mut self, kind: Kind, bytes: usize) {
        self.count += 1;
        match kind {
            Kind::Log => self.repeat(bytes, Self::log_line),
            Kind::Sgr => self.repeat(bytes, Self::coloured_line),
            Kind::Tui => {
                self.text.push_str("\x1b[?1049h\x1b[?25l\x1b[2J");
                self.repeat(bytes, Self::full_frame);
                self.text.push_str("\x1b[0m\x1b[?25h\x1b[?1049l");
            }
            Kind::Ink => self.repeat(bytes, Self::redrawn_block),
            Kind::Wide => self.repeat(bytes, Self::wide_line),
            Kind::Yes => self.text.extend(std::iter::repeat_n("y\n", bytes.div_ceil(2))),
            Kind::Mix => {
                let kinds = [Kind::Log, Kind::Sgr, Kind::Tui, Kind::Ink, Kind::Wide];
                let next = kinds[usize::try_from(self.count).unwrap_or(0) % kinds.len()];
                self.segment(next, bytes);
                // The call above has counted once more.
                self.count -= 1;
            }
        }
    }

    fn repeat(&mut self, bytes: usize, mut piece: impl FnMut(&mut Self)) {
        let end = self.text.len() + bytes;
        while self.text.len() < end {
            piece(self);
        }
    }

    fn log_line(&mut self) {
        let (ms, level) = (self.dice.below(1000), self.dice.pick(&["INFO", "DEBUG", "WARN", "ERROR"]));
        let (module, id) = (self.dice.pick(&WORDS), self.dice.next());
        let (minute, second) = (self.dice.below(60), self.dice.below(60));
        let _ =
            write!(self.text, "2026-01-02T03:{minute:02}:{second:02}.{ms:03}Z {level:<5} coop::{module}: id={id:016x}");
        let words = 3 + self.dice.below(12);
        self.words(words);
        self.text.push('\n');
    }

    fn coloured_line(&mut self) {
        for _ in 0..4 + self.dice.below(12) {
            let word = self.dice.pick(&WORDS);
            let colour = self.dice.below(256);
            let _ = match self.dice.below(4) {
                0 => write!(self.text, "\x1b[{}m{word}\x1b[0m ", 31 + colour % 7),
                1 => write!(self.text, "\x1b[1;38;5;{colour}m{word}\x1b[22;39m "),
                2 => write!(self.text, "\x1b[38;2;{colour};{};90m{word}\x1b[39m ", 255 - colour),
                _ => write!(self.text, "\x1b[4m{word}\x1b[24m "),
            };
        }
        self.text.push('\n');
    }

    /// Every row by its address, as a full-screen program paints that changes everywhere.
    fn full_frame(&mut self) {
        for row in 1..ROWS {
            let colour = 31 + (row as u64 + self.count) % 7;
            let _ = write!(self.text, "\x1b[{row};1H\x1b[{colour}m{row:>3} \x1b[0m");
            let words = 4 + self.dice.below(14);
            self.words(words);
            self.text.push_str("\x1b[K");
        }
        self.count += 1;
        let _ = write!(self.text, "\x1b[{ROWS};1H\x1b[7m frame {} \x1b[27m\x1b[K", self.count);
    }

    /// The lines of the block are erased from the bottom up and printed again below one that stays.
    fn redrawn_block(&mut self) {
        const LINES: usize = 8;
        self.count += 1;
        self.text.push_str("\x1b[?2026h");
        self.text.extend(std::iter::repeat_n("\x1b[2K\x1b[1A", LINES));
        self.text.push_str("\x1b[2K\x1b[G");
        if self.count.is_multiple_of(5) {
            self.text.push_str("\x1b[32m●\x1b[39m");
            self.words(9);
            self.text.push('\n');
        }
        let _ = writeln!(
            self.text,
            "\x1b[38;5;174m✻ Thinking…\x1b[39m \x1b[2m({}s · esc to interrupt)\x1b[22m",
            self.count % 100
        );
        for line in 2..LINES {
            let _ = write!(self.text, "  \x1b[2m{line}\x1b[22m");
            self.words(6);
            self.text.push('\n');
        }
        self.text.push_str("╭─────────────────────────────╮\n│ >                           │\x1b[?2026l");
        self.text.push('\n');
    }

    fn wide_line(&mut self) {
        for _ in 0..6 + self.dice.below(20) {
            self.text.push_str(self.dice.pick(&WIDE));
            if self.dice.below(4) == 0 {
                self.text.push(' ');
            }
        }
        self.text.push('\n');
    }

    fn words(&mut self, count: u64) {
        for _ in 0..count {
            self.text.push(' ');
            self.text.push_str(self.dice.pick(&WORDS));
        }
    }
}

const WORDS: [&str; 16] = [
    "accept", "buffer", "child", "drain", "event", "frame", "gate", "journal", "kernel", "listener", "owner",
    "picture", "ring", "session", "terminal", "wait",
];

const WIDE: [&str; 16] = [
    "端末",
    "記録",
    "日本語",
    "中文字符",
    "한국어",
    "터미널",
    "🚀",
    "✅",
    "🧪",
    "👩‍💻",
    "é",
    "漢字かな",
    "出力",
    "스트림",
    "🇪🇺",
    "…",
];

/// Numbers that look random and are the same every time (splitmix64).
#[derive(Default)]
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[usize::try_from(self.below(from.len() as u64)).unwrap_or(0)]
    }
}
