//! The contract as Rust: made by the build from `proto/`, not written here.

/// coop.v1.
#[allow(clippy::all, clippy::pedantic)]
pub mod v1 {
    use crate::api::Access as CallAccess;

    include!(concat!(env!("OUT_DIR"), "/coop.v1.rs"));
    include!(concat!(env!("OUT_DIR"), "/coop.v1.serde.rs"));
    include!(concat!(env!("OUT_DIR"), "/words.rs"));
}

/// All descriptors, for reflection.
pub const DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptor.bin"));

/// The OpenAPI document of the daemon.
pub const OPENAPI_BOXES: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi-boxes.json"));

/// The OpenAPI document of a session.
pub const OPENAPI: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));
