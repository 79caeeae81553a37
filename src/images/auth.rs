//! Who we are to a registry: what `docker login` and `podman login` left, and what the registry asks for.

use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

/// More than any such file has.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// What Docker calls its own registry in its file.
const DOCKER_HUB_KEY: &str = "https://index.docker.io/v1/";

/// Name and password; never shown.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Login {
    user: String,
    password: String,
}

impl Login {
    /// The value of an `Authorization` header.
    pub(super) fn header(&self) -> String {
        format!("Basic {}", STANDARD.encode(format!("{}:{}", self.user, self.password)))
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login(…)")
    }
}

/// The files that logins are looked for in, first to last.
#[derive(Clone, Debug, Default)]
pub struct Logins(Vec<PathBuf>);

/// What the files say about a registry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Login(Login),
    /// A program keeps it, which coop does not run.
    Helper(String),
    Nothing,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct File {
    auths: std::collections::HashMap<String, Entry>,
    cred_helpers: std::collections::HashMap<String, String>,
    creds_store: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Entry {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
}

impl Logins {
    /// Nobody is logged in.
    pub fn none() -> Self {
        Self::default()
    }

    pub fn in_files(files: Vec<PathBuf>) -> Self {
        Self(files)
    }

    /// Where Docker and Podman keep them for this user.
    pub fn of_user() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = variable("HOME");
        let docker = variable("DOCKER_CONFIG").or_else(|| home.as_ref().map(|home| home.join(".docker")));
        let podman = variable("XDG_RUNTIME_DIR").map(|dir| dir.join("containers/auth.json"));
        let kept = home.map(|home| home.join(".config/containers/auth.json"));
        Self(docker.map(|dir| dir.join("config.json")).into_iter().chain(podman).chain(kept).collect())
    }

    /// A file that cannot be read is the same as none: pulling without a login may well do.
    pub(super) fn find(&self, registry: &str) -> Found {
        let mut found = Found::Nothing;
        for file in self.0.iter().filter_map(|path| read(path)) {
            match file.find(registry) {
                Found::Nothing => {}
                login @ Found::Login(_) => return login,
                helper @ Found::Helper(_) => found = helper,
            }
        }
        found
    }
}

fn read(path: &Path) -> Option<File> {
    let small = path.metadata().is_ok_and(|found| found.is_file() && found.len() <= FILE_BYTES_MAX);
    serde_json::from_slice(&std::fs::read(path).ok().filter(|_| small)?).ok()
}

impl File {
    fn find(&self, registry: &str) -> Found {
        let bare = |key: &str| {
            let key = key.trim_start_matches("https://").trim_start_matches("http://");
            key.split('/').next().unwrap_or_default().to_owned()
        };
        let is_it = |key: &str| {
            if registry == "docker.io" { key == DOCKER_HUB_KEY || key == registry } else { bare(key) == registry }
        };
        let login = self.auths.iter().filter(|(key, _)| is_it(key)).find_map(|(_, entry)| entry.login());
        if let Some(login) = login {
            return Found::Login(login);
        }
        let own = self.cred_helpers.iter().find(|(key, _)| is_it(key)).map(|(_, helper)| helper);
        // The general one keeps only what is also listed, without its secret.
        let general = self.creds_store.as_ref().filter(|_| self.auths.keys().any(|key| is_it(key)));
        own.or(general).map_or(Found::Nothing, |helper| Found::Helper(helper.clone()))
    }
}

impl Entry {
    fn login(&self) -> Option<Login> {
        if let (Some(user), Some(password)) = (&self.username, &self.password) {
            return Some(Login { user: user.clone(), password: password.clone() });
        }
        let text = String::from_utf8(STANDARD.decode(self.auth.as_ref()?).ok()?).ok()?;
        let (user, password) = text.trim_end_matches('\0').split_once(':')?;
        Some(Login { user: user.to_owned(), password: password.to_owned() })
    }
}

/// What a registry wants to see before it answers: the `WWW-Authenticate` header.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    Basic,
    Bearer { realm: String, service: Option<String>, scope: Option<String> },
}

impl Challenge {
    pub(super) fn parse(header: &str) -> Option<Self> {
        let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let get = |wanted: &str| {
            parameters(rest).into_iter().find(|(key, _)| key.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
        };
        Some(Self::Bearer { realm: get("realm")?, service: get("service"), scope: get("scope") })
    }
}

/// `key="value",key=value`; commas and escapes inside of quotes belong to the value.
fn parameters(mut text: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    while let Some((key, rest)) = text.split_once('=') {
        let key = key.trim_matches([' ', ',']).to_owned();
        let mut value = String::new();
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut chars = quoted.char_indices();
            let mut end = quoted.len();
            while let Some((at, c)) = chars.next() {
                match c {
                    '"' => {
                        end = at + 1;
                        break;
                    }
                    '\\' => value.extend(chars.next().map(|(_, c)| c)),
                    c => value.push(c),
                }
            }
            text = &quoted[end..];
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            rest[..end].trim().clone_into(&mut value);
            text = &rest[end..];
        }
        all.push((key, value));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::*;

    #[test]
    fn a_login_is_found_as_docker_and_podman_write_it() {
        let scratch = Scratch::fresh();
        let auth = STANDARD.encode("me:se:cret");
        let docker = format!(
            r#"{{"auths":{{"https://index.docker.io/v1/":{{"auth":"{auth}"}},"https://ghcr.io/v2/":{{"auth":"{auth}"}},"kept.example.com":{{}}}},
            "credHelpers":{{"gcr.io":"gcloud"}},"credsStore":"desktop"}}"#
        );
        let podman = r#"{"auths":{"localhost:5000":{"username":"a","password":"b"}}}"#;
        let files = vec![
            scratch.path("none"),
            scratch.file("broken", "{"),
            scratch.file("docker", docker),
            scratch.file("podman", podman),
        ];
        let logins = Logins::in_files(files);
        let me = Found::Login(Login { user: "me".into(), password: "se:cret".into() });
        assert_eq!(logins.find("docker.io"), me);
        assert_eq!(logins.find("ghcr.io"), me);
        assert!(matches!(logins.find("localhost:5000"), Found::Login(_)));
        assert_eq!(logins.find("gcr.io"), Found::Helper("gcloud".into()));
        assert_eq!(logins.find("kept.example.com"), Found::Helper("desktop".into()));
        assert_eq!(logins.find("evil-ghcr.io"), Found::Nothing);
        assert!(!format!("{me:?}").contains("cret"), "a secret is not shown");
    }

    #[test]
    fn what_a_registry_asks_for_is_understood() {
        let text = r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:library/x:pull,push""#;
        let expected = Challenge::Bearer {
            realm: "https://auth.docker.io/token".into(),
            service: Some("registry.docker.io".into()),
            scope: Some("repository:library/x:pull,push".into()),
        };
        assert_eq!(Challenge::parse(text), Some(expected));
        assert_eq!(Challenge::parse("basic realm=\"x\""), Some(Challenge::Basic));
        assert_eq!(Challenge::parse("Basic"), Some(Challenge::Basic));
        for other in ["", "Digest realm=x", "Bearer service=x", "Bearer realm"] {
            assert_eq!(Challenge::parse(other), None, "{other}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_header_is_a_panic(text in "\\PC{0,60}") {
            let _ = Challenge::parse(&format!("Bearer {text}"));
        }
    }
}
