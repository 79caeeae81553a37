//! The contract as Rust types and a tonic service.

use anyhow::Result;

use crate::contract::Contract;

pub fn generate(contract: &Contract) -> Result<()> {
    tonic_prost_build::configure()
        .bytes(".coop.v1")
        // Sorted, so that the same labels always give the same JSON.
        .btree_map(".coop.v1")
        .compile_well_known_types(true)
        .extern_path(".google.protobuf", "::pbjson_types")
        // Doc comments of the contract speak of JSON and paths, not of Rust items.
        .type_attribute(".", "#[allow(rustdoc::all)]")
        .compile_fds(contract.file_descriptors()?)?;
    Ok(())
}
