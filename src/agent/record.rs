//! What the sources brought, written down as it came: a wrong state becomes a recording that can be played again.
//!
//! One JSON object in each line. Screens are told by the rows that changed, because most of them change a row or two.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::evidence::EpochMs;
use crate::terminal::Snapshot;

/// How large a recording may become; minutes of an agent at work stay far below.
const RECORDING_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// One thing that came in, and when.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Record {
    pub at: u64,
    #[serde(flatten)]
    pub what: What,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A hook called.
    Hook { event: String, payload: Value },
    /// The hook that asked was told the answer.
    Answered { asked: String },
    /// The hook that asked decided nothing, and its dialog was answered for later, too.
    Agreed { asked: String },
    /// The gate decided about a stop.
    Stopped { held_back: bool },
    /// The status file, as text; `null` when there is none.
    Status(Option<String>),
    /// A line of the log.
    Line(String),
    /// A line that was printed instead of drawn.
    Printed(String),
    /// Rows of the screen that changed, with their colours.
    Screen(Screen),
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Screen {
    pub cols: u16,
    pub rows: u16,
    pub cursor: (usize, usize, bool),
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    pub mid_frame: bool,
    /// Each with its number, counted from 0.
    pub changed: Vec<(usize, String)>,
}

/// Writes records to a file.
#[derive(Debug)]
pub struct Recorder {
    file: File,
    written: u64,
    last_rows: Vec<String>,
}

impl Recorder {
    /// Begins a recording; what it holds is for its user's eyes only.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        Ok(Self { file, written: 0, last_rows: Vec::new() })
    }

    pub fn screen(&mut self, screen: &Snapshot, at: EpochMs) {
        let old = |row: usize| self.last_rows.get(row).map_or("", String::as_str);
        let changed = screen.lines.iter().enumerate().filter(|(row, text)| old(*row) != text.as_str());
        let told = Screen {
            cols: screen.size.cols(),
            rows: screen.size.rows(),
            cursor: (screen.cursor.row, screen.cursor.col, screen.cursor.visible),
            title: screen.title.clone(),
            signal: screen.signal.as_deref().map(str::to_owned),
            mid_frame: screen.mid_frame,
            changed: changed.map(|(row, text)| (row, text.clone())).collect(),
        };
        self.last_rows.clone_from(&screen.lines);
        self.note(What::Screen(told), at);
    }

    pub fn note(&mut self, what: What, at: EpochMs) {
        let Ok(mut line) = serde_json::to_vec(&Record { at: at.0, what }) else { return };
        line.push(b'\n');
        self.written = self.written.saturating_add(line.len() as u64);
        if self.written <= RECORDING_BYTES_MAX
            && let Err(error) = self.file.write_all(&line)
        {
            tracing::warn!(%error, "the recording cannot be written");
            self.written = u64::MAX;
        }
    }
}
