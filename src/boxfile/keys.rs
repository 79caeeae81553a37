//! Every key of coop.toml in one table: what it expects, what it is without being said, and why one would say it.
//!
//! Errors, the template of `coop init` and the reader share it, so that they cannot disagree.

/// A key and what is told about it.
#[derive(Debug)]
pub struct Key {
    pub section: &'static str,
    pub name: &'static str,
    /// `a string`
    pub expects: &'static str,
    /// A value as it would be written.
    pub example: &'static str,
    /// The value that stands for not saying it; empty if no value does.
    pub default: &'static str,
    pub why: &'static str,
}

/// The sections in the order in which people think of them, each with what it is about.
pub const SECTIONS: [(&str, &str); 8] = [
    ("box", "What is inside."),
    ("workspace", "The project, which is seen inside at its own path."),
    ("network", "What the box can reach."),
    ("limits", "How much it may use. Without a limit it may use what you may."),
    ("security", "Walls. Each is there unless it is taken down."),
    ("session", "How it lives."),
    ("input_filter", "Keys that do not reach the agent."),
    ("env", "Variables inside. Every name but `export` is a variable, such as EDITOR = \"vi\"."),
];

const fn key(
    section: &'static str,
    name: &'static str,
    expects: &'static str,
    [default, example]: [&'static str; 2],
    why: &'static str,
) -> Key {
    Key { section, name, expects, example, default, why }
}

const TEXT: &str = "a string";
const TEXTS: &str = "a list of strings";
const FLAG: &str = "true or false";
const COUNT: &str = "a whole number";

/// A default, which is as good an example as any.
const fn is(value: &'static str) -> [&'static str; 2] {
    [value, value]
}

/// No default, and a value that somebody might choose.
const fn such_as(example: &'static str) -> [&'static str; 2] {
    ["", example]
}

pub const KEYS: &[Key] = &[
    key(
        "box",
        "image",
        TEXT,
        is(r#""host""#),
        r#""host" is this system, read-only. Or an image: "debian:12", "oci:DIR", "tar:FILE", "dir:PATH"."#,
    ),
    key(
        "box",
        "agent",
        TEXT,
        such_as(r#""claude""#),
        "claude, codex, gemini or unknown. Without it the command tells.",
    ),
    key(
        "box",
        "command",
        TEXTS,
        such_as(r#"["claude", "--continue"]"#),
        "What is run. Without it the agent, else the shell.",
    ),
    key(
        "box",
        "shell",
        TEXT,
        such_as(r#""/bin/bash""#),
        "What `coop shell` runs. Without it your own, in an image /bin/sh.",
    ),
    key(
        "box",
        "setup",
        TEXTS,
        ["[]", r#"["apt-get update", "apt-get install -y git"]"#],
        "Shell lines that make the image ready, run as its root and with this machine's network, whatever network.mode says. They are run once, then their result is kept; what changes later in a \"dir:\" does not run them again.",
    ),
    key(
        "box",
        "user",
        TEXT,
        such_as(r#""0""#),
        "Who to be inside. There is one user, and uidmap says which: your own id, or 0 with \"root\" and \"range\". Another is refused.",
    ),
    key(
        "box",
        "uidmap",
        TEXT,
        is(r#""same""#),
        r#"Which ids there are inside: "same" is your own, "root" is root for the box only, "range" needs /etc/subuid."#,
    ),
    key("box", "nested", FLAG, is("false"), "Whether sandboxes can be made inside, as agents do for single commands."),
    key(
        "box",
        "mounts",
        "a list of \"from:to[:ro]\" or { from, to, mode }",
        ["[]", r#"["~/datasets:/data:ro", { volume = "cache", to = "~/.cache" }]"#],
        "More of this machine inside: a path, or a volume that coop keeps. ~ in `to` is the box's HOME.",
    ),
    key(
        "box",
        "hide",
        TEXTS,
        ["[]", r#"[".env", "secrets"]"#],
        "Paths that look empty inside. Relative ones are in the project. What git has of them can still be read from .git.",
    ),
    key(
        "box",
        "login",
        TEXT,
        is(r#""none""#),
        r#"Your login to the agent's service: "none" asks inside, "copy" gives a copy, "share" the files themselves."#,
    ),
    key(
        "box",
        "git_identity",
        FLAG,
        is("true"),
        "Whether git inside commits with your name and address, as it does here. Nothing else of your git configuration.",
    ),
    key("workspace", "path", TEXT, is(r#"".""#), "The project's directory, from this file's own."),
    key(
        "workspace",
        "mode",
        TEXT,
        is(r#""rw""#),
        r#""rw" changes the project, "ro" only reads it, "overlay" keeps changes aside for `coop diff` and `coop apply`."#,
    ),
    key(
        "workspace",
        "protect",
        TEXTS,
        ["[]", r#"["Makefile", ".github"]"#],
        "Paths in the project that stay read-only. This file always does.",
    ),
    key(
        "workspace",
        "protect_git",
        FLAG,
        is("true"),
        "Keeps .git/hooks and .git/config read-only: programs that they name would run outside of the box.",
    ),
    key(
        "network",
        "mode",
        TEXT,
        is(r#""filtered""#),
        r#""filtered" reaches the agent's service and what `allow` names, "none" nothing, "host" all that you can."#,
    ),
    key(
        "network",
        "allow",
        TEXTS,
        ["[]", r#"["crates.io", "*.crates.io", "registry.npmjs.org:443"]"#],
        "Hosts that a filtered box may reach.",
    ),
    key(
        "network",
        "publish",
        TEXTS,
        ["[]", r#"["8080:80"]"#],
        "Ports of the box that are opened on this machine, as PORT, MACHINE:BOX or ADDRESS:MACHINE:BOX. Loopback unless an address is given.",
    ),
    key(
        "limits",
        "memory",
        "a size, as a string or in bytes",
        such_as(r#""4G""#),
        "Memory of all that runs inside, together, and no swap beside it. K, M and G are powers of 1024.",
    ),
    key("limits", "processes", COUNT, such_as("512"), "Processes and threads at a time."),
    key("limits", "cpus", "a number", such_as("2.0"), "Processors' worth of time."),
    key("limits", "open_files", COUNT, such_as("4096"), "Open files of each process."),
    key("security", "seccomp", FLAG, is("true"), "Refuses system calls that no agent needs."),
    key("security", "landlock", FLAG, is("true"), "A second wall around files, where the kernel has it."),
    key(
        "session",
        "name",
        TEXT,
        such_as(r#""my-app""#),
        "What the box is called. Without it as the project's directory is.",
    ),
    key(
        "session",
        "restart",
        TEXT,
        is(r#""no""#),
        r#"When the agent ends: "no" leaves it, "on-failure" and "always" start it again."#,
    ),
    key(
        "session",
        "persist",
        TEXTS,
        ["[]", r#"[".cache/pip"]"#],
        "Directories of the box's HOME that lie beside it, and stay when HOME is emptied. All of HOME stays until `coop rm`; for what shall outlive the box, mount a volume.",
    ),
    key("session", "cols", COUNT, is("200"), "Width of the terminal before anybody looks at it."),
    key("session", "rows", COUNT, is("50"), "Height of the same."),
    key(
        "session",
        "attach_size",
        TEXT,
        is(r#""latest""#),
        r#"Whose size counts when several look: "latest", "smallest", or "fixed" for the above."#,
    ),
    key(
        "session",
        "labels",
        "a table of strings",
        ["{}", r#"{ team = "red" }"#],
        "Your own words about it, for `coop ls` and programs.",
    ),
    key(
        "input_filter",
        "ctrl_c_ms",
        COUNT,
        is("0"),
        "Drops a Ctrl-C that follows another within so many milliseconds, which would end most agents. 0 lets all pass.",
    ),
    key("input_filter", "block_keys", TEXTS, ["[]", r#"["ctrl-z", "ctrl-d"]"#], "Keys that never reach it."),
    key("input_filter", "block_sequences", TEXTS, ["[]", r#"["\u001b[I"]"#], "Bytes that never reach it."),
    key(
        "env",
        "export",
        TEXTS,
        ["[]", r#"["GITHUB_TOKEN"]"#],
        "Variables of yours that it gets, by name. It gets no others. Their values are kept with the box until `coop rm`.",
    ),
];

/// The entry for a key. All that the reader asks for are there; a test sees to it.
pub fn about(section: &str, name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.section == section && key.name == name)
}

/// The keys of one section.
pub fn names_in(section: &str) -> impl Iterator<Item = &'static str> {
    let section = section.to_owned();
    KEYS.iter().filter(move |key| key.section == section).map(|key| key.name)
}
