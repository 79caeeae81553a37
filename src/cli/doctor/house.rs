//! Where the agent lives while it is looked at: a home with what earlier runs would have left there, and a workspace.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::subjects::Subject;
use crate::agent::random;

/// What of the user's environment the agent needs in order to run at all. Nothing else reaches it: no key, no proxy, no
/// choice of a model or a cloud.
const KEPT: [&str; 7] = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SHELL", "LD_LIBRARY_PATH"];

/// A process that is being killed may still write while its house is torn down.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// How often that is tried.
const TRY_EVERY: Duration = Duration::from_millis(50);

/// A directory of the doctor's own, which goes with it.
pub struct House {
    dir: PathBuf,
    subject: &'static Subject,
}

impl House {
    pub fn build(subject: &'static Subject) -> anyhow::Result<Self> {
        // Short, so that a socket's path fits in it.
        let name = format!("coop-doctor-{}", random::hex::<4>().context("/dev/urandom")?);
        let dir = std::env::temp_dir().join(name);
        let made = || format!("{}: a directory for the agent cannot be made", dir.display());
        private_dir(&dir).with_context(made)?;
        // Resolved, because agents name projects by their resolved path.
        let house = Self { dir: dir.canonicalize().with_context(made)?, subject };
        for room in ["home", "config", "state", "run", "tmp", "work"] {
            private_dir(&house.at(room)).with_context(made)?;
        }
        Ok(house)
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub fn workspace(&self) -> PathBuf {
        self.at("work")
    }

    /// Furnishes it with what earlier runs would have left behind.
    pub fn seed(&self, model_url: &str) -> anyhow::Result<()> {
        (self.subject.seed)(self, model_url).with_context(|| format!("{}: the agent's files", self.dir.display()))
    }

    /// The whole environment of the agent, with the model at this URL.
    pub fn environment(&self, model_url: &str) -> Vec<(OsString, OsString)> {
        let kept = KEPT.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
        let rooms = [("HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_RUNTIME_DIR", "run"), ("TMPDIR", "tmp")];
        let rooms = rooms.map(|(name, room)| (name.into(), self.at(room).into_os_string()));
        let own = (self.subject.variables)(self, model_url).into_iter().map(|(name, value)| (name.into(), value));
        kept.chain(rooms).chain(own).collect()
    }
}

fn private_dir(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

impl Drop for House {
    fn drop(&mut self) {
        let deadline = Instant::now() + GONE_WITHIN;
        while let Err(error) = std::fs::remove_dir_all(&self.dir) {
            if error.kind() == io::ErrorKind::NotFound {
                return;
            }
            if Instant::now() >= deadline {
                return super::complain(&format!("{} stays behind: {error}", self.dir.display()));
            }
            std::thread::sleep(TRY_EVERY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::subjects::Known;
    use super::*;

    #[test]
    fn a_house_keeps_the_users_secrets_out_and_goes_when_it_is_left() {
        let house = House::build(Known::Claude.subject()).unwrap();
        house.seed("http://127.0.0.1:1").unwrap();
        let environment = house.environment("http://127.0.0.1:1");
        let of =
            |name: &str| environment.iter().find(|(known, _)| known == name).map(|(_, value)| PathBuf::from(value));
        assert_eq!(of("HOME"), Some(house.at("home")));
        assert_eq!(of("CLAUDE_CONFIG_DIR"), Some(house.at("config")));
        assert_eq!(of("HTTPS_PROXY"), None);
        let seed = std::fs::read_to_string(house.at("config/.claude.json")).unwrap();
        assert!(seed.contains(house.workspace().to_str().unwrap()) && seed.contains("0123456789abcdef"), "{seed}");
        let dir = house.dir.clone();
        drop(house);
        assert!(!dir.exists());
    }
}
