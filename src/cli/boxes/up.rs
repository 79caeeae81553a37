//! `coop up`: a box from a project's coop.toml, and this terminal in it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::changes::changes;
use super::progress::Teller;
use super::{AT_ONCE, Daemon, Refused};
use crate::api::Code;
use crate::cli::attach::{self, Manner};
use crate::cli::words::{complain, plain, print_json, print_line};
use crate::client::{Credentials, Target};
use crate::config::{self, Agent};
use crate::proto::v1::{Box, BoxSource, BoxState, BuildBoxRequest, CreateBoxRequest, NetworkMode, WorkspaceMode};

/// How long a box may take to start, once everything that it stands on is there.
const START_WITHIN: Duration = Duration::from_secs(60);

/// Make a box for a project, start it, and attach
///
/// A box is a sandbox with a session in it: its own processes, its own HOME, the network and the files that it is given.
/// What it is made of stands in coop.toml, in this directory or above it (`coop init` writes one); without one, the
/// defaults count: the machine's own programs, the project to be written to, your agent's hosts on the network, and your
/// shell to run (`coop up -- claude` runs an agent). What a flag says counts before what the file says.
///
/// Ctrl-C while an image is fetched or setup commands run gives that up; what was fetched is there the next time.
///
/// A box of that name that exists and does not run is started again, with the files it had: coop.toml is read anew, and
/// what the flags said earlier still holds, each until it is given again (a repeatable one with all its values). What
/// changes by that is told. One that runs is left as it is.
///
/// What the file asks for beyond a plain box needs your `coop trust` once. What cannot be enforced on this machine is said.
///
/// Attaches to the program, as `coop attach NAME` does: Ctrl-] detaches, and the box goes on. Where there is no terminal,
/// or with -d or --json, the box is left to run. Exit codes: 0 made, or detached; the program's own when it has ended; 1 when there is no box.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  coop up
  coop up ~/project --name red -d -- claude --model opus
  coop up --workspace overlay --network none -- bash
  coop up --image debian:12 --allow github.com --publish 8080:3000 --env PORT=3000")]
