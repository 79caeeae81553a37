//! Where sockets are put when nobody names one: a directory of the user's own.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::{Pid, Uid, geteuid};

use super::{Mistake, SOCKET_PATH_BYTES_MAX};

/// The bits of a mode that let anybody else in.
const OPEN_TO_OTHERS: u32 = 0o077;

/// `$XDG_RUNTIME_DIR/coop`, or `/tmp/coop-UID` where there is no such directory of our own: `su` and `sudo` leave the
/// variable pointing at somebody else's.
pub fn runtime_dir() -> PathBuf {
    choose(std::env::var_os("XDG_RUNTIME_DIR"), geteuid())
}

fn choose(xdg: Option<OsString>, uid: Uid) -> PathBuf {
    let ours = |dir: &PathBuf| std::fs::metadata(dir).is_ok_and(|found| found.is_dir() && found.uid() == uid.as_raw());
    let xdg = xdg.map(PathBuf::from).filter(|dir| dir.is_absolute()).filter(ours);
    xdg.map_or_else(|| PathBuf::from(format!("/tmp/coop-{uid}")), |dir| dir.join("coop"))
}

/// What the sockets here are for, as the beginnings of their names tell.
const PURPOSES: [&str; 2] = ["coop", "hook"];

/// The socket of a sidecar with this process id. The directory is made if need be, open to the user only.
pub fn default_socket_path(pid: u32) -> Result<PathBuf, Mistake> {
    socket_path("coop", pid, "name another place with --socket PATH")
}

/// The private socket on which the hooks of that sidecar's agent call.
pub fn hook_socket_path(pid: u32) -> Result<PathBuf, Mistake> {
    socket_path("hook", pid, "set XDG_RUNTIME_DIR to a directory of your own")
}

fn socket_path(purpose: &str, pid: u32, way_out: &str) -> Result<PathBuf, Mistake> {
    let dir = runtime_dir();
    let path = socket_in(&dir, purpose, pid, geteuid());
    path.map_err(|why| Mistake::new(format!("no socket can be made in {}: {why}; {way_out}", dir.display())))
}

/// The directory itself, made if need be, and reached by nobody else.
pub fn private_runtime_dir() -> Result<PathBuf, Mistake> {
    let dir = runtime_dir();
    let made = make_private(&dir, geteuid());
    let way_out = "set XDG_RUNTIME_DIR to a directory of your own";
    made.map_err(|why| Mistake::new(format!("no socket can be made in {}: {why}; {way_out}", dir.display())))?;
    Ok(dir)
}

fn make_private(dir: &Path, uid: Uid) -> Result<(), String> {
    match std::fs::DirBuilder::new().mode(0o700).create(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.to_string()),
        _ => {}
    }
    check_private(dir, uid)
}

fn socket_in(dir: &Path, purpose: &str, pid: u32, uid: Uid) -> Result<PathBuf, String> {
    make_private(dir, uid)?;
    sweep(dir);
    let path = dir.join(format!("{purpose}-{pid}.sock"));
    if is_too_long(&path) {
        return Err(format!("its path is longer than the {SOCKET_PATH_BYTES_MAX} bytes that a socket can have"));
    }
    Ok(path)
}

fn is_too_long(path: &Path) -> bool {
    path.as_os_str().as_bytes().len() > SOCKET_PATH_BYTES_MAX
}

/// Whether a socket in the runtime directory can have this path at all.
pub fn check_socket_path(path: &Path) -> Result<(), Mistake> {
    if !is_too_long(path) {
        return Ok(());
    }
    Err(Mistake::new(format!(
        "the socket {} is longer than the {SOCKET_PATH_BYTES_MAX} bytes that one can have: \
         set XDG_RUNTIME_DIR to a shorter directory of your own",
        path.display()
    )))
}

/// Whether nobody else can put a socket there. Whoever could would be sent the token and all that is typed.
pub fn check_private_to_us(dir: &Path) -> Result<(), String> {
    check_private(dir, geteuid())
}

