//! Starts a program again that has ended, when the session says that it is to be.

use std::sync::Arc;
use std::time::Duration;

use super::service::Service;
use crate::proto::v1;
use crate::session::{Event, Item, Resume, Wants, epoch_ms};

/// Follows the session until it is over.
pub async fn keep(service: Arc<Service>) {
    let wants = Wants { output: false, screen: false, state: true, messages: false };
    let Ok(mut events) = service.session.subscribe_uncounted(wants, Resume::default()) else { return };
    while let Some(item) = events.next().await {
        let Item::Event(entry) = item else { continue };
        if !matches!(entry.event, Event::Ended { .. }) {
            continue;
        }
        let due = service.session.vitals().restarts_at_ms;
        let Some(at) = due else { continue };
        tokio::time::sleep(Duration::from_millis(at.saturating_sub(epoch_ms()))).await;
        // In the meantime somebody may have started it, or the session may be leaving.
        if service.session.vitals().restarts_at_ms == due {
            let request = v1::RestartRequest { resume: Some(true), ..Default::default() };
            if let Err(error) = service.restart_child(request, false).await {
                tracing::warn!(%error, "the program could not be started again");
            }
        }
    }
}
