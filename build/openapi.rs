//! An OpenAPI 3.1 document of the HTTP face, with the contract's own comments as descriptions.

use std::collections::BTreeMap;

use anyhow::Result;
use prost_reflect::{EnumDescriptor, FieldDescriptor, FileDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value, json};

use crate::contract::{Access, Binding, Body, Contract, PACKAGE, Rpc};
use crate::json::{TAGGED, is_json_text};
use crate::names::word;

/// Paths that OpenAPI can name, but not describe.
const WEB_SOCKETS: [(&str, &str, &str); 2] = [
    (
        "/ws",
        "Session",
        "WebSocket: text frames, ClientMessage to coop and ServerMessage from it. Query: mode, subscribe, after_seq, from_offset, token.",
    ),
    (
        "/api/v1/attach",
        "Attach",
        "WebSocket: text frames of AttachRequest and AttachResponse, the terminal's bytes in binary frames. Query: token.",
    ),
];

/// The document of one service; a session and a daemon are different servers.
pub fn generate(contract: &Contract, service: &str) -> Result<String> {
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for rpc in contract.rpcs.iter().filter(|rpc| rpc.method.parent_service().name() == service) {
        for (index, binding) in rpc.bindings.iter().enumerate() {
            let verbs = paths.entry(binding.path.clone()).or_default();
            verbs.insert(binding.verb.to_lowercase(), operation(rpc, binding, index));
        }
    }
    for (path, what, asks) in WEB_SOCKETS.into_iter().filter(|_| service == "Coop") {
        let upgraded = json!({"description": "The connection speaks WebSocket from here on."});
        let responses = json!({"101": upgraded, "default": error_response()});
        let operation = json!({"operationId": what, "description": asks, "responses": responses});
        paths.entry(path.to_owned()).or_default().insert("get".into(), operation);
    }
    let own = |name: &str| name == PACKAGE;
    let mut schemas: BTreeMap<String, Value> = BTreeMap::new();
    for message in contract.pool.all_messages().filter(|m| own(m.package_name()) && !m.is_map_entry()) {
        schemas.insert(message.name().to_owned(), message_schema(&message));
    }
    for of in contract.pool.all_enums().filter(|e| own(e.package_name())) {
        schemas.insert(of.name().to_owned(), enum_schema(&of));
    }
    schemas.insert("Error".into(), error_schema());
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "coop.v1",
            "version": std::env::var("CARGO_PKG_VERSION")?,
            "description": "One terminal program, as a service. Streams are newline-delimited JSON, or server-sent events \
                            for `Accept: text/event-stream`. The WebSocket at `/ws` speaks ClientMessage and ServerMessage.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn operation(rpc: &Rpc, binding: &Binding, index: usize) -> Value {
    let method = &rpc.method;
    let input = method.input();
    let bound = |name: &str| match &binding.body {
        Body::Whole => true,
        Body::Field(field) => field == name,
        Body::None => false,
    };
    let parameters: Vec<Value> = input
        .fields()
        .filter(|f| binding.path_fields.iter().any(|p| p == f.name()) || !bound(f.name()))
        .map(|field| {
            let in_path = binding.path_fields.iter().any(|p| p == field.name());
            json!({
                "name": field.name(),
                "in": if in_path { "path" } else { "query" },
                "required": in_path,
                "description": comment(&field.parent_file(), field.path()),
                // Several values: the name more than once, or commas.
                "schema": field_schema(&field),
            })
        })
        .collect();
    let mut operation = json!({
        // Further bindings of a call need names of their own.
        "operationId": if index == 0 { method.name().to_owned() } else { format!("{}{}", method.name(), index + 1) },
        "description": comment(&method.parent_file(), method.path()),
        "responses": {
            "200": response(rpc, binding),
            "default": error_response(),
        },
    });
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if rpc.access == Access::Open {
        operation["security"] = json!([]);
    }
    let body = match &binding.body {
        Body::None => return operation,
        Body::Whole => reference(input.name()),
        Body::Field(name) => input.get_field_by_name(name).map(|f| field_schema(&f)).unwrap_or_default(),
    };
    operation["requestBody"] = json!({"content": {"application/json": {"schema": body}}});
    operation
}

fn response(rpc: &Rpc, binding: &Binding) -> Value {
    let schema = reference(rpc.method.output().name());
    let content = match (&binding.text_field, rpc.method.is_server_streaming()) {
        (Some(_), _) => json!({"text/plain": {"schema": {"type": "string"}}}),
        (None, true) => json!({"application/x-ndjson": {"schema": schema}, "text/event-stream": {"schema": schema}}),
        (None, false) => json!({"application/json": {"schema": schema}}),
    };
    let output = rpc.method.output();
    json!({"description": comment(&output.parent_file(), output.path()), "content": content})
}

