//! A text that is being typed, told from the hint that stands in its place.
//!
//! Gemini CLI draws hints in the colour of everything that is secondary, its footers among them (0.61.0).

use std::ops::Range;

use crate::agent::rows::{Seam, seam};
use crate::agent::shades::{Colour, Shade};
use crate::agent::{Field, Sight};
use crate::terminal::Cursor;

/// Where a field is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub rows: Range<usize>,
    pub col: usize,
    /// How wide the text can be, to tell where it was wrapped.
    pub cols: usize,
    /// How many frames end its rows.
    pub frames: usize,
}

/// The colour of what is secondary, as a row has it that is. None where colours are not known.
pub fn secondary(sight: &Sight<'_>, row: usize, col: usize) -> Option<Colour> {
    let shades = sight.shades(row)?;
    shades.get(col..)?.iter().find(|shade| is_text(shade))?.colour
}

/// Reads the field. `hints` are known ones, for where colours do not tell.
pub fn read(sight: &Sight<'_>, place: &Place, secondary: Option<Colour>, hints: &[&str]) -> Field {
    let mut field = Field::default();
    let mut before = String::new();
    for row in place.rows.clone() {
        let shades = shades(sight, row, place);
        let (typed, hint) = split(&shades, secondary);
        let text: String = shades.iter().map(|shade| shade.character).collect();
        if row > place.rows.start {
            field.text.push_str(match seam(before.trim_end(), text.trim_end(), place.cols) {
                Seam::Break => "\n",
                Seam::Space => " ",
                Seam::Nothing => "",
            });
        }
        field.text.push_str(typed.trim_end());
        field.suggestion.push_str(&hint);
        before = text;
    }
    field.text.truncate(field.text.trim_end().len());
    field.suggestion = field.suggestion.trim().to_owned();
    let begins = |cursor: Cursor| (cursor.row, cursor.col) == (place.rows.start, place.col);
    let is_at_start = sight.cursor.is_none_or(|cursor| begins(cursor) || !place.rows.contains(&cursor.row));
    if secondary.is_none() && is_at_start && hints.contains(&field.text.trim_start()) {
        field.suggestion = std::mem::take(&mut field.text).trim().to_owned();
    }
    field
}

/// The characters of the field on one row.
fn shades(sight: &Sight<'_>, row: usize, place: &Place) -> Vec<Shade> {
    let plain = || {
        let characters = sight.rows.get(row).map_or("", String::as_str).chars();
        characters.map(|character| Shade { character, ..Shade::default() }).collect()
    };
    let mut shades: Vec<Shade> = sight.shades(row).unwrap_or_else(plain);
    for _ in 0..place.frames {
        let side = shades.iter().rposition(|shade| shade.character == '│').unwrap_or(shades.len());
        shades.truncate(side);
    }
    shades.drain(..place.col.min(shades.len()));
    shades
}

/// What was typed, and what is only hinted at. The cursor, drawn inverse, covers a hint's first character.
fn split(shades: &[Shade], secondary: Option<Colour>) -> (String, String) {
    let (mut typed, mut hint) = (String::new(), String::new());
    for at in 0..shades.len() {
        let mut rest = shades[at..].iter().filter(|shade| is_text(shade) || shade.inverse);
        let is_hint = |shade: &Shade| secondary.is_some() && shade.colour == secondary && !shade.inverse;
        let is_hinted = match (rest.next(), rest.next()) {
            (Some(first), Some(second)) => is_hint(first) || first.inverse && is_hint(second),
            (Some(last), None) => is_hint(last),
            (None, _) => false,
        };
        if is_hinted { &mut hint } else { &mut typed }.push(shades[at].character);
    }
    (typed, hint)
}

fn is_text(shade: &Shade) -> bool {
    !shade.character.is_whitespace()
}
