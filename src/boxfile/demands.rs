//! What a repository's file asks for beyond what the user would get without it.
//!
//! One rule decides: whatever lets more in or out of the box than the user's own settings do, or runs or steers
//! programs by itself, is a demand. What only narrows (hiding, protecting, limiting, `none`, `ro`) is not, nor is what
//! stays inside (names, sizes, labels, persisted directories).

use super::amounts::shown_bytes;
use super::file::{BoxFile, Layered, Many, MountSource, One};
use super::origin::{Origin, Said};
use super::shown::shown;
use super::words::{Access, Agent, Login, NetworkMode, Restart, UidMap, WorkspaceMode};

/// Programs that wait for somebody to type. With arguments they would not.
const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "fish", "dash", "ash", "ksh"];

/// One thing that a file asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// `network.mode`
    pub key: &'static str,
    /// A sentence for people, with all of what was written, escaped.
    pub what: String,
    /// Where it is written, counted from one.
    pub line: usize,
}

/// What this file asks for, in the order of its lines. `user` is the user's own config.toml.
pub fn demands(file: &BoxFile, user: &BoxFile) -> Vec<Demand> {
    let own = user.clone().over(BoxFile::built_in());
    let mut list = Vec::new();
    ask_for_programs(file, &own, &mut list);
    ask_for_places(file, &own, &mut list);
    ask_for_network(file, &own, &mut list);
    ask_for_powers(file, &own, &mut list);
    ask_for_secrets(file, &own, &mut list);
    list.sort_by_key(|demand| demand.line);
    list
}

fn ask(list: &mut Vec<Demand>, key: &'static str, origin: &Origin, what: String) {
    list.push(Demand { key, what, line: origin.line() });
}

/// The setting, if it is there and the user's own is not as wide.
fn wider<'a, T: PartialOrd>(said: &'a One<T>, own: &One<T>) -> Option<&'a Said<T>> {
    said.as_ref().filter(|said| own.as_ref().is_none_or(|own| said.value > own.value))
}

/// The setting, if it is there and the user's own is another.
fn other<'a, T: PartialEq>(said: &'a One<T>, own: &One<T>) -> Option<&'a Said<T>> {
    said.as_ref().filter(|said| own.as_ref().is_none_or(|own| said.value != own.value))
}

/// The items that the user has not chosen themselves.
fn further<'a, T: PartialEq>(many: &'a Many<T>, own: &Many<T>) -> Vec<&'a Said<T>> {
    many.iter().filter(|item| own.iter().all(|known| known.value != item.value)).collect()
}

fn ask_for_programs(file: &BoxFile, own: &BoxFile, list: &mut Vec<Demand>) {
    if let Some(said) = other(&file.boxed.image, &own.boxed.image).filter(|said| said.value != "host") {
        ask(list, "box.image", &said.origin, format!("runs the programs of the image {}", shown(&said.value)));
    }
    if let Some(said) = other(&file.boxed.setup, &own.boxed.setup) {
        for line in &said.value {
            ask(
                list,
                "box.setup",
                &said.origin,
                format!("runs at setup, with this machine's network: {}", shown(line)),
            );
        }
    }
    if let Some(said) = other(&file.boxed.command, &own.boxed.command).filter(|said| !is_plain(&said.value)) {
        ask(list, "box.command", &said.origin, format!("runs {}", shown(&words(&said.value))));
    }
    if let Some(said) = other(&file.boxed.shell, &own.boxed.shell).filter(|said| !is_shell(&said.value)) {
        ask(list, "box.shell", &said.origin, format!("runs {} for `coop shell`", shown(&said.value)));
    }
    if let Some(said) = wider(&file.session.restart, &own.session.restart).filter(|said| said.value == Restart::Always)
    {
        ask(list, "session.restart", &said.origin, "starts the agent again whenever it ends".to_owned());
    }
}

/// An agent or a shell without a word more.
fn is_plain(command: &[String]) -> bool {
    match command {
        [program] => is_shell(program) || Agent::of_program(program).program() == Some(program.as_str()),
        // Nothing is no program either; that is told elsewhere.
        other => other.is_empty(),
    }
}

/// A shell by its name, or where systems have it.
fn is_shell(program: &str) -> bool {
    let name = ["/bin/", "/usr/bin/"].iter().find_map(|dir| program.strip_prefix(dir)).unwrap_or(program);
    SHELLS.contains(&name)
}

/// A command as one could type it, so that a word with a blank is seen as one.
fn words(command: &[String]) -> String {
    let is_plain =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&b));
    let quoted = command
        .iter()
        .map(|word| if is_plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', r"'\''")) });
    quoted.collect::<Vec<_>>().join(" ")
}

fn ask_for_places(file: &BoxFile, own: &BoxFile, list: &mut Vec<Demand>) {
    for said in further(&file.boxed.mounts, &own.boxed.mounts) {
        let verb = if said.value.mode == Access::ReadWrite { "reads and writes" } else { "reads" };
        let to = shown(&said.value.to);
        let source = shown(said.value.source.text());
        let what = match said.value.source {
            MountSource::From(_) => format!("{verb} {source} of this machine, seen as {to}"),
            MountSource::Volume(_) => format!("{verb} the volume {source}, seen as {to}"),
        };
        ask(list, "box.mounts", &said.origin, what);
    }
    // Even one below the project: it can be a link to anywhere by the time it is opened.
    if let Some(said) = other(&file.workspace.path, &own.workspace.path).filter(|said| said.value != ".") {
        ask(list, "workspace.path", &said.origin, format!("takes {} for the project", shown(&said.value)));
    }
    if let Some(said) = wider(&file.workspace.mode, &own.workspace.mode) {
        let what = match said.value {
            WorkspaceMode::ReadWrite => "changes the project directly, which your config.toml does not let it",
            _ => "changes a copy of the project, which your config.toml only lets it read",
        };
        ask(list, "workspace.mode", &said.origin, what.to_owned());
    }
    if let Some(said) = other(&file.workspace.protect_git, &own.workspace.protect_git).filter(|said| !said.value) {
        let what = "writes .git/hooks and .git/config, which name programs that git runs outside of the box";
        ask(list, "workspace.protect_git", &said.origin, what.to_owned());
    }
}

