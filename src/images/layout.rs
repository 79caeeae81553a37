//! `oci:DIR`: an image in a directory of the OCI layout.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::error::{Context, ImageError};
use super::manifest::{self, CONFIG_BYTES_MAX, MANIFEST_BYTES_MAX, Part, Platform, Told};
use super::resolved::Resolved;

/// An index may name an index; deeper than this nobody goes.
const NESTING_MAX: u32 = 4;

/// Where the blobs of an image are found by digest.
pub(super) struct Layout<'a> {
    /// What the user called it.
    pub(super) name: &'a str,
    /// The bytes of `index.json`.
    pub(super) index: Vec<u8>,
    /// The file of a blob.
    pub(super) blob: &'a dyn Fn(&Digest) -> PathBuf,
}

/// Reads the index of a layout's directory.
pub(super) fn index_of(dir: &Path) -> Result<Vec<u8>, ImageError> {
    let path = dir.join("index.json");
    read_small(&path, MANIFEST_BYTES_MAX)
}

impl Layout<'_> {
    /// The image with this tag, or the only one.
    pub(super) fn resolve(&self, tag: Option<&str>, wanted: &Platform) -> Result<Resolved, ImageError> {
        let no = |why: String| ImageError::NotAnImage(self.name.to_owned(), why);
        let Told::Choice(parts) = manifest::parse(&self.index).map_err(no)? else {
            return Err(no("its index.json is no index".into()));
        };
        let parts = match tag {
            None => parts,
            Some(tag) => {
                let tags: Vec<_> = parts.iter().filter_map(Part::tag).map(str::to_owned).collect();
                let tagged: Vec<_> = parts.into_iter().filter(|part| part.tag() == Some(tag)).collect();
                if tagged.is_empty() {
                    return Err(no(format!("it has no tag {tag}; it has {}", tags.join(", "))));
                }
                tagged
            }
        };
        let mut part = match &parts[..] {
            [only] => only.clone(),
            several => manifest::choose(several, wanted).cloned().map_err(|offered| {
                if offered.is_empty() {
                    no("it has several images: name one by its tag, `oci:DIR:tag`".into())
                } else {
                    self.platform(wanted, offered)
                }
            })?,
        };
        for _ in 0..NESTING_MAX {
            let bytes = self.read(&part, MANIFEST_BYTES_MAX)?;
            match manifest::parse(&bytes).map_err(no)? {
                Told::Image(manifest) => {
                    let config = self.read(&manifest.config, CONFIG_BYTES_MAX)?;
                    return Resolved::new(self.name, manifest, &config, wanted);
                }
                Told::Choice(parts) => {
                    part =
                        manifest::choose(&parts, wanted).cloned().map_err(|offered| self.platform(wanted, offered))?;
                }
            }
        }
        Err(no("its indexes name one another".into()))
    }

    fn platform(&self, wanted: &Platform, offered: String) -> ImageError {
        ImageError::Platform { image: self.name.to_owned(), wanted: wanted.to_string(), offered }
    }

    fn read(&self, part: &Part, bytes_max: u64) -> Result<Vec<u8>, ImageError> {
        let path = (self.blob)(&part.digest);
        let bytes = read_small(&path, bytes_max)?;
        let found = Digest::of(&bytes);
        if found != part.digest {
            let what = format!("{} of {}", path.display(), self.name);
            return Err(ImageError::Tampered { what, expected: part.digest.clone(), found: found.to_string() });
        }
        Ok(bytes)
    }
}

/// A file that has to be small.
pub(super) fn read_small(path: &Path, bytes_max: u64) -> Result<Vec<u8>, ImageError> {
    let file = std::fs::File::open(path).context("read", path)?;
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).context("read", path)?;
    if bytes.len() as u64 > bytes_max {
        return Err(ImageError::NotAnImage(path.display().to_string(), format!("it is larger than {bytes_max} bytes")));
    }
    Ok(bytes)
}
