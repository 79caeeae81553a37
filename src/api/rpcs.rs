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

include!(concat!(env!("OUT_DIR"), "/rpcs.rs"));

/// The call at a gRPC path.
pub fn rpc_of_grpc_path(path: &str) -> Option<&'static Rpc> {
    RPCS.iter().find(|rpc| rpc.path == path)
}
