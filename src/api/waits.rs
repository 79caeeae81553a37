//! Waiting until something is true.

use std::time::{Duration, Instant};

use super::convert;
use super::error::ApiError;
use super::service::Service;
use crate::proto::v1;
use crate::session::Life;

/// How long is waited unless the caller says otherwise, and the longest.
const WAIT_MS: u32 = 30_000;
const WAIT_MS_MAX: u32 = 600_000;

/// Why something did not come true.
const TIMEOUT: &str = "timeout";
pub const EXITED: &str = "exited";

impl Service {
    pub(super) async fn wait_until(&self, request: &v1::WaitRequest) -> Result<v1::WaitResponse, ApiError> {
        let conditions = convert::conditions(request)?;
        let timeout_ms = request.timeout_ms.unwrap_or(WAIT_MS);
        if timeout_ms > WAIT_MS_MAX {
            return Err(ApiError::bad_request(format!("timeout_ms {timeout_ms}: at most {WAIT_MS_MAX}")));
        }
        let begun = Instant::now();
        let met = tokio::time::timeout(Duration::from_millis(timeout_ms.into()), self.session.wait(conditions)).await;
        let reason = match &met {
            Err(_) => Some(TIMEOUT),
            Ok(Ok(None)) => Some(EXITED),
            Ok(_) => None,
        };
        let met = met.ok().transpose()?.flatten();
        let vitals = self.session.vitals();
        let exit = match &vitals.life {
            Life::Exited(ended) => Some(convert::exit_event(ended, vitals.state_since)),
            _ => None,
        };
        let (_, end) = self.session.output_bounds();
        Ok(v1::WaitResponse {
            matched: met.is_some(),
            condition: met.as_ref().map(|met| met.condition.to_owned()),
            seq: met.as_ref().map_or(self.session.seq(), |met| met.seq).0,
            state: v1::AgentStateKind::from(met.as_ref().map_or(vitals.state.kind(), |met| met.state)).into(),
            offset: met.as_ref().map_or(end, |met| met.offset).0,
            elapsed_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            line: met.and_then(|met| met.line),
            exit,
            reason: reason.map(str::to_owned),
        })
    }
}
