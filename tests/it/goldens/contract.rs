//! The descriptors as text that people can compare.

use std::fmt::Write;

use prost_types::field_descriptor_proto::Label;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet, ServiceDescriptorProto,
};

/// Services, messages and enums of coop.v1, in the order of their names; fields and values by number.
pub fn readable(set: &FileDescriptorSet) -> String {
    let files = || set.file.iter().filter(|file| file.package() == "coop.v1");
    let mut blocks: Vec<(String, String)> = Vec::new();
    for file in files() {
        blocks.extend(file.service.iter().map(|service| (format!("0 {}", service.name()), self::service(service))));
        blocks
            .extend(file.message_type.iter().map(|message| (format!("1 {}", message.name()), self::message(message))));
        blocks.extend(file.enum_type.iter().map(|kind| (format!("2 {}", kind.name()), self::kind(kind))));
    }
    blocks.sort();
    blocks.into_iter().map(|(_, block)| block).collect::<Vec<_>>().join("\n")
}

fn service(service: &ServiceDescriptorProto) -> String {
    let mut text = format!("service {}\n", service.name());
    for method in &service.method {
        let side = |streaming: bool, name: &str| format!("{}{}", if streaming { "stream " } else { "" }, short(name));
        let asked = side(method.client_streaming(), method.input_type());
        let told = side(method.server_streaming(), method.output_type());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}({asked}) -> {told}", method.name());
    }
    text
}

fn message(message: &DescriptorProto) -> String {
    let mut text = format!("message {}\n", message.name());
    let mut fields: Vec<&FieldDescriptorProto> = message.field.iter().collect();
    fields.sort_by_key(|field| field.number());
    for field in fields {
        let label = match field.label() {
            Label::Repeated => "repeated ",
            _ if field.proto3_optional() => "optional ",
            _ if field.oneof_index.is_some() => "oneof ",
            _ => "",
        };
        let kind = match field.type_name() {
            "" => format!("{:?}", field.r#type()).to_lowercase(),
            name => short(name),
        };
        let json = if field.json_name() == field.name() { String::new() } else { format!(" as {}", field.json_name()) };
        let _ = writeln!(text, "  {} {label}{kind} {}{json}", field.number(), field.name());
    }
    text
}

fn kind(kind: &EnumDescriptorProto) -> String {
    let mut text = format!("enum {}\n", kind.name());
    for value in &kind.value {
        let _ = writeln!(text, "  {} {}", value.number(), value.name());
    }
    text
}

fn short(name: &str) -> String {
    name.trim_start_matches(".coop.v1.").to_owned()
}
