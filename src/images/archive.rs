//! `tar:FILE`: what `docker save` and its like write. Its members are laid out as numbered files first, since their
//! order is any order and the file may be compressed.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;

use super::config::Described;
use super::decompress;
use super::digest::{Digest, Hashing};
use super::error::{Context, ImageError};
use super::layout::{Layout, read_small};
use super::limits::Limits;
use super::manifest::{CONFIG_BYTES_MAX, MANIFEST_BYTES_MAX, Part, Platform};
use super::resolved::{Resolved, describe};
use super::tarball::{Entries, Kind, TarError};
use super::unpack::LayerFile;

/// An archive has some members for each layer.
const MEMBERS_MAX: u64 = 10_000;

/// Links among members, followed one after the other.
const LINKS_MAX: u32 = 8;

/// An archive's members as files.
pub(super) struct Members {
    name: String,
    dir: PathBuf,
    files: HashMap<String, Member>,
}

enum Member {
    File { path: PathBuf, digest: Digest, size: u64 },
    Link(String),
}

/// One of the images in the `manifest.json` of a `docker save`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Saved {
    config: String,
    layers: Vec<String>,
    #[serde(default)]
    repo_tags: Option<Vec<String>>,
}

/// An image with its layers where they can be unpacked from.
#[derive(Debug)]
pub(super) struct Local {
    pub(super) id: Digest,
    pub(super) described: Described,
    pub(super) layers: Vec<LayerFile>,
}

impl Local {
    /// `blob` says where the file of a blob is.
    pub(super) fn of(resolved: Resolved, blob: &dyn Fn(&Digest) -> PathBuf) -> Self {
        let pairs = resolved.layers.iter().zip(&resolved.described.diff_ids);
        let layer = |(part, diff_id): (&Part, &Digest)| LayerFile {
            path: blob(&part.digest),
            digest: Some(part.digest.clone()),
            diff_id: diff_id.clone(),
            size: part.size,
        };
        Self { id: resolved.id.clone(), layers: pairs.map(layer).collect(), described: resolved.described }
    }
}

impl Members {
    /// Lays the members out in a directory that exists and is empty.
    pub(super) fn lay_out(
        archive: &Path,
        dir: &Path,
        limits: &Limits,
        cancelled: &AtomicBool,
    ) -> Result<Self, ImageError> {
        let name = format!("tar:{}", archive.display());
        let refuse = |why: TarError| match why {
            TarError::Read(source) if source.raw_os_error().is_some() => ImageError::io("read", archive, source),
            why => ImageError::NotAnImage(name.clone(), why.to_string()),
        };
        // The ratio is that of layers in a tar, which may be all but empty: only the size counts.
        let limits = Limits { ratio_max: u64::MAX, ..limits.clone() };
        let stream = decompress::Layer::open(archive, &limits, limits.bytes_max).map_err(refuse)?;
        let mut entries = Entries::new(stream, &limits, MEMBERS_MAX);
        let mut files = HashMap::new();
        while let Some(entry) = entries.next_entry().map_err(refuse)? {
            if cancelled.load(Ordering::Relaxed) {
                return Err(ImageError::Cancelled);
            }
            let Ok(member) = String::from_utf8(entry.path.clone()) else { continue };
            let member = member.trim_start_matches("./").to_owned();
            match entry.kind {
                Kind::File => {
                    let path = dir.join(files.len().to_string());
                    let mut file = File::create_new(&path).context("make", &path)?;
                    let mut data = Hashing::new(&mut entries);
                    copy(&mut data, &mut file).map_err(|error| match error {
                        Side::Read(error) => refuse(error.into()),
                        Side::Write(error) => ImageError::io("write", &path, error),
                    })?;
                    let (digest, size) = data.finish();
                    files.insert(member, Member::File { path, digest, size });
                }
                // Old versions of Docker write a layer that comes twice as a link to the first.
                Kind::Symlink(target) => {
                    let target = String::from_utf8_lossy(&target).into_owned();
                    let target = match member.rsplit_once('/') {
                        Some((parent, _)) => normal(&format!("{parent}/{target}")),
                        None => normal(&target),
                    };
                    files.insert(member, Member::Link(target));
                }
                Kind::Hardlink(target) => {
                    files.insert(member, Member::Link(normal(&String::from_utf8_lossy(&target))));
                }
                Kind::Directory | Kind::Special(_) => {}
            }
        }
        Ok(Self { name, dir: dir.to_owned(), files })
    }

