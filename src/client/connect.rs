//! The generated calls, on a connection to a session.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Response, Status};
use tower::service_fn;

use super::{Credentials, Failure, Target};
use crate::proto::v1::coop_client::CoopClient;

/// A machine that does not answer a connection for so long is not there.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Calls are answered at once, or when what they wait for has come; this is for a session that hangs.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// How often a lasting connection is felt for, and how long an answer to that may take.
const PULSE_EVERY: Duration = Duration::from_secs(5);
const PULSE_WITHIN: Duration = Duration::from_secs(5);

/// The largest answer: a page of output or a large screen with its scrollback, and room to grow.
pub(super) const ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The calls of coop.v1.
pub type Calls = CoopClient<InterceptedService<Channel, Credentials>>;

/// A connection to one session.
#[derive(Clone, Debug)]
pub struct Client {
    calls: Calls,
    target: Target,
    is_one_of_several: bool,
}

/// Connects at once, so that a session that is not there is told as such.
pub async fn connect(target: Target, credentials: Credentials) -> Result<Client, Failure> {
    connect_by(target, credentials, |endpoint| endpoint).await
}

/// A connection for somebody who watches: one that goes silent is found out, also while nothing is said.
pub async fn connect_lasting(target: Target, credentials: Credentials) -> Result<Client, Failure> {
    let pulse = |endpoint: Endpoint| {
        endpoint.http2_keep_alive_interval(PULSE_EVERY).keep_alive_timeout(PULSE_WITHIN).keep_alive_while_idle(true)
    };
    connect_by(target, credentials, pulse).await
}

async fn connect_by(
    target: Target,
    credentials: Credentials,
    prepare: impl Fn(Endpoint) -> Endpoint,
) -> Result<Client, Failure> {
    let channel = match &target {
        Target::Url(uri) => prepare(Endpoint::from(uri.clone())).connect_timeout(CONNECT_WITHIN).connect().await,
        Target::Socket(path) => {
            let path = path.clone();
            let connector = service_fn(move |_: Uri| open(path.clone()));
            // The name goes into the Host header, which must be one that a session knows itself by.
            let endpoint = prepare(Endpoint::from_static("http://localhost")).connect_timeout(CONNECT_WITHIN);
            endpoint.connect_with_connector(connector).await
        }
    };
    let channel = channel.map_err(|error| Failure::unreachable(&target, &error))?;
    let calls =
        CoopClient::with_interceptor(channel, credentials.at(&target)).max_decoding_message_size(ANSWER_BYTES_MAX);
    Ok(Client { calls, target, is_one_of_several: false })
}

/// A channel to a socket, for calls of any service.
pub(super) async fn channel_at(path: PathBuf) -> Result<Channel, tonic::transport::Error> {
    let connector = service_fn(move |_: Uri| open(path.clone()));
    // The name goes into the Host header, which must be one that a session knows itself by.
    let endpoint = Endpoint::from_static("http://localhost").connect_timeout(CONNECT_WITHIN);
    endpoint.connect_with_connector(connector).await
}

async fn open(path: PathBuf) -> io::Result<TokioIo<UnixStream>> {
    UnixStream::connect(path).await.map(TokioIo::new)
}

impl Client {
    /// Names the session in what it refuses, if another one could have been meant.
    pub fn among_several(self, is_one_of_several: bool) -> Self {
        Self { is_one_of_several, ..self }
    }

    /// The calls themselves; cheap to make.
    pub fn calls(&self) -> Calls {
        self.calls.clone()
    }

    /// The answer to a call that answers at once.
    pub async fn answer<T>(&self, call: impl Future<Output = Result<Response<T>, Status>>) -> Result<T, Failure> {
        self.answer_after(Duration::ZERO, call).await
    }

    /// The answer to a call that may wait for so long before it answers.
    pub async fn answer_after<T>(
        &self,
        wait: Duration,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, Failure> {
        match tokio::time::timeout(wait + ANSWER_WITHIN, call).await {
            Ok(answer) => answer.map(Response::into_inner).map_err(|status| self.failure(&status)),
            Err(_) => Err(Failure::Silent { target: self.target.to_string(), within: wait + ANSWER_WITHIN }),
        }
    }

    /// A refusal in words.
    pub fn failure(&self, status: &Status) -> Failure {
        Failure::of_status(&self.target, self.is_one_of_several, status)
    }
}