pub struct Up {
    /// A directory in the project
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// The box's name [default: that in coop.toml, or the directory's]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Leave it to run, and print what was made
    #[arg(long, short)]
    detach: bool,
    /// What its file system is made of: host, an image such as debian:12, oci:DIR, tar:FILE or dir:PATH
    #[arg(long, value_name = "IMAGE", help_heading = "Instead of what coop.toml says")]
    image: Option<String>,
    /// What it reaches
    #[arg(long, value_enum, value_name = "MODE", help_heading = "Instead of what coop.toml says")]
    network: Option<Network>,
    /// What may happen to the project's files
    #[arg(long, value_enum, value_name = "MODE", help_heading = "Instead of what coop.toml says")]
    workspace: Option<Workspace>,
    /// The agent inside [default: what the command's name says]
    #[arg(long, value_enum, help_heading = "Instead of what coop.toml says")]
    agent: Option<Agent>,
    /// The program and its arguments; no shell looks at them
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Host that a filtered network lets through, such as github.com, *.npmjs.org or db.local:5432 (repeatable)
    #[arg(long, value_name = "HOST[:PORT]", help_heading = "Besides what coop.toml says")]
    allow: Vec<String>,
    /// Port of this machine that leads into the box, as [ADDR:]PORT:INSIDE (repeatable)
    #[arg(long, value_name = "PORT:INSIDE", help_heading = "Besides what coop.toml says")]
    publish: Vec<String>,
    /// Variable for the program (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = config::text_variable, help_heading = "Besides what coop.toml says")]
    env: Vec<(String, String)>,
    /// A note that the status shows, such as team=red (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = config::text_variable, help_heading = "Besides what coop.toml says")]
    label: Vec<(String, String)>,
    #[command(flatten)]
    manner: Manner,
    /// Print the box as JSON, and nothing else; it is left to run
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Network {
    /// The machine's own network
    Host,
    /// Nothing
    None,
    /// The hosts that are allowed
    Filtered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Workspace {
    /// The agent writes into the project
    Rw,
    /// The agent may only read
    Ro,
    /// The agent writes into a layer of its own: see coop diff
    Overlay,
}

impl Up {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let attaches = !self.detach && !self.json && attach::is_at_a_terminal();
        let source = self.source(attaches)?;
        let daemon = Daemon::reach().await?;
        let before = daemon.boxes().await?;
        self.build(&daemon, source.clone()).await?;
        let request = CreateBoxRequest { source: Some(source) };
        let made = daemon.ask(START_WITHIN, daemon.calls().create_box(request)).await?;
        if self.json {
            print_json(&made)?;
            return Ok(ExitCode::SUCCESS);
        }
        match before.iter().find(|one| one.name == made.name) {
            Some(one) if one.pid.is_some() && one.pid == made.pid => {
                let name = plain(&made.name);
                let way_out = format!("`coop stop {name}` first to change it");
                complain(&format!("box {name} runs already and was left as it is; {way_out}"));
            }
            Some(one) => changes(one, &made).iter().for_each(|change| complain(change)),
            None => {}
        }
        for warning in &made.warnings {
            complain(&format!("warning: {}", plain(warning)));
        }
        if attaches {
            ports(&made).iter().for_each(|port| complain(port));
            let target = Target::Socket(PathBuf::from(&made.socket));
            return attach::sit(target, Credentials::default(), false, self.manner, false).await;
        }
        print_line(&told(&made))?;
        ports(&made).iter().try_for_each(|port| print_line(port))?;
        Ok(ExitCode::SUCCESS)
    }

    fn source(&self, attaches: bool) -> anyhow::Result<BoxSource> {
        let dir = self.dir.canonicalize().with_context(|| format!("{}", self.dir.display()))?;
        let directory = dir.to_str().with_context(|| format!("{dir:?} is not UTF-8, and cannot be a workspace"))?;
        let size = attaches.then(|| self.manner.measure());
        Ok(BoxSource {
            directory: directory.to_owned(),
            name: self.name.clone().unwrap_or_default(),
            image: self.image.as_deref().map(from_here).transpose()?,
            agent: self.agent.map(|agent| agent.word().to_owned()),
            command: self.command.clone(),
            workspace_mode: self.workspace.map_or(WorkspaceMode::Unspecified, WorkspaceMode::from).into(),
            network: self.network.map_or(NetworkMode::Unspecified, NetworkMode::from).into(),
            allow: self.allow.clone(),
            publish: self.publish.clone(),
            env: self.env.iter().cloned().collect(),
            exported: exported(),
            labels: self.label.iter().cloned().collect(),
            cols: size.map(|size| size.cols().into()),
            rows: size.map(|size| size.rows().into()),
        })
    }

    /// Makes ready what takes its time, and says how far it is.
    async fn build(&self, daemon: &Daemon, source: BoxSource) -> anyhow::Result<()> {
        let request = BuildBoxRequest { source: Some(source) };
        let progress = daemon.ask(AT_ONCE, daemon.calls().build_box(request)).await;
        let mut progress = match progress {
            // A daemon that builds nothing beforehand says what is missing when the box is made.
            Err(error) if error.downcast_ref::<Refused>().is_some_and(|why| why.code == Code::NoDriver) => {
                return Ok(());
            }
            progress => progress?,
        };
        let mut teller = Teller::new(self.json);
        let built = loop {
            match daemon.next(&mut progress).await {
                Ok(Some(step)) => teller.tell(&step),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        teller.finish();
        built
    }
}

/// A path in an image's name is taken from where it was written.
fn from_here(image: &str) -> anyhow::Result<String> {
    let local = ["oci:", "tar:", "dir:"].iter().find_map(|kind| Some((kind, image.strip_prefix(kind)?)));
    let Some((kind, path)) = local else { return Ok(image.to_owned()) };
    let whole = std::path::absolute(path).with_context(|| format!("--image {image}"))?;
    Ok(format!("{kind}{}", whole.display()))
}

/// What coop.toml may take from the caller by name; what is no text cannot be sent.
fn exported() -> BTreeMap<String, String> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// `box red runs claude in /home/me/project: `coop attach red` shows it, `coop stop red` ends it`
fn told(made: &Box) -> String {
    let (name, workspace) = (plain(&made.name), plain(&made.workspace));
    let program = if ["", Agent::Unknown.word()].contains(&made.agent.as_str()) {
        made.command.first().map(|program| program.rsplit('/').next().unwrap_or_default()).unwrap_or_default()
    } else {
        &made.agent
    };
    let program = plain(program);
    if [BoxState::Ended, BoxState::Parked].contains(&made.state()) {
        return format!("{program} of box {name} has ended already: `coop screen -s {name}` shows what it printed");
    }
    format!("box {name} runs {program} in {workspace}: `coop attach {name}` shows it, `coop stop {name}` ends it")
}

/// `127.0.0.1:41234 leads to its port 3000`, for each port that the box got.
fn ports(made: &Box) -> Vec<String> {
    // On the machine's own network nothing leads anywhere.
    let published = made.published.iter().filter(|_| made.network() != NetworkMode::Host);
    let pairs = published.filter_map(|told| told.rsplit_once(':'));
    pairs.map(|(outside, inside)| format!("{} leads to its port {}", plain(outside), plain(inside))).collect()
}

impl From<Network> for NetworkMode {
    fn from(network: Network) -> Self {
        match network {
            Network::Host => Self::Host,
            Network::None => Self::None,
            Network::Filtered => Self::Filtered,
        }
    }
}

impl From<Workspace> for WorkspaceMode {
    fn from(workspace: Workspace) -> Self {
        match workspace {
            Workspace::Rw => Self::Rw,
            Workspace::Ro => Self::Ro,
            Workspace::Overlay => Self::Overlay,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_images_are_whole() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(from_here("tar:a/b.tar").unwrap(), format!("tar:{}/a/b.tar", here.display()));
        assert_eq!(from_here("dir:/x").unwrap(), "dir:/x");
        assert_eq!(from_here("debian:12").unwrap(), "debian:12");
        assert!(from_here("oci:").is_err());
    }

    #[test]
    fn what_was_made_is_told_with_the_ways_on() {
        let made = Box {
            name: "red".into(),
            workspace: "/work".into(),
            agent: "unknown".into(),
            command: vec!["/bin/bash".into()],
            ..Box::default()
        };
        assert!(told(&made).starts_with("box red runs bash in /work: `coop attach red`"), "{}", told(&made));
        assert!(told(&Box { agent: "claude".into(), ..made.clone() }).contains("runs claude in"));
        let ended = Box { state: BoxState::Ended.into(), ..made };
        assert!(told(&ended).starts_with("bash of box red has ended already"), "{}", told(&ended));
    }

    #[test]
    fn ports_are_told_as_the_ways_that_they_are() {
        let published = ["127.0.0.1:41234:3000", "[::1]:80:8080"].map(str::to_owned).to_vec();
        let made = Box { published, ..Box::default() };
        assert_eq!(ports(&made), ["127.0.0.1:41234 leads to its port 3000", "[::1]:80 leads to its port 8080"]);
        assert_eq!(ports(&Box { network: NetworkMode::Host.into(), ..made }), [""; 0]);
    }
}
