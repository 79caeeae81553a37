//! A program that prints as fast as its terminal takes it, and shows at once what is typed: as the window's title,
//! which does not scroll away.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::mpsc;

use anyhow::Result;

/// Between two looks at the keyboard; what a program writes at once.
const WRITE_BYTES: usize = 4096;

pub fn flood(file: &Path) -> Result<()> {
    let text = std::fs::read(file)?;
    let (typed, titles) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if typed.send(line).is_err() {
                return;
            }
        }
    });
    let mut stdout = io::stdout().lock();
    stdout.write_all(b"READY-TO-PRINT")?;
    stdout.flush()?;
    // Nothing is printed before the first line, so that the beginning can be seen.
    let mut title = titles.recv()?;
    loop {
        // A title is never put into the middle of another sequence: pieces end with a line.
        for piece in pieces(&text) {
            while !title.is_empty() {
                write!(stdout, "\x1b]0;{title}\x07")?;
                title.clear();
            }
            stdout.write_all(piece)?;
            stdout.flush()?;
            title = titles.try_recv().unwrap_or_default();
        }
    }
}

fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.get(WRITE_BYTES..).and_then(|after| after.iter().position(|byte| *byte == b'\n'));
        let (piece, after) = rest.split_at(end.map_or(rest.len(), |end| WRITE_BYTES + end + 1));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}
