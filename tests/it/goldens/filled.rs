//! Messages with every field set, made from the descriptors alone, so that no new field is forgotten.

use prost::encoding::{WireType, encode_key, encode_varint};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet};

/// Not sent to anybody: options of the contract itself.
const INTERNAL: [&str; 1] = ["RpcOptions"];

/// Fields whose text is JSON.
const JSON_TEXT: [(&str, &str); 4] = [
    ("DecideStopRequest", "payload"),
    ("DecideStartRequest", "payload"),
    ("ResolveStopRequest", "signal"),
    ("StopEvent", "signal"),
];

/// Larger than what a double holds exactly: whole numbers must survive as they are.
const LARGE: u64 = (1 << 53) + 1;

fn package(set: &FileDescriptorSet) -> impl Iterator<Item = &prost_types::FileDescriptorProto> {
    set.file.iter().filter(|file| file.package() == "coop.v1")
}

/// The names of all messages.
pub fn messages(set: &FileDescriptorSet) -> Vec<String> {
    let all = package(set).flat_map(|file| &file.message_type).map(|message| message.name().to_owned());
    all.filter(|name| !INTERNAL.contains(&name.as_str())).collect()
}

fn message<'a>(set: &'a FileDescriptorSet, name: &str) -> &'a DescriptorProto {
    let mut parts = name.trim_start_matches(".coop.v1.").split('.');
    let outer = parts.next().unwrap();
    let found = package(set).flat_map(|file| &file.message_type).find(|message| message.name() == outer).unwrap();
    parts.fold(found, |found, inner| found.nested_type.iter().find(|nested| nested.name() == inner).unwrap())
}

fn kind<'a>(set: &'a FileDescriptorSet, name: &str) -> &'a EnumDescriptorProto {
    let name = name.trim_start_matches(".coop.v1.");
    package(set).flat_map(|file| &file.enum_type).find(|kind| kind.name() == name).unwrap()
}

/// The message with everything set, as bytes; one for each member where only one can be set.
pub fn instances(set: &FileDescriptorSet, name: &str) -> Vec<Vec<u8>> {
    let message = message(set, name);
    let is_choice = |field: &&FieldDescriptorProto| field.oneof_index.is_some() && !field.proto3_optional();
    let choices: Vec<_> = message.field.iter().filter(is_choice).collect();
    let mut common = Vec::new();
    message.field.iter().filter(|field| !is_choice(field)).for_each(|field| put(set, message, field, &mut common));
    if choices.is_empty() {
        return vec![common];
    }
    let with = |choice: &&FieldDescriptorProto| {
        let mut bytes = common.clone();
        put(set, message, choice, &mut bytes);
        bytes
    };
    choices.iter().map(with).collect()
}

fn put(set: &FileDescriptorSet, message: &DescriptorProto, field: &FieldDescriptorProto, out: &mut Vec<u8>) {
    let times = if field.label() == Label::Repeated && !is_map(set, field) { 2 } else { 1 };
    (0..times).for_each(|time| put_one(set, message, field, time, out));
}

fn is_map(set: &FileDescriptorSet, field: &FieldDescriptorProto) -> bool {
    field.r#type() == Type::Message
        && message(set, field.type_name()).options.as_ref().is_some_and(|options| options.map_entry())
}

fn put_one(set: &FileDescriptorSet, of: &DescriptorProto, field: &FieldDescriptorProto, time: u64, out: &mut Vec<u8>) {
    let number = u64::try_from(field.number()).unwrap();
    let tag = u32::try_from(number).unwrap();
    let varint = |value: u64, out: &mut Vec<u8>| {
        encode_key(tag, WireType::Varint, out);
        encode_varint(value, out);
    };
    let bytes = |value: &[u8], out: &mut Vec<u8>| {
        encode_key(tag, WireType::LengthDelimited, out);
        encode_varint(value.len() as u64, out);
        out.extend_from_slice(value);
    };
    match field.r#type() {
        Type::Bool => varint(1, out),
        Type::Uint32 | Type::Int32 => varint(number + time, out),
        Type::Uint64 => varint(LARGE + number + time, out),
        Type::Enum => {
            let values = &kind(set, field.type_name()).value;
            let last = values.len() - 1 - usize::try_from(time).unwrap();
            varint(u64::try_from(values[last].number()).unwrap(), out);
        }
        Type::Double => {
            encode_key(tag, WireType::SixtyFourBit, out);
            out.extend_from_slice(&1.5f64.to_le_bytes());
        }
        Type::String if JSON_TEXT.contains(&(of.name(), field.name())) => bytes(br#"{"b":1.50,"a":[null]}"#, out),
        Type::String => bytes(format!("{} {}", field.name(), time + 1).as_bytes(), out),
        Type::Bytes => bytes(&[0, 255, 10, b'x'], out),
        Type::Message => instances(set, field.type_name()).iter().take(1).for_each(|inner| bytes(inner, out)),
        other => panic!("{}.{}: {other:?} is new here", of.name(), field.name()),
    }
}
