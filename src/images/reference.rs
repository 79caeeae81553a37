//! What `image = "…"` may say, and what it means.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::digest::Digest;

/// Where an image comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// `host`: the system as it is; no image at all.
    Host,
    /// `oci:DIR[:tag]`: a directory in the OCI layout.
    Layout { dir: PathBuf, tag: Option<String> },
    /// `tar:FILE`: what `docker save` or `skopeo copy … oci-archive:` wrote.
    Archive(PathBuf),
    /// `dir:PATH`: a root file system as it is.
    Directory(PathBuf),
    /// Anything else: an image of a registry.
    Registry(Remote),
}

/// An image of a registry, with all that its short form leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Remote {
    /// Host and, if it was said, port: `docker.io`, `localhost:5000`.
    pub registry: String,
    /// `library/debian`.
    pub repository: String,
    /// `latest` when neither tag nor digest was said.
    pub tag: Option<String>,
    /// What the manifest must hash to.
    pub digest: Option<Digest>,
}

/// A text that names no image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("image {text:?}: {why}")]
pub struct BadReference {
    text: String,
    why: String,
}

/// The registry of names without one.
const DEFAULT_REGISTRY: &str = "docker.io";

/// Where that one really is; its own name is a web site.
const DEFAULT_REGISTRY_HOST: &str = "registry-1.docker.io";

/// Longer names are refused by registries too.
const REPOSITORY_LEN_MAX: usize = 255;

/// The same for tags.
const TAG_LEN_MAX: usize = 128;

impl Reference {
    /// Reads what was written in a file of directory `base`, to which paths are relative.
    pub fn parse(text: &str, base: &Path) -> Result<Self, BadReference> {
        let bad = |why: &str| BadReference { text: text.chars().take(300).collect(), why: why.to_owned() };
        if text.is_empty() {
            return Err(bad("it is empty; `host` means this system, `debian:12` an image of Docker Hub"));
        }
        if text.bytes().any(|b| b.is_ascii_control() || b == b' ') || text.trim() != text {
            return Err(bad("blanks and control characters have no place in it"));
        }
        let path = |rest: &str| match rest {
            "" => Err(bad("a path must follow the colon")),
            rest => Ok(base.join(rest)),
        };
        match text.split_once(':') {
            _ if text == "host" => Ok(Self::Host),
            Some(("tar", rest)) => Ok(Self::Archive(path(rest)?)),
            Some(("dir", rest)) => Ok(Self::Directory(path(rest)?)),
            Some(("oci", rest)) => {
                // Only what has no slash can be a tag: a directory may have a colon in its name.
                let (dir, tag) = match rest.rsplit_once(':') {
                    Some((dir, tag)) if !tag.contains('/') => (dir, Some(tag)),
                    _ => (rest, None),
                };
                if tag.is_some_and(|tag| !is_tag(tag)) {
                    return Err(bad("the tag after the last colon may have letters, digits, `_`, `.` and `-` only"));
                }
                Ok(Self::Layout { dir: path(dir)?, tag: tag.map(str::to_owned) })
            }
            _ => Remote::parse(text).map(Self::Registry).map_err(|why| bad(&why)),
        }
    }
}

impl Remote {
    fn parse(text: &str) -> Result<Self, String> {
        if text.contains("://") {
            return Err("a registry is named without a scheme, as in `ghcr.io/owner/name:tag`".into());
        }
        if text.starts_with(['/', '.', '~']) {
            return Err("a path needs to say what is there: `dir:PATH`, `oci:DIR` or `tar:FILE`".into());
        }
        let (name, digest) = match text.split_once('@') {
            Some((name, digest)) => (name, Some(Digest::parse(digest).map_err(|error| error.to_string())?)),
            None => (text, None),
        };
        let (name, tag) = match name.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
            _ => (name, None),
        };
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return Err(
                "a tag may have 128 letters, digits, `_`, `.` and `-`, and begins with neither `.` nor `-`".into()
            );
        }
        let (registry, repository) = match name.split_once('/') {
            Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => (first, rest.to_owned()),
            Some(_) => (DEFAULT_REGISTRY, name.to_owned()),
            None => (DEFAULT_REGISTRY, format!("library/{name}")),
        };
        let registry = if registry == "index.docker.io" { DEFAULT_REGISTRY } else { registry };
        let repository = match repository.split_once('/') {
            None if registry == DEFAULT_REGISTRY => format!("library/{repository}"),
            _ => repository,
        };
        check_registry(registry)?;
        check_repository(&repository)?;
        let tag = tag.map(str::to_owned).or_else(|| digest.is_none().then(|| "latest".to_owned()));
        Ok(Self { registry: registry.to_owned(), repository, tag, digest })
    }

    /// Where the registry is really reached.
    pub fn host(&self) -> &str {
        if self.registry == DEFAULT_REGISTRY { DEFAULT_REGISTRY_HOST } else { &self.registry }
    }

    /// Whether it is on this machine; only then may it be spoken to without TLS.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.registry)
    }

    /// What to ask the registry for: the digest if there is one, since it says more than a tag.
    pub fn manifest_name(&self) -> String {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => digest.to_string(),
            (None, tag) => tag.clone().unwrap_or_else(|| "latest".to_owned()),
        }
    }
}

