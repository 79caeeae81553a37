//! How a pane stands, in one line of tmux's formats.

use std::fmt::Write;

use super::rows::apart;
use crate::borrowed::Over;
use crate::borrowed::picture::{Beneath, Picture};
use crate::child::{Exit, Size, parse_signal};

/// Asks for everything at once. A session's name holds no colon; the title, which may hold anything, is last.
pub const FORMAT: &str = "#{pane_id}|#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|#{pane_pid}|\
    #{pane_width}|#{pane_height}|#{window_id}|#{session_id}|#{window_panes}|#{alternate_on}|#{alternate_saved_x}|\
    #{alternate_saved_y}|#{cursor_x}|#{cursor_y}|#{cursor_flag}|#{insert_flag}|#{keypad_cursor_flag}|#{keypad_flag}|\
    #{wrap_flag}|#{mouse_standard_flag}|#{mouse_button_flag}|#{mouse_all_flag}|#{mouse_sgr_flag}|#{mouse_utf8_flag}|\
    #{scroll_region_upper}|#{scroll_region_lower}|#{bracket_paste_flag}|#{session_name}:#{pane_title}";

/// A pane at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub pane: String,
    pub pid: u32,
    pub size: Size,
    pub window: String,
    pub session: String,
    pub session_name: String,
    pub is_alone: bool,
    /// The program has ended, and the pane stays to show its last words.
    pub dead: Option<Over>,
    alternate: Option<(u16, u16)>,
    cursor: (u16, u16),
    modes: String,
    title: String,
}

impl Standing {
    /// Reads the answer; `None` for that about a pane which is not there, whose fields are empty.
    pub fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(29, '|');
        let mut next = || parts.next().map(str::trim);
        let pane = next()?.to_owned();
        let dead = next()? == "1";
        let (status, signal) = (next()?, next()?);
        let code = status.parse().ok().map(Exit::Code);
        let exit = code.or_else(|| parse_signal(signal).ok().map(|signal| Exit::Signal(signal as i32)));
        let pid = next()?.parse().ok()?;
        let size = Size::new(next()?.parse().ok()?, next()?.parse().ok()?).ok()?;
        let (window, session) = (next()?.to_owned(), next()?.to_owned());
        let is_alone = next()? == "1";
        let is_alternate = next()? == "1";
        let mut cell = || next().and_then(|text| text.parse().ok()).unwrap_or(0);
        let saved = (cell(), cell());
        let cursor = (cell(), cell());
        let mut flag = |on: &'static str, off: &'static str| match next() {
            Some("1") => on,
            Some("0") => off,
            // A tmux that does not know it.
            _ => "",
        };
        let mut modes = String::new();
        modes.push_str(flag("\x1b[?25h", "\x1b[?25l"));
        modes.push_str(flag("\x1b[4h", ""));
        modes.push_str(flag("\x1b[?1h", "\x1b[?1l"));
        modes.push_str(flag("\x1b=", "\x1b>"));
        modes.push_str(flag("", "\x1b[?7l"));
        for on in ["\x1b[?1000h", "\x1b[?1002h", "\x1b[?1003h", "\x1b[?1006h", "\x1b[?1005h"] {
            modes.push_str(flag(on, ""));
        }
        let (top, bottom): (u32, u32) = (next()?.parse().unwrap_or(0), next()?.parse().unwrap_or(0));
        if bottom > top && (top, bottom) != (0, u32::from(size.rows()) - 1) {
            let _ = write!(modes, "\x1b[{};{}r", top + 1, bottom + 1);
        }
        modes.push_str(match next()? {
            "1" => "\x1b[?2004h",
            _ => "",
        });
        let (session_name, title) = next()?.split_once(':')?;
        Some(Self {
            dead: dead.then(|| Over { exit, reason: "the program in the pane has ended".to_owned() }),
            alternate: is_alternate.then_some(saved),
            session_name: session_name.to_owned(),
            title: title.to_owned(),
            pane,
            pid,
            size,
            window,
            session,
            is_alone,
            cursor,
            modes,
        })
    }

    /// The picture, with what `capture-pane` showed: the rows with their history, and those beneath them.
    pub fn picture(&self, rows: Vec<Vec<u8>>, beneath: Vec<Vec<u8>>) -> Picture {
        let (mut rows, beneath) = (apart(rows), apart(beneath));
        let shown = rows.split_off(rows.len().saturating_sub(usize::from(self.size.rows())));
        Picture {
            size: self.size,
            rows: shown,
            cursor: self.cursor,
            modes: self.modes.clone(),
            title: Some(self.title.clone()).filter(|title| !title.is_empty()),
            alternate: self.alternate.map(|cursor| Beneath { rows: beneath, cursor }),
            history: rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // As tmux 3.3a says it.
    const SHELL: &str =
        "%3|0|||4711|80|24|@1|$0|1|0|4294967295|4294967295|10|2|1|0|0|0|1|0|0|0|0|0|0|23||my: |work|:a: title | x";

    #[test]
    fn a_pane_tells_how_it_stands() {
        let standing = Standing::parse(&SHELL.replace("my: |work|", "my |work|")).unwrap();
        assert_eq!((standing.pane.as_str(), standing.pid, standing.is_alone), ("%3", 4711, true));
        assert_eq!(standing.size, Size::new(80, 24).unwrap());
        assert_eq!((standing.session_name.as_str(), standing.title.as_str()), ("my |work|", "a: title | x"));
        assert_eq!((standing.cursor, &standing.dead, standing.alternate), ((10, 2), &None, None));
        assert_eq!(standing.modes, "\x1b[?25h\x1b[?1l\x1b>");
    }

    #[test]
    fn a_program_that_ended_tells_how() {
        let dead = |status: &str, signal: &str| {
            let line = SHELL.replacen("|0|||", &format!("|1|{status}|{signal}|"), 1);
            Standing::parse(&line).unwrap().dead.unwrap().exit
        };
        assert_eq!(dead("3", ""), Some(Exit::Code(3)));
        assert_eq!(dead("", "9"), Some(Exit::Signal(9)));
        assert_eq!(dead("", "KILL"), Some(Exit::Signal(9)));
        assert_eq!(dead("", ""), None);
    }

    #[test]
    fn a_pane_that_is_not_there_stands_nowhere() {
        assert_eq!(Standing::parse("||||||||||||||||||||||||||||:"), None);
        assert_eq!(Standing::parse(""), None);
    }

    #[test]
    fn history_is_what_does_not_fit() {
        let standing = Standing::parse(&SHELL.replace("|80|24|", "|80|2|")).unwrap();
        let rows = ["a", "b", "c", "d"].map(|row| row.as_bytes().to_vec()).to_vec();
        let picture = standing.picture(rows, Vec::new());
        assert_eq!((picture.history.len(), picture.rows[0].as_slice()), (2, &b"c"[..]));
    }
}
