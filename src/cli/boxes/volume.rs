//! `coop volume`: directories that outlive the boxes they are mounted in.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde_json::json;

use super::ask::may;
use super::coop_home;
use super::progress::amount;
use super::used::used;
use crate::cli::words::{complain, in_columns, plain, print_json, print_line};
use crate::images::{remove_tree, tree_bytes};

/// List and remove volumes
///
/// A volume is a directory that boxes share and that outlives them, such as a cache of packages: `mounts` in coop.toml
/// names it, and the first box that does makes it.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop volume ls\n  coop volume rm npm-cache")]
#[command(disable_help_subcommand = true)]
pub struct Volumes {
    #[command(subcommand)]
    act: Act,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Act {
    Ls(Ls),
    Rm(Rm),
}

/// List the volumes, and which boxes use them
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop volume ls --json | jq -r '.volumes[].name'")]
struct Ls {}

/// Remove volumes with all that is in them; one that a box uses stays
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop volume rm npm-cache --yes")]
struct Rm {
    /// As `coop volume ls` shows them
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// Without a question
    #[arg(long, short)]
    yes: bool,
}

/// One volume.
struct Volume {
    name: String,
    path: PathBuf,
    used_by: Vec<String>,
}

impl Volumes {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let home = coop_home()?;
        let volumes = volumes(&home)?;
        match &self.act {
            Act::Ls(_) => self.list(&volumes),
            Act::Rm(rm) => self.remove(&volumes, rm),
        }
    }

    fn list(&self, volumes: &[Volume]) -> anyhow::Result<ExitCode> {
        if self.json {
            let told = |volume: &Volume| {
                let Volume { name, path, used_by } = volume;
                json!({ "name": name, "path": path, "size_bytes": tree_bytes(path), "used_by": used_by })
            };
            print_json(&json!({ "volumes": volumes.iter().map(told).collect::<Vec<_>>() }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let line = |volume: &Volume| {
            [&volume.name, &amount(tree_bytes(&volume.path)), &volume.used_by.join(" ")].map(|cell| plain(cell))
        };
        let rows: Vec<[String; 3]> = volumes.iter().map(line).collect();
        for line in in_columns(["VOLUME", "SIZE", "USED BY"], &rows) {
            print_line(&line)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn remove(&self, volumes: &[Volume], rm: &Rm) -> anyhow::Result<ExitCode> {
        let mut chosen = Vec::new();
        // All are looked at before the first goes.
        for name in &rm.names {
            let Some(volume) = volumes.iter().find(|volume| volume.name == *name) else {
                bail!("there is no volume {name:?}: `coop volume ls` lists those there are");
            };
            if !volume.used_by.is_empty() {
                let boxes = volume.used_by.join(", ");
                bail!("volume {name} is used by {boxes}: remove what uses it first, with `coop rm`");
            }
            chosen.push(volume);
        }
        let names: Vec<&str> = chosen.iter().map(|volume| volume.name.as_str()).collect();
        if !may(&format!("Remove {} with all that is in it for good?", names.join(", ")), rm.yes)? {
            complain("nothing was removed");
            return Ok(ExitCode::FAILURE);
        }
        for volume in &chosen {
            remove_tree(&volume.path).with_context(|| volume.path.display().to_string())?;
            if !self.json {
                print_line(&format!("removed volume {}", plain(&volume.name)))?;
            }
        }
        if self.json {
            print_json(&json!({ "removed": names }))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// All of them, sorted by name.
fn volumes(home: &Path) -> anyhow::Result<Vec<Volume>> {
    let Ok(entries) = std::fs::read_dir(home.join("volumes")) else { return Ok(Vec::new()) };
    let mut used = used(home)?.volumes;
    let paths = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    let named = paths.filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), path)));
    let mut volumes: Vec<Volume> = named
        .filter(|(name, _)| !name.starts_with('.'))
        .map(|(name, path)| Volume { used_by: used.remove(&name).unwrap_or_default(), name, path })
        .collect();
    volumes.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(volumes)
}
