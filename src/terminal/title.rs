//! The window title, and the titles a program saved to put back later.

use super::sequence::{Csi, Osc};

/// A title longer than this is cut: nobody shows more, and it is copied into every snapshot.
const TITLE_BYTES_MAX: usize = 1024;

/// How many saved titles are remembered; xterm keeps ten.
const SAVED_MAX: usize = 10;

#[derive(Debug, Default)]
pub struct Title {
    text: Option<String>,
    saved: Vec<Option<String>>,
}

impl Title {
    /// The title, unless none was set or it was set to nothing.
    pub fn get(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Follows OSC 0 and 2; true if the title is another one now.
    pub fn follow_osc(&mut self, osc: &Osc<'_>) -> bool {
        if !matches!(osc.code, 0 | 2) {
            return false;
        }
        let text: String = super::cut(osc.text, TITLE_BYTES_MAX).chars().filter(|c| !c.is_control()).collect();
        self.replace((!text.is_empty()).then_some(text))
    }

    /// Follows `CSI 22 t` (save) and `CSI 23 t` (put back), as editors use them; true if the title changed.
    pub fn follow_csi(&mut self, csi: &Csi) -> bool {
        // The second parameter chooses icon name (1), title (2) or both (0).
        if (csi.marker, csi.intermediate, csi.action) != ('\0', '\0', 't') || csi.param(1) == 1 {
            return false;
        }
        match csi.param(0) {
            22 => {
                if self.saved.len() == SAVED_MAX {
                    self.saved.remove(0);
                }
                self.saved.push(self.text.clone());
                false
            }
            23 => match self.saved.pop() {
                Some(text) => self.replace(text),
                None => false,
            },
            _ => false,
        }
    }

    fn replace(&mut self, text: Option<String>) -> bool {
        let changed = self.text != text;
        self.text = text;
        changed
    }
}
