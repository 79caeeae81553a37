//! Makes the outer terminal send what the program inside expects: keys, mouse, focus; and gives it the title.

use super::push;
use crate::terminal::{Modes, MouseEncoding, MouseReports};

/// What the outer terminal has been told so far.
#[derive(Debug, Default)]
pub struct Manners {
    modes: Modes,
    kitty: u8,
    title: Option<String>,
}

impl Manners {
    /// Tells what differs. Who only looks, types nothing, so that mouse and keys stay the outer terminal's own.
    pub fn tell(&mut self, now: &Modes, title: Option<&str>, view: bool, out: &mut String) {
        if !view {
            self.tell_keys(now, out);
            self.tell_mouse(now, out);
        }
        if self.modes.cursor_shape != now.cursor_shape {
            push(out, format_args!("\x1b[{} q", now.cursor_shape));
        }
        if self.title.as_deref() != title {
            // The emulator has taken all control characters out of it.
            push(out, format_args!("\x1b]2;{}\x1b\\", title.unwrap_or_default()));
            self.title = title.map(str::to_owned);
        }
        self.modes = now.clone();
    }

    fn tell_keys(&mut self, now: &Modes, out: &mut String) {
        let before = &self.modes;
        switch(out, 1, before.application_cursor, now.application_cursor);
        switch(out, 1004, before.focus_reporting, now.focus_reporting);
        if before.application_keypad != now.application_keypad {
            out.push_str(if now.application_keypad { "\x1b=" } else { "\x1b>" });
        }
        if before.modify_other_keys != now.modify_other_keys {
            push(out, format_args!("\x1b[>4;{}m", now.modify_other_keys));
        }
        if self.kitty != now.kitty_flags() {
            self.kitty = now.kitty_flags();
            push(out, format_args!("\x1b[={};1u", self.kitty));
        }
    }

    fn tell_mouse(&self, now: &Modes, out: &mut String) {
        if self.modes.mouse != now.mouse {
            out.push_str("\x1b[?1000;1002;1003l");
            let mode = match now.mouse {
                MouseReports::Off => None,
                MouseReports::Clicks => Some(1000),
                MouseReports::Drags => Some(1002),
                MouseReports::AllMotion => Some(1003),
            };
            mode.into_iter().for_each(|mode| switch(out, mode, false, true));
        }
        if self.modes.mouse_encoding != now.mouse_encoding {
            out.push_str("\x1b[?1005;1006;1015;1016l");
            let mode = match now.mouse_encoding {
                MouseEncoding::X10 => None,
                MouseEncoding::Utf8 => Some(1005),
                MouseEncoding::Sgr => Some(1006),
                MouseEncoding::Urxvt => Some(1015),
                MouseEncoding::SgrPixels => Some(1016),
            };
            mode.into_iter().for_each(|mode| switch(out, mode, false, true));
        }
    }
}

fn switch(out: &mut String, mode: u16, before: bool, now: bool) {
    if before != now {
        push(out, format_args!("\x1b[?{mode}{}", if now { 'h' } else { 'l' }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::Size;
    use crate::terminal::{Seq, Terminal};

    fn told(manners: &mut Manners, program: &str, view: bool) -> String {
        let mut terminal = Terminal::new(Size::new(10, 3).unwrap(), 0);
        terminal.feed(program.as_bytes(), Seq(1));
        let mut out = String::new();
        manners.tell(terminal.modes(), terminal.title(), view, &mut out);
        out
    }

    #[test]
    fn only_changes_are_told_and_everything_can_be_taken_back() {
        let mut manners = Manners::default();
        assert_eq!(told(&mut manners, "", false), "");
        let wishes = "\x1b[?1;1002;1004;1006h\x1b=\x1b[>4;2m\x1b[>5u\x1b[3 q\x1b]0;mine\x07";
        assert_eq!(
            told(&mut manners, wishes, false),
            "\x1b[?1h\x1b[?1004h\x1b=\x1b[>4;2m\x1b[=5;1u\x1b[?1000;1002;1003l\x1b[?1002h\
             \x1b[?1005;1006;1015;1016l\x1b[?1006h\x1b[3 q\x1b]2;mine\x1b\\"
        );
        assert_eq!(told(&mut manners, wishes, false), "");
        assert_eq!(
            told(&mut manners, "", false),
            "\x1b[?1l\x1b[?1004l\x1b>\x1b[>4;0m\x1b[=0;1u\x1b[?1000;1002;1003l\x1b[?1005;1006;1015;1016l\x1b[0 q\x1b]2;\x1b\\"
        );
    }

    #[test]
    fn who_only_looks_keeps_the_mouse() {
        assert_eq!(told(&mut Manners::default(), "\x1b[?1;1002;1006h\x1b]2;t\x07", true), "\x1b]2;t\x1b\\");
    }
}
