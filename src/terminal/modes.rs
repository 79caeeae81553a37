//! What the child asked of its terminal besides cells: keys, mouse, paste, focus, cursor.

use super::kitty::KittyStack;
use super::sequence::{Csi, Sequence};

/// The terminal modes in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    /// DECCKM: arrows are sent as `ESC O A` instead of `ESC [ A`.
    pub application_cursor: bool,
    /// DECKPAM: the keypad sends application codes.
    pub application_keypad: bool,
    /// DECTCEM.
    pub cursor_visible: bool,
    /// DECSCUSR's parameter: 0 is the terminal's own choice.
    pub cursor_shape: u8,
    /// 47, 1047 or 1049.
    pub alt_screen: bool,
    /// 2004: pasted text comes between `ESC [ 200 ~` and `ESC [ 201 ~`.
    pub bracketed_paste: bool,
    /// 1004: the child wants to know when its terminal gains or loses the focus.
    pub focus_reporting: bool,
    /// 2026: the child is in the middle of a frame.
    pub synchronized_output: bool,
    pub mouse: MouseReports,
    pub mouse_encoding: MouseEncoding,
    /// xterm's `CSI > 4 ; level m`.
    pub modify_other_keys: u8,
    /// Keyboard flags of the primary and the alternate screen.
    pub(super) kitty: [KittyStack; 2],
}

/// Which mouse events the child wants. The modes exclude each other: the last one set counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseReports {
    #[default]
    Off,
    /// 1000
    Clicks,
    /// 1002
    Drags,
    /// 1003
    AllMotion,
}

/// How mouse events are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseEncoding {
    #[default]
    X10,
    /// 1005
    Utf8,
    /// 1006
    Sgr,
    /// 1015
    Urxvt,
    /// 1016
    SgrPixels,
}

impl Default for Modes {
    fn default() -> Self {
        Modes {
            application_cursor: false,
            application_keypad: false,
            cursor_visible: true,
            cursor_shape: 0,
            alt_screen: false,
            bracketed_paste: false,
            focus_reporting: false,
            synchronized_output: false,
            mouse: MouseReports::Off,
            mouse_encoding: MouseEncoding::X10,
            modify_other_keys: 0,
            kitty: Default::default(),
        }
    }
}

impl Modes {
    /// The kitty keyboard flags in force on the screen that is shown.
    pub fn kitty_flags(&self) -> u8 {
        self.kitty[usize::from(self.alt_screen)].flags()
    }

    /// Follows what a sequence switches. The modes that avt keeps (application cursor, cursor visible, alternate
    /// screen) are not set here but copied from it, so that the two cannot differ.
    pub(super) fn follow(&mut self, sequence: &Sequence<'_>) {
        match sequence {
            Sequence::Esc('=') => self.application_keypad = true,
            Sequence::Esc('>') => self.application_keypad = false,
            Sequence::Esc('c') => *self = Modes::default(),
            Sequence::Csi(csi) => self.follow_csi(csi),
            _ => {}
        }
    }

    fn follow_csi(&mut self, csi: &Csi) {
        let kitty = &mut self.kitty[usize::from(self.alt_screen)];
        match (csi.marker, csi.intermediate, csi.action) {
            ('?', '\0', 'h') => csi.params().iter().for_each(|mode| self.switch(*mode, true)),
            ('?', '\0', 'l') => csi.params().iter().for_each(|mode| self.switch(*mode, false)),
            ('>', '\0', 'm') if csi.param(0) == 4 => self.modify_other_keys = csi.param(1).min(3) as u8,
            ('>', '\0', 'm') if csi.params().is_empty() => self.modify_other_keys = 0,
            ('>', '\0', 'n') if csi.param(0) == 4 => self.modify_other_keys = 0,
            ('>', '\0', 'u') => kitty.push(csi.param(0)),
            ('<', '\0', 'u') => kitty.pop(csi.param(0)),
            ('=', '\0', 'u') => kitty.change(csi.param(0), csi.param(1)),
            ('\0', ' ', 'q') if csi.param(0) <= 6 => self.cursor_shape = csi.param(0) as u8,
            // DECSTR, the soft reset, ends less than a full one does.
            ('\0', '!', 'p') => self.application_keypad = false,
            _ => {}
        }
    }

    fn switch(&mut self, mode: u16, on: bool) {
        let mouse = |wanted| if on { wanted } else { MouseReports::Off };
        let encoding = |wanted| if on { wanted } else { MouseEncoding::X10 };
        match mode {
            66 => self.application_keypad = on,
            1000 => self.mouse = mouse(MouseReports::Clicks),
            1002 => self.mouse = mouse(MouseReports::Drags),
            1003 => self.mouse = mouse(MouseReports::AllMotion),
            1004 => self.focus_reporting = on,
            1005 => self.mouse_encoding = encoding(MouseEncoding::Utf8),
            1006 => self.mouse_encoding = encoding(MouseEncoding::Sgr),
            1015 => self.mouse_encoding = encoding(MouseEncoding::Urxvt),
            1016 => self.mouse_encoding = encoding(MouseEncoding::SgrPixels),
            2004 => self.bracketed_paste = on,
            2026 => self.synchronized_output = on,
            _ => {}
        }
    }

    /// Whether the private mode is set, or `None` for one that is not kept.
    pub(super) fn is_set(&self, mode: u16) -> Option<bool> {
        Some(match mode {
            1 => self.application_cursor,
            25 => self.cursor_visible,
            47 | 1047 | 1049 => self.alt_screen,
            66 => self.application_keypad,
            1000 => self.mouse == MouseReports::Clicks,
            1002 => self.mouse == MouseReports::Drags,
            1003 => self.mouse == MouseReports::AllMotion,
            1004 => self.focus_reporting,
            1005 => self.mouse_encoding == MouseEncoding::Utf8,
            1006 => self.mouse_encoding == MouseEncoding::Sgr,
            1015 => self.mouse_encoding == MouseEncoding::Urxvt,
            1016 => self.mouse_encoding == MouseEncoding::SgrPixels,
            2004 => self.bracketed_paste,
            2026 => self.synchronized_output,
            _ => return None,
        })
    }
}
