//! Every call of the contract, as a table that the build makes from the descriptors.

use super::access::Access;

/// One call.
#[derive(Debug)]
pub struct Rpc {
    /// Its gRPC path.
    pub path: &'static str,
    pub access: Access,
    /// The largest HTTP body that it takes.
    pub body_bytes_max: usize,
}

impl Rpc {
    /// Whether it is a call of this service.
    pub fn is_of(&self, service: &str) -> bool {
        let name = self.path.trim_start_matches('/').split('/').next().unwrap_or_default();
        name.rsplit('.').next() == Some(service)
    }
}

include!(concat!(env!("OUT_DIR"), "/rpcs.rs"));

/// The call at a gRPC path.
pub fn rpc_of_grpc_path(path: &str) -> Option<&'static Rpc> {
    RPCS.iter().find(|rpc| rpc.path == path)
}
