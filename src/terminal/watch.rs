//! Follows everything in the stream that is not cells: modes, title, questions, news for the session.

use std::sync::Arc;

use super::modes::Modes;
use super::queries;
use super::screen::Cursor;
use super::sequence::{Osc, Sequence};
use super::title::Title;

/// A text of an operating system command is cut after so many bytes.
const OSC_TEXT_BYTES_MAX: usize = 4096;

/// The command with which Codex tells its state.
pub const SIGNAL: u32 = 7501;

/// Something the child said to whoever watches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The window title is another one now; empty if it was taken away.
    Title(String),
    /// A command that agents use to tell their state: 9 (notification, and 9;4 progress), 777, 7501.
    /// Its text is cut after 4096 bytes and holds no control characters.
    Osc {
        code: u32,
        text: String,
    },
    Bell,
}

/// What has been learnt from the stream so far.
#[derive(Debug, Default)]
pub struct Watch {
    pub modes: Modes,
    pub title: Title,
    /// The last OSC 7501, with which agents tell their state.
    pub signal: Option<Arc<str>>,
}

impl Watch {
    /// Takes in one finished sequence.
    pub fn follow(&mut self, sequence: &Sequence<'_>, cursor: Cursor, replies: &mut Vec<u8>, notes: &mut Vec<Note>) {
        self.modes.follow(sequence);
        let retitled = match sequence {
            Sequence::Csi(csi) => self.title.follow_csi(csi),
            Sequence::Osc(osc) => self.title.follow_osc(osc),
            Sequence::Esc(_) => false,
        };
        if retitled {
            notes.push(Note::Title(self.title.get().unwrap_or_default().to_owned()));
        }
        if let Sequence::Osc(osc) = sequence {
            let news = news(osc);
            if let Some(Note::Osc { code: SIGNAL, text }) = &news {
                self.signal = Some(text.as_str().into());
            }
            notes.extend(news);
        }
        if let Some(reply) = queries::answer(sequence, &self.modes, cursor) {
            replies.extend_from_slice(reply.as_bytes());
        }
    }
}

fn news(osc: &Osc<'_>) -> Option<Note> {
    let text = || super::cut(osc.text, OSC_TEXT_BYTES_MAX).chars().filter(|c| !c.is_control()).collect();
    matches!(osc.code, 9 | 777 | SIGNAL).then(|| Note::Osc { code: osc.code, text: text() })
}
