//! What faces and calls tell each other beside the messages themselves.

use bytes::Bytes;

/// On a request: the answer will be sent as JSON, so one that is already encoded may stand in for the message.
#[derive(Clone, Copy, Debug)]
pub struct WantsJson;

/// On an answer: its JSON, made once for all who ask. The message beside it is empty.
#[derive(Clone, Debug)]
pub struct Encoded(pub Bytes);


/// On an answer: the HTTP status, when it is not 200.
#[derive(Clone, Copy, Debug)]
pub struct HttpStatus(pub u16);

/// On a request: the caller has shown its token, or needs none.
#[derive(Clone, Copy, Debug)]
pub struct Trusted;
