//! The user's login to the agent's service, in a box that was given it.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Mode, statat};
use rustix::io::Errno;

use super::places::Places;
use super::spec::read_from_outside;
use crate::agent::{fence, random};
use crate::beneath;
use crate::boxfile::{Agent, BoxPlan, Login};

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

/// What became of the files of a login, by their paths beneath HOME.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Copied {
    pub copied: Vec<&'static str>,
    /// Those that open the service, of which the box has its own and newer ones.
    pub kept: Vec<&'static str>,
}

/// The keys that are there: where they lie, and where they belong in the box.
pub(super) fn shared(agent: Agent, user_home: &Path, box_home: &Path) -> Vec<(PathBuf, PathBuf)> {
    let pairs = files(agent).keys.iter().map(|file| (user_home.join(file), box_home.join(file)));
    pairs.filter(|(from, _)| from.is_file()).collect()
}

/// Copies what is there to where the box will look for it; nothing runs in it. What opens the service is shared instead
/// where the plan says so; where both have it, the newer one counts. What says that the agent has been set up is the
/// box's own once it has it.
pub fn copy_login(plan: &BoxPlan, places: &Places, user_home: &Path) -> Result<Copied, LoginError> {
    let (files, mut done) = (files(plan.agent), Copied::default());
    let keys = files.keys.iter().filter(|_| plan.login == Login::Copy).map(|file| (*file, true));
    let about = files.about.iter().map(|file| (*file, false));
    let shown = read_from_outside(plan, places);
    for (file, is_key) in keys.chain(about).filter(|_| plan.login != Login::None) {
        let from = user_home.join(file);
        let Some(found) = from.metadata().ok().filter(|found| found.is_file() && found.len() > 0) else { continue };
        let failed = |source| LoginError { path: from.clone(), source };
        let inside = places.home().join(file);
        let Some((base, rest)) = fence::beneath(&shown, &inside) else { continue };
        let Some(root) = places.own(base) else { continue };
        let (Some(parent), Some(name)) = (rest.parent(), rest.file_name()) else { continue };
        let way = base.strip_prefix(root).unwrap_or(base).join(parent);
        let directory = beneath::directory(root, &way).map_err(failed)?;
        let written = |time: io::Result<SystemTime>| time.unwrap_or(SystemTime::UNIX_EPOCH);
        match written_inside(&directory, name).map_err(failed)? {
            Some(own) if is_key && own >= written(found.modified()) => done.kept.push(file),
            Some(_) if !is_key => {}
            _ => {
                let mut new = name.to_owned();
                new.push(format!(".{}", random::hex::<8>().map_err(failed)?));
                let contents = std::fs::read(&from).map_err(failed)?;
                beneath::put(&directory, name, &new, Mode::RUSR | Mode::WUSR, &contents).map_err(failed)?;
                done.copied.push(file);
            }
        }
    }
    Ok(done)
}

/// When the box's own was written; none is there also where only the place for a shared one is.
fn written_inside(directory: &OwnedFd, name: &OsStr) -> io::Result<Option<SystemTime>> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if found.st_size == 0 => Ok(None),
        Ok(found) => {
            let seconds = Duration::from_secs(u64::try_from(found.st_mtime).unwrap_or(0));
            let nanos = Duration::from_nanos(found.st_mtime_nsec);
            Ok(Some(SystemTime::UNIX_EPOCH + seconds + nanos))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::boxfile::{Access, PlannedMount, PlannedSource};
    use crate::config::Scratch;

    const KEY: &str = ".claude/.credentials.json";
    const ABOUT: &str = ".claude.json";

    /// A user who has logged in, and a box.
    fn user_and_box(scratch: &Scratch) -> (PathBuf, Places) {
        let user = scratch.path("user");
        fs::create_dir_all(user.join(".claude")).unwrap();
        fs::create_dir_all(scratch.path("box/home")).unwrap();
        fs::write(user.join(KEY), "key").unwrap();
        fs::write(user.join(ABOUT), "about").unwrap();
        (user, Places::at_rest(&scratch.path("box"), &scratch.path("")))
    }

    fn plan(login: Login) -> BoxPlan {
        let mut plan = BoxPlan { agent: Agent::Claude, login, ..BoxPlan::default() };
        plan.workspace.path = "/project".into();
        plan
    }

    #[test]
    fn keys_are_copied_only_where_they_are_not_shared_and_a_newer_one_is_kept() {
        let scratch = Scratch::fresh();
        let (user, places) = user_and_box(&scratch);
        let own = places.home();
        assert_eq!(copy_login(&plan(Login::None), &places, &user).unwrap(), Copied::default());
        assert_eq!(copy_login(&plan(Login::Share), &places, &user).unwrap().copied, [ABOUT]);
        assert_eq!(shared(Agent::Claude, &user, &own).len(), 1);
        fs::write(own.join(ABOUT), "its own").unwrap();
        fs::create_dir_all(own.join(".claude")).unwrap();
        fs::write(own.join(KEY), "").unwrap();
        assert_eq!(
            copy_login(&plan(Login::Copy), &places, &user).unwrap().copied,
            [KEY],
            "over the place of a shared one"
        );
        assert_eq!(fs::read_to_string(own.join(KEY)).unwrap(), "key");
        fs::write(own.join(KEY), "renewed inside").unwrap();
        let again = copy_login(&plan(Login::Copy), &places, &user).unwrap();
        assert_eq!((again.copied.len(), again.kept), (0, vec![KEY]));
        let later = SystemTime::now() + Duration::from_secs(60);
        fs::File::options().write(true).open(user.join(KEY)).unwrap().set_modified(later).unwrap();
        assert_eq!(copy_login(&plan(Login::Copy), &places, &user).unwrap().copied, [KEY]);
        assert_eq!(fs::read_to_string(own.join(KEY)).unwrap(), "key");
        assert_eq!(fs::read_to_string(own.join(ABOUT)).unwrap(), "its own");
    }

    #[test]
    fn a_login_is_copied_to_where_the_box_sees_it_and_through_no_link_that_the_box_made() {
        let scratch = Scratch::fresh();
        let (user, places) = user_and_box(&scratch);
        let mut persisted = plan(Login::Copy);
        persisted.session.persist = vec![".claude".into()];
        copy_login(&persisted, &places, &user).unwrap();
        assert_eq!(fs::read_to_string(places.persist(Path::new(KEY))).unwrap(), "key");
        assert!(!places.home().join(KEY).exists(), "it would be covered there");
        let mut mounted = plan(Login::Copy);
        let volume = PlannedSource::Volume("c".into());
        mounted.mounts =
            vec![PlannedMount { source: volume, to: places.home().join(".claude"), mode: Access::ReadWrite }];
        copy_login(&mounted, &places, &user).unwrap();
        assert_eq!(fs::read_to_string(scratch.path("volumes/c/.credentials.json")).unwrap(), "key");
        let elsewhere = scratch.path("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, places.home().join(".claude")).unwrap();
        let told = copy_login(&plan(Login::Copy), &places, &user).unwrap_err().to_string();
        assert!(told.contains(KEY), "{told}");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }
}
