//! Promises of the room as a whole, and the terminals and streams its tests share.

mod keys;
mod promises;
mod properties;
mod replies;

use super::{Fed, Seq, Terminal};
use crate::child::Size;
use proptest::prelude::*;

fn terminal(cols: u32, rows: u32) -> Terminal {
    Terminal::new(size(cols, rows), 100)
}

fn size(cols: u32, rows: u32) -> Size {
    Size::new(cols, rows).expect("the tests use possible sizes")
}

/// A terminal of 20 by 4 that was fed `input`, and what came of it.
fn fed(input: &str) -> (Terminal, Fed) {
    let mut terminal = terminal(20, 4);
    let fed = terminal.feed(input.as_bytes(), Seq(1));
    (terminal, fed)
}

fn sizes() -> impl Strategy<Value = Size> {
    proptest::sample::select(vec![(1, 1), (2, 1), (1, 3), (2, 2), (5, 3), (10, 5), (80, 24)])
        .prop_map(|(cols, rows)| size(cols, rows))
}

/// Output as rude as it gets: text of all widths, sequences with odd parameters, noise.
fn output() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(piece(), 0..12).prop_map(|pieces| pieces.concat())
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let bytes = |text: String| text.into_bytes();
    let param = || proptest::sample::select(vec!["", "0", "1", "2", "3", "7", "999", "65535", "99999999"]);
    let action = proptest::sample::select("@ABCDEFGHIJKLMPSTWXZ`abcdefghlmnrstu".chars().collect::<Vec<_>>());
    let mode = || proptest::sample::select(vec![1, 6, 7, 25, 47, 1000, 1003, 1004, 1006, 1048, 1049, 2004, 2026]);
    let short = proptest::sample::select(vec![
        "\x1b7",
        "\x1b8",
        "\x1bc",
        "\x1b#8",
        "\x1bM",
        "\x1bD",
        "\x1bE",
        "\x1bH",
        "\x1b(0",
        "\x1b(B",
        "\x1b)0",
        "\x0e",
        "\x0f",
        "\x1b[!p",
        "\x1b[4h",
        "\x1b[4l",
        "\x1b[20h",
        "\x1b=",
        "\x1b>",
        "\x1b[>1u",
        "\x1b[<u",
        "\x1b[=3u",
        "\x1b[>4;2m",
        "\x1b[3 q",
        "\x1b[6n",
        "\x1b[?6n",
        "\x1b[c",
        "\x1b[>c",
        "\x1b[>q",
        "\x1b[?2004$p",
        "\x1b]11;?\x07",
        "\x1b]2;a;日\x1b\\",
        "\x1b]9;4;1;50\x07",
        "\x1bP+q\u{9c}",
        "\x1b_x",
        "\x1b[22t",
        "\x1b[23t",
        "\x07",
        "\r\n",
        "\t",
    ]);
    let text = proptest::sample::select(vec![
        "plain text",
        "日本語",
        "🚀",
        "e\u{301}",
        "\u{200d}\u{fe0f}",
        "«·»",
        "\u{85}",
        "\u{9b}2J",
        "\u{9d}0;t\u{9c}",
        "\x7f",
    ]);
    prop_oneof![
        3 => (param(), param(), action).prop_map(move |(a, b, action)| bytes(format!("\x1b[{a};{b}{action}"))),
        2 => (mode(), mode(), any::<bool>())
            .prop_map(move |(a, b, on)| bytes(format!("\x1b[?{a};{b}{}", if on { 'h' } else { 'l' }))),
        3 => short.prop_map(|text| text.as_bytes().to_vec()),
        2 => text.prop_map(|text| text.as_bytes().to_vec()),
        1 => "[ -~]{0,30}".prop_map(bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..12),
    ]
}

/// Cuts `bytes` into portions of the given sizes, over and over.
fn portions<'a>(bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut portions = Vec::new();
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (portion, after) = rest.split_at((*size).min(rest.len()));
        portions.push(portion);
        rest = after;
    }
    portions
}