    fn find(&self, name: &str) -> Option<(&Path, &Digest, u64)> {
        let mut name = name.trim_start_matches("./");
        for _ in 0..LINKS_MAX {
            match self.files.get(name)? {
                Member::File { path, digest, size } => return Some((path, digest, *size)),
                Member::Link(target) => name = target,
            }
        }
        None
    }

    /// The image in it, in whichever of the two formats; those who write both mean the same image.
    pub(super) fn resolve(&self, wanted: &Platform) -> Result<Local, ImageError> {
        let no = |why: &str| ImageError::NotAnImage(self.name.clone(), why.to_owned());
        if let Some((path, ..)) = self.find("manifest.json") {
            return self.resolve_saved(&read_small(path, MANIFEST_BYTES_MAX)?, wanted);
        }
        let Some((index, ..)) = self.find("index.json") else {
            return Err(no(
                "it has neither a manifest.json nor an index.json: `docker save` and `skopeo copy` write such; the bare files of a system, as `docker export` writes them, are unpacked first and named with dir:PATH",
            ));
        };
        let index = read_small(index, MANIFEST_BYTES_MAX)?;
        // A blob that is not there gives a path that is not there, and that error names it.
        let blob = |digest: &Digest| {
            let member = format!("blobs/sha256/{}", digest.hex());
            self.find(&member).map_or_else(|| self.dir.join(member), |(path, ..)| path.to_owned())
        };
        let layout = Layout { name: &self.name, index, blob: &blob };
        let resolved = layout.resolve(None, wanted)?;
        Ok(Local::of(resolved, &blob))
    }

    fn resolve_saved(&self, manifest: &[u8], wanted: &Platform) -> Result<Local, ImageError> {
        let no = |why: String| ImageError::NotAnImage(self.name.clone(), why);
        let saved: Vec<Saved> = serde_json::from_slice(manifest)
            .map_err(|error| no(format!("its manifest.json cannot be read: {error}")))?;
        let [saved] = &saved[..] else {
            let tags: Vec<_> = saved.into_iter().filter_map(|image| image.repo_tags).flatten().collect();
            return Err(no(format!(
                "it must hold one image, but it holds {}",
                if tags.is_empty() { "none".into() } else { tags.join(", ") }
            )));
        };
        let member = |name: &str| {
            self.find(name).ok_or_else(|| no(format!("its manifest.json names {name:?}, which is not in it")))
        };
        let (id, described) = describe(&self.name, &read_small(member(&saved.config)?.0, CONFIG_BYTES_MAX)?, wanted)?;
        if described.diff_ids.len() != saved.layers.len() {
            return Err(no("its manifest and its configuration name different numbers of layers".into()));
        }
        let mut layers = Vec::new();
        for (name, diff_id) in saved.layers.iter().zip(&described.diff_ids) {
            let (path, digest, size) = member(name)?;
            layers.push(LayerFile {
                path: path.to_owned(),
                digest: Some(digest.clone()),
                diff_id: diff_id.clone(),
                size,
            });
        }
        Ok(Local { id, described, layers })
    }
}

/// `a/b/../c` without the dots; it is a key, not a path.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

enum Side {
    Read(io::Error),
    Write(io::Error),
}

fn copy(from: &mut impl io::Read, to: &mut impl io::Write) -> Result<(), Side> {
    let mut buffer = vec![0; 128 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => to.write_all(&buffer[..n]).map_err(Side::Write)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Side::Read(error)),
        }
    }
}
