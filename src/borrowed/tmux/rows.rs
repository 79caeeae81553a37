//! Rows of `capture-pane -e`, each made able to stand alone: tmux tells colours and line drawing only where they change, also
//! from one row to the next.

/// How tmux (3.3a) begins and ends the character set for drawing lines.
const DRAWS: u8 = 0x0e;
const WRITES: u8 = 0x0f;

const ESCAPE: u8 = 0x1b;

/// Rows that follow each other in one answer.
pub fn apart(rows: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut style = Style::default();
    rows.into_iter().map(|row| style.pass(&row)).collect()
}

/// How what follows looks.
#[derive(Debug, Default)]
struct Style {
    /// Bold, underlined and the like, by their numbers.
    attributes: Vec<String>,
    foreground: Option<String>,
    background: Option<String>,
    underline: Option<String>,
    is_drawing: bool,
}

impl Style {
    /// The row with what it has from the one before.
    fn pass(&mut self, row: &[u8]) -> Vec<u8> {
        let mut out = self.begin();
        let mut rest = row;
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            match *first {
                DRAWS | WRITES => {
                    self.is_drawing = *first == DRAWS;
                    out.extend_from_slice(if self.is_drawing { b"\x1b(0" } else { b"\x1b(B" });
                }
                ESCAPE => {
                    if let Some(parameters) = style_in(after) {
                        self.take(parameters);
                    }
                    out.push(ESCAPE);
                }
                byte => out.push(byte),
            }
        }
        if self.is_drawing {
            out.extend_from_slice(b"\x1b(B");
        }
        out
    }

    /// Sequences from the plain style to this one.
    fn begin(&self) -> Vec<u8> {
        let colours = [&self.foreground, &self.background, &self.underline];
        let codes: Vec<&str> =
            self.attributes.iter().chain(colours.into_iter().flatten()).map(String::as_str).collect();
        let mut out = if codes.is_empty() { Vec::new() } else { format!("\x1b[0;{}m", codes.join(";")).into_bytes() };
        if self.is_drawing {
            out.extend_from_slice(b"\x1b(0");
        }
        out
    }

    fn take(&mut self, parameters: &str) {
        let mut parts = parameters.split(';');
        while let Some(part) = parts.next() {
            let code = part.split(':').next().unwrap_or_default();
            let number: u16 = code.parse().unwrap_or(0);
            match number {
                0 => *self = Self { is_drawing: self.is_drawing, ..Self::default() },
                38 | 48 | 58 => {
                    let mut colour = vec![part];
                    if !part.contains(':') {
                        // The kind, and then a number or three.
                        colour.extend(parts.next());
                        let more = if colour.last() == Some(&"2") { 3 } else { 1 };
                        colour.extend(parts.by_ref().take(more));
                    }
                    *self.colour(number) = Some(colour.join(";"));
                }
                39 | 49 | 59 => *self.colour(number) = None,
                30..=37 | 40..=47 | 90..=97 | 100..=107 => *self.colour(number) = Some(part.to_owned()),
                _ if self.attributes.iter().any(|known| known == part) => {}
                _ => self.attributes.push(part.to_owned()),
            }
        }
    }

    /// The colour that a number is about.
    fn colour(&mut self, number: u16) -> &mut Option<String> {
        match number {
            30..=39 | 90..=97 => &mut self.foreground,
            58 | 59 => &mut self.underline,
            _ => &mut self.background,
        }
    }
}

/// The parameters of a sequence that sets the style, by what comes after its escape.
fn style_in(after: &[u8]) -> Option<&str> {
    let parameters = after.strip_prefix(b"[")?;
    let end = parameters.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':'))?;
    (parameters[end] == b'm').then(|| str::from_utf8(&parameters[..end]).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart_text(rows: &[&str]) -> Vec<String> {
        let rows = apart(rows.iter().map(|row| row.as_bytes().to_vec()).collect());
        rows.into_iter().map(|row| String::from_utf8(row).unwrap()).collect()
    }

    // As tmux 3.3a says it.
    #[test]
    fn a_row_has_the_colours_of_the_one_before() {
        let rows = ["\x1b[31m\x1b[44mline1", "line2", "", "\x1b[39m\x1b[49mend", "plain"];
        let expected = [
            "\x1b[31m\x1b[44mline1",
            "\x1b[0;31;44mline2",
            "\x1b[0;31;44m",
            "\x1b[0;31;44m\x1b[39m\x1b[49mend",
            "plain",
        ];
        assert_eq!(apart_text(&rows), expected);
        let rows = ["\x1b[4:3mcurl\x1b[0;1;4m\x1b[39m\x1b[49m\x1b[58;2;255;0;0mul", "on", "\x1b[0mé", "end"];
        assert_eq!(apart_text(&rows)[1..], ["\x1b[0;1;4;58;2;255;0;0mon", "\x1b[0;1;4;58;2;255;0;0m\x1b[0mé", "end"]);
        let rows = ["\x1b[38;5;200m\x1b[48;2;1;2;3mx", "y\x1b[92m", "z", "\x1b[0m", "end"];
        let expected = ["\x1b[0;38;5;200;48;2;1;2;3my\x1b[92m", "\x1b[0;92;48;2;1;2;3mz"];
        assert_eq!(apart_text(&rows)[1..3], expected);
        assert_eq!(apart_text(&rows)[4], "end");
    }

    #[test]
    fn lines_are_drawn_and_what_follows_is_text() {
        let expected = ["\x1b(0qqq\x1b(B", "\x1b(0xxx\x1b(Bend", "text"];
        assert_eq!(apart_text(&["\x0eqqq", "xxx\x0fend", "text"]), expected);
    }

    #[test]
    fn what_is_no_style_stays_as_it_is() {
        for row in ["\x1b[", "\x1b[1", "\x1b[2K", "\x1b]8;;x\x1b\\", "\x1b[?1m", "\x1b"] {
            assert_eq!(apart_text(&[row, "next"]), [row, "next"]);
        }
        assert_eq!(apart_text(&["\x1b[38m", "\x1b[38;2;1m"])[1], "\x1b[0;38m\x1b[38;2;1m");
    }
}
