//! The user's login to the agent's service, in a box that was given it.

use std::io;
use std::path::{Path, PathBuf};

use crate::boxfile::Agent;

/// The files of an agent beneath HOME that say who its user is.
struct Files {
    /// What opens the service, which the agent renews from time to time and writes in place.
    keys: &'static [&'static str],
    /// What says that it has been set up. Agents replace it as a whole, so that it cannot be one and the same inside and
    /// outside.
    about: &'static [&'static str],
}

fn files(agent: Agent) -> Files {
    let (keys, about): (&'static [_], &'static [_]) = match agent {
        Agent::Claude => (&[".claude/.credentials.json"], &[".claude.json"]),
        Agent::Codex => (&[".codex/auth.json"], &[]),
        Agent::Gemini => (&[".gemini/oauth_creds.json"], &[".gemini/google_accounts.json", ".gemini/settings.json"]),
        Agent::Unknown => (&[], &[]),
    };
    Files { keys, about }
}

#[derive(Debug, thiserror::Error)]
#[error("the login could not be copied from {}: {source}", path.display())]
pub struct LoginError {
    path: PathBuf,
    source: io::Error,
}

/// The keys that are there: where they lie, and where they belong in the box.
pub(super) fn shared(agent: Agent, user_home: &Path, box_home: &Path) -> Vec<(PathBuf, PathBuf)> {
    let pairs = files(agent).keys.iter().map(|file| (user_home.join(file), box_home.join(file)));
    pairs.filter(|(from, _)| from.is_file()).collect()
}

/// Copies what is there into a HOME that no program has run in yet. With `keys` also what opens the service; otherwise
/// that is shared.
pub fn copy_login(agent: Agent, user_home: &Path, box_home: &Path, keys: bool) -> Result<(), LoginError> {
    let files = files(agent);
    let keys = files.keys.iter().filter(|_| keys);
    for file in keys.chain(files.about) {
        let (from, to) = (user_home.join(file), box_home.join(file));
        if !from.is_file() || to.exists() {
            continue;
        }
        let made = to.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| std::fs::copy(&from, &to)).map_err(|source| LoginError { path: from, source })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scratch;

    #[test]
    fn keys_are_copied_only_where_they_are_not_shared_and_nothing_is_overwritten() {
        let scratch = Scratch::fresh();
        let (user, own) = (scratch.path("user"), scratch.path("own"));
        std::fs::create_dir_all(user.join(".claude")).unwrap();
        std::fs::write(user.join(".claude/.credentials.json"), "key").unwrap();
        std::fs::write(user.join(".claude.json"), "about").unwrap();
        copy_login(Agent::Claude, &user, &own, false).unwrap();
        assert!(own.join(".claude.json").exists() && !own.join(".claude/.credentials.json").exists());
        assert_eq!(shared(Agent::Claude, &user, &own).len(), 1);
        std::fs::write(own.join(".claude.json"), "its own").unwrap();
        copy_login(Agent::Claude, &user, &own, true).unwrap();
        assert_eq!(std::fs::read_to_string(own.join(".claude/.credentials.json")).unwrap(), "key");
        assert_eq!(std::fs::read_to_string(own.join(".claude.json")).unwrap(), "its own");
        copy_login(Agent::Codex, &user, &own, true).unwrap();
    }
}
