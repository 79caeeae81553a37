//! Writing: text, bytes, keys, size, signals, and the lock around them.

use std::time::Duration;

use super::convert;
use super::error::ApiError;
use super::service::Service;
use crate::child::{Size, parse_signal};
use crate::proto::v1::{self, ReceiptPhase};
use crate::session::{LockId, Phase, Ticket, Write};

/// How long a receipt is waited for unless the caller says otherwise; callers themselves give up after 3 s.
const RECEIPT_TIMEOUT_MS: u32 = 2500;

/// The longest that a caller may ask for.
const RECEIPT_TIMEOUT_MS_MAX: u32 = 600_000;

/// A lock's lease unless the caller says otherwise, and the longest.
const LOCK_TTL_SECS: u32 = 30;
const LOCK_TTL_SECS_MAX: u32 = 300;

/// An input that was accepted, and how long its receipt is worth waiting for.
pub struct Accepted {
    ticket: Ticket,
    wait_for: Phase,
    timeout: Duration,
}

impl Accepted {
    fn new(ticket: Ticket, wait_for: Phase, timeout_ms: Option<u32>) -> Self {
        let ms = timeout_ms.unwrap_or(RECEIPT_TIMEOUT_MS).min(RECEIPT_TIMEOUT_MS_MAX);
        Self { ticket, wait_for, timeout: Duration::from_millis(ms.into()) }
    }

    /// The answer: when the phase is reached, or when it has taken too long.
    pub async fn response(mut self) -> v1::SendInputResponse {
        let reached = tokio::time::timeout(self.timeout, self.ticket.reached(&self.wait_for)).await;
        let receipt = reached.unwrap_or_else(|_| self.ticket.give_up());
        v1::SendInputResponse {
            bytes_written: self.ticket.bytes as u64,
            receipt: Some(convert::receipt(&receipt, None)),
        }
    }
}

impl Service {
    pub(super) async fn input(
        &self,
        request: v1::SendInputRequest,
        writer: Option<LockId>,
    ) -> Result<Accepted, ApiError> {
        let wait_for = match ReceiptPhase::try_from(request.wait_for) {
            Ok(ReceiptPhase::Unspecified | ReceiptPhase::Written) => Phase::Written,
            Ok(ReceiptPhase::Queued) => Phase::Queued,
            Ok(ReceiptPhase::Echoed) => Phase::Echoed,
            _ => return Err(ApiError::bad_request("wait_for: use queued, written or echoed")),
        };
        let write = Write::Text { text: request.text, enter: request.enter };
        let ticket = self.session.write(write, writer, convert::expect(request.expect)?).await?;
        Ok(Accepted::new(ticket, wait_for, request.timeout_ms))
    }

    pub(super) async fn raw(
        &self,
        request: v1::SendInputRawRequest,
        writer: Option<LockId>,
    ) -> Result<Accepted, ApiError> {
        let expect = convert::expect(request.expect)?;
        let ticket = self.session.write(Write::Raw(request.data), writer, expect).await?;
        Ok(Accepted::new(ticket, Phase::Written, request.timeout_ms))
    }

    pub(super) async fn keys(
        &self,
        request: v1::SendKeysRequest,
        writer: Option<LockId>,
    ) -> Result<Accepted, ApiError> {
        let expect = convert::expect(request.expect)?;
        let ticket = self.session.write(Write::Keys(request.keys), writer, expect).await?;
        Ok(Accepted::new(ticket, Phase::Written, request.timeout_ms))
    }

    pub(super) async fn resize_to(&self, request: v1::ResizeRequest) -> Result<v1::ResizeResponse, ApiError> {
        let size = Size::new(request.cols, request.rows).map_err(|error| ApiError::bad_request(error.to_string()))?;
        let size = self.session.resize(size).await?;
        Ok(v1::ResizeResponse { cols: size.cols().into(), rows: size.rows().into() })
    }

    pub(super) async fn signal(&self, request: &v1::SendSignalRequest) -> Result<v1::SendSignalResponse, ApiError> {
        let signal = parse_signal(&request.signal).map_err(|error| ApiError::bad_request(error.to_string()))?;
        self.session.signal(signal).await?;
        Ok(v1::SendSignalResponse { delivered: true })
    }

    pub(super) async fn acquire(&self, ttl_secs: Option<u32>, id: LockId) -> Result<v1::AcquireLockResponse, ApiError> {
        let secs = ttl_secs.unwrap_or(LOCK_TTL_SECS);
        if !(1..=LOCK_TTL_SECS_MAX).contains(&secs) {
            return Err(ApiError::bad_request(format!("ttl_secs {secs}: use 1 to {LOCK_TTL_SECS_MAX}")));
        }
        self.session.acquire(id.clone(), Duration::from_secs(secs.into())).await?;
        Ok(v1::AcquireLockResponse { lock_id: id.0, expires_in_ms: u64::from(secs) * 1000 })
    }
}
