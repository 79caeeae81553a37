//! The calls of the contract as a table, and each of their HTTP bindings as one route.

use std::fmt::Write;

use anyhow::Result;
use prost_reflect::MethodDescriptor;

use crate::contract::{Binding, Body, Contract, Rpc};
use crate::json::is_json_text;
use crate::names::snake_case;

/// The table of calls.
pub fn rpcs(contract: &Contract) -> Result<String> {
    let mut out = String::new();
    writeln!(out, "/// Every call of the contract.\npub static RPCS: &[Rpc] = &[")?;
    for rpc in &contract.rpcs {
        let (path, access, body_bytes_max) = (grpc_path(&rpc.method), rpc.access, rpc.body_bytes_max);
        writeln!(out, "    Rpc {{ path: {path:?}, access: Access::{access:?}, body_bytes_max: {body_bytes_max} }},")?;
    }
    writeln!(out, "];")?;
    Ok(out)
}

/// The table of bindings, and the router that serves them.
pub fn generate(contract: &Contract) -> Result<String> {
    let mut out = String::new();
    writeln!(out, "/// Every HTTP form of a call.\npub static BINDINGS: &[Binding] = &[")?;
    for (index, rpc) in contract.rpcs.iter().enumerate() {
        for binding in &rpc.bindings {
            writeln!(out, "    {},", binding_value(index, rpc, binding))?;
        }
    }
    writeln!(out, "];")?;
    for service in contract.services() {
        routes_of(&mut out, contract, &service)?;
    }
    Ok(out)
}

/// The router of one service, such as `coop_routes`.
fn routes_of(out: &mut String, contract: &Contract, service: &str) -> Result<()> {
    let trait_path = format!("crate::proto::v1::{}_server::{service}", snake_case(service));
    writeln!(out, "\n/// One route for each binding of {service}.")?;
    writeln!(
        out,
        "pub fn {}_routes<S: {trait_path} + Clone>(mut router: axum::Router<S>) -> axum::Router<S> {{",
        snake_case(service)
    )?;
    let mut index = 0;
    for rpc in &contract.rpcs {
        for _ in &rpc.bindings {
            if rpc.method.parent_service().name() == service {
                let kind = if rpc.method.is_server_streaming() { "stream" } else { "unary" };
                let call = snake_case(rpc.method.name());
                writeln!(
                    out,
                    "    router = {kind}(router, &BINDINGS[{index}], |api, q| async move {{ api.{call}(q).await }});"
                )?;
            }
            index += 1;
        }
    }
    writeln!(out, "    router\n}}")?;
    Ok(())
}

fn binding_value(rpc_index: usize, rpc: &Rpc, binding: &Binding) -> String {
    let Binding { verb, path, text_field, .. } = binding;
    let body = match &binding.body {
        Body::None => "Body::None".to_owned(),
        Body::Whole => "Body::Whole".to_owned(),
        Body::Field(field) if is_json_text(&rpc.method.input(), field) => format!("Body::Verbatim({field:?})"),
        Body::Field(field) => format!("Body::Field({field:?})"),
    };
    let has = |field: &str| rpc.method.input().get_field_by_name(field).is_some();
    let resume = match (has("after_seq"), has("from_offset")) {
        (true, true) => "Resume::Both",
        (true, false) => "Resume::Seq",
        (false, true) => "Resume::Offset",
        (false, false) => "Resume::None",
    };
    format!(
        "Binding {{ rpc: &RPCS[{rpc_index}], verb: {verb:?}, path: {path:?}, body: {body}, \
         text_field: {text_field:?}, resume: {resume} }}"
    )
}

pub fn grpc_path(method: &MethodDescriptor) -> String {
    format!("/{}/{}", method.parent_service().full_name(), method.name())
}
