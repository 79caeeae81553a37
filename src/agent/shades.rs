//! How the characters of a row are drawn, where that tells what they mean.

/// One character and its looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shade {
    pub character: char,
    /// Drawn faint, as suggestions are.
    pub faint: bool,
    /// Drawn in exchanged colours, as a cursor that a program draws by itself.
    pub inverse: bool,
    /// Underlined, as the one of several tabs that is open.
    pub underlined: bool,
    /// On a background of its own.
    pub backed: bool,
    /// The colour of the character; none is the terminal's own.
    pub colour: Option<Colour>,
}

/// A colour as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// One of the terminal's own.
    Numbered(u8),
    Rgb([u8; 3]),
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
                "4" => self.underlined = true,
                "7" => self.inverse = true,
                "38" => self.colour = colour(&mut codes),
                "48" => {
                    self.backed = true;
                    colour(&mut codes);
                }
                _ => {
                    self.backed |= code.len() >= 2 && (code.starts_with('4') || code.starts_with("10"));
                    self.colour = named(code).or(self.colour);
                }
            }
        }
    }
}

/// A colour is `5;n` or `2;r;g;b`; its numbers are no styles.
fn colour<'a>(codes: &mut impl Iterator<Item = &'a str>) -> Option<Colour> {
    let is_rgb = codes.next() == Some("2");
    let mut number = || codes.next().and_then(|code| code.parse().ok());
    let first = number();
    if is_rgb {
        let (green, blue) = (number(), number());
        return Some(Colour::Rgb([first?, green?, blue?]));
    }
    first.map(Colour::Numbered)
}

/// The colour of `30` to `37` and of `90` to `97`, the bright ones.
fn named(code: &str) -> Option<Colour> {
    match code.parse::<u8>().ok()? {
        code @ 30..=37 => Some(Colour::Numbered(code - 30)),
        code @ 90..=97 => Some(Colour::Numbered(code - 90 + 8)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(ansi_row: &str) -> String {
        let mark = |shade: Shade| match shade {
            Shade { inverse: true, .. } => 'i',
            Shade { faint: true, .. } => 'f',
            Shade { underlined: true, .. } => 'u',
            Shade { backed: true, .. } => 'b',
            _ => '.',
        };
        read(ansi_row).into_iter().map(mark).collect()
    }

    #[test]
    fn faint_inverse_and_backed_characters_are_told_apart() {
        assert_eq!(marks("❯\u{a0}\x1b[0;7mT\x1b[0;2mry\x1b[0m x"), "..iff..");
        assert_eq!(marks("\x1b[0;38;5;16;48;5;153m a\x1b[0;41mb\x1b[0;104mc"), "bbbb");
        assert_eq!(marks("\x1b[0;1;4;38;5;4ma\x1b[0;38;5;4mb"), "u.");
    }

    #[test]
    fn the_numbers_of_a_colour_are_no_styles() {
        assert_eq!(marks("\x1b[0;38;5;2ma\x1b[0;38;2;7;2;7mb\x1b[0;1;34mc"), "...");
    }

    #[test]
    fn a_character_has_the_colour_that_it_was_drawn_in() {
        let colours: Vec<Option<Colour>> = read(
            "a\x1b[0;38;5;246mb\x1b[0;7;38;2;175;7;2;48;2;1;2;3mc\x1b[0;33md\x1b[0;92me\x1b[0;48;5;4mf\x1b[0;38;2;1m",
        )
        .into_iter()
        .map(|shade| shade.colour)
        .collect();
        let numbered = |number| Some(Colour::Numbered(number));
        let expected = [None, numbered(246), Some(Colour::Rgb([175, 7, 2])), numbered(3), numbered(10), None];
        assert_eq!(colours, expected);
    }

    #[test]
    fn a_broken_sequence_is_text() {
        assert_eq!(read("\x1b[2").len(), 3);
    }
}
