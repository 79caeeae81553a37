//! Two texts become the hunks of a unified diff.

use std::{
    io::{self, Write},
    ops::Range,
};

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};

use super::text::Pen;

/// Unchanged lines around a change, as everybody's diff has them.
const CONTEXT_LINES: u32 = 3;

/// Neighbouring changes whose context meets, with that context.
struct Group {
    before: Range<u32>,
    after: Range<u32>,
    changes: Vec<Hunk>,
}

pub(super) fn write(out: &mut impl Write, pen: Pen, before: &[u8], after: &[u8]) -> io::Result<()> {
    let mut input = InternedInput::default();
    input.update_before(lines(before));
    input.update_after(lines(after));
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let lengths = (count(input.before.len()), count(input.after.len()));
    let text = |tokens: &[imara_diff::Token], nth: u32| -> &[u8] { input.interner[tokens[nth as usize]] };
    for group in groups(diff.hunks(), lengths) {
        pen.hunk(out, &format!("@@ -{} +{} @@", span(&group.before), span(&group.after)))?;
        let mut next = group.before.start;
        for change in &group.changes {
            for nth in next..change.before.start {
                pen.line(out, b' ', text(&input.before, nth))?;
            }
            for nth in change.before.clone() {
                pen.line(out, b'-', text(&input.before, nth))?;
            }
            for nth in change.after.clone() {
                pen.line(out, b'+', text(&input.after, nth))?;
            }
            next = change.before.end;
        }
        for nth in next..group.before.end {
            pen.line(out, b' ', text(&input.before, nth))?;
        }
    }
    Ok(())
}

fn groups(changes: impl Iterator<Item = Hunk>, (before, after): (u32, u32)) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for change in changes {
        let lead = change.before.start.min(change.after.start).min(CONTEXT_LINES);
        let trail = (before - change.before.end).min(after - change.after.end).min(CONTEXT_LINES);
        let around = change.before.start - lead..change.before.end + trail;
        let then = change.after.start - lead..change.after.end + trail;
        match groups.last_mut() {
            Some(last) if around.start <= last.before.end => {
                last.before.end = around.end;
                last.after.end = then.end;
                last.changes.push(change);
            }
            _ => groups.push(Group { before: around, after: then, changes: vec![change] }),
        }
    }
    groups
}

/// `start,count` with lines counted from 1. Of an empty span the line before it is named, and one line needs no count.
fn span(lines: &Range<u32>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        more => format!("{},{more}", lines.start + 1),
    }
}

/// Only a newline ends a line: git takes a carriage return for content.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// Texts are shorter than `text::SHOWN_BYTES_MAX`, so their lines can be counted in 32 bits.
fn count(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}
