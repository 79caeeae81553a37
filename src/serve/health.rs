//! grpc.health.v1, kept in step with the child's life.

use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

use crate::api::Api;
use crate::session::{Life, Resume, Session, Wants};

/// Follows the session until it ends: serving while the child runs. coop as a whole (the empty name) always serves.
pub async fn follow_life(session: Session, reporter: HealthReporter) {
    let name = <crate::proto::v1::coop_server::CoopServer<Api> as tonic::server::NamedService>::NAME;
    // Only starts and ends matter, and every reader gets these.
    let wants = Wants { output: false, screen: false, state: true, messages: false };
    let Ok(mut events) = session.subscribe_uncounted(wants, Resume::default()) else { return };
    loop {
        let status = match session.vitals().life {
            Life::Running { .. } => ServingStatus::Serving,
            _ => ServingStatus::NotServing,
        };
        reporter.set_service_status(name, status).await;
        if events.next().await.is_none() {
            return reporter.set_service_status("", ServingStatus::NotServing).await;
        }
    }
}
