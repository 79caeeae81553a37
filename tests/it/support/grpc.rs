//! gRPC over TCP and over Unix sockets.

use coop::proto::v1::coop_client::CoopClient;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic_types::StatusExt;

use super::place::{Address, Place};

/// Large enough for 16 MiB of input and its frame.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

impl Place {
    pub async fn channel(&self) -> Channel {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.host())).unwrap();
        let connected = match &self.address {
            Address::Tcp(_) => self.within("a gRPC channel", endpoint.connect()).await,
            Address::Unix(path) => {
                let path = path.clone();
                let connector = tower::service_fn(move |_: Uri| {
                    let path = path.clone();
                    async move { UnixStream::connect(path).await.map(TokioIo::new) }
                });
                self.within("a gRPC channel", endpoint.connect_with_connector(connector)).await
            }
        };
        connected.unwrap()
    }

    pub async fn grpc(&self) -> CoopClient<Channel> {
        CoopClient::new(self.channel().await).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }
}

/// The gRPC code, and the reason and domain of the details.
pub fn reason_of(status: &tonic::Status) -> (tonic::Code, String, String) {
    let info = status.get_details_error_info().unwrap_or_else(|| panic!("no ErrorInfo in {status:?}"));
    (status.code(), info.reason, info.domain)
}
