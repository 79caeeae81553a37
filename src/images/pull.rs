//! An image comes into the store: resolved, fetched, unpacked, and only then given its name.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{StreamExt as _, TryStreamExt as _};

use super::archive::{Local, Members};
use super::auth::Logins;
use super::digest::Digest;
use super::error::{Context, ImageError};
use super::layout::{Layout, index_of, read_small};
use super::lock::{Lock, Sharing, lock};
use super::manifest::{self, CONFIG_BYTES_MAX, Part, Told};
use super::progress::{Phase, Report};
use super::records::{self, About};
use super::reference::{Reference, Remote};
use super::registry::Registry;
use super::resolved::Resolved;
use super::store::{Image, Store};
use super::trees;
use super::unpack::unpack;

/// How many blobs come at once: enough to fill a line, few enough for registries that count.
const DOWNLOADS_MAX: usize = 3;

/// A layer that is larger is none that anybody runs an agent in.
const LAYER_BYTES_MAX: u64 = 32 << 30;

impl Store {
    /// The image that a reference means, pulled if it is not there.
    pub async fn ensure(&self, reference: &Reference, logins: &Logins, report: &Report) -> Result<Image, ImageError> {
        match self.find(reference)? {
            Some(image) => Ok(image),
            None => self.pull(reference, logins, report).await,
        }
    }

    /// Fetches what the reference means now and unpacks it. Several who pull the same share the work. Whoever stops
    /// waiting loses nothing: what was fetched is there the next time.
    pub async fn pull(&self, reference: &Reference, logins: &Logins, report: &Report) -> Result<Image, ImageError> {
        report.tell(Phase::Resolving, "", 0, 0);
        let image = match reference {
            Reference::Host => {
                return Err(ImageError::Unknown("host: it is this system itself, nothing to pull".into()));
            }
            Reference::Directory(_) => {
                self.find(reference)?.ok_or_else(|| ImageError::Unknown(reference.to_string()))?
            }
            _ => self.pull_once(reference, logins, report).await?,
        };
        report.tell(Phase::Done, "", image.size_bytes, image.size_bytes);
        Ok(image)
    }

    async fn pull_once(&self, reference: &Reference, logins: &Logins, report: &Report) -> Result<Image, ImageError> {
        let text = reference.to_string();
        let before = self.record(&text);
        let share = Arc::new(lock(&self.lock_path("store"), Sharing::Shared).await?);
        let _ours =
            lock(&self.lock_path(&format!("ref-{}", Digest::of(text.as_bytes()).hex())), Sharing::Alone).await?;
        // Somebody pulled it while we waited; that is as new as it gets.
        let after = self.record(&text);
        if after != before
            && let Some(image) = after.and_then(|record| self.image(&record))
        {
            return Ok(image);
        }
        match reference {
            Reference::Registry(remote) => self.pull_remote(reference, remote, logins, report, share).await,
            Reference::Layout { dir, tag } => {
                let local = self.resolve_layout(reference, dir, tag.as_deref())?;
                self.unpack_once(local.id.clone(), local, report, share)
                    .await
                    .and_then(|id| self.keep(reference, &id, Vec::new()))
            }
            Reference::Archive(file) => self.pull_archive(reference, file, report, share).await,
            Reference::Host | Reference::Directory(_) => Err(ImageError::Unknown(text)),
        }
    }

    fn resolve_layout(&self, reference: &Reference, dir: &Path, tag: Option<&str>) -> Result<Local, ImageError> {
        let blob = |digest: &Digest| dir.join("blobs/sha256").join(digest.hex());
        let resolved =
            Layout { name: &reference.to_string(), index: index_of(dir)?, blob: &blob }.resolve(tag, &self.platform)?;
        Ok(Local::of(resolved, &blob))
    }

    async fn pull_archive(
        &self,
        reference: &Reference,
        file: &Path,
        report: &Report,
        share: Arc<Lock>,
    ) -> Result<Image, ImageError> {
        let dir = self.making(&format!("archive-{}", Digest::of(reference.to_string().as_bytes()).hex()));
        let (path, limits, platform) = (file.to_owned(), self.limits.clone(), self.platform.clone());
        let laid_out = Temporary::make(dir)?;
        let (laid_out, local) = cancellable(share.clone(), move |cancelled| {
            let members = Members::lay_out(&path, &laid_out.0, &limits, cancelled)?;
            Ok((laid_out, members.resolve(&platform)?))
        })
        .await?;
        let id = self.unpack_once(local.id.clone(), local, report, share).await?;
        drop(laid_out);
        self.keep(reference, &id, Vec::new())
    }

    async fn pull_remote(
        &self,
        reference: &Reference,
        remote: &Remote,
        logins: &Logins,
        report: &Report,
        share: Arc<Lock>,
    ) -> Result<Image, ImageError> {
        let registry = Registry::new(remote, logins, &self.patience)?;
        let resolved = self.resolve_remote(&registry, remote).await?;
        let layers = resolved.layers.iter().map(|layer| layer.digest.clone());
        let blobs: Vec<_> = std::iter::once(resolved.id.clone()).chain(layers).collect();
        if !self.image_dir(&resolved.id).exists() {
            // The same layer may come twice in an image.
            let mut wanted: Vec<&Part> = Vec::new();
            for layer in &resolved.layers {
                if wanted.iter().all(|known| known.digest != layer.digest) {
                    wanted.push(layer);
                }
            }
            let fetch = |part: &Part| {
                let (digest, size, registry) = (part.digest.clone(), part.size, &registry);
                async move { self.blobs.fetch(registry, &digest, size, report).await }
            };
            let fetching: Vec<_> = wanted.into_iter().map(fetch).collect();
            let _: Vec<PathBuf> =
                futures_util::stream::iter(fetching).buffer_unordered(DOWNLOADS_MAX).try_collect().await?;
        }
        let local = Local::of(resolved, &|digest| self.blobs.path(digest));
        match self.unpack_once(local.id.clone(), local, report, share).await {
            Ok(id) => self.keep(reference, &id, blobs),
            Err(error) => {
                // A blob that suffered on the disk is fetched anew the next time.
                if matches!(error, ImageError::Tampered { .. }) {
                    for blob in &blobs {
                        let path = self.blobs.path(blob);
                        if Digest::of_file(&path).is_ok_and(|found| found != *blob) {
                            let _ = std::fs::remove_file(path);
                        }
                    }
                }
                Err(error)
            }
        }
    }

