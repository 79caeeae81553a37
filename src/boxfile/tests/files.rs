//! Files of all kinds, made up, and how they would be written.

use std::fmt::Write;

use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::*;

/// Any text that a setting can hold, so that quoting is tried too.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z./~-]{1,8}", "\\PC{1,8}", "[\"'\\\\\n\t\r#=\u{1b}\u{7f}é𝄞]{1,6}"]
}

fn word<W: Word + std::fmt::Debug>() -> impl Strategy<Value = W> {
    select(W::ALL)
}

fn one<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = One<T>> {
    of(value.prop_map(Said::on_command_line))
}

fn many(item: impl Strategy<Value = String>) -> impl Strategy<Value = Many<String>> {
    vec(item, 0..4).prop_map(|items| {
        let mut unique: Many<String> = Vec::new();
        for item in items {
            if unique.iter().all(|known| known.value != item) {
                unique.push(Said::on_command_line(item));
            }
        }
        unique
    })
}

fn named(name: &'static str) -> impl Strategy<Value = Named> {
    btree_map(name, text().prop_map(Said::on_command_line), 0..4)
}

fn mounts() -> impl Strategy<Value = Many<Mount>> {
    let source =
        prop_oneof![text().prop_map(MountSource::From), "[a-z0-9][a-z0-9._-]{0,9}".prop_map(MountSource::Volume)];
    let mount = (source, "/[a-c]", word()).prop_map(|(source, to, mode)| Mount { source, to, mode });
    vec(mount, 0..4).prop_map(|mounts| {
        let mut unique: Many<Mount> = Vec::new();
        for mount in mounts {
            if unique.iter().all(|known| known.value.to != mount.to) {
                unique.push(Said::on_command_line(mount));
            }
        }
        unique
    })
}

fn boxes() -> impl Strategy<Value = BoxSection> {
    let program = (one(text()), one(word()), one(vec(text(), 0..3)), one(text()), one(vec(text(), 0..3)), one(text()));
    let rest = (one(word()), one(any::<bool>()), mounts(), many(text()), one(word()), one(any::<bool>()));
    (program, rest).prop_map(|(program, (uidmap, nested, mounts, hide, login, git_identity))| {
        let (image, agent, command, shell, setup, user) = program;
        BoxSection { image, agent, command, shell, setup, user, uidmap, nested, mounts, hide, login, git_identity }
    })
}

fn sessions() -> impl Strategy<Value = SessionSection> {
    let name = one("[a-z0-9][a-z0-9._-]{0,39}".prop_map(String::from));
    let parts = (name, one(word()), many(text()), one(1_u16..=1000), one(1_u16..=1000));
    let rest = (one(word()), named("[a-zA-Z ./é\"]{1,5}"));
    (parts, rest).prop_map(|((name, restart, persist, cols, rows), (attach_size, labels))| SessionSection {
        name,
        restart,
        persist,
        cols,
        rows,
        attach_size,
        labels,
    })
}

fn others() -> impl Strategy<Value = BoxFile> {
    let workspace = (one(text()), one(word()), many(text()), one(any::<bool>()));
    let hosts = many("[a-z]{1,6}(\\.[a-z]{2,4})?(:[1-9][0-9]{1,3})?");
    let ports = many("[1-9][0-9]{2,3}").prop_map(|mut ports| {
        // The same port of the machine only once.
        ports.sort_by(|a, b| a.value.cmp(&b.value));
        ports
    });
    let network = (one(word()), hosts, ports);
    let limits = (
        one(16_u64 << 20..1 << 50),
        one(16_u64..4_194_304),
        one((1_u32..409_600).prop_map(|hundredths| f64::from(hundredths) / 100.0)),
        one(64_u64..1_048_576),
    );
    let walls = (one(any::<bool>()), one(any::<bool>()));
    let key = prop_oneof!["(ctrl-|alt-)?[a-z]", "f[1-9]", Just("page-up".to_owned())];
    let keys = (one(0_u32..=60_000), many(key), many(text()));
    let env = (named("[A-Zabd-z_][A-Z0-9_]{0,5}"), many("[A-Z]{1,4}"));
    (workspace, network, limits, walls, keys, env).prop_map(|(workspace, network, limits, walls, keys, env)| BoxFile {
        workspace: WorkspaceSection {
            path: workspace.0,
            mode: workspace.1,
            protect: workspace.2,
            protect_git: workspace.3,
        },
        network: NetworkSection { mode: network.0, allow: network.1, publish: network.2 },
        limits: LimitsSection { memory: limits.0, processes: limits.1, cpus: limits.2, open_files: limits.3 },
        security: SecuritySection { seccomp: walls.0, landlock: walls.1 },
        input_filter: InputFilterSection { ctrl_c_ms: keys.0, block_keys: keys.1, block_sequences: keys.2 },
        env: EnvSection {
            set: env.0.into_iter().filter(|(name, _)| name != "HOME").collect(),
            export: env.1.into_iter().filter(|said| said.value != "HOME").collect(),
        },
        ..BoxFile::default()
    })
}

pub fn files() -> impl Strategy<Value = BoxFile> {
    (boxes(), sessions(), others()).prop_map(|(boxed, session, file)| BoxFile { boxed, session, ..file })
}

/// The file as TOML.
pub fn written(file: &BoxFile) -> String {
    let mut text = String::new();
    let value = serde_json::to_value(file).unwrap();
    for (section, settings) in value.as_object().unwrap() {
        writeln!(text, "[{}]", if section == "boxed" { "box" } else { section }).unwrap();
        for (key, value) in settings.as_object().unwrap() {
            match (section.as_str(), key.as_str(), value) {
                (_, _, serde_json::Value::Null) => {}
                ("env", "set", value) => {
                    value
                        .as_object()
                        .unwrap()
                        .iter()
                        .for_each(|(name, value)| writeln!(text, "{name} = {}", toml_of(value)).unwrap());
                }
                ("boxed", "mounts", value) => {
                    let tables = value.as_array().unwrap().iter().map(toml_of);
                    writeln!(text, "mounts = [{}]", tables.collect::<Vec<_>>().join(", ")).unwrap();
                }
                (_, key, value) => writeln!(text, "{key} = {}", toml_of(value)).unwrap(),
            }
        }
    }
    text
}

fn toml_of(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Array(items) => format!("[{}]", items.iter().map(toml_of).collect::<Vec<_>>().join(", ")),
        serde_json::Value::Object(table) => {
            let pairs =
                table.iter().map(|(key, value)| format!("{} = {}", toml_of(&key.as_str().into()), toml_of(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        // JSON leaves this one as it is, TOML does not.
        other => other.to_string().replace('\u{7f}', "\\u007f"),
    }
}
