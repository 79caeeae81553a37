//! The contract as files: whoever changes a message, a number, a word or a path sees it in review.
//!
//! `COOP_BLESS=1 cargo test --test it goldens` writes the files anew.

mod contract;
mod filled;
mod messages;

use std::path::{Path, PathBuf};

use coop::proto;
use prost::Message;
use prost_types::FileDescriptorSet;
use serde_json::Value;

fn descriptors() -> FileDescriptorSet {
    FileDescriptorSet::decode(proto::DESCRIPTOR_SET).unwrap()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(name)
}

/// Compares with the file, or writes it when the operator blesses the change.
fn check(name: &str, now: &str, differing: &mut Vec<String>) {
    let path = path(name);
    if std::env::var_os("COOP_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, now).unwrap();
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    if before == now {
        return;
    }
    let at = before.lines().zip(now.lines()).position(|(before, now)| before != now);
    let at = at.unwrap_or(before.lines().count().min(now.lines().count()));
    let line = |text: &str| text.lines().nth(at).unwrap_or("(end)").to_owned();
    differing.push(format!("{name}:{}\n  was {}\n  is  {}", at + 1, line(&before), line(now)));
}

fn all_agree(differing: &[String]) {
    let way_out = "if that is meant, COOP_BLESS=1 cargo test --test it goldens";
    assert!(differing.is_empty(), "the contract has changed:\n{}\n{way_out}", differing.join("\n"));
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

#[test]
fn the_json_of_every_message_is_as_it_was() {
    let set = descriptors();
    let mut differing = Vec::new();
    let mut expected = Vec::new();
    for name in filled::messages(&set) {
        let text = |bytes: &[u8]| messages::json(&name, bytes).unwrap_or_else(|| "null".to_owned());
        let filled: Vec<String> = filled::instances(&set, &name).iter().map(|bytes| text(bytes)).collect();
        let golden = format!("{{\n\"empty\": {},\n\"filled\": [{}]\n}}\n", text(&[]), filled.join(",\n"));
        check(&format!("json/{name}.json"), &golden, &mut differing);
        expected.push(format!("{name}.json"));
    }
    for entry in std::fs::read_dir(path("json")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(expected.contains(&name), "{name} tells of a message that there is no more");
    }
    all_agree(&differing);
}

#[test]
fn what_coop_writes_it_can_read() {
    let set = descriptors();
    for name in filled::messages(&set) {
        for bytes in filled::instances(&set, &name) {
            let Some(json) = messages::json(&name, &bytes) else { continue };
            let back = messages::read(&name, &json).unwrap_or_else(|error| panic!("{name}: {error}\n{json}"));
            let again = messages::json(&name, &back).unwrap();
            let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(value(&again), value(&json), "{name}");
        }
    }
}

#[test]
fn the_contract_is_as_it_was() {
    let mut differing = Vec::new();
    check("contract.txt", &contract::readable(&descriptors()), &mut differing);
    let openapi: Value = serde_json::from_str(proto::OPENAPI).unwrap();
    check("openapi.json", &pretty(&openapi), &mut differing);
    all_agree(&differing);
}
