//! Starts a program again that has ended, when the session says that it is to be.

use std::sync::Arc;
use std::time::Duration;

use super::service::Service;
use crate::proto::v1;
use crate::session::{Resume, Wants, epoch_ms};

/// Follows the session until it is over.
pub async fn keep(service: Arc<Service>) {
    let wants = Wants { output: false, screen: false, state: true, messages: false };
    let Ok(mut events) = service.session.subscribe_uncounted(wants, Resume::default()) else { return };
    loop {
        // Not by the event of an end: a program may have ended before anybody listened.
        if let Some(at) = service.session.vitals().restarts_at_ms {
            tokio::time::sleep(Duration::from_millis(at.saturating_sub(epoch_ms()))).await;
            // In the meantime somebody may have started it, or the session may be leaving.
            if service.session.vitals().restarts_at_ms != Some(at) {
                continue;
            }
            let request = v1::RestartRequest { resume: Some(true), ..Default::default() };
            match service.restart_child(request, false).await {
                Ok(_) => continue,
                Err(error) => tracing::warn!(%error, "the program could not be started again"),
            }
        }
        if events.next().await.is_none() {
            return;
        }
    }
}
