//! What `coop hook` and `coop send` say to their coop over its private socket, and what they hear.
//!
//! ```text
//! frame     version (1 byte) · length of the header (4) · header (JSON) · length of the body (8) · body
//! question  {"kind":"event","event":"Stop","token":…}   the hook's payload, as the agent wrote it
//!           {"kind":"resolve_stop","token":…}           the signal
//! answer    {"act":"print"}                             what the hook prints
//! receipt   one byte, when it has printed that
//! ```
//! Numbers are big-endian. The version says which frames these are: a coop that was upgraded while a session runs may
//! have hooks of another one.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The frames that this file describes.
pub const VERSION: u8 = 1;

/// What a hook says when it has printed its answer, and its agent's end was open.
pub const PRINTED: u8 = b'.';

/// Bytes before the header: the version and the header's length.
pub const PREFIX_BYTES: usize = 5;

/// A header is a name and a token.
pub const HEADER_BYTES_MAX: usize = 16 * 1024;

/// Payloads carry what tools read and wrote. Agents cut those far below this; more is no payload.
pub const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The head of a question.
#[derive(Debug, Serialize, Deserialize)]
pub struct Question {
    /// Known only to the child, as every program inside could otherwise speak for it.
    pub token: String,
    #[serde(flatten)]
    pub kind: Kind,
}

/// What is asked.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// An event of the agent; the body is its payload.
    Event {
        event: String,
        /// The payload was larger than [`BODY_BYTES_MAX`] and has been left out.
        #[serde(default)]
        truncated: bool,
    },
    /// The signal that opens the stop gate; the body is the signal.
    ResolveStop,
}

/// The head of an answer.
#[derive(Debug, Serialize, Deserialize)]
struct AnswerHead {
    act: Act,
}

/// What the asker does with the answer's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Print it.
    Print,
    /// Let a shell run it, and print what that prints.
    Run,
    /// The same, printed as JSON that hands it to the model.
    RunForContext,
    /// The signal was taken.
    Accept,
    /// The signal was not taken; the body says why, a line for each reason.
    Refuse,
}

/// What a question is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub act: Act,
    pub body: Vec<u8>,
}

impl Answer {
    /// Everything before the body.
    pub fn head(&self) -> io::Result<Vec<u8>> {
        head(&AnswerHead { act: self.act }, self.body.len())
    }

    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        let (AnswerHead { act }, body) = read(from)?;
        Ok(Self { act, body })
    }
}

/// Everything before the body of a frame.
pub fn head(header: &impl Serialize, body_bytes: usize) -> io::Result<Vec<u8>> {
    let header = serde_json::to_vec(header)?;
    if header.len() > HEADER_BYTES_MAX || body_bytes > BODY_BYTES_MAX {
        return Err(too_large());
    }
    let mut head = Vec::with_capacity(PREFIX_BYTES + header.len() + size_of::<u64>());
    head.push(VERSION);
    head.extend(u32::try_from(header.len()).map_err(|_| too_large())?.to_be_bytes());
    head.extend(header);
    head.extend((body_bytes as u64).to_be_bytes());
    Ok(head)
}

/// How long the header is that follows this prefix.
pub fn header_bytes(prefix: [u8; PREFIX_BYTES]) -> io::Result<usize> {
    let [version, a, b, c, d] = prefix;
    if version != VERSION {
        return Err(malformed(format!("frames of version {version}, while this coop speaks version {VERSION}")));
    }
    let bytes = u32::from_be_bytes([a, b, c, d]) as usize;
    if bytes > HEADER_BYTES_MAX { Err(too_large()) } else { Ok(bytes) }
}

/// How long the body is, from the number before it.
pub fn body_bytes(number: [u8; 8]) -> io::Result<usize> {
    let bytes = usize::try_from(u64::from_be_bytes(number)).map_err(|_| too_large())?;
    if bytes > BODY_BYTES_MAX { Err(too_large()) } else { Ok(bytes) }
}

/// Reads a header's JSON.
pub fn parse_header<H: DeserializeOwned>(header: &[u8]) -> io::Result<H> {
    serde_json::from_slice(header).map_err(|error| malformed(format!("a header that cannot be read: {error}")))
}

/// Writes a frame.
pub fn write(to: &mut impl Write, header: &impl Serialize, body: &[u8]) -> io::Result<()> {
    to.write_all(&head(header, body.len())?)?;
    to.write_all(body)
}

/// Reads a frame. Memory grows with what really comes, whatever length is announced.
pub fn read<H: DeserializeOwned>(from: &mut impl Read) -> io::Result<(H, Vec<u8>)> {
    let mut prefix = [0; PREFIX_BYTES];
    from.read_exact(&mut prefix)?;
    let mut header = vec![0; header_bytes(prefix)?];
    from.read_exact(&mut header)?;
    let mut number = [0; 8];
    from.read_exact(&mut number)?;
    let expected = body_bytes(number)?;
    let mut body = Vec::new();
    from.take(expected as u64).read_to_end(&mut body)?;
    if body.len() < expected {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((parse_header(&header)?, body))
}

fn malformed(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn too_large() -> io::Error {
    malformed("a frame that is larger than any may be".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(header: &impl Serialize, body: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        write(&mut frame, header, body).unwrap();
        frame
    }

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        let kind = Kind::Event { event: "Stop".into(), truncated: false };
        let bytes = frame(&Question { token: "t".into(), kind }, b"{\0}");
        let (question, body): (Question, _) = read(&mut &bytes[..]).unwrap();
        assert_eq!(question.kind, Kind::Event { event: "Stop".into(), truncated: false });
        assert_eq!((question.token.as_str(), body.as_slice()), ("t", &b"{\0}"[..]));
        let answer = Answer { act: Act::Run, body: b"echo".to_vec() };
        let bytes = [answer.head().unwrap(), answer.body.clone()].concat();
        assert_eq!(Answer::read(&mut &bytes[..]).unwrap(), answer);
    }

    #[test]
    fn a_frame_that_is_cut_anywhere_is_an_error() {
        let whole = frame(&Question { token: String::new(), kind: Kind::ResolveStop }, b"body");
        for end in 0..whole.len() {
            assert!(read::<Question>(&mut &whole[..end]).is_err(), "{end}");
        }
        assert!(read::<Question>(&mut &whole[..]).is_ok());
    }

    #[test]
    fn strange_versions_and_sizes_are_refused_before_anything_is_held() {
        let wrong = |change: fn(&mut Vec<u8>)| {
            let mut bytes = frame(&Question { token: String::new(), kind: Kind::ResolveStop }, b"");
            change(&mut bytes);
            read::<Question>(&mut &bytes[..]).unwrap_err().to_string()
        };
        assert!(wrong(|bytes| bytes[0] = 9).contains("version 9"));
        assert!(wrong(|bytes| bytes[1] = 255).contains("larger"));
        assert!(wrong(|bytes| bytes[PREFIX_BYTES] = b'!').contains("header"));
        let huge = |bytes: &mut Vec<u8>| {
            let at = bytes.len() - 8;
            bytes[at] = 255;
        };
        assert!(wrong(huge).contains("larger"));
        assert!(head(&"", BODY_BYTES_MAX + 1).is_err());
    }
}