    async fn resolve_remote(&self, registry: &Registry, remote: &Remote) -> Result<Resolved, ImageError> {
        let name = remote.to_string();
        let no = |why| ImageError::NotAnImage(name.clone(), why);
        let first = registry.manifest(&remote.manifest_name(), remote.digest.as_ref()).await?;
        let manifest = match manifest::parse(&first).map_err(no)? {
            Told::Image(manifest) => manifest,
            Told::Choice(parts) => {
                let part = manifest::choose(&parts, &self.platform).map_err(|offered| ImageError::Platform {
                    image: name.clone(),
                    wanted: self.platform.to_string(),
                    offered,
                })?;
                let second = registry.manifest(&part.digest.to_string(), Some(&part.digest)).await?;
                match manifest::parse(&second).map_err(no)? {
                    Told::Image(manifest) => manifest,
                    Told::Choice(_) => return Err(no("its index names another index".into())),
                }
            }
        };
        if manifest.config.size > CONFIG_BYTES_MAX {
            return Err(no(format!("its configuration is larger than {CONFIG_BYTES_MAX} bytes")));
        }
        if let Some(layer) = manifest.layers.iter().find(|layer| layer.size > LAYER_BYTES_MAX) {
            return Err(no(format!("its layer {} is larger than {LAYER_BYTES_MAX} bytes", layer.digest)));
        }
        let bytes = manifest.layers.iter().fold(0u64, |sum, layer| sum.saturating_add(layer.size));
        if bytes > self.limits.bytes_max {
            return Err(no(format!("its layers are larger than {} bytes together", self.limits.bytes_max)));
        }
        let config =
            self.blobs.fetch(registry, &manifest.config.digest, manifest.config.size, &Report::nowhere()).await?;
        Resolved::new(&name, manifest, &read_small(&config, CONFIG_BYTES_MAX)?, &self.platform)
    }

    /// Unpacks an image if nobody did so before.
    async fn unpack_once(
        &self,
        id: Digest,
        local: Local,
        report: &Report,
        share: Arc<Lock>,
    ) -> Result<Digest, ImageError> {
        let dir = self.image_dir(&id);
        if dir.exists() {
            return Ok(id);
        }
        let ours = lock(&self.lock_path(&format!("image-{}", id.hex())), Sharing::Alone).await?;
        if dir.exists() {
            return Ok(id);
        }
        let making = Temporary::make(self.making(id.hex()))?;
        let (limits, report) = (self.limits.clone(), report.clone());
        cancellable(share, move |cancelled| {
            let _ours = ours;
            let rootfs = making.0.join("rootfs");
            DirBuilder::new().mode(0o755).create(&rootfs).context("make", &rootfs)?;
            let unpacked = unpack(&local.layers, &rootfs, &limits, cancelled, &report)?;
            let about = About { config: local.described.config, size_bytes: unpacked.bytes, notes: unpacked.notes };
            records::write(&making.0.join("image.json"), &about)?;
            std::fs::rename(&making.0, &dir).context("keep", &dir)?;
            std::fs::File::open(dir.parent().unwrap_or(&dir)).and_then(|parent| parent.sync_all()).context("keep", &dir)
        })
        .await?;
        Ok(id)
    }
}

/// A directory that is gone with this, unless it was given another name.
struct Temporary(PathBuf);

impl Temporary {
    /// What an earlier attempt left is removed; whoever calls has the lock that says it is nobody's.
    fn make(path: PathBuf) -> Result<Self, ImageError> {
        trees::remove(&path).context("remove", &path)?;
        DirBuilder::new().mode(0o700).create(&path).context("make", &path)?;
        Ok(Self(path))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Err(error) = trees::remove(&self.0) {
            tracing::warn!(path = %self.0.display(), %error, "what an image was made in cannot be removed");
        }
    }
}

/// Runs blocking work that is told when nobody waits for it any more. Until it has ended, it keeps its share of the
/// store, so that nothing is swept away under it.
async fn cancellable<T: Send + 'static>(
    share: Arc<Lock>,
    work: impl FnOnce(&AtomicBool) -> Result<T, ImageError> + Send + 'static,
) -> Result<T, ImageError> {
    struct OnDrop(Arc<AtomicBool>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let cancelled = Arc::new(AtomicBool::new(false));
    let _guard = OnDrop(cancelled.clone());
    let running = tokio::task::spawn_blocking(move || {
        let done = work(&cancelled);
        drop(share);
        done
    });
    match running.await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The program ends.
        Err(_) => Err(ImageError::Cancelled),
    }
}

#[cfg(test)]
#[path = "pull_tests.rs"]
mod tests;
