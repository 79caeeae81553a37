//! Which header fields pass a proxy: all but those that speak of the connection, or to the proxy.

use hyper::HeaderMap;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

/// Fields that are about one connection, beside those which `Connection` names.
const OF_THE_CONNECTION: [HeaderName; 6] =
    [CONNECTION, HeaderName::from_static("keep-alive"), TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// Keeps what is for the far side. How long the body is, is said anew: by its length if that is known, else by chunks.
pub(super) fn clean_request(headers: &mut HeaderMap, body_bytes: Option<u64>) {
    let said = headers.contains_key(CONTENT_LENGTH);
    clean(headers);
    // hyper says "go on" itself, when the far connection takes the body.
    headers.remove(EXPECT);
    headers.remove(CONTENT_LENGTH);
    match body_bytes {
        Some(0) if !said => {}
        Some(bytes) => drop(headers.insert(CONTENT_LENGTH, bytes.into())),
        None => drop(headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"))),
    }
}

/// Keeps what is for the box. The length stays, because an answer to HEAD has one without a body.
pub(super) fn clean_response(headers: &mut HeaderMap) {
    if headers.contains_key(TRANSFER_ENCODING) {
        headers.remove(CONTENT_LENGTH);
    }
    let length = headers.get(CONTENT_LENGTH).cloned();
    clean(headers);
    if let Some(length) = length {
        headers.insert(CONTENT_LENGTH, length);
    }
}

fn clean(headers: &mut HeaderMap) {
    let words = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<HeaderName> =
        words.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok()).collect();
    let to_proxies = headers.keys().filter(|name| name.as_str().starts_with("proxy-")).cloned();
    for name in to_proxies.collect::<Vec<_>>().iter().chain(&named).chain(&OF_THE_CONNECTION) {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_request_keeps_its_own_fields_and_loses_those_of_the_connection() {
        let mut all = headers(&[
            ("accept", "*/*"),
            ("authorization", "Bearer x"),
            ("connection", "keep-alive, X-Hop ,content-length"),
            ("keep-alive", "300"),
            ("x-hop", "1"),
            ("proxy-authorization", "Basic x"),
            ("proxy-connection", "keep-alive"),
            ("te", "trailers"),
            ("upgrade", "websocket"),
            ("expect", "100-continue"),
            ("content-length", "4"),
        ]);
        clean_request(&mut all, Some(4));
        assert_eq!(all, headers(&[("accept", "*/*"), ("authorization", "Bearer x"), ("content-length", "4")]));
    }

    #[test]
    fn a_body_has_exactly_one_length() {
        let framed = |pairs: &[(&'static str, &'static str)], bytes| {
            let mut all = headers(pairs);
            clean_request(&mut all, bytes);
            all
        };
        assert_eq!(framed(&[("transfer-encoding", "chunked")], None), headers(&[("transfer-encoding", "chunked")]));
        let both = framed(&[("transfer-encoding", "chunked"), ("content-length", "9")], None);
        assert_eq!(both, headers(&[("transfer-encoding", "chunked")]));
        assert_eq!(framed(&[("content-length", "0")], Some(0)), headers(&[("content-length", "0")]));
        assert_eq!(framed(&[], Some(0)), headers(&[]));
    }

    #[test]
    fn an_answer_keeps_its_length_unless_it_comes_in_chunks() {
        let mut head = headers(&[("content-length", "9"), ("connection", "close, content-length")]);
        clean_response(&mut head);
        assert_eq!(head, headers(&[("content-length", "9")]));
        let mut both = headers(&[("content-length", "9"), ("transfer-encoding", "chunked")]);
        clean_response(&mut both);
        assert_eq!(both, headers(&[]));
    }
}