fn message_schema(message: &MessageDescriptor) -> Value {
    let description = comment(&message.parent_file(), message.path());
    if TAGGED.contains(&message.name()) {
        let members = message.oneofs().flat_map(|o| o.fields().collect::<Vec<_>>());
        let one_of: Vec<Value> =
            members.filter(|f| matches!(f.kind(), Kind::Message(_))).map(|f| tagged_schema(message, &f)).collect();
        return json!({"description": description, "oneOf": one_of});
    }
    let properties = properties(message);
    json!({"type": "object", "description": description, "properties": properties, "additionalProperties": false})
}

fn properties(message: &MessageDescriptor) -> Map<String, Value> {
    let mut properties = Map::new();
    for field in message.fields() {
        let mut schema = field_schema(&field);
        if field.supports_presence() {
            schema = json!({"anyOf": [schema, {"type": "null"}]});
        }
        schema["description"] = comment(&field.parent_file(), field.path()).into();
        properties.insert(field.name().to_owned(), schema);
    }
    properties
}

/// A member of a tagged message: its own fields beside the event word and the request's id.
fn tagged_schema(message: &MessageDescriptor, field: &FieldDescriptor) -> Value {
    let Kind::Message(member) = field.kind() else { return json!({}) };
    let mut properties = properties(&member);
    properties.insert("event".into(), json!({"const": field.json_name()}));
    if let Some(id) = message.get_field_by_name("request_id") {
        properties.insert(id.name().to_owned(), json!({"type": "string"}));
    }
    json!({
        "type": "object",
        "description": comment(&field.parent_file(), field.path()),
        "properties": properties,
        "required": ["event"],
        "additionalProperties": false,
    })
}

fn field_schema(field: &FieldDescriptor) -> Value {
    if field.is_map() {
        let Kind::Message(entry) = field.kind() else { return json!({}) };
        let value = entry.get_field_by_name("value").map(|v| value_schema(&v)).unwrap_or_default();
        return json!({"type": "object", "additionalProperties": value});
    }
    match value_schema(field) {
        schema if field.is_list() => json!({"type": "array", "items": schema}),
        schema => schema,
    }
}

fn value_schema(field: &FieldDescriptor) -> Value {
    match field.kind() {
        Kind::Bool => json!({"type": "boolean"}),
        Kind::String if is_json_text(field.parent_message(), field.name()) => json!({}),
        Kind::String => json!({"type": "string"}),
        Kind::Bytes => json!({"type": "string", "contentEncoding": "base64"}),
        Kind::Double | Kind::Float => json!({"type": "number"}),
        Kind::Int32 => json!({"type": "integer", "format": "int32", "minimum": i32::MIN, "maximum": i32::MAX}),
        Kind::Uint32 => json!({"type": "integer", "format": "uint32", "minimum": 0, "maximum": u32::MAX}),
        Kind::Int64 => json!({"type": "integer", "format": "int64", "minimum": i64::MIN, "maximum": i64::MAX}),
        Kind::Uint64 => json!({"type": "integer", "format": "uint64", "minimum": 0, "maximum": u64::MAX}),
        Kind::Enum(of) => reference(of.name()),
        Kind::Message(of) => reference(of.name()),
        _ => json!({}),
    }
}

fn enum_schema(of: &EnumDescriptor) -> Value {
    let describe = |v: prost_reflect::EnumValueDescriptor| {
        format!("- `{}`: {}", word(of.name(), v.name()), comment(&of.parent_file(), v.path()))
    };
    let words: Vec<String> = of.values().map(|v| word(of.name(), v.name())).collect();
    let meanings: Vec<String> = of.values().map(describe).collect();
    let description = format!("{}\n\n{}", comment(&of.parent_file(), of.path()), meanings.join("\n"));
    json!({"type": "string", "enum": words, "description": description})
}

fn error_response() -> Value {
    json!({"description": "An error.", "content": {"application/json": {"schema": reference("Error")}}})
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "description": "What went wrong, the same on every path.",
        "properties": {"error": {"type": "object", "properties": {
            "code": {"type": "string", "description": "One of the codes of the error table, such as `BAD_REQUEST`."},
            "message": {"type": "string", "description": "What, with which thing, and the way out."},
        }}},
    })
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The comment that stands above a thing in its proto file.
fn comment(file: &FileDescriptor, path: &[i32]) -> String {
    let proto = file.file_descriptor_proto();
    let locations = proto.source_code_info.iter().flat_map(|info| &info.location);
    let found = locations.filter(|l| l.path == path).find_map(|l| l.leading_comments.as_deref());
    found.unwrap_or_default().trim().replace("\n ", "\n")
}
