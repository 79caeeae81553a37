//! Reads `proto/` without protoc: the descriptors, and what coop's own options say about each call.

use anyhow::{Context, Result, bail, ensure};
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor, Value};

/// The package that is the contract.
pub const PACKAGE: &str = "coop.v1";

/// A request's HTTP body unless its call says otherwise.
const BODY_BYTES_MAX: u32 = 1024 * 1024;

/// All that the generators read.
pub struct Contract {
    /// As encoded by the compiler, with the options that prost's own types would drop; served by reflection.
    pub descriptor_set: Vec<u8>,
    pub pool: DescriptorPool,
    pub rpcs: Vec<Rpc>,
}

/// One call.
pub struct Rpc {
    pub method: MethodDescriptor,
    pub access: Access,
    pub body_bytes_max: u32,
    pub bindings: Vec<Binding>,
}

/// Who may make a call; the numbers are those of the proto's enum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Access {
    Open = 1,
    Read = 2,
    Write = 3,
    Hook = 4,
}

/// One HTTP form of a call.
pub struct Binding {
    /// `GET`, `POST`, …
    pub verb: &'static str,
    pub path: String,
    /// Fields that the path names.
    pub path_fields: Vec<String>,
    pub body: Body,
    /// The one field of the answer that is the body, as plain text.
    pub text_field: Option<String>,
}

/// Which part of the request an HTTP body holds.
#[derive(Clone, PartialEq)]
pub enum Body {
    None,
    Whole,
    Field(String),
}

pub fn read(root: &str) -> Result<Contract> {
    let mut compiler = protox::Compiler::new([root])?;
    compiler.include_imports(true).include_source_info(true);
    compiler.open_files(["coop/v1/coop.proto", "coop/v1/boxes.proto"])?;
    let descriptor_set = compiler.encode_file_descriptor_set();
    let pool = DescriptorPool::decode(descriptor_set.as_slice())?;
    let mut rpcs = Vec::new();
    for service in pool.services().filter(|s| s.package_name() == PACKAGE) {
        for method in service.methods() {
            let name = method.full_name().to_owned();
            rpcs.push(rpc(&pool, method).with_context(|| format!("in rpc {name}"))?);
        }
    }
    Ok(Contract { descriptor_set, pool, rpcs })
}

impl Contract {
    /// The names of the services, in the order of the files.
    pub fn services(&self) -> Vec<String> {
        self.pool.services().filter(|s| s.package_name() == PACKAGE).map(|s| s.name().to_owned()).collect()
    }

    /// The descriptors in the form that the code generators take.
    pub fn file_descriptors(&self) -> Result<prost_types::FileDescriptorSet> {
        Ok(prost_types::FileDescriptorSet::decode(self.descriptor_set.as_slice())?)
    }
}

impl Access {
    pub fn from_number(number: i32) -> Result<Self> {
        Ok(match number {
            1 => Self::Open,
            2 => Self::Read,
            3 => Self::Write,
            4 => Self::Hook,
            other => bail!("access {other} says nothing; write one of ACCESS_OPEN, _READ, _WRITE, _HOOK"),
        })
    }
}

fn rpc(pool: &DescriptorPool, method: MethodDescriptor) -> Result<Rpc> {
    let options = method.options();
    let own = extension(pool, &options, "coop.v1.rpc")?.context("option (coop.v1.rpc) is missing")?;
    let access = Access::from_number(number(&own, "access"))?;
    let body_bytes_max = match own.get_field_by_name("body_bytes_max").and_then(|v| v.as_u32()) {
        None | Some(0) => BODY_BYTES_MAX,
        Some(n) => n,
    };
    let mut bindings = Vec::new();
    if let Some(rule) = extension(pool, &options, "google.api.http")? {
        bindings.push(binding(&method, &rule)?);
        if let Some(Value::List(more)) = rule.get_field_by_name("additional_bindings").as_deref() {
            for rule in more.iter().filter_map(Value::as_message) {
                bindings.push(binding(&method, rule)?);
            }
        }
    }
    Ok(Rpc { method, access, body_bytes_max, bindings })
}

/// A message-typed extension, if it was set.
pub fn extension(pool: &DescriptorPool, options: &DynamicMessage, name: &str) -> Result<Option<DynamicMessage>> {
    let extension = pool.get_extension_by_name(name).with_context(|| format!("{name} is not imported"))?;
    if !options.has_extension(&extension) {
        return Ok(None);
    }
    Ok(options.get_extension(&extension).as_message().cloned())
}

fn number(message: &DynamicMessage, field: &str) -> i32 {
    message.get_field_by_name(field).and_then(|v| v.as_enum_number()).unwrap_or_default()
}

fn text(message: &DynamicMessage, field: &str) -> Option<String> {
    message.get_field_by_name(field).and_then(|v| v.as_str().map(str::to_owned)).filter(|s| !s.is_empty())
}

fn binding(method: &MethodDescriptor, rule: &DynamicMessage) -> Result<Binding> {
    let found = ["get", "put", "post", "delete"].iter().find_map(|verb| text(rule, verb).map(|path| (*verb, path)));
    let Some((verb, path)) = found else { bail!("google.api.http without get, put, post or delete") };
    let path_fields: Vec<String> = path
        .split('/')
        .filter_map(|part| part.strip_prefix('{').and_then(|p| p.strip_suffix('}')))
        .map(str::to_owned)
        .collect();
    for field in &path_fields {
        ensure!(method.input().get_field_by_name(field).is_some(), "{path}: {field} is no field of the request");
    }
    let body = match text(rule, "body") {
        None => Body::None,
        Some(star) if star == "*" => Body::Whole,
        Some(field) => {
            ensure!(method.input().get_field_by_name(&field).is_some(), "{path}: body {field} is no field");
            Body::Field(field)
        }
    };
    let text_field = text(rule, "response_body");
    if let Some(field) = &text_field {
        ensure!(method.output().get_field_by_name(field).is_some(), "{path}: response_body {field} is no field");
    }
    let verb = match verb {
        "get" => "GET",
        "put" => "PUT",
        "post" => "POST",
        _ => "DELETE",
    };
    Ok(Binding { verb, path, path_fields, body, text_field })
}
