//! What the proxy says itself: refusals and failures, in words for the one who reads them in an agent's output.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::ext::ReasonPhrase;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use super::dial::NoWay;
use super::host::{self, BadHost, Host};
use super::policy::Why;

/// Says that an answer is the proxy's own and not the far side's (RFC 9209).
const PROXY_STATUS: HeaderName = HeaderName::from_static("proxy-status");

/// How much of a body is read before a refusal, and for how long: a client that is still sending when the connection
/// closes would not see why.
const UNWANTED_BYTES_MAX: usize = 1024 * 1024;
const UNWANTED_WITHIN: Duration = Duration::from_secs(5);

pub(super) type Text = Full<Bytes>;

/// An answer of the proxy's own.
#[derive(Debug)]
pub(super) struct Answer {
    status: StatusCode,
    /// The word of RFC 9209.
    error: &'static str,
    /// Many programs show the status line and nothing else, so the reason is there too.
    reason: String,
    text: String,
    closing: bool,
}

impl Answer {
    fn new(status: StatusCode, error: &'static str, reason: String, more: &str) -> Self {
        let text = if more.is_empty() { format!("coop: {reason}\n") } else { format!("coop: {reason}\n\n{more}") };
        Self { status, error, reason, text, closing: false }
    }

    /// The connection is not used again.
    pub fn closing(mut self) -> Self {
        self.closing = true;
        self
    }

    pub fn into_response(self) -> Response<Text> {
        let mut response = Response::new(Text::from(self.text));
        *response.status_mut() = self.status;
        if let Ok(reason) = ReasonPhrase::try_from(self.reason.into_bytes()) {
            response.extensions_mut().insert(reason);
        }
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        if let Ok(status) = HeaderValue::from_str(&format!("coop; error={}", self.error)) {
            headers.insert(PROXY_STATUS, status);
        }
        if self.closing {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

pub(super) fn bad_request(text: &str) -> Answer {
    Answer::new(StatusCode::BAD_REQUEST, "http_request_error", text.to_owned(), "")
}

pub(super) fn bad_host(asked: &str, wrong: &BadHost) -> Answer {
    bad_request(&format!("{:?} is no host: {wrong}", asked.chars().take(SHOWN_CHARS_MAX).collect::<String>()))
}

/// How much of what is no host an answer repeats.
const SHOWN_CHARS_MAX: usize = 120;

/// Why there is no connection.
pub(super) fn no_way(host: &Host, port: u16, no_way: &NoWay) -> Answer {
    let (status, error) = match no_way {
        NoWay::Denied(Why::Address { .. }) => (StatusCode::FORBIDDEN, "destination_ip_prohibited"),
        NoWay::Denied(_) => (StatusCode::FORBIDDEN, "http_request_denied"),
        NoWay::Unknown(_) => (StatusCode::BAD_GATEWAY, "dns_error"),
        NoWay::Failed(_) => (StatusCode::BAD_GATEWAY, "destination_unavailable"),
        NoWay::Silent => (StatusCode::GATEWAY_TIMEOUT, "connection_timeout"),
    };
    let more = match no_way {
        NoWay::Denied(why) => why.way_out(host, port),
        _ => String::new(),
    };
    Answer::new(status, error, format!("{} {no_way}", host::show(host, port)), &more)
}

/// The far side was reached and then did not do what a server does.
pub(super) fn bad_gateway(host: &Host, port: u16, what: &str) -> Answer {
    let reason = format!("{} {what}", host::show(host, port));
    Answer::new(StatusCode::BAD_GATEWAY, "http_protocol_error", reason, "")
}

pub(super) fn broken(host: &Host, port: u16, error: &hyper::Error) -> Answer {
    // hyper's user is the one who brings the body.
    if error.is_user() {
        return bad_request("the body of the request is broken.").closing();
    }
    bad_gateway(host, port, &format!("broke off: {error}"))
}

/// The answer to a request whose body nobody wants, when that has been read as far as is reasonable. One who waits to be
/// told to go on is not told.
pub(super) async fn after(answer: Answer, mut body: Incoming, patient: bool) -> Answer {
    if patient {
        return answer.closing();
    }
    let reading = async {
        let mut bytes = 0;
        while let Some(Ok(frame)) = body.frame().await {
            bytes += frame.data_ref().map_or(0, Bytes::len);
            if bytes > UNWANTED_BYTES_MAX {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(UNWANTED_WITHIN, reading).await;
    answer
}
