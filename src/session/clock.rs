//! Moments: the one that may never come, and the one on the calendar.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Now, in milliseconds since 1970.
pub fn epoch_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    u64::try_from(since).unwrap_or(u64::MAX)
}

/// Sleeps until then, or for ever.
pub async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