/// Whether `host[:port]` names this machine by a name that cannot mean another.
pub(super) fn is_loopback(authority: &str) -> bool {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => authority,
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn is_tag(tag: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    (1..=TAG_LEN_MAX).contains(&tag.len()) && !tag.starts_with(['.', '-']) && tag.bytes().all(inner)
}

fn check_registry(registry: &str) -> Result<(), String> {
    let (host, port) = match registry.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((ip, port)) if ip.parse::<std::net::Ipv6Addr>().is_ok() => ("ip", port.strip_prefix(':')),
        Some(_) => return Err(format!("{registry:?} is no host")),
        None => registry.split_once(':').map_or((registry, None), |(host, port)| (host, Some(port))),
    };
    let label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            && !label.starts_with('-')
    };
    if !host.split('.').all(label) || port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err(format!("{registry:?} is no host of a registry"));
    }
    Ok(())
}

fn check_repository(repository: &str) -> Result<(), String> {
    if repository.len() > REPOSITORY_LEN_MAX {
        return Err(format!("a name may have at most {REPOSITORY_LEN_MAX} characters"));
    }
    if repository.bytes().any(|b| b.is_ascii_uppercase()) {
        return Err("names of images are written in lower case".into());
    }
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'.' | b'-');
    let edge = |c: char| c.is_ascii_alphanumeric();
    let part = |part: &str| part.bytes().all(inner) && part.starts_with(edge) && part.ends_with(edge);
    if !repository.split('/').all(part) {
        let rule = "parts of a name have lower-case letters and digits, with `.`, `_` and `-` between them";
        return Err(format!("{repository:?} is no name of an image: {rule}"));
    }
    Ok(())
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            Self::Layout { dir, tag: None } => write!(f, "oci:{}", dir.display()),
            Self::Layout { dir, tag: Some(tag) } => write!(f, "oci:{}:{tag}", dir.display()),
            Self::Archive(file) => write!(f, "tar:{}", file.display()),
            Self::Directory(dir) => write!(f, "dir:{}", dir.display()),
            Self::Registry(remote) => remote.fmt(f),
        }
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        match &self.digest {
            Some(digest) => write!(f, "@{digest}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Reference, BadReference> {
        Reference::parse(text, Path::new("/base"))
    }

    fn full(text: &str) -> String {
        parse(text).unwrap().to_string()
    }

    #[test]
    fn a_short_name_means_docker_hub_and_latest() {
        assert_eq!(full("debian"), "docker.io/library/debian:latest");
        assert_eq!(full("debian:12"), "docker.io/library/debian:12");
        assert_eq!(full("docker.io/debian:12"), "docker.io/library/debian:12");
        assert_eq!(full("index.docker.io/debian"), "docker.io/library/debian:latest");
        assert_eq!(full("owner/name"), "docker.io/owner/name:latest");
        let Reference::Registry(remote) = parse("debian").unwrap() else { panic!() };
        assert_eq!(remote.host(), "registry-1.docker.io");
    }

    #[test]
    fn a_registry_is_told_from_an_owner_by_its_dot_port_or_localhost() {
        assert_eq!(full("ghcr.io/x/y"), "ghcr.io/x/y:latest");
        assert_eq!(full("localhost:5000/x"), "localhost:5000/x:latest");
        assert_eq!(full("localhost/x:1"), "localhost/x:1");
        assert_eq!(full("[::1]:5000/x"), "[::1]:5000/x:latest");
        let digest = format!("sha256:{}", "a".repeat(64));
        assert_eq!(full(&format!("ghcr.io/x/y@{digest}")), format!("ghcr.io/x/y@{digest}"));
        assert_eq!(full(&format!("ghcr.io/x/y:1@{digest}")), format!("ghcr.io/x/y:1@{digest}"));
    }

    #[test]
    fn paths_are_relative_to_the_file_that_names_them() {
        assert_eq!(parse("host").unwrap(), Reference::Host);
        assert_eq!(parse("dir:root").unwrap(), Reference::Directory("/base/root".into()));
        assert_eq!(parse("tar:/a.tar").unwrap(), Reference::Archive("/a.tar".into()));
        assert_eq!(parse("oci:x").unwrap(), Reference::Layout { dir: "/base/x".into(), tag: None });
        assert_eq!(parse("oci:x:12").unwrap(), Reference::Layout { dir: "/base/x".into(), tag: Some("12".into()) });
        assert_eq!(parse("oci:a:b/c").unwrap(), Reference::Layout { dir: "/base/a:b/c".into(), tag: None });
    }

    #[test]
    fn a_mistake_is_told_with_the_way_out() {
        for (text, part) in [
            ("", "empty"),
            ("dir:", "a path must follow"),
            ("./rootfs", "dir:PATH"),
            ("/rootfs", "dir:PATH"),
            ("https://ghcr.io/x", "without a scheme"),
            ("Debian", "lower case"),
            ("debian:", "a tag may have"),
            ("debian:-x", "a tag may have"),
            ("debian@sha256:12", "no digest"),
            ("a b", "blanks"),
            ("x/../y", "no name of an image"),
            ("x//y", "no name of an image"),
            ("exa$mple.com/x", "no host"),
            ("a.b:99999/x", "no host"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains(&format!("{text:?}")), "{text}: {error}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for yes in ["localhost", "localhost:5000", "127.0.0.1:1", "127.1.2.3", "[::1]:80", "[::1]"] {
            assert!(is_loopback(yes), "{yes}");
        }
        for no in ["localhost.example.com", "127.0.0.1.nip.io", "10.0.0.1:5000", "docker.io", "0.0.0.0"] {
            assert!(!is_loopback(no), "{no}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_means_the_same_again(text in "\\PC{0,40}") {
            if let Ok(reference) = parse(&text) {
                prop_assert_eq!(parse(&reference.to_string()).unwrap(), reference);
            }
        }
    }
}
