//! `coop image`: what boxes are made of.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::json;

use super::progress::{Teller, amount};
use super::used::{Used, digests, used};
use super::{coop_home, said};
use crate::boxes::step_of_pull;
use crate::cli::words::{ago, complain, in_columns, plain, print_json, print_line};
use crate::images::{Freed, Image, Logins, Reference, Report, Setups, Store};

/// List, fetch and remove the images that boxes are made of
///
/// An image is what `image` in coop.toml says: `debian:12` or any other of a registry, oci:DIR, tar:FILE, dir:PATH. `coop
/// up` fetches what is not there. Docker is not needed; its logins are used where they are.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop image ls\n  coop image pull debian:12\n  coop image gc")]
#[command(disable_help_subcommand = true)]
pub struct Images {
    #[command(subcommand)]
    act: Act,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Act {
    Ls(Ls),
    Pull(Pull),
    Rm(Rm),
    Gc(Gc),
}

/// List the images that are here, and which boxes use them
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop image ls --json | jq -r '.images[].reference'")]
struct Ls {}

/// Fetch an image, or what its name means by now
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop image pull debian:12\n  coop image pull tar:image.tar")]
struct Pull {
    /// As in coop.toml
    #[arg(value_name = "IMAGE")]
    image: String,
}

/// Remove images; one that a box uses stays
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop image rm debian:12")]
struct Rm {
    /// As `coop image ls` shows them
    #[arg(value_name = "IMAGE", required = true)]
    images: Vec<String>,
}

/// Remove what no image and no box needs: old layers, images without a name, setups that were left
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop image gc")]
struct Gc {}

impl Images {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let home = coop_home()?;
        match &self.act {
            Act::Ls(_) => self.list(&home),
            Act::Pull(pull) => self.pull(&home, &pull.image).await,
            Act::Rm(rm) => self.remove(&home, &rm.images),
            Act::Gc(_) => self.clean(&home),
        }
    }

    fn list(&self, home: &Path) -> anyhow::Result<ExitCode> {
        // Looking makes nothing.
        let images = if home.join("images").exists() { store(home)?.list().map_err(said)? } else { Vec::new() };
        let used = used(home).unwrap_or_else(|error| {
            complain(&format!("{error:#}"));
            Used::default()
        });
        let users = |image: &Image| {
            let id = image.id.to_string();
            used.images.get(&id).or_else(|| used.images.get(image.id.hex())).cloned().unwrap_or_default()
        };
        if self.json {
            let told = |image: &Image| {
                json!({
                    "reference": image.reference, "id": image.id.to_string(), "size_bytes": image.size_bytes,
                    "pulled_at_ms": image.pulled_at_ms, "used_by": users(image), "notes": image.notes,
                })
            };
            print_json(&json!({ "images": images.iter().map(told).collect::<Vec<_>>() }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let line = |image: &Image| {
            let since = ago(now.saturating_sub(Duration::from_millis(image.pulled_at_ms)));
            let cells =
                [&image.reference, image.id.short(), &amount(image.size_bytes), &since, &users(image).join(" ")];
            cells.map(plain)
        };
        let rows: Vec<[String; 5]> = images.iter().map(line).collect();
        if images.is_empty() && std::io::stderr().is_terminal() {
            complain("no image is here: `coop image pull debian:12` fetches one, and so does a box that stands on it");
        }
        for line in in_columns(["IMAGE", "ID", "SIZE", "PULLED", "USED BY"], &rows) {
            print_line(&line)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn pull(&self, home: &Path, image: &str) -> anyhow::Result<ExitCode> {
        let reference = read(image)?;
        let teller = std::sync::Arc::new(Mutex::new(Teller::new(self.json)));
        let (tell, name) = (teller.clone(), reference.to_string());
        let report = Report::new(move |progress| {
            if let Ok(mut teller) = tell.lock() {
                teller.tell(&step_of_pull(&progress, &name));
            }
        });
        let pulled = store(home)?.pull(&reference, &Logins::of_user(), &report).await;
        if let Ok(mut teller) = teller.lock() {
            teller.finish();
        }
        let pulled = pulled.map_err(said)?;
        if self.json {
            let id = pulled.id.to_string();
            print_json(&json!({ "reference": pulled.reference, "id": id, "size_bytes": pulled.size_bytes }))?;
            return Ok(ExitCode::SUCCESS);
        }
        pulled.notes.iter().for_each(|note| complain(&plain(note)));
        let (name, id) = (plain(&pulled.reference), pulled.id.short());
        print_line(&format!("{name} is here ({id}, {})", amount(pulled.size_bytes)))?;
        Ok(ExitCode::SUCCESS)
    }

    fn remove(&self, home: &Path, images: &[String]) -> anyhow::Result<ExitCode> {
        let references = images.iter().map(|image| read(image)).collect::<anyhow::Result<Vec<_>>>()?;
        let (store, in_use) = (store(home)?, digests(&used(home)?.images));
        let mut freed = Freed::default();
        let mut failed = false;
        for reference in &references {
            match store.remove(reference, &in_use) {
                Ok(more) => {
                    freed.images += more.images;
                    freed.blobs += more.blobs;
                    freed.bytes += more.bytes;
                }
                Err(error) => {
                    failed = true;
                    complain(&plain(&error.to_string()));
                }
            }
        }
        if !failed || freed != Freed::default() {
            self.tell_freed(freed)?;
        }
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    fn clean(&self, home: &Path) -> anyhow::Result<ExitCode> {
        if !home.exists() {
            self.tell_freed(Freed::default())?;
            return Ok(ExitCode::SUCCESS);
        }
        let used = used(home)?;
        let setups =
            Setups::open(&home.join("builds")).and_then(|setups| setups.gc(&digests(&used.builds))).map_err(said)?;
        let mut freed = store(home)?.gc(&digests(&used.images)).map_err(said)?;
        freed.bytes += setups;
        self.tell_freed(freed)?;
        Ok(ExitCode::SUCCESS)
    }

    fn tell_freed(&self, freed: Freed) -> std::io::Result<()> {
        let Freed { images, blobs, bytes } = freed;
        if self.json {
            return print_json(&json!({ "images": images, "blobs": blobs, "bytes": bytes }));
        }
        print_line(&format!("freed {}: {images} images, {blobs} layers", amount(bytes)))
    }
}

fn store(home: &Path) -> anyhow::Result<Store> {
    Store::open(&home.join("images")).map_err(said)
}

/// Paths are taken from here.
fn read(image: &str) -> anyhow::Result<Reference> {
    let here = std::env::current_dir().context("the present directory")?;
    Reference::parse(image, &here).map_err(said)
}
