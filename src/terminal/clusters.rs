//! Characters with combining marks. A cell holds one character; such a cluster is kept there under a stand-in.

use std::collections::HashMap;

use unicode_normalization::char::is_combining_mark;
use unicode_width::UnicodeWidthChar;

/// Stand-ins are the private characters of plane 16; a program's own ones are kept as clusters too.
const FIRST: char = '\u{100000}';

/// How many different clusters a terminal remembers. Text in any one language has a few dozen; the marks of what comes
/// after that are left out.
const CLUSTERS_MAX: usize = 4096;

/// The longest cluster. Some pile up marks without end for fun.
const CLUSTER_BYTES_MAX: usize = 32;

/// The clusters that were seen.
#[derive(Debug, Default)]
pub struct Clusters {
    texts: Vec<Box<str>>,
    stand_ins: HashMap<Box<str>, char>,
}

/// Whether the character belongs to the one before it and takes no cell of its own. Variation selectors are no such
/// marks: with them programs count two columns, which is what base and selector take.
pub fn is_mark(ch: char) -> bool {
    ch >= '\u{300}' && ch.width() == Some(0) && is_combining_mark(ch) && !('\u{fe00}'..='\u{fe0f}').contains(&ch)
}

/// Whether it cannot be put into a cell just as it is.
pub fn needs_care(ch: char) -> bool {
    ch >= FIRST || is_mark(ch)
}

impl Clusters {
    /// What stands for the cell's character with one more mark; `None` when there is no room for it.
    pub fn marked(&mut self, base: char, mark: char) -> Option<char> {
        let mut text = self.text(base).map_or_else(|| base.to_string(), str::to_owned);
        text.push(mark);
        self.stand_in(&text)
    }

    /// What stands for a character that looks like a stand-in itself.
    pub fn own(&mut self, ch: char) -> char {
        self.stand_in(ch.encode_utf8(&mut [0; 4])).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// The text with what its stand-ins stand for.
    pub fn expand(&self, text: String) -> String {
        if self.texts.is_empty() || text.is_ascii() {
            return text;
        }
        let mut whole = String::with_capacity(text.len());
        for ch in text.chars() {
            match self.text(ch) {
                Some(cluster) => whole.push_str(cluster),
                None => whole.push(ch),
            }
        }
        whole
    }

    fn text(&self, ch: char) -> Option<&str> {
        let index = u32::from(ch).checked_sub(u32::from(FIRST))?;
        self.texts.get(usize::try_from(index).ok()?).map(|text| &**text)
    }

    fn stand_in(&mut self, text: &str) -> Option<char> {
        if let Some(known) = self.stand_ins.get(text) {
            return Some(*known);
        }
        if self.texts.len() >= CLUSTERS_MAX || text.len() > CLUSTER_BYTES_MAX {
            return None;
        }
        let stand_in = char::from_u32(u32::from(FIRST) + u32::try_from(self.texts.len()).ok()?)?;
        self.texts.push(text.into());
        self.stand_ins.insert(text.into(), stand_in);
        Some(stand_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_comes_back_whole_and_takes_bounded_memory() {
        let mut clusters = Clusters::default();
        let accented = clusters.marked('e', '\u{301}').unwrap();
        let twice = clusters.marked(accented, '\u{323}').unwrap();
        assert_eq!(clusters.marked('e', '\u{301}'), Some(accented));
        assert_eq!(clusters.expand(format!("<{accented}{twice}é>")), "<e\u{301}e\u{301}\u{323}é>");
        let own = clusters.own(FIRST);
        assert_eq!(clusters.expand(own.to_string()), FIRST.to_string());
        let mut piled = 'x';
        for _ in 0..100 {
            piled = clusters.marked(piled, '\u{300}').unwrap_or(piled);
        }
        assert!(clusters.expand(piled.to_string()).len() <= CLUSTER_BYTES_MAX);
        for base in ('\u{4e00}'..).take(CLUSTERS_MAX + 1) {
            clusters.marked(base, '\u{301}');
        }
        assert_eq!(clusters.texts.len(), CLUSTERS_MAX);
    }

    #[test]
    fn only_what_takes_no_column_is_a_mark() {
        assert!(['\u{301}', '\u{308}', '\u{20dd}', '\u{e31}'].into_iter().all(is_mark));
        assert!(!['e', 'é', '\u{fe0f}', '\u{200d}', '日', '\u{903}'].into_iter().any(is_mark));
    }
}
