//! Images for tests, and the ways to store them.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;

use super::digest::Digest;
use super::manifest::Platform;
use super::tarmaker::Tar;

/// An image of some layers, compressed as they come.
#[derive(Clone)]
pub(super) struct Sample {
    pub(super) layers: Vec<Vec<u8>>,
    pub(super) config: Vec<u8>,
    pub(super) manifest: Vec<u8>,
}

pub(super) fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Bytes that do not compress, always the same.
pub(super) fn noise(bytes: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761).max(1);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    (0..bytes).map(|_| next()).collect()
}

impl Sample {
    pub(super) fn of(tars: &[Vec<u8>], platform: &Platform) -> Self {
        let layers: Vec<_> = tars.iter().map(|tar| gzip(tar)).collect();
        let quoted = |items: Vec<String>| items.join(",");
        let diff_ids = quoted(tars.iter().map(|tar| format!("\"{}\"", Digest::of(tar))).collect());
        let config = format!(
            r#"{{"os":"{}","architecture":"{}","config":{{"Env":["PATH=/bin"],"Cmd":["sh"],"WorkingDir":"/srv"}},
            "rootfs":{{"type":"layers","diff_ids":[{diff_ids}]}}}}"#,
            platform.os, platform.architecture
        )
        .into_bytes();
        let part = |kind: &str, data: &[u8]| {
            format!(r#"{{"mediaType":"{kind}","digest":"{}","size":{}}}"#, Digest::of(data), data.len())
        };
        let parts = quoted(layers.iter().map(|it| part("application/vnd.oci.image.layer.v1.tar+gzip", it)).collect());
        let manifest = format!(
            r#"{{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{},"layers":[{parts}]}}"#,
            part("application/vnd.oci.image.config.v1+json", &config)
        );
        Self { layers, config, manifest: manifest.into_bytes() }
    }

    /// Two layers, the second large enough to be cut in the middle.
    pub(super) fn usual() -> Self {
        let low = Tar::new().dir("etc", 0o755).file("etc/name", b"low").file("gone", b"").done();
        let high = Tar::new().file("etc/name", b"high").file(".wh.gone", b"").file("large", &noise(200_000, 1)).done();
        Self::of(&[low, high], &Platform::here())
    }

    pub(super) fn id(&self) -> Digest {
        Digest::of(&self.config)
    }

    /// All blobs by digest.
    pub(super) fn blobs(&self) -> HashMap<String, Vec<u8>> {
        let all = self.layers.iter().chain([&self.config, &self.manifest]);
        all.map(|data| (Digest::of(data).to_string(), data.clone())).collect()
    }

    /// An index of this one image, as a layout has it.
    fn index(&self, tag: &str) -> Vec<u8> {
        let (digest, size) = (Digest::of(&self.manifest), self.manifest.len());
        let names = format!(r#"{{"org.opencontainers.image.ref.name":"{tag}"}}"#);
        let kind = "application/vnd.oci.image.manifest.v1+json";
        format!(r#"{{"schemaVersion":2,"manifests":[{{"mediaType":"{kind}","digest":"{digest}","size":{size},"annotations":{names}}}]}}"#)
            .into_bytes()
    }

    pub(super) fn write_layout(&self, dir: &Path, tag: &str) {
        std::fs::create_dir_all(dir.join("blobs/sha256")).unwrap();
        for (digest, data) in self.blobs() {
            std::fs::write(dir.join("blobs/sha256").join(&digest[7..]), data).unwrap();
        }
        std::fs::write(dir.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
        std::fs::write(dir.join("index.json"), self.index(tag)).unwrap();
    }

    /// What `skopeo copy … oci-archive:` writes.
    pub(super) fn oci_archive(&self) -> Vec<u8> {
        let mut tar = Tar::new().file("index.json", &self.index("latest"));
        for (digest, data) in self.blobs() {
            tar = tar.file(&format!("blobs/sha256/{}", &digest[7..]), &data);
        }
        tar.done()
    }

    /// What `docker save` of old wrote: layers first, the second time as a link, the manifest last.
    pub(super) fn docker_archive(&self) -> Vec<u8> {
        let mut tar = Tar::new();
        let mut names = Vec::new();
        for (number, data) in self.layers.iter().enumerate() {
            tar = tar
                .file(&format!("{number}/real.tar"), data)
                .symlink(&format!("{number}x/layer.tar"), &format!("../{number}/real.tar"));
            names.push(format!("\"{number}x/layer.tar\""));
        }
        let manifest = format!(r#"[{{"Config":"config.json","RepoTags":["x:1"],"Layers":[{}]}}]"#, names.join(","));
        tar.file("config.json", &self.config).file("manifest.json", manifest.as_bytes()).done()
    }
}
