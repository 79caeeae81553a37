//! Manifests: of which parts an image consists, and which image of several fits this machine.

use std::fmt;

use serde::Deserialize;

use super::digest::Digest;

/// What a registry may answer with, most wanted first.
pub(super) const ACCEPTED: &str = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, \
     application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json";

/// No manifest is larger; registries have the same limit.
pub(super) const MANIFEST_BYTES_MAX: u64 = 4 << 20;

/// No configuration is larger.
pub(super) const CONFIG_BYTES_MAX: u64 = 8 << 20;

/// More layers than any builder makes (127 is their limit).
const LAYERS_MAX: usize = 512;

/// For which machine an image is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    pub os: String,
    pub architecture: String,
}

impl Platform {
    /// This machine, in the words that images use.
    pub fn here() -> Self {
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            "powerpc64" => "ppc64le",
            "loongarch64" => "loong64",
            same => same,
        };
        Self { os: "linux".into(), architecture: architecture.into() }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.architecture)
    }
}

/// A part of an image, by the digest and the size that it must have.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part {
    #[serde(default)]
    pub(super) media_type: String,
    pub(super) digest: Digest,
    pub(super) size: u64,
    #[serde(default)]
    annotations: std::collections::BTreeMap<String, String>,
    platform: Option<PartPlatform>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct PartPlatform {
    #[serde(default)]
    os: String,
    #[serde(default)]
    architecture: String,
}

/// One image.
#[derive(Clone, Debug)]
pub(super) struct Manifest {
    pub(super) config: Part,
    /// Lowest first.
    pub(super) layers: Vec<Part>,
}

/// A manifest, or a choice of them.
#[derive(Debug)]
pub(super) enum Told {
    Image(Manifest),
    Choice(Vec<Part>),
}

/// Manifests and indexes are told apart by what they hold; the media type inside is optional.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    schema_version: Option<u32>,
    config: Option<Part>,
    layers: Option<Vec<Part>>,
    manifests: Option<Vec<Part>>,
}

/// Reads a manifest or an index; the error says what is wrong with it.
pub(super) fn parse(bytes: &[u8]) -> Result<Told, String> {
    let file: File = serde_json::from_slice(bytes).map_err(|error| format!("its manifest cannot be read: {error}"))?;
    if file.schema_version == Some(1) {
        return Err("its manifest has the format of 2015 (schema 1): push it again with a newer tool".into());
    }
    match file {
        File { manifests: Some(manifests), config: None, .. } => Ok(Told::Choice(manifests)),
        File { config: Some(config), layers: Some(layers), manifests: None, .. } => {
            if layers.len() > LAYERS_MAX {
                return Err(format!("it has {} layers; {LAYERS_MAX} is the limit", layers.len()));
            }
            if !config.is_image_config() {
                return Err(format!("it holds {:?}, not a container image", config.media_type));
            }
            if let Some(foreign) = layers.iter().find(|layer| !layer.is_layer()) {
                return Err(format!("a layer has the type {:?}, which coop does not know", foreign.media_type));
            }
            Ok(Told::Image(Manifest { config, layers }))
        }
        _ => Err("its manifest names neither layers nor images".into()),
    }
}

impl Part {
    fn is_image_config(&self) -> bool {
        let known = ["application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json", ""];
        known.contains(&self.media_type.as_str())
    }

    /// How a layer is compressed is seen in its first bytes; that it is a layer, in its type.
    fn is_layer(&self) -> bool {
        let known =
            ["", "application/vnd.docker.image.rootfs.diff.tar", "application/vnd.docker.image.rootfs.diff.tar.gzip"];
        known.contains(&self.media_type.as_str())
            || self.media_type.starts_with("application/vnd.oci.image.layer.v1.tar")
            || self.media_type == "application/vnd.docker.image.rootfs.diff.tar.zstd"
    }

    /// The name that a layout gives it.
    pub(super) fn tag(&self) -> Option<&str> {
        self.annotations.get("org.opencontainers.image.ref.name").map(String::as_str)
    }

    fn is_for(&self, wanted: &Platform) -> bool {
        self.platform.as_ref().is_some_and(|it| it.os == wanted.os && it.architecture == wanted.architecture)
    }
}

/// The one of several images that runs here; the error lists what there is. An image that is alone and says nothing
/// of its platform is taken: its configuration is looked at later.
pub(super) fn choose<'a>(parts: &'a [Part], wanted: &Platform) -> Result<&'a Part, String> {
    if let Some(part) = parts.iter().find(|part| part.is_for(wanted)) {
        return Ok(part);
    }
    if let [only] = parts
        && only.platform.is_none()
    {
        return Ok(only);
    }
    // Builders put their attestations into the list as images for `unknown/unknown`.
    let platforms = parts.iter().filter_map(|part| part.platform.as_ref()).filter(|it| it.os != "unknown");
    let mut offered: Vec<_> = platforms.map(|it| format!("{}/{}", it.os, it.architecture)).collect();
    offered.sort();
    offered.dedup();
    Err(offered.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> Platform {
        Platform { os: "linux".into(), architecture: "arm64".into() }
    }

    fn part(platform: &str) -> String {
        let digest = Digest::of(platform.as_bytes());
        let (os, architecture) = platform.split_once('/').unwrap();
        format!(r#"{{"digest":"{digest}","size":1,"platform":{{"os":"{os}","architecture":"{architecture}"}}}}"#)
    }

    fn choice(platforms: &[&str]) -> Vec<Part> {
        let parts: Vec<_> = platforms.iter().map(|platform| part(platform)).collect();
        match parse(format!(r#"{{"schemaVersion":2,"manifests":[{}]}}"#, parts.join(",")).as_bytes()).unwrap() {
            Told::Choice(parts) => parts,
            Told::Image(_) => panic!("it is a choice"),
        }
    }

    #[test]
    fn the_image_for_this_machine_is_chosen_and_what_there_is_is_told_otherwise() {
        let parts = choice(&["linux/amd64", "linux/arm64", "unknown/unknown"]);
        assert_eq!(choose(&parts, &wanted()).unwrap().digest, Digest::of(b"linux/arm64"));
        let none = choice(&["windows/amd64", "linux/amd64", "linux/amd64", "unknown/unknown"]);
        assert_eq!(choose(&none, &wanted()).unwrap_err(), "linux/amd64, windows/amd64");
    }

    #[test]
    fn what_is_no_image_is_refused_with_the_reason() {
        let digest = Digest::of(b"");
        let config = |kind: &str| format!(r#"{{"mediaType":"{kind}","digest":"{digest}","size":2}}"#);
        let image = |kind: &str, layer: &str| {
            format!(r#"{{"schemaVersion":2,"config":{},"layers":[{}]}}"#, config(kind), config(layer))
        };
        let oci = "application/vnd.oci.image.config.v1+json";
        let error = |text: &str| parse(text.as_bytes()).unwrap_err();
        assert!(error(&image("application/vnd.cncf.helm.config.v1+json", "")).contains("not a container image"));
        assert!(
            error(&image(oci, "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip")).contains("does not know")
        );
        assert!(error(r#"{"schemaVersion":1,"fsLayers":[]}"#).contains("schema 1"));
        assert!(error("{}").contains("neither"));
        assert!(error("<html>").contains("cannot be read"));
        assert!(parse(image(oci, "application/vnd.oci.image.layer.v1.tar+zstd").as_bytes()).is_ok());
    }
}
