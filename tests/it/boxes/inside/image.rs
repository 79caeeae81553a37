//! A small root file system of a test's own, in each of the forms that a coop.toml can name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What the tests run inside.
const PROGRAMS: [&str; 8] =
    ["/bin/sh", "/bin/cat", "/bin/ls", "/bin/id", "/bin/mkdir", "/bin/rm", "/bin/sleep", "/usr/bin/setsid"];

/// Some of the machine's programs with what they are linked to, and a file that only this image has.
pub fn rootfs(at: &Path, mark: &str) {
    let mut files: BTreeSet<PathBuf> = PROGRAMS.iter().map(PathBuf::from).collect();
    for program in PROGRAMS {
        let linked = Command::new("ldd").arg(program).output().expect("ldd comes with the C library").stdout;
        let text = String::from_utf8_lossy(&linked).into_owned();
        files.extend(text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from));
    }
    for file in files {
        let to = at.join(file.strip_prefix("/").unwrap());
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(&file, to).unwrap();
    }
    for dir in ["etc", "tmp", "root"] {
        std::fs::create_dir_all(at.join(dir)).unwrap();
    }
    std::fs::write(at.join("etc/mark"), format!("{mark}\n")).unwrap();
}

/// One layer with this root, and what describes it.
struct Packed {
    layer: Vec<u8>,
    config: Vec<u8>,
}

fn packed(rootfs: &Path) -> Packed {
    let done = Command::new("tar").arg("-C").arg(rootfs).args(["-cf", "-", "."]).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let layer = done.stdout;
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let config = json!({
        "os": "linux", "architecture": architecture, "config": {"Env": ["OF_IMAGE=yes"]},
        "rootfs": {"type": "layers", "diff_ids": [digest(&layer)]},
    });
    Packed { layer, config: config.to_string().into_bytes() }
}

fn digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// As `docker save` writes it.
pub fn archive(rootfs: &Path, scratch: &Path) -> PathBuf {
    let (Packed { layer, config }, dir) = (packed(rootfs), scratch.join("saved"));
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("layer.tar"), layer).unwrap();
    std::fs::write(dir.join("config.json"), config).unwrap();
    let manifest = json!([{"Config": "config.json", "RepoTags": ["small:1"], "Layers": ["layer.tar"]}]);
    std::fs::write(dir.join("manifest.json"), manifest.to_string()).unwrap();
    let file = scratch.join("image.tar");
    let members = ["manifest.json", "config.json", "layer.tar"];
    assert!(Command::new("tar").arg("-C").arg(&dir).arg("-cf").arg(&file).args(members).status().unwrap().success());
    file
}

/// A directory of the OCI layout.
pub fn layout(rootfs: &Path, scratch: &Path) -> PathBuf {
    let (Packed { layer, config }, dir) = (packed(rootfs), scratch.join("layout"));
    let blobs = dir.join("blobs/sha256");
    std::fs::create_dir_all(&blobs).unwrap();
    let put = |kind: &str, bytes: &[u8]| -> Value {
        let digest = digest(bytes);
        std::fs::write(blobs.join(digest.strip_prefix("sha256:").unwrap()), bytes).unwrap();
        json!({"mediaType": format!("application/vnd.oci.image.{kind}"), "digest": digest, "size": bytes.len()})
    };
    let manifest = json!({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": put("config.v1+json", &config), "layers": [put("layer.v1.tar", &layer)],
    });
    let manifest = put("manifest.v1+json", manifest.to_string().as_bytes());
    std::fs::write(dir.join("index.json"), json!({"schemaVersion": 2, "manifests": [manifest]}).to_string()).unwrap();
    std::fs::write(dir.join("oci-layout"), json!({"imageLayoutVersion": "1.0.0"}).to_string()).unwrap();
    dir
}
