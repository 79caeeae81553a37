//! What faces and calls tell each other beside the messages themselves.

use bytes::Bytes;
use serde::Serialize;

/// A message as one line of JSON; the line's end is for people with curl.
pub fn json_line<T: Serialize>(message: &T) -> serde_json::Result<Bytes> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line.into())
}

/// On a request: the answer will be sent as JSON, so one that is already encoded may stand in for the message.
#[derive(Clone, Copy, Debug)]
pub struct WantsJson;

/// On an answer: its JSON, made once for all who ask. The message beside it is empty.
#[derive(Clone, Debug)]
pub struct Encoded(pub Bytes);

/// On an answer: the bytes of its text, where that is asked for alone and is no UTF-8.
#[derive(Clone, Debug)]
pub struct ExactText(pub Bytes);

/// On an answer: the HTTP status, when it is not 200.
#[derive(Clone, Copy, Debug)]
pub struct HttpStatus(pub u16);

/// On a request: the caller has shown its token, or needs none.
#[derive(Clone, Copy, Debug)]
pub struct Trusted;
