//! The picture as escape sequences, for a terminal in whatever state.

use super::modes::{Modes, MouseEncoding, MouseReports};
use super::screen::Cursor;
use super::watch::Watch;
use std::fmt::Write;

/// Undoes what a program may have left behind. No RIS: it flashes and drops the user's scrollback.
const UNDO: &str = concat!(
    "\x1b\\",                // the end of an unfinished string
    "\x1b[?2026h\x1b[?25l",  // show the rest in one go, without a wandering cursor
    "\x1b[?1;6;66l\x1b[?7h", // normal cursor keys, absolute addressing, normal keypad; wrapping
    "\x1b>\x1b[4;20l",       // normal keypad, overwriting, plain line feeds
    "\x1b[?1000;1002;1003;1004;1005;1006;1015;1016;2004l",
    "\x1b[>4m",         // legacy keys
    "\x1b[0 q",         // the user's cursor shape
    "\x1b(B\x1b)B\x0f", // ASCII
    "\x1b[r\x1b[0m",    // no margins, no colours
);

/// Undoes what each screen has of its own: kitty's flags, and the saved cursor, which is home again.
const UNDO_ON_SCREEN: &str = "\x1b[<99u\x1b[=0u\x1b[H\x1b7";

/// What makes a terminal of the same size show `cells` and behave by `watch`.
pub fn redraw(cells: &avt::Terminal, watch: &Watch) -> String {
    let [primary_keys, alternate_keys] = &watch.modes.kitty;
    let mut out = UNDO.to_owned();
    push(&mut out, format_args!("\x1b[?1047h{UNDO_ON_SCREEN}{}\x1b[?1047l", alternate_keys.rebuild()));
    push(&mut out, format_args!("{UNDO_ON_SCREEN}{}\x1b[2J", primary_keys.rebuild()));
    push_tab_stops(&mut out, cells.size().0);
    out.push_str("\x1b[H");
    push_portable(&mut out, &cells.dump());
    push_modes(&mut out, &watch.modes);
    let title = watch.title.get().unwrap_or_default();
    push(&mut out, format_args!("\x1b]2;{title}\x1b\\"));
    out
}

/// What ends the modes that a program left behind on the primary screen; the cursor goes back to where it was.
pub fn undo(cursor: &Cursor) -> String {
    let (row, col) = (cursor.row + 1, cursor.col + 1);
    format!("{UNDO}\x1b[<99u\x1b[=0u\x1b[{row};{col}H\x1b[?25h\x1b[?2026l")
}

/// A tab stop every eight columns; avt tells its own only if they differ.
fn push_tab_stops(out: &mut String, cols: usize) {
    out.push_str("\x1b[3g");
    for col in (9..=cols).step_by(8) {
        push(out, format_args!("\x1b[{col}G\x1bH"));
    }
}

/// avt's dump in words that more terminals know: repeats spelt out, colours with semicolons, tab stops by HTS.
fn push_portable(out: &mut String, dump: &str) {
    let mut rest = dump;
    let mut last = ' ';
    while let Some(ch) = rest.chars().next() {
        let body = rest.strip_prefix("\x1b[");
        let csi = body.and_then(|body| body.find(|c| ('@'..='~').contains(&c)).map(|end| body.split_at(end)));
        let Some((params, after)) = csi else {
            out.push(ch);
            last = ch;
            rest = &rest[ch.len_utf8()..];
            continue;
        };
        let action = after.chars().next().unwrap_or_default();
        match (params, action) {
            (count, 'b') => out.extend(std::iter::repeat_n(last, count.parse().unwrap_or(0))),
            (colors, 'm') => push(out, format_args!("\x1b[{}m", colors.replace(':', ";"))),
            ("5", 'W') => out.push_str("\x1b[3g"),
            ("0", 'W') => out.push_str("\x1bH"),
            _ => push(out, format_args!("\x1b[{params}{action}")),
        }
        rest = &after[action.len_utf8()..];
    }
}

/// The modes that avt does not keep; the cursor last, so that it does not show on its way.
fn push_modes(out: &mut String, modes: &Modes) {
    let mouse = match modes.mouse {
        MouseReports::Off => None,
        MouseReports::Clicks => Some(1000),
        MouseReports::Drags => Some(1002),
        MouseReports::AllMotion => Some(1003),
    };
    let mouse_encoding = match modes.mouse_encoding {
        MouseEncoding::X10 => None,
        MouseEncoding::Utf8 => Some(1005),
        MouseEncoding::Sgr => Some(1006),
        MouseEncoding::Urxvt => Some(1015),
        MouseEncoding::SgrPixels => Some(1016),
    };
    let set = [mouse, mouse_encoding, modes.focus_reporting.then_some(1004), modes.bracketed_paste.then_some(2004)];
    for mode in set.into_iter().flatten() {
        push(out, format_args!("\x1b[?{mode}h"));
    }
    if modes.application_keypad {
        out.push_str("\x1b=");
    }
    if modes.modify_other_keys > 0 {
        push(out, format_args!("\x1b[>4;{}m", modes.modify_other_keys));
    }
    if modes.cursor_shape > 0 {
        push(out, format_args!("\x1b[{} q", modes.cursor_shape));
    }
    if modes.cursor_visible {
        out.push_str("\x1b[?25h");
    }
    if !modes.synchronized_output {
        out.push_str("\x1b[?2026l");
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a String cannot fail.
    let _ = out.write_fmt(text);
}
