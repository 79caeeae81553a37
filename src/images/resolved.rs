//! An image that is known by its parts, wherever they come from.

use super::config;
use super::digest::Digest;
use super::error::ImageError;
use super::manifest::{Manifest, Part, Platform};

/// The manifest that was chosen, and the configuration that it names.
#[derive(Debug)]
pub(super) struct Resolved {
    /// The configuration's digest. It names the layers' contents, so that it stands for the whole image, whichever way
    /// they are compressed.
    pub(super) id: Digest,
    pub(super) described: config::Described,
    pub(super) layers: Vec<Part>,
}

impl Resolved {
    pub(super) fn new(
        image: &str,
        manifest: Manifest,
        config_bytes: &[u8],
        wanted: &Platform,
    ) -> Result<Self, ImageError> {
        let (id, described) = describe(image, config_bytes, wanted)?;
        if described.diff_ids.len() != manifest.layers.len() {
            let why = "its manifest and its configuration name different numbers of layers";
            return Err(ImageError::NotAnImage(image.to_owned(), why.to_owned()));
        }
        Ok(Self { id, described, layers: manifest.layers })
    }
}

/// Reads a configuration and checks that it is for this machine.
pub(super) fn describe(
    image: &str,
    bytes: &[u8],
    wanted: &Platform,
) -> Result<(Digest, config::Described), ImageError> {
    let described = config::parse(bytes).map_err(|why| ImageError::NotAnImage(image.to_owned(), why))?;
    let said = |part: &str, wanted: &str| part.is_empty() || part == wanted;
    if !said(&described.os, &wanted.os) || !said(&described.architecture, &wanted.architecture) {
        let offered = format!("{}/{}", described.os, described.architecture);
        return Err(ImageError::Platform { image: image.to_owned(), wanted: wanted.to_string(), offered });
    }
    Ok((Digest::of(bytes), described))
}