fn ask_for_network(file: &BoxFile, own: &BoxFile, list: &mut Vec<Demand>) {
    if let Some(said) = wider(&file.network.mode, &own.network.mode) {
        let what = match said.value {
            NetworkMode::Host => "reaches every host that you can, and what listens on this machine",
            _ => "reaches the network, which your config.toml does not let it",
        };
        ask(list, "network.mode", &said.origin, what.to_owned());
    }
    for said in further(&file.network.allow, &own.network.allow) {
        ask(list, "network.allow", &said.origin, format!("reaches {}", shown(&said.value)));
    }
    for said in further(&file.network.publish, &own.network.publish) {
        if !is_loopback(&said.value) {
            let what = format!("opens a port to other machines: {}", shown(&said.value));
            ask(list, "network.publish", &said.origin, what);
        }
    }
}

/// Whether a rule surely opens its port to this machine alone: it names no address, or one of loopback.
fn is_loopback(rule: &str) -> bool {
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let ports = |rest: &str| rest.split(':').count() <= 2 && rest.split(':').all(is_port);
    let after = |address: &str| rule.strip_prefix(address).and_then(|rest| rest.strip_prefix(':'));
    let v4 = rule
        .split_once(':')
        .filter(|(address, _)| address.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback()));
    ports(rule) || [after("[::1]"), v4.map(|(_, rest)| rest)].into_iter().flatten().any(ports)
}

fn ask_for_powers(file: &BoxFile, own: &BoxFile, list: &mut Vec<Demand>) {
    if let Some(said) = other(&file.security.seccomp, &own.security.seccomp).filter(|said| !said.value) {
        ask(list, "security.seccomp", &said.origin, "makes system calls that are refused otherwise".to_owned());
    }
    if let Some(said) = other(&file.security.landlock, &own.security.landlock).filter(|said| !said.value) {
        ask(list, "security.landlock", &said.origin, "does without the second wall around files".to_owned());
    }
    if let Some(said) = wider(&file.boxed.nested, &own.boxed.nested) {
        ask(list, "box.nested", &said.origin, "makes namespaces and mounts inside".to_owned());
    }
    if let Some(said) = wider(&file.boxed.uidmap, &own.boxed.uidmap).filter(|said| said.value == UidMap::Range) {
        ask(list, "box.uidmap", &said.origin, "uses the subordinate ids that /etc/subuid gives you".to_owned());
    }
    let limits = [
        ("limits.memory", &file.limits.memory, &own.limits.memory),
        ("limits.processes", &file.limits.processes, &own.limits.processes),
        ("limits.open_files", &file.limits.open_files, &own.limits.open_files),
    ];
    for (key, said, own) in limits {
        // Without a limit of the user's every limit is one.
        if let (Some(said), Some(own)) = (wider(said, own), own) {
            let tell = |number: u64| if key == "limits.memory" { shown_bytes(number) } else { number.to_string() };
            let what = format!("raises your limit of {} to {}", tell(own.value), tell(said.value));
            ask(list, key, &said.origin, what);
        }
    }
    if let (Some(said), Some(own)) = (wider(&file.limits.cpus, &own.limits.cpus), &own.limits.cpus) {
        ask(list, "limits.cpus", &said.origin, format!("raises your limit of {} to {}", own.value, said.value));
    }
}

fn ask_for_secrets(file: &BoxFile, own: &BoxFile, list: &mut Vec<Demand>) {
    for said in further(&file.env.export, &own.env.export) {
        ask(list, "env.export", &said.origin, format!("gets {} of your environment", shown(&said.value)));
    }
    // A variable can send the agent, with its login, to another service, or make it load other code.
    for (name, said) in &file.env.set {
        if own.env.set.get(name).is_none_or(|own| own.value != said.value) {
            ask(list, "env", &said.origin, format!("sets {}={}", shown(name), shown(&said.value)));
        }
    }
    if let Some(said) = wider(&file.boxed.git_identity, &own.boxed.git_identity) {
        ask(list, "box.git_identity", &said.origin, "commits with your name and address".to_owned());
    }
    if let Some(said) = wider(&file.boxed.login, &own.boxed.login) {
        let what = match said.value {
            Login::Share => "uses and renews your login to the agent's service",
            _ => "gets a copy of your login to the agent's service",
        };
        ask(list, "box.login", &said.origin, what.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_surely_loopback_passes_for_it() {
        for own in ["8080", "8080:80", "127.0.0.1:8080:80", "127.9.9.9:80", "[::1]:8080:80"] {
            assert!(is_loopback(own), "{own}");
        }
        for open in [
            "0.0.0.0:80",
            "*:80",
            "[::]:80",
            "192.168.1.2:80:80",
            "::1:80",
            "127.0.0.1.evil:80",
            "",
            ":80",
            "host:80",
            "localhost:1:2",
            "127.0.0.1:80:80:80",
            "80/tcp",
        ] {
            assert!(!is_loopback(open), "{open}");
        }
    }

    #[test]
    fn a_command_is_told_so_that_it_could_be_typed() {
        let argv = ["sh", "-c", "a 'b'", ""].map(str::to_owned);
        assert_eq!(words(&argv), r"sh -c 'a '\''b'\''' ''");
    }
}
