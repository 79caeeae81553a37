//! Settings become a plan: paths absolute, words checked against each other, nothing left open.

use std::path::{Path, PathBuf};

use super::file::{BoxFile, Many, Named, One};
use super::leads::{LeadError, real_path};
use super::name::{NAME_RULE, is_name, name_of_directory};
use super::objection::{Objection, Objections};
use super::origin::{Origin, Said};
use super::parse::{is_reserved, is_variable};
use super::paths::clean;
use super::plan::{
    BoxPlan, PlannedEnv, PlannedInputFilter, PlannedLimits, PlannedNetwork, PlannedSecurity, PlannedSession,
    PlannedWorkspace, box_home,
};
use super::reader::quoted;
use super::words::{Agent, Login, NetworkMode, UidMap};
use crate::egress::{AllowList, PublishRule};

/// Images that are read from this machine.
const LOCAL_IMAGES: [&str; 3] = ["oci:", "tar:", "dir:"];

/// Where in an image a shell is, if there is one at all.
const SHELL: &str = "/bin/sh";

/// Where the settings are to hold.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The user's home.
    pub home: PathBuf,
    /// `~/.coop`, whose contents no box may see.
    pub coop_home: PathBuf,
    /// Where the sockets are, on which a box could talk to the daemon.
    pub runtime_dir: PathBuf,
    /// The directory of the caller, which is the project's if there is no coop.toml.
    pub start_dir: PathBuf,
    /// The coop.toml that was found.
    pub file: Option<PathBuf>,
    /// The user's own shell.
    pub shell: Option<String>,
}

/// Checks merged settings together and fills in what nobody said.
pub fn resolve(settings: &BoxFile, at: &Surroundings) -> Result<BoxPlan, Objections> {
    let mut resolver = Resolver { at: &real(at), objections: Vec::new(), warnings: Vec::new() };
    let plan = resolver.plan(settings);
    let Resolver { objections, .. } = resolver;
    if objections.is_empty() { Ok(plan) } else { Err(Objections(objections)) }
}

/// The name and the workspace of the box that these settings speak of, whatever else is wrong with them.
pub fn place(settings: &BoxFile, at: &Surroundings) -> (String, PathBuf) {
    let mut resolver = Resolver { at: &real(at), objections: Vec::new(), warnings: Vec::new() };
    let path = resolver.workspace(&settings.workspace.path);
    (resolver.name(&settings.session.name, &path), path)
}

/// The same places without links, so that comparing paths means comparing places.
fn real(at: &Surroundings) -> Surroundings {
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    Surroundings {
        home: real(&at.home),
        coop_home: real(&at.coop_home),
        runtime_dir: real(&at.runtime_dir),
        start_dir: real(&at.start_dir),
        ..at.clone()
    }
}

pub(super) struct Resolver<'a> {
    pub(super) at: &'a Surroundings,
    objections: Vec<Objection>,
    warnings: Vec<String>,
}

