//! Verbs for boxes, one file each; all of them ask the daemon, which is started when there is none.

mod apply;
mod ask;
mod changes;
mod daemon;
mod diff;
mod discard;
#[cfg(target_os = "linux")]
mod image;
mod init;
mod paths;
mod piped;
mod progress;
mod rm;
mod serve;
mod shell;
mod trust;
mod up;
#[cfg(target_os = "linux")]
mod used;
#[cfg(target_os = "linux")]
mod volume;
mod which;

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use tonic::transport::Channel;
use tonic::{Response, Status, Streaming};

use crate::api::{ApiError, Code};
use crate::cli::words::plain;
use crate::client::daemon::{Boxes, Start, reach};
use crate::config;
use crate::proto::v1::boxes_client::BoxesClient;
use crate::proto::v1::{Box, ListBoxesRequest};

pub use apply::Apply;
pub use daemon::Daemons;
pub use diff::Diff;
pub use discard::Discard;
#[cfg(target_os = "linux")]
pub use image::Images;
pub use init::Init;
pub use rm::Rm;
pub use serve::Serve;
pub use shell::Shell;
pub use trust::Trust;
pub use up::Up;
#[cfg(target_os = "linux")]
pub use volume::Volumes;

/// The daemon, with refusals told as people read them: it is theirs, and needs no address before every word.
pub struct Daemon(Boxes);

impl Daemon {
    /// The one that runs, or a new one.
    pub async fn reach() -> anyhow::Result<Self> {
        Ok(Self(reach(Start::IfNeeded).await?))
    }

    /// The one that runs.
    pub async fn running() -> Option<Self> {
        reach(Start::Never).await.ok().map(Self)
    }

    /// Whether it keeps the boxes that are meant here.
    pub fn is_of_this_home(&self) -> bool {
        self.0.is_of_this_home()
    }

    pub fn calls(&self) -> BoxesClient<Channel> {
        self.0.calls()
    }

    /// The answer to a call that may wait for so long before it answers.
    pub async fn ask<T>(
        &self,
        wait: Duration,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> anyhow::Result<T> {
        // A refusal is told here with all its lines, and goes on as an answer.
        let told = async {
            match call.await {
                Err(status) if status.source().is_none() => Ok(Response::new(Err(status))),
                Err(status) => Err(status),
                Ok(answer) => Ok(Response::new(Ok(answer.into_inner()))),
            }
        };
        self.0.answer_after(wait, told).await?.map_err(|status| refusal(&status))
    }

    /// All boxes, sorted by name.
    pub async fn boxes(&self) -> anyhow::Result<Vec<Box>> {
        Ok(self.ask(AT_ONCE, self.calls().list_boxes(ListBoxesRequest {})).await?.boxes)
    }

    /// The next message of a stream; `None` when it is over.
    pub async fn next<T>(&self, messages: &mut Streaming<T>) -> anyhow::Result<Option<T>> {
        messages.message().await.map_err(|status| match status.source() {
            Some(_) => self.0.failure(&status).into(),
            None => refusal(&status),
        })
    }
}

/// The daemon said no.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    pub code: Code,
    message: String,
}

/// What the daemon says, line by line, and without what a terminal would obey: it quotes files of strangers.
fn refusal(status: &Status) -> anyhow::Error {
    let ApiError { code, message, .. } = ApiError::from_status(status);
    let message = message.lines().map(plain).collect::<Vec<_>>().join("\n");
    Refused { code, message }.into()
}

/// An error whose words hold its cause already, which would be told twice otherwise.
fn said(error: impl std::error::Error) -> anyhow::Error {
    anyhow::anyhow!(error.to_string())
}

/// Where boxes, images and volumes are kept.
fn coop_home() -> anyhow::Result<PathBuf> {
    config::coop_home().context("neither COOP_HOME nor HOME says where boxes are kept: set COOP_HOME to a whole path")
}

/// For calls that answer at once.
const AT_ONCE: Duration = Duration::ZERO;

/// A workspace may be large, and all of it is looked through.
const DIFF_WITHIN: Duration = Duration::from_secs(120);
