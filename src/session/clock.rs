//! Waiting for a moment that may never come.

use std::time::Instant;

/// Sleeps until then, or for ever.
pub async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