impl Resolver<'_> {
    fn plan(&mut self, settings: &BoxFile) -> BoxPlan {
        let BoxFile { boxed, workspace, network, limits, security, session, input_filter, env } = settings;
        let path = self.workspace(&workspace.path);
        let name = self.name(&session.name, &path);
        let home = box_home(&self.at.coop_home, &name);
        let image = self.image(&boxed.image, &path);
        let shell = value(&boxed.shell).unwrap_or_else(|| self.shell(&image));
        let (agent, command) = self.program(settings, &shell);
        let plan = BoxPlan {
            file: self.at.file.clone(),
            mounts: boxed.mounts.iter().filter_map(|mount| self.mount(mount, &path, &home)).collect(),
            hide: boxed.hide.iter().filter_map(|said| self.hidden(said, &path, &home)).collect(),
            workspace: PlannedWorkspace {
                protect: self.protected(&workspace.protect, value(&workspace.protect_git).unwrap_or(true), &path),
                mode: value(&workspace.mode).unwrap_or_default(),
                path,
            },
            network: self.network(network, agent),
            limits: PlannedLimits {
                memory_bytes: value(&limits.memory),
                processes: value(&limits.processes),
                cpus: value(&limits.cpus),
                open_files: value(&limits.open_files),
            },
            security: PlannedSecurity {
                seccomp: value(&security.seccomp).unwrap_or(true),
                landlock: value(&security.landlock).unwrap_or(true),
            },
            session: PlannedSession {
                restart: value(&session.restart).unwrap_or_default(),
                persist: session.persist.iter().filter_map(|said| self.persisted(said, &home)).collect(),
                cols: value(&session.cols).unwrap_or(200),
                rows: value(&session.rows).unwrap_or(50),
                attach_size: value(&session.attach_size).unwrap_or_default(),
                labels: bare(&session.labels),
            },
            input_filter: PlannedInputFilter {
                ctrl_c_ms: value(&input_filter.ctrl_c_ms).unwrap_or(0),
                block_keys: values(&input_filter.block_keys),
                block_sequences: values(&input_filter.block_sequences),
            },
            env: self.env(&env.set, &env.export),
            setup: self.setup(&boxed.setup, &image),
            user: self.user(&boxed.user, &image, value(&boxed.uidmap).unwrap_or_default()),
            uidmap: value(&boxed.uidmap).unwrap_or_default(),
            nested: value(&boxed.nested).unwrap_or_default(),
            git_identity: value(&boxed.git_identity).unwrap_or(true),
            login: self.login(&boxed.login, agent),
            warnings: Vec::new(),
            name,
            image,
            agent,
            command,
            command_is_open: boxed.agent.is_none() && boxed.command.is_none(),
            shell,
        };
        BoxPlan { warnings: std::mem::take(&mut self.warnings), ..plan }
    }

    pub(super) fn object<T>(&mut self, key: &'static str, said: &Said<T>, message: impl Into<String>) {
        self.objections.push(Objection { key, message: message.into(), origin: said.origin.clone() });
    }

    pub(super) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    fn name(&mut self, name: &One<String>, workspace: &Path) -> String {
        let Some(said) = name else { return name_of_directory(workspace) };
        if !is_name(&said.value) {
            self.object("session.name", said, format!("{} is no name for a box: use {NAME_RULE}", quoted(&said.value)));
        }
        said.value.clone()
    }

    fn image(&mut self, image: &One<String>, workspace: &Path) -> String {
        let Some(said) = image else { return "host".to_owned() };
        if said.value.contains(char::is_whitespace) || said.value.chars().any(char::is_control) {
            self.object("box.image", said, format!("{} is no image: there are blanks in it", quoted(&said.value)));
            return said.value.clone();
        }
        let local = LOCAL_IMAGES.iter().find_map(|kind| Some((*kind, said.value.strip_prefix(kind)?)));
        let Some((kind, path)) = local else { return said.value.clone() };
        let path = Said { value: path.to_owned(), origin: said.origin.clone() };
        if path.value.is_empty() {
            self.object("box.image", said, format!("`{kind}` needs a path, such as {kind}./image"));
            return said.value.clone();
        }
        let mut found = self.outside("box.image", &path).and_then(|path| clean(&path)).unwrap_or_default();
        // A directory is used where it lies, and must not be another one by then.
        if kind == "dir:" {
            match real_path(&found, &[workspace.to_owned()]) {
                Ok(real) => found = real,
                Err(error @ LeadError::Out { .. }) => self.object("box.image", said, error.to_string()),
                // What is not there is told when it is looked for.
                Err(LeadError::Io(_)) => {}
            }
        }
        format!("{kind}{}", found.to_string_lossy())
    }

    /// The user's own where the system is theirs; an image has what it has.
    fn shell(&self, image: &str) -> String {
        let own = self.at.shell.clone().filter(|shell| image == "host" && shell.starts_with('/'));
        own.unwrap_or_else(|| SHELL.to_owned())
    }

    /// Agent and command belong together: what a higher layer says of one does not go with a lower one's other.
    fn program(&mut self, settings: &BoxFile, shell: &str) -> (Agent, Vec<String>) {
        let (agent, command) = (&settings.boxed.agent, &settings.boxed.command);
        let rank = |origin: Option<&Origin>| origin.map(Origin::rank);
        let ranks = (rank(agent.as_ref().map(|said| &said.origin)), rank(command.as_ref().map(|said| &said.origin)));
        let by_program = |words: &[String]| words.first().map(|program| Agent::of_program(program)).unwrap_or_default();
        let agent = value(agent).filter(|_| ranks.0 >= ranks.1);
        // One that is no agent by its name may be a way to start this one.
        let is_another = |words: &[String]| {
            let found = by_program(words);
            ranks.0 > ranks.1 && found != Agent::Unknown && Some(found) != agent
        };
        if let Some(said) = command.as_ref().filter(|said| !is_another(&said.value)) {
            if said.value.is_empty() {
                let way_out = "write one, such as [\"claude\"], or leave it out";
                self.object("box.command", said, format!("it names no program: {way_out}"));
            } else if said.value.iter().any(|word| word.contains('\0')) {
                self.object("box.command", said, "it holds a NUL character, which no command can");
            }
            return (agent.unwrap_or_else(|| by_program(&said.value)), said.value.clone());
        }
        let agent = agent.unwrap_or_default();
        (agent, vec![agent.program().unwrap_or(shell).to_owned()])
    }

    fn network(&mut self, network: &super::file::NetworkSection, agent: Agent) -> PlannedNetwork {
        let mode = value(&network.mode).unwrap_or_default();
        self.check_rules(network);
        let mut allow = values(&network.allow);
        if mode != NetworkMode::Filtered && !allow.is_empty() {
            self.warnings.push(format!("network.allow changes nothing when network.mode is \"{mode}\""));
        }
        for host in agent.hosts() {
            if mode == NetworkMode::Filtered && allow.iter().all(|known| known != host) {
                allow.push((*host).to_owned());
            }
        }
        let publish = values(&network.publish);
        if mode == NetworkMode::Host && !publish.is_empty() {
            self.warnings.push(
                "network.publish changes nothing when network.mode is \"host\": its ports are open already".to_owned(),
            );
        }
        PlannedNetwork { mode, allow, publish }
    }

    /// A file's own were looked at when it was read; here come those of the command line, and what several layers say
    /// together.
    fn check_rules(&mut self, network: &super::file::NetworkSection) {
        for said in &network.allow {
            if let Err(wrong) = AllowList::check(&said.value) {
                self.object("network.allow", said, format!("{}: {wrong}", quoted(&said.value)));
            }
        }
        let mut published: Vec<PublishRule> = Vec::new();
        for said in &network.publish {
            match PublishRule::parse(&said.value) {
                Ok(rule) if published.iter().any(|other| rule.collides(*other)) => {
                    self.object("network.publish", said, format!("{} is published twice", rule.listen));
                }
                Ok(rule) => published.push(rule),
                Err(wrong) => self.object("network.publish", said, format!("{}: {wrong}", quoted(&said.value))),
            }
        }
    }

    fn setup(&mut self, setup: &One<Vec<String>>, image: &str) -> Vec<String> {
        let Some(said) = setup else { return Vec::new() };
        if image == "host" && !said.value.is_empty() {
            self.object(
                "box.setup",
                said,
                "this system is read-only inside: name an image, such as box.image = \"debian:12\"",
            );
        }
        said.value.clone()
    }

    /// There is one user in a box, because only that one's files are the caller's own outside.
    fn user(&mut self, user: &One<String>, image: &str, uidmap: UidMap) -> Option<String> {
        let said = user.as_ref()?;
        if image == "host" {
            self.warnings
                .push("box.user changes nothing when box.image is \"host\": there you are yourself".to_owned());
            return value(user);
        }
        let own = if uidmap == UidMap::Same { nix::unistd::geteuid().as_raw() } else { 0 };
        if said.value != own.to_string() && (own != 0 || said.value != "root") {
            let way_out = match uidmap {
                UidMap::Same => "leave it out, or be root inside with box.uidmap = \"root\"",
                UidMap::Root | UidMap::Range => "leave it out",
            };
            let message = format!("a box has one user, and with this box.uidmap that is {own}: {way_out}");
            self.object("box.user", said, message);
        }
        value(user)
    }

    fn login(&mut self, login: &One<Login>, agent: Agent) -> Login {
        let login = value(login).unwrap_or_default();
        if login != Login::None && agent == Agent::Unknown {
            self.warnings
                .push(format!("box.login = \"{login}\" changes nothing: coop does not know the agent's login"));
        }
        login
    }

    fn env(&mut self, set: &Named, export: &Many<String>) -> PlannedEnv {
        let names = set.iter().map(|(name, said)| (name, &said.origin));
        for (name, origin) in names.chain(export.iter().map(|said| (&said.value, &said.origin))) {
            let said = Said { value: (), origin: origin.clone() };
            if !is_variable(name) {
                self.object(
                    "env",
                    &said,
                    format!("{} is no variable's name: use letters, digits and '_'", quoted(name)),
                );
            } else if is_reserved(name) {
                self.object("env", &said, format!("`{name}` is set by coop itself inside a box: leave it out"));
            }
        }
        for (_, said) in set.iter().filter(|(_, said)| said.value.contains('\0')) {
            self.object("env", said, "it holds a NUL character, which no variable can");
        }
        PlannedEnv { set: bare(set), export: values(export) }
    }
}

fn value<T: Clone>(one: &One<T>) -> Option<T> {
    one.as_ref().map(|said| said.value.clone())
}

fn values(many: &Many<String>) -> Vec<String> {
    many.iter().map(|said| said.value.clone()).collect()
}

fn bare(named: &Named) -> std::collections::BTreeMap<String, String> {
    named.iter().map(|(name, said)| (name.clone(), said.value.clone())).collect()
}
