//! The messages of Session, Attach and RunCommand as tagged JSON: `{"event":"…", …}`, the word being the member's JSON name.

use std::fmt::Write;

use anyhow::{Context, Result};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use crate::contract::{Access, Contract, PACKAGE};
use crate::json::TAGGED;
use crate::names::{snake_case, upper_camel_case};

pub fn generate(contract: &Contract) -> Result<String> {
    let mut out = String::new();
    for name in TAGGED {
        let full_name = format!("{PACKAGE}.{name}");
        let message = contract.pool.get_message_by_name(&full_name).with_context(|| format!("{full_name} is gone"))?;
        serialize(&mut out, &message)?;
        deserialize(&mut out, &message)?;
        if name == "ClientMessage" {
            access(&mut out, contract, &message)?;
        }
    }
    Ok(out)
}

/// Members that have a JSON form; bare bytes travel as binary frames instead.
fn members(message: &MessageDescriptor) -> Vec<FieldDescriptor> {
    let event = message.oneofs().find(|o| o.name() == "event");
    event.iter().flat_map(|o| o.fields()).filter(|f| matches!(f.kind(), Kind::Message(_))).collect()
}

fn has_request_id(message: &MessageDescriptor) -> bool {
    message.get_field_by_name("request_id").is_some()
}

fn variant(field: &FieldDescriptor) -> String {
    upper_camel_case(field.name())
}

fn module(message: &MessageDescriptor) -> String {
    snake_case(message.name())
}

fn kind_name(field: &FieldDescriptor) -> String {
    match field.kind() {
        Kind::Message(m) => m.name().to_owned(),
        _ => String::new(),
    }
}

fn serialize(out: &mut String, message: &MessageDescriptor) -> Result<()> {
    let (name, module) = (message.name(), module(message));
    writeln!(out, "impl serde::Serialize for {name} {{")?;
    writeln!(out, "    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {{")?;
    writeln!(
        out,
        "        #[derive(serde::Serialize)]\n        #[serde(tag = \"event\")]\n        enum Tagged<'a> {{"
    )?;
    for field in members(message) {
        let kind = kind_name(&field);
        writeln!(
            out,
            "            #[serde(rename = {:?})]\n            {}(&'a {kind}),",
            field.json_name(),
            variant(&field)
        )?;
    }
    writeln!(out, "        }}\n        #[derive(serde::Serialize)]\n        struct Shape<'a> {{")?;
    writeln!(out, "            #[serde(flatten)]\n            event: Tagged<'a>,")?;
    writeln!(
        out,
        "            #[serde(skip_serializing_if = \"Option::is_none\")]\n            request_id: Option<&'a str>,"
    )?;
    writeln!(out, "        }}\n        let event = match &self.event {{")?;
    for field in members(message) {
        let v = variant(&field);
        writeln!(out, "            Some({module}::Event::{v}(v)) => Tagged::{v}(v),")?;
    }
    writeln!(out, "            #[allow(unreachable_patterns)]")?;
    writeln!(
        out,
        "            _ => return Err(serde::ser::Error::custom(\"this message has no JSON form\")),\n        }};"
    )?;
    let request_id = if has_request_id(message) { "self.request_id.as_deref()" } else { "None" };
    writeln!(out, "        Shape {{ event, request_id: {request_id} }}.serialize(serializer)\n    }}\n}}")?;
    Ok(())
}

fn deserialize(out: &mut String, message: &MessageDescriptor) -> Result<()> {
    let (name, module) = (message.name(), module(message));
    writeln!(
        out,
        "impl {name} {{\n    /// Every event word there is.\n    pub const WORDS: &'static [&'static str] = &["
    )?;
    for field in members(message) {
        writeln!(out, "        {:?},", field.json_name())?;
    }
    writeln!(out, "    ];\n\n    /// Reads the message that an event word names from the other fields.")?;
    let lead = "pub fn from_event<'de, D: serde::Deserializer<'de>>";
    writeln!(out, "    {lead}(word: &str, fields: D) -> Result<Self, D::Error> {{")?;
    writeln!(out, "        use serde::Deserialize as _;\n        let event = match word {{")?;
    for field in members(message) {
        let (word, kind, v) = (field.json_name().to_owned(), kind_name(&field), variant(&field));
        writeln!(out, "            {word:?} => {module}::Event::{v}({kind}::deserialize(fields)?),")?;
    }
    writeln!(
        out,
        "            other => return Err(serde::de::Error::unknown_variant(other, Self::WORDS)),\n        }};"
    )?;
    let request_id = if has_request_id(message) { ", request_id: None" } else { "" };
    writeln!(out, "        Ok(Self {{ event: Some(event){request_id} }})\n    }}\n}}")?;
    Ok(())
}

/// A message of a Session is open to whom the call with the same request is open.
fn access(out: &mut String, contract: &Contract, message: &MessageDescriptor) -> Result<()> {
    let own = contract.pool.get_extension_by_name("coop.v1.message_access").context("message_access is gone")?;
    writeln!(
        out,
        "impl client_message::Event {{\n    /// Who may send it.\n    pub fn access(&self) -> CallAccess {{\n        match self {{"
    )?;
    for field in members(message) {
        let said = field.options().get_extension(&own).as_enum_number().filter(|n| *n != 0);
        let access = match said {
            Some(number) => Access::from_number(number)?,
            None => {
                let kind = kind_name(&field);
                let rpc = contract.rpcs.iter().find(|rpc| rpc.method.input().name() == kind);
                rpc.with_context(|| format!("{}: no rpc takes {kind}; say message_access", field.name()))?.access
            }
        };
        writeln!(out, "            Self::{}(_) => CallAccess::{access:?},", variant(&field))?;
    }
    writeln!(out, "        }}\n    }}\n}}")?;
    Ok(())
}
