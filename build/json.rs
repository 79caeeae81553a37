//! JSON in coop's shape, made by pbjson.
//!
//! pbjson follows protobuf's canonical JSON and has no options for what coop does otherwise, but it derives all of it from
//! the descriptors and from the types it meets. So it is shown *edited* descriptors (64-bit integers as 32-bit ones, which
//! are printed as numbers; enum values renamed to their words), and a pass over the generated text adds the nulls.
//! A golden test pins the result for every message, so that an upgrade of pbjson cannot change it unseen.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use prost::Message;
use prost_reflect::{Kind, MessageDescriptor};
use prost_types::field_descriptor_proto::Type;
use prost_types::{DescriptorProto, EnumDescriptorProto};

use crate::contract::{Contract, PACKAGE};
use crate::names::{snake_case, word};

/// Messages whose JSON is a tagged union; `words` makes theirs.
pub const TAGGED: [&str; 6] =
    ["ClientMessage", "ServerMessage", "AttachRequest", "AttachResponse", "RunCommandRequest", "RunCommandResponse"];

pub fn generate(contract: &Contract, out: &Path) -> Result<()> {
    let mut set = contract.file_descriptors()?;
    for file in set.file.iter_mut().filter(|f| f.package() == PACKAGE) {
        file.message_type.iter_mut().try_for_each(narrow_integers)?;
        file.enum_type.iter_mut().for_each(rename_values);
    }
    pbjson_build::Builder::new()
        .register_descriptors(&set.encode_to_vec())?
        .preserve_proto_field_names()
        .emit_fields()
        .btree_map([format!(".{PACKAGE}")])
        .exclude(TAGGED.map(|name| format!(".{PACKAGE}.{name}")))
        .out_dir(out)
        .build(&[format!(".{PACKAGE}")])?;
    let path = out.join(format!("{PACKAGE}.serde.rs"));
    let generated = std::fs::read_to_string(&path)?;
    Ok(std::fs::write(&path, reshape(contract, &generated)?)?)
}

/// Whether a field holds JSON text that is shown as JSON.
pub fn is_json_text(message: &MessageDescriptor, field: &str) -> bool {
    let pool = message.parent_pool();
    let extension = pool.get_extension_by_name("coop.v1.json_text");
    let field = message.get_field_by_name(field);
    matches!((field, extension), (Some(f), Some(e)) if f.kind() == Kind::String
        && f.options().get_extension(&e).as_bool() == Some(true))
}

fn narrow_integers(message: &mut DescriptorProto) -> Result<()> {
    let is_map_entry = message.options.as_ref().is_some_and(|o| o.map_entry());
    for field in &mut message.field {
        let narrow = match field.r#type() {
            Type::Int64 => Type::Int32,
            Type::Uint64 => Type::Uint32,
            Type::Fixed64 | Type::Sfixed64 | Type::Sint64 => anyhow::bail!("{}: use int64 or uint64", field.name()),
            other => other,
        };
        // The generated code of a map names its value's type, which would then be the wrong one.
        ensure!(!is_map_entry || narrow == field.r#type(), "a map with 64-bit values has no JSON form here");
        field.set_type(narrow);
    }
    message.enum_type.iter_mut().for_each(rename_values);
    message.nested_type.iter_mut().try_for_each(narrow_integers)
}

fn rename_values(of: &mut EnumDescriptorProto) {
    let name = of.name().to_owned();
    for value in &mut of.value {
        value.name = Some(word(&name, value.name()));
    }
}

/// Adds what the descriptors cannot say: nulls both ways, JSON text shown as JSON, clear errors about numbers.
fn reshape(contract: &Contract, generated: &str) -> Result<String> {
    let mut out = String::with_capacity(generated.len());
    let mut message = None;
    let mut field = String::new();
    let mut open_option: Option<String> = None;
    let mut in_fields = false;
    for line in generated.lines() {
        let code = line.trim();
        if let Some(name) = between(code, "serializer.serialize_struct(\"", "\"") {
            message = contract.pool.get_message_by_name(name);
        }
        if let Some(name) = between(code, "type Value = ", ";") {
            let found = contract.pool.get_message_by_name(&format!("{PACKAGE}.{name}"));
            message = found.or(message);
        }
        if let Some(name) = between(code, "::duplicate_field(\"", "\"") {
            field = snake_case(name);
        }
        in_fields = (in_fields || code.starts_with("const FIELDS")) && code != "];";
        if in_fields && code.starts_with('"') && code.chars().any(char::is_uppercase) {
            // camelCase is accepted, but an error message lists each name once.
            continue;
        }
        if code.starts_with("if let Some(v) = self.") {
            open_option = Some(String::new());
        }
        if let (Some(name), Some(open)) = (between(code, "serialize_field(\"", "\""), open_option.as_mut()) {
            *open = name.to_owned();
        }
        let verbatim = |name: &str| message.as_ref().is_some_and(|m| is_json_text(m, name));
        let mut text = line.replace("::pbjson::private::NumberDeserialize", "crate::json::Number");
        if between(code, "serialize_field(\"", "\"").is_some_and(verbatim) {
            let (start, value) = text.rsplit_once(", ").context("a field and its value")?;
            let value = value.strip_suffix(")?;").context("the end of a call")?;
            text = format!("{start}, &crate::json::Verbatim({value}))?;");
        }
        if code.starts_with("map_.next_value::<std::collections::BTreeMap<_, _>>()?") {
            text =
                text.replace("std::collections::BTreeMap<_, _>", "::std::option::Option<_>") + ".unwrap_or_default()";
        } else if code.contains("map_.next_value") {
            text = if verbatim(&field) { verbatim_value(&text) } else { nullable_value(&text) };
        }
        if code == "}" && open_option.is_some() {
            let name = open_option.take().unwrap_or_default();
            ensure!(!name.is_empty(), "pbjson writes optional fields in another way than this pass knows");
            let indent = &line[..line.len() - 1];
            text = format!(
                "{indent}}} else {{\n{indent}    struct_ser.serialize_field(\"{name}\", &crate::json::Null)?;\n{indent}}}"
            );
        }
        out.push_str(&text);
        out.push('\n');
    }
    ensure!(!out.contains("Some(map_.next_value"), "pbjson reads fields in another way than this pass knows");
    Ok(out)
}

/// `Some(map_.next_value::<T>()?.f())` becomes a reader that takes null for "absent".
fn nullable_value(line: &str) -> String {
    let Some((before, rest)) = line.split_once("Some(map_.next_value") else { return line.to_owned() };
    let split = || -> Result<String> {
        let (kind, rest) = match rest.strip_prefix("::<") {
            Some(rest) => rest.split_once(">()?").context("a turbofish")?,
            None => ("_", rest.strip_prefix("()?").context("a call")?),
        };
        let (map, end) = match rest.trim_end() {
            "" => return Ok(format!("map_.next_value::<::std::option::Option<{kind}>>()?.map(|x| x")),
            rest => rest.strip_suffix(';').map_or((rest, ""), |r| (r, ";")),
        };
        let map = map.strip_suffix(')').unwrap_or(map);
        Ok(format!("map_.next_value::<::std::option::Option<{kind}>>()?.map(|x| x{map}){end}"))
    };
    split().map_or_else(|_| line.to_owned(), |value| format!("{before}{value}"))
}

fn verbatim_value(line: &str) -> String {
    let indent = line.split("map_").next().unwrap_or_default().trim_end_matches("Some(").to_owned();
    format!("{indent}map_.next_value::<::std::option::Option<crate::json::VerbatimText>>()?.map(|x| x.0);")
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(found, _)| found)
}
