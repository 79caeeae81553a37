//! How the characters of a row are drawn, where that tells what they mean.

/// One character and its looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shade {
    pub character: char,
    /// Drawn faint, as suggestions are.
    pub faint: bool,
    /// Drawn in exchanged colours, as a cursor that a program draws by itself.
    pub inverse: bool,
    /// On a background of its own.
    pub backed: bool,
}

/// The characters of a row that `Terminal::ansi_rows` gave.
pub fn read(ansi_row: &str) -> Vec<Shade> {
    let mut pen = Shade::default();
    let mut shades = Vec::with_capacity(ansi_row.len());
    let mut rest = ansi_row;
    while let Some(character) = rest.chars().next() {
        match style(rest) {
            Some((codes, after)) => {
                pen = Shade::default();
                pen.apply(codes);
                rest = after;
            }
            None => {
                shades.push(Shade { character, ..pen });
                rest = &rest[character.len_utf8()..];
            }
        }
    }
    shades
}

/// The codes of the style that the text begins with, and what follows it. Each style is written in full.
fn style(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("\x1b[")?.split_once('m')
}

impl Shade {
    fn apply(&mut self, codes: &str) {
        let mut codes = codes.split(';');
        while let Some(code) = codes.next() {
            match code {
                "2" => self.faint = true,
                "7" => self.inverse = true,
                "38" => skip_colour(&mut codes),
                "48" => {
                    self.backed = true;
                    skip_colour(&mut codes);
                }
                _ => self.backed |= code.len() >= 2 && (code.starts_with('4') || code.starts_with("10")),
            }
        }
    }
}

/// A colour is `5;n` or `2;r;g;b`; its numbers are no styles.
fn skip_colour<'a>(codes: &mut impl Iterator<Item = &'a str>) {
    let numbers = if codes.next() == Some("2") { 3 } else { 1 };
    codes.take(numbers).for_each(drop);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(ansi_row: &str) -> String {
        let mark = |shade: Shade| match shade {
            Shade { inverse: true, .. } => 'i',
            Shade { faint: true, .. } => 'f',
            Shade { backed: true, .. } => 'b',
            _ => '.',
        };
        read(ansi_row).into_iter().map(mark).collect()
    }

    #[test]
    fn faint_inverse_and_backed_characters_are_told_apart() {
        assert_eq!(marks("❯\u{a0}\x1b[0;7mT\x1b[0;2mry\x1b[0m x"), "..iff..");
        assert_eq!(marks("\x1b[0;38;5;16;48;5;153m a\x1b[0;41mb\x1b[0;104mc"), "bbbb");
    }

    #[test]
    fn the_numbers_of_a_colour_are_no_styles() {
        assert_eq!(marks("\x1b[0;38;5;2ma\x1b[0;38;2;7;2;7mb\x1b[0;1;34mc"), "...");
    }

    #[test]
    fn a_broken_sequence_is_text() {
        assert_eq!(read("\x1b[2").len(), 3);
    }
}