fn check_private(dir: &Path, uid: Uid) -> Result<(), String> {
    // Not through a link: in /tmp anybody may have put one there.
    let found = std::fs::symlink_metadata(dir).map_err(|error| error.to_string())?;
    if !found.is_dir() {
        return Err("it is not a directory".to_owned());
    }
    if found.uid() != uid.as_raw() {
        return Err(format!("it belongs to the user with id {}", found.uid()));
    }
    if found.mode() & OPEN_TO_OTHERS != 0 {
        return Err(format!("it is open to other users (mode {:03o}, should be 700)", found.mode() & 0o777));
    }
    Ok(())
}

/// Removes sockets whose sidecar was killed before it could.
fn sweep(dir: &Path) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let named = name.strip_suffix(".sock").and_then(|name| name.split_once('-'));
        let pid = named.filter(|(purpose, _)| PURPOSES.contains(purpose)).and_then(|(_, pid)| pid.parse().ok());
        let gone = |pid: i32| pid > 0 && kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH);
        if pid.is_some_and(gone) {
            // Another sidecar may sweep at the same time.
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::super::Scratch;
    use super::*;

    #[test]
    fn the_directory_is_made_for_the_user_alone_and_found_again() {
        let scratch = Scratch::fresh();
        let dir = scratch.path("coop");
        let path = socket_in(&dir, "coop", 7, geteuid()).unwrap();
        assert_eq!(path, dir.join("coop-7.sock"));
        assert_eq!(fs::metadata(&dir).unwrap().mode() & 0o777, 0o700);
        assert_eq!(socket_in(&dir, "coop", 8, geteuid()), Ok(dir.join("coop-8.sock")));
    }

    #[test]
    fn a_directory_that_others_can_reach_is_refused() {
        let scratch = Scratch::fresh();
        let dir = scratch.path("coop");
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
        assert!(socket_in(&dir, "coop", 7, geteuid()).unwrap_err().contains("mode 755"));
        fs::set_permissions(&dir, Permissions::from_mode(0o700)).unwrap();
        let stranger = Uid::from_raw(geteuid().as_raw() + 1);
        assert!(socket_in(&dir, "coop", 7, stranger).unwrap_err().contains("belongs to"));
        symlink(&dir, scratch.path("link")).unwrap();
        assert!(socket_in(&scratch.path("link"), "coop", 7, geteuid()).unwrap_err().contains("not a directory"));
        assert!(socket_in(&scratch.path("no/such"), "coop", 7, geteuid()).is_err());
        assert!(socket_in(&scratch.path(&"x".repeat(100)), "coop", 7, geteuid()).unwrap_err().contains("longer"));
    }

    #[test]
    fn a_runtime_directory_of_somebody_else_is_not_used() {
        let scratch = Scratch::fresh();
        let (xdg, me) = (scratch.path(""), geteuid());
        let stranger = Uid::from_raw(me.as_raw() + 1);
        assert_eq!(choose(Some(xdg.clone().into()), me), xdg.join("coop"));
        let fallback = |uid| PathBuf::from(format!("/tmp/coop-{uid}"));
        assert_eq!(choose(Some(xdg.into()), stranger), fallback(stranger));
        for none in [None, Some("".into()), Some("relative".into()), Some("/no/such/directory".into())] {
            assert_eq!(choose(none, me), fallback(me));
        }
    }

    #[test]
    fn sockets_of_the_dead_are_swept_and_those_of_the_living_stay() {
        let scratch = Scratch::fresh();
        let dir = scratch.path("coop");
        socket_in(&dir, "coop", 7, geteuid()).unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let (dead, living) = (child.id(), std::process::id());
        let names = [format!("coop-{dead}"), format!("hook-{dead}"), format!("hook-{living}"), format!("x-{dead}")];
        let paths = names.map(|name| dir.join(name + ".sock"));
        paths.iter().for_each(|path| fs::write(path, "").unwrap());
        socket_in(&dir, "hook", 7, geteuid()).unwrap();
        assert_eq!(paths.map(|path| path.exists()), [false, false, true, true]);
    }
}
