//! UTF-8 across chunk borders: bytes in any portions become the same text.

/// Stands in for bytes that are no UTF-8.
const REPLACEMENT: &str = "\u{fffd}";

/// The longest character has four bytes, so an unfinished one has at most three.
const UNFINISHED_BYTES_MAX: usize = 3;

/// Decodes a stream of bytes, keeping an unfinished character until its next byte arrives.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The unfinished character's first bytes, and room for the byte that may finish it.
    held: [u8; UNFINISHED_BYTES_MAX + 1],
    held_len: usize,
}

impl Decoder {
    /// Hands `sink` the text in `bytes`, piece by piece, valid pieces uncopied. Invalid bytes are replaced as
    /// `String::from_utf8_lossy` would replace them in the whole stream.
    pub fn decode(&mut self, bytes: &[u8], mut sink: impl FnMut(&str)) {
        let mut rest = self.finish_held(bytes, &mut sink);
        while !rest.is_empty() {
            let error = match str::from_utf8(rest) {
                Ok(text) => return sink(text),
                Err(error) => error,
            };
            let (valid, after) = rest.split_at(error.valid_up_to());
            // Checking the valid part again is far cheaper than drawing it, and needs no unsafe code.
            if let Ok(text) = str::from_utf8(valid)
                && !text.is_empty()
            {
                sink(text);
            }
            match error.error_len() {
                Some(bad) => {
                    sink(REPLACEMENT);
                    rest = &after[bad..];
                }
                None => return self.hold(after),
            }
        }
    }

    /// The bytes of a character whose end has not arrived yet.
    pub fn held(&self) -> &[u8] {
        &self.held[..self.held_len]
    }

    fn hold(&mut self, unfinished: &[u8]) {
        self.held[..unfinished.len()].copy_from_slice(unfinished);
        self.held_len = unfinished.len();
    }

    /// Completes (or gives up) the held character with the first of `bytes`; returns the bytes not used.
    fn finish_held<'a>(&mut self, bytes: &'a [u8], sink: &mut impl FnMut(&str)) -> &'a [u8] {
        let mut rest = bytes;
        while self.held_len > 0
            && let Some((&next, after)) = rest.split_first()
        {
            self.held[self.held_len] = next;
            match str::from_utf8(&self.held[..=self.held_len]) {
                Ok(text) => {
                    sink(text);
                    self.held_len = 0;
                    rest = after;
                }
                Err(error) if error.error_len().is_none() => {
                    self.held_len += 1;
                    rest = after;
                }
                // The held bytes were a true beginning, so only `next` spoils them: it starts afresh.
                Err(_) => {
                    sink(REPLACEMENT);
                    self.held_len = 0;
                }
            }
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode_in_pieces(pieces: &[&[u8]]) -> (String, usize) {
        let (mut decoder, mut text) = (Decoder::default(), String::new());
        for piece in pieces {
            decoder.decode(piece, |t| text.push_str(t));
        }
        (text, decoder.held().len())
    }

    #[test]
    fn a_character_cut_by_a_chunk_border_stays_whole() {
        assert_eq!(decode_in_pieces(&[b"a\xe2", b"\x82", b"\xacb"]), ("a€b".to_owned(), 0));
        assert_eq!(decode_in_pieces(&[b"\xf0\x9f\x9a"]), (String::new(), 3));
    }

    #[test]
    fn valid_input_is_handed_on_in_one_uncopied_piece() {
        let input = "plain, 日本語, 🚀".as_bytes();
        let mut pieces = Vec::new();
        Decoder::default().decode(input, |t| pieces.push((t.as_ptr(), t.len())));
        assert_eq!(pieces, [(input.as_ptr(), input.len())]);
    }

    /// Bytes near the borders of UTF-8's rules, so that random input meets them often.
    fn tricky_bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            proptest::sample::select(&b"a\x1b\x80\x9f\xa0\xbf\xc2\xe0\xe2\xed\xef\xf0\xf4\xf5\xff"[..]),
            any::<u8>(),
        ];
        proptest::collection::vec(byte, 0..40)
    }

    proptest! {
        #[test]
        fn any_split_gives_the_text_of_the_whole(
            bytes in tricky_bytes(),
            cuts in proptest::collection::vec(1usize..6, 1..10),
        ) {
            let mut pieces = Vec::new();
            let mut rest = bytes.as_slice();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, after) = rest.split_at((*cut).min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            let (mut text, held) = decode_in_pieces(&pieces);
            if held > 0 {
                text.push_str(REPLACEMENT);
            }
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}
