//! What an image says about how it wants to be run.

use serde::{Deserialize, Serialize};

use super::digest::Digest;

/// The part of an image's configuration that a box needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageConfig {
    /// `NAME=value`, in order.
    pub env: Vec<String>,
    pub entrypoint: Vec<String>,
    pub cmd: Vec<String>,
    /// Where programs start; the root if it says nothing.
    pub working_dir: Option<String>,
    /// `user`, `uid`, `user:group`, as the image has it.
    pub user: Option<String>,
}

impl ImageConfig {
    /// What it would run by itself: entry point and arguments.
    pub fn argv(&self) -> Vec<String> {
        self.entrypoint.iter().chain(&self.cmd).cloned().collect()
    }
}

/// The configuration as it stands in the image, with what unpacking has to check.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) config: ImageConfig,
    pub(super) os: String,
    pub(super) architecture: String,
    /// The digest of each layer's tar, uncompressed, lowest first.
    pub(super) diff_ids: Vec<Digest>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    os: String,
    #[serde(default)]
    architecture: String,
    config: Option<Inner>,
    rootfs: Option<RootFs>,
}

/// Every list may be absent or null.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase")]
struct Inner {
    env: Option<Vec<String>>,
    entrypoint: Option<Vec<String>>,
    cmd: Option<Vec<String>>,
    working_dir: Option<String>,
    user: Option<String>,
}

#[derive(Deserialize)]
struct RootFs {
    #[serde(default)]
    diff_ids: Vec<Digest>,
}

/// Reads a configuration; the error says what it lacks.
pub(super) fn parse(bytes: &[u8]) -> Result<Described, String> {
    let file: File =
        serde_json::from_slice(bytes).map_err(|error| format!("its configuration cannot be read: {error}"))?;
    let Some(rootfs) = file.rootfs else {
        return Err("its configuration lists no layers (`rootfs`)".into());
    };
    let inner = file.config.unwrap_or_default();
    let said = |text: Option<String>| text.filter(|text| !text.is_empty());
    let config = ImageConfig {
        env: inner.env.unwrap_or_default(),
        entrypoint: inner.entrypoint.unwrap_or_default(),
        cmd: inner.cmd.unwrap_or_default(),
        working_dir: said(inner.working_dir),
        user: said(inner.user),
    };
    Ok(Described { config, os: file.os, architecture: file.architecture, diff_ids: rootfs.diff_ids })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_image_wants_is_read_and_absent_or_null_is_nothing() {
        let diff = Digest::of(b"x");
        let full = format!(
            r#"{{"os":"linux","architecture":"amd64","rootfs":{{"type":"layers","diff_ids":["{diff}"]}},
            "config":{{"Env":["A=1","B=x y"],"Entrypoint":["/init"],"Cmd":["sh","-l"],"WorkingDir":"/w","User":"1000:1000","Labels":null}}}}"#
        );
        let told = parse(full.as_bytes()).unwrap();
        assert_eq!(told.config.argv(), ["/init", "sh", "-l"]);
        assert_eq!(told.config.env, ["A=1", "B=x y"]);
        assert_eq!((told.config.working_dir.as_deref(), told.config.user.as_deref()), (Some("/w"), Some("1000:1000")));
        assert_eq!(told.diff_ids, [diff]);
        let little = br#"{"rootfs":{"diff_ids":[]},"config":{"Env":null,"Entrypoint":null,"WorkingDir":"","User":""}}"#;
        assert_eq!(parse(little).unwrap().config, ImageConfig::default());
    }

    #[test]
    fn what_is_no_configuration_of_an_image_is_refused() {
        assert!(parse(b"{}").unwrap_err().contains("no layers"));
        assert!(parse(b"[").unwrap_err().contains("cannot be read"));
        assert!(parse(br#"{"rootfs":{"diff_ids":["md5:1"]}}"#).unwrap_err().contains("no digest"));
    }
}
