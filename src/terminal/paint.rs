//! A row of cells as text, plain or with its colours.

use avt::{Color, Line, Pen};
use std::fmt::Write;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// The row's characters, trailing blanks trimmed.
pub fn text(line: &Line) -> String {
    let mut text = line.text();
    text.truncate(text.trim_end_matches(' ').len());
    text
}

/// The row with its colours: begins in the default style and ends in it, trailing default blanks trimmed.
pub fn ansi(line: &Line) -> String {
    painted(line.cells(), false).0
}

/// The columns `window` of the row with their colours, for a terminal whose cursor is in the first column, and how many
/// columns they take there. Half a wide character at an edge is a blank; trailing default blanks are trimmed.
pub fn ansi_part(line: &Line, window: Range<usize>) -> (String, usize) {
    let cells = line.cells();
    painted(&cells[window.start.min(cells.len())..window.end.min(cells.len())], true)
}

/// Cells with their colours, and how many columns they take. Not every terminal agrees that a character is wide; `in_place`
/// puts what follows one where it belongs.
fn painted(cells: &[avt::Cell], in_place: bool) -> (String, usize) {
    let is_blank = |cell: &avt::Cell| cell.char() == ' ' && cell.width() == 1 && cell.pen().is_default();
    let end = cells.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1);
    let (mut out, mut pen, mut cols, mut after_wide) = (String::with_capacity(end + 16), Pen::default(), 0, false);
    for (col, cell) in cells[..end].iter().enumerate() {
        // The second half of a wide character has width 0 and no character of its own.
        let ch = match cell.width() {
            0 if col > 0 => continue,
            0 => ' ',
            2 if col + 1 == cells.len() => ' ',
            _ => cell.char(),
        };
        if *cell.pen() != pen {
            pen = *cell.pen();
            write_pen(&mut out, &pen);
        }
        let width = if ch.is_ascii() { 1 } else { ch.width().unwrap_or(1) };
        if in_place && after_wide && width == 1 {
            // Writing into a String cannot fail.
            let _ = write!(out, "\x1b[{}G", cols + 1);
        }
        out.push(ch);
        after_wide = width == 2;
        cols += width;
    }
    if !pen.is_default() {
        out.push_str("\x1b[0m");
    }
    (out, cols)
}

/// Writes the whole style, starting from the default one, so that it does not matter what was before.
fn write_pen(out: &mut String, pen: &Pen) {
    out.push_str("\x1b[0");
    let attributes = [
        (pen.is_bold(), 1),
        (pen.is_faint(), 2),
        (pen.is_italic(), 3),
        (pen.is_underline(), 4),
        (pen.is_blink(), 5),
        (pen.is_inverse(), 7),
        (pen.is_strikethrough(), 9),
    ];
    for (_, code) in attributes.into_iter().filter(|(on, _)| *on) {
        write_code(out, format_args!("{code}"));
    }
    for (color, base) in [(pen.foreground(), 30), (pen.background(), 40)] {
        match color {
            None => {}
            Some(Color::Indexed(n @ 0..8)) => write_code(out, format_args!("{}", base + n)),
            Some(Color::Indexed(n @ 8..16)) => write_code(out, format_args!("{}", base + 52 + n)),
            Some(Color::Indexed(n)) => write_code(out, format_args!("{};5;{n}", base + 8)),
            Some(Color::RGB(rgb)) => write_code(out, format_args!("{};2;{};{};{}", base + 8, rgb.r, rgb.g, rgb.b)),
        }
    }
    out.push('m');
}

fn write_code(out: &mut String, code: std::fmt::Arguments<'_>) {
    // Writing into a String cannot fail.
    let _ = write!(out, ";{code}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_row(input: &str) -> (String, String) {
        let mut terminal = avt::Terminal::new(20, 2).expect("the size is not zero");
        terminal.feed(input);
        let line = terminal.screen().line(0).expect("there are two rows");
        (text(line), ansi(line))
    }

    #[test]
    fn trailing_blanks_are_trimmed_but_coloured_ones_stay_in_colour() {
        assert_eq!(first_row("a b  "), ("a b".into(), "a b".into()));
        assert_eq!(first_row("a\x1b[41m "), ("a".into(), "a\x1b[0;41m \x1b[0m".into()));
    }

    #[test]
    fn every_style_is_written_in_full() {
        let (text, ansi) = first_row("\x1b[1;3;38;5;200mX\x1b[0;2;4;7;9;95;48;2;1;2;3mY\x1b[0;5;93mZ\x1b[0mw");
        assert_eq!(text, "XYZw");
        let expected = "\x1b[0;1;3;38;5;200mX\x1b[0;2;4;7;9;95;48;2;1;2;3mY\x1b[0;5;93mZ\x1b[0mw";
        assert_eq!(ansi, expected);
    }

    #[test]
    fn wide_characters_appear_once() {
        assert_eq!(first_row("日x").1, "日x");
    }
}
