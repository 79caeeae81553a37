//! What a coop.toml or a config.toml says: sections of settings, each with the place where it was said.

use std::collections::BTreeMap;

use serde::Serialize;

use super::origin::{Origin, Said};
use super::words::{Access, Agent, AttachSize, Login, NetworkMode, Restart, UidMap, WorkspaceMode};

/// A setting of which there is one; the topmost layer that has it wins.
pub type One<T> = Option<Said<T>>;

/// A setting that collects: layers add to it.
pub type Many<T> = Vec<Said<T>>;

/// Settings by names of the user's choice; for each name the topmost layer that has it wins.
pub type Named = BTreeMap<String, Said<String>>;

/// One layer under another.
pub trait Layered {
    /// These settings over those below.
    #[must_use]
    fn over(self, below: Self) -> Self;

    /// Adds what was said to the list, under the name that it has here.
    fn tell(&self, name: &str, told: &mut Vec<Told>);
}

/// One setting for people: `network.mode`, its value as it would be written, and who said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub key: String,
    pub value: String,
    pub origin: Origin,
}

macro_rules! section {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $field:ident: $kind:ty,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize)]
        pub struct $name { $($(#[$what])* pub $field: $kind,)+ }

        impl Layered for $name {
            fn over(self, below: Self) -> Self {
                Self { $($field: self.$field.over(below.$field),)+ }
            }

            fn tell(&self, name: &str, told: &mut Vec<Told>) {
                $(self.$field.tell(&join(name, stringify!($field)), told);)+
            }
        }
    };
}

/// The key as it is written in the file.
fn join(section: &str, field: &str) -> String {
    match (section, field) {
        ("", "boxed") => "box".to_owned(),
        ("", field) => field.to_owned(),
        ("env", "set") => "env".to_owned(),
        (section, field) => format!("{section}.{field}"),
    }
}

section! {
    /// A whole file, or several of them merged.
    BoxFile {
        /// `[box]`
        boxed: BoxSection,
        workspace: WorkspaceSection,
        network: NetworkSection,
        limits: LimitsSection,
        security: SecuritySection,
        session: SessionSection,
        input_filter: InputFilterSection,
        env: EnvSection,
    }
}

section! {
    /// What is inside.
    BoxSection {
        /// `host`, a reference, `oci:DIR`, `tar:FILE` or `dir:PATH`.
        image: One<String>,
        agent: One<Agent>,
        /// Program and arguments; no shell looks at them.
        command: One<Vec<String>>,
        shell: One<String>,
        /// Lines for a shell, run once when the image is made ready.
        setup: One<Vec<String>>,
        /// A user of the image, by name or number.
        user: One<String>,
        uidmap: One<UidMap>,
        /// Whether sandboxes can be made inside.
        nested: One<bool>,
        mounts: Many<Mount>,
        /// Paths that look empty inside.
        hide: Many<String>,
        login: One<Login>,
        /// Whether git inside knows the user's name and address.
        git_identity: One<bool>,
    }
}

section! {
    /// The project inside.
    WorkspaceSection {
        path: One<String>,
        mode: One<WorkspaceMode>,
        /// Paths in it that stay read-only.
        protect: Many<String>,
        /// Whether git's hooks and configuration stay read-only: programs that they name run outside of the box.
        protect_git: One<bool>,
    }
}

section! {
    /// What it reaches.
    NetworkSection {
        mode: One<NetworkMode>,
        /// `host[:port]` and `*.host`, as the filter reads them.
        allow: Many<String>,
        /// Ports of the box that are opened outside.
        publish: Many<String>,
    }
}

section! {
    /// How much it may use.
    LimitsSection {
        /// In bytes.
        memory: One<u64>,
        processes: One<u64>,
        cpus: One<f64>,
        open_files: One<u64>,
    }
}

section! {
    /// Walls that can be taken down.
    SecuritySection {
        seccomp: One<bool>,
        landlock: One<bool>,
    }
}

section! {
    /// How it lives.
    SessionSection {
        name: One<String>,
        restart: One<Restart>,
        /// Directories in the box's HOME that outlive it.
        persist: Many<String>,
        cols: One<u16>,
        rows: One<u16>,
        attach_size: One<AttachSize>,
        labels: Named,
    }
}

section! {
    /// Keys that do not reach the agent.
    InputFilterSection {
        /// A Ctrl-C that follows another within this time is dropped; 0 lets all pass.
        ctrl_c_ms: One<u32>,
        /// Key names such as `ctrl-z`.
        block_keys: Many<String>,
        /// Bytes as they would be typed.
        block_sequences: Many<String>,
    }
}

section! {
    /// Variables inside.
    EnvSection {
        set: Named,
        /// Names whose values are taken from the user's environment.
        export: Many<String>,
    }
}

/// Something of the host that is seen inside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mount {
    #[serde(flatten)]
    pub source: MountSource,
    /// Where inside.
    pub to: String,
    pub mode: Access,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MountSource {
    /// A path outside, as it was written.
    From(String),
    /// A directory that coop keeps under this name.
    Volume(String),
}
