//! Request bodies: read within bounds of size and time, and turned into messages.

use std::any::{Any, TypeId};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use crate::api::{ApiError, Code};
use crate::proto::v1::SendInputRawRequest;

/// How long a body may take to arrive; a slow sender must not hold its place for ever.
const BODY_WITHIN: Duration = Duration::from_secs(30);

/// The whole body, if it is small and quick enough.
pub async fn read(body: Body, bytes_max: usize) -> Result<Bytes, ApiError> {
    let collected = tokio::time::timeout(BODY_WITHIN, Limited::new(body, bytes_max).collect()).await;
    match collected {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(ApiError::new(Code::TooLarge, format!("the body is larger than {bytes_max} bytes")))
        }
        Ok(Err(error)) => Err(ApiError::bad_request(format!("the body could not be read: {error}"))),
        Err(_) => Err(ApiError::bad_request(format!("the body took longer than {} s", BODY_WITHIN.as_secs()))),
    }
}

/// A JSON object as a message; an empty body is an empty object.
pub fn from_json<T: DeserializeOwned + 'static>(body: &[u8]) -> Result<T, ApiError> {
    let body = if body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { body };
    let mut json = serde_json::Deserializer::from_slice(body);
    let message = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let what = explain(error.path(), error.inner());
        if error.inner().is_data() {
            return ApiError::bad_request(what);
        }
        let hint = if takes_octets::<T>() {
            "; send {\"data\":\"BASE64\"}, or the bytes themselves as Content-Type: application/octet-stream"
        } else {
            ""
        };
        ApiError::bad_request(format!("the body is not JSON: {}{hint}", error.inner()))
    })?;
    json.end().map_err(|error| ApiError::bad_request(format!("after the object: {error}")))?;
    Ok(message)
}

/// Whether a call takes bytes as they are.
fn takes_octets<T: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<SendInputRawRequest>()
}

/// Bytes that stand for themselves, where a call takes such.
pub fn from_octets<T: 'static>(body: Bytes) -> Option<T> {
    let message: Box<dyn Any> = Box::new(SendInputRawRequest { data: body, ..Default::default() });
    message.downcast::<T>().ok().map(|message| *message)
}

/// An error with the path of the field that it is about.
pub fn explain(path: &serde_path_to_error::Path, error: &dyn std::fmt::Display) -> String {
    let (path, error) = (path.to_string(), error.to_string());
    // serde calls a message by the name of its type; for the caller it is an object.
    let error = error.replace("struct coop.v1.", "an object: ");
    if path == "." || error.contains(&format!("field `{path}`")) { error } else { format!("{path}: {error}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::{ResizeRequest, SendInputRequest};

    fn error<T: DeserializeOwned + std::fmt::Debug + 'static>(json: &str) -> String {
        from_json::<T>(json.as_bytes()).unwrap_err().message
    }

    #[test]
    fn a_body_may_be_empty_and_null_is_absent() {
        assert_eq!(from_json::<SendInputRequest>(b"").unwrap(), SendInputRequest::default());
        let all_null = br#"{"text":null,"enter":null,"expect":null,"wait_for":null,"timeout_ms":null}"#;
        assert_eq!(from_json::<SendInputRequest>(all_null).unwrap(), SendInputRequest::default());
    }

    #[test]
    fn both_spellings_and_numeric_texts_are_read() {
        let request: SendInputRequest = from_json(br#"{"timeoutMs":"5","expect":{"screenSeq":7}}"#).unwrap();
        assert_eq!((request.timeout_ms, request.expect.unwrap().screen_seq), (Some(5), Some(7)));
    }

    #[test]
    fn an_error_names_the_field_and_what_was_expected() {
        assert_eq!(
            error::<ResizeRequest>(r#"{"colums":3}"#),
            "unknown field `colums`, expected `cols` or `rows` at line 1 column 9"
        );
        assert!(
            error::<ResizeRequest>(r#"{"cols":"x"}"#)
                .starts_with("cols: invalid value: string \"x\", expected a number (u32)")
        );
        let nested = error::<SendInputRequest>(r#"{"text":"a","expect":{"screen_seq":-1}}"#);
        assert!(nested.starts_with("expect.screen_seq: "), "{nested}");
        assert!(
            error::<SendInputRequest>(r#"{"text":1}"#)
                .starts_with("text: invalid type: integer `1`, expected a string")
        );
        assert!(error::<ResizeRequest>("[]").contains("expected an object"), "{}", error::<ResizeRequest>("[]"));
        assert!(error::<ResizeRequest>("{} x").starts_with("after the object"));
        assert!(error::<ResizeRequest>("{").starts_with("the body is not JSON: EOF"));
        assert!(error::<SendInputRawRequest>("hello").contains("application/octet-stream"));
    }
}
