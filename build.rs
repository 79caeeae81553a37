//! Makes everything that follows from the contract: see the modules in `build/`.

#[path = "build/contract.rs"]
mod contract;
#[path = "build/json.rs"]
mod json;
#[path = "build/names.rs"]
mod names;
#[path = "build/openapi.rs"]
mod openapi;
#[path = "build/routes.rs"]
mod routes;
#[path = "build/rust.rs"]
mod rust;
#[path = "build/words.rs"]
mod words;

fn main() -> anyhow::Result<()> {
    // Only these: without the list cargo would build again after every touched file.
    for input in ["proto", "build", "build.rs"] {
        println!("cargo:rerun-if-changed={input}");
    }
    let out = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
    let contract = contract::read("proto")?;
    std::fs::write(out.join("descriptor.bin"), &contract.descriptor_set)?;
    rust::generate(&contract)?;
    json::generate(&contract, &out)?;
    std::fs::write(out.join("rpcs.rs"), routes::rpcs(&contract)?)?;
    std::fs::write(out.join("routes.rs"), routes::generate(&contract)?)?;
    std::fs::write(out.join("words.rs"), words::generate(&contract)?)?;
    std::fs::write(out.join("openapi.json"), openapi::generate(&contract, "Coop")?)?;
    std::fs::write(out.join("openapi-boxes.json"), openapi::generate(&contract, "Boxes")?)?;
    Ok(())
}
