//! A terminal's own answers to queries among what was typed at it.

/// What was typed without the answers; for a terminal whose answers are not wanted, because another one gave them.
pub fn without_replies(typed: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(typed.len());
    let mut rest = typed;
    while let Some((first, after)) = rest.split_first() {
        match reply_len(rest) {
            Some(len) => rest = &rest[len..],
            None => {
                kept.push(*first);
                rest = after;
            }
        }
    }
    kept
}

/// Whether somebody has done something: answers, and that the window was entered or left, are told by the terminal itself.
pub fn is_somebodys(typed: &[u8]) -> bool {
    let mut rest = without_replies(typed);
    while let [b'\x1b', b'[', b'I' | b'O', ..] = rest[..] {
        rest.drain(..3);
    }
    !rest.is_empty()
}

/// How long the answer is that `bytes` begins with.
fn reply_len(bytes: &[u8]) -> Option<usize> {
    match bytes.get(..2)? {
        b"\x1b[" => csi_len(bytes),
        // No key sends an OSC, a DCS or an APC that ends properly.
        b"\x1b]" | b"\x1bP" | b"\x1b_" => string_len(bytes),
        _ => None,
    }
}

fn csi_len(bytes: &[u8]) -> Option<usize> {
    let body = &bytes[2..];
    let end = body.iter().position(|byte| (b'@'..=b'~').contains(byte))?;
    let (params, action) = (&body[..end], body[end]);
    if !params.iter().all(|byte| (b' '..=b'?').contains(byte)) {
        return None;
    }
    let is_reply = match (params.first(), action) {
        // DA1, DA2, DA3.
        (Some(b'?' | b'>' | b'='), b'c') => true,
        // Where the cursor is; `1;2` to `1;8` is F3 with shift, alt or ctrl.
        (Some(b'?'), b'R') => true,
        (Some(_), b'R') => !matches!(params, [b'1', b';', b'2'..=b'8']),
        // Status, modes, kitty's keyboard flags, sizes.
        (Some(_), b'n' | b't') => true,
        (Some(b'?'), b'u') => true,
        (Some(_), b'y') => params.contains(&b'$'),
        _ => false,
    };
    is_reply.then_some(2 + end + 1)
}

fn string_len(bytes: &[u8]) -> Option<usize> {
    let end = bytes[2..].iter().position(|byte| matches!(byte, b'\x07' | b'\x1b'))? + 2;
    match bytes[end..] {
        [b'\x07', ..] => Some(end + 1),
        [b'\x1b', b'\\', ..] => Some(end + 2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(typed: &str) -> String {
        String::from_utf8(without_replies(typed.as_bytes())).unwrap()
    }

    #[test]
    fn a_window_that_is_entered_or_left_has_done_nothing() {
        for typed in ["\x1b[I", "\x1b[O", "\x1b[O\x1b[I", "\x1b[I\x1b[24;80R", ""] {
            assert!(!is_somebodys(typed.as_bytes()), "{typed:?}");
        }
        for typed in ["a", "\x1b[Ia", "\x1b[A", "\x1bOA", "\x1b", "\x1b[<0;1;2M"] {
            assert!(is_somebodys(typed.as_bytes()), "{typed:?}");
        }
    }

    #[test]
    fn answers_go_and_keys_stay() {
        let answers = "\x1b[?62;22c\x1b[>0;276;0c\x1b[24;80R\x1b[?1;1R\x1b[0n\x1b[?2026;2$y\x1b[?0u\x1b[8;24;80t\
                       \x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1b]10;rgb:0/0/0\x07\x1bP>|xterm(1)\x1b\\";
        assert_eq!(kept(&format!("a{answers}b")), "ab");
        let keys = "\x1b[A\x1bOA\x1b[1;2R\x1b[15~\x1b[93;5u\x1b[<0;1;2M\x1b[200~p\x1b[201~\x1b]x\x1b[I\x1b é\x1b";
        assert_eq!(kept(keys), keys);
    }
}
