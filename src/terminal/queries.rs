//! Questions a program asks its terminal, and the answers.

use super::modes::Modes;
use super::screen::Cursor;
use super::sequence::{Csi, Osc, Sequence};

/// What a terminal with a dark theme says of its colours; programs choose readable ones by it.
const FOREGROUND: &str = "rgb:dddd/dddd/dddd";
const BACKGROUND: &str = "rgb:1e1e/1e1e/1e1e";

/// The answer to `sequence`, if it is a question with one. `cursor` is where it is at this very moment.
///
/// The kitty keyboard query (`CSI ? u`) stays unanswered on purpose: silence tells programs to expect the legacy
/// keys, which are the ones that `encode_key` sends.
pub fn answer(sequence: &Sequence<'_>, modes: &Modes, cursor: Cursor) -> Option<String> {
    match sequence {
        Sequence::Csi(csi) => answer_csi(csi, modes, cursor),
        Sequence::Osc(osc) => answer_osc(osc),
        Sequence::Esc(_) => None,
    }
}

fn answer_csi(csi: &Csi, modes: &Modes, cursor: Cursor) -> Option<String> {
    let (row, col) = (cursor.row + 1, cursor.col + 1);
    Some(match (csi.marker, csi.intermediate, csi.action, csi.param(0)) {
        // DSR: all is well.
        ('\0', '\0', 'n', 5) => "\x1b[0n".to_owned(),
        // CPR and DECXCPR: where the cursor is.
        ('\0', '\0', 'n', 6) => format!("\x1b[{row};{col}R"),
        ('?', '\0', 'n', 6) => format!("\x1b[?{row};{col}R"),
        // DA1: a VT220 with colours.
        ('\0', '\0', 'c', 0) => "\x1b[?62;22c".to_owned(),
        // DA2: from version 277 on, Vim expects xterm features that are not answered here.
        ('>', '\0', 'c', 0) => "\x1b[>0;276;0c".to_owned(),
        ('>', '\0', 'q', 0) => format!("\x1bP>|coop({})\x1b\\", env!("CARGO_PKG_VERSION")),
        // DECRQM: 1 is set, 2 is reset, 0 is not known.
        ('?', '$', 'p', mode) => {
            let state = modes.is_set(mode).map_or(0, |on| if on { 1 } else { 2 });
            format!("\x1b[?{mode};{state}$y")
        }
        _ => return None,
    })
}

fn answer_osc(osc: &Osc<'_>) -> Option<String> {
    let color = match (osc.code, osc.text) {
        (10, "?") => FOREGROUND,
        (11, "?") => BACKGROUND,
        _ => return None,
    };
    let end = if osc.by_bell { "\x07" } else { "\x1b\\" };
    Some(format!("\x1b]{};{color}{end}", osc.code))
}
