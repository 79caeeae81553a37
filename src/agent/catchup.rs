//! What a reader of transcripts does not know yet, in answers of bounded size.

use std::io;
use std::path::Path;

use super::lines::{Content, Line};
use super::tail::{Start, Tail};
use super::transcripts::{ANSWER_BYTES_MAX, Missing, Taken, Transcripts};

/// What a line costs in an answer beside its bytes, so that empty lines are not free.
const LINE_EXTRA_BYTES: u64 = 8;

/// A copy with its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    pub taken: Taken,
    pub lines: Vec<String>,
}

/// Everything after a cursor, or as much as one answer holds: who asks again with the new cursor, until nothing
/// new comes, gets the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catchup {
    pub transcripts: Vec<Transcript>,
    pub live_lines: Vec<String>,
    /// The last transcript that is known now.
    pub current_transcript: u32,
    /// The last line of the live log that is known now.
    pub current_line: u64,
}

impl Transcripts {
    /// Transcripts after `since_transcript`, then lines of the live log after `since_line`. A cursor beyond the end
    /// belongs to an earlier session or log, and this one is given from its beginning.
    pub fn catchup(&self, since_transcript: u32, since_line: u64, live_log: Option<&Path>) -> Result<Catchup, Missing> {
        let newest = self.list().last().map_or(0, |taken| taken.number);
        let since_transcript = if since_transcript > newest { 0 } else { since_transcript };
        let mut answer =
            Catchup { current_transcript: since_transcript, current_line: since_line, ..Catchup::default() };
        let mut room = Room(ANSWER_BYTES_MAX);
        for taken in self.list().iter().filter(|taken| taken.number > since_transcript) {
            let cost = taken.byte_size.saturating_add(taken.line_count * LINE_EXTRA_BYTES);
            if !answer.transcripts.is_empty() && !room.has(cost) {
                return Ok(answer);
            }
            let lines = self.read(taken.number)?.split_terminator('\n').map(str::to_owned).collect();
            room.spend(cost);
            answer.transcripts.push(Transcript { taken: taken.clone(), lines });
            answer.current_transcript = taken.number;
        }
        let Some(live_log) = live_log else { return Ok(answer) };
        answer.current_line = match live_lines(live_log, since_line, room, &mut answer.live_lines)? {
            Reached::Line(line) => line,
            Reached::EndBefore => match live_lines(live_log, 0, room, &mut answer.live_lines)? {
                Reached::Line(line) => line,
                Reached::EndBefore => 0,
            },
        };
        Ok(answer)
    }
}

/// What is left of an answer.
#[derive(Clone, Copy, Debug)]
struct Room(u64);

impl Room {
    fn has(self, cost: u64) -> bool {
        cost <= self.0
    }

    fn spend(&mut self, cost: u64) {
        self.0 = self.0.saturating_sub(cost);
    }
}

enum Reached {
    /// The last line that is known now.
    Line(u64),
    /// The log is shorter than the cursor.
    EndBefore,
}

fn live_lines(log: &Path, since_line: u64, mut room: Room, lines: &mut Vec<String>) -> io::Result<Reached> {
    let mut tail = Tail::new(log, Start::Beginning);
    let mut number = 0;
    loop {
        let batch = tail.read()?;
        for line in batch.lines {
            if number >= since_line {
                let text = text_of(line);
                let cost = text.len() as u64 + LINE_EXTRA_BYTES;
                // A single line fits any empty answer, but must not be squeezed into one that is nearly full.
                if !room.has(cost) && (!lines.is_empty() || room.0 < ANSWER_BYTES_MAX) {
                    return Ok(Reached::Line(number));
                }
                room.spend(cost);
                lines.push(text);
            }
            number += 1;
        }
        if !batch.more {
            return Ok(if number < since_line { Reached::EndBefore } else { Reached::Line(number) });
        }
    }
}

/// The line, or one that says that it is left out, so that the numbers of the others stay right.
fn text_of(line: Line) -> String {
    match line.content {
        Content::Text(text) => text,
        Content::TooLong { bytes } => format!(r#"{{"coop_left_out_bytes":{bytes}}}"#),
    }
}

#[cfg(test)]
mod tests;
