//! The same promises for an ordinary user, where the tests are run by root.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::unistd::geteuid;

use crate::support::{Scratch, binary};

/// A user that no system has.
const STRANGER: u32 = 54321;
/// What root has seen often enough; once more would only take time.
const KILLS: &str = "20";
/// These are about numbers, not about rights; and this one here.
const LEFT_OUT: [&str; 2] = ["boxes::crowd", "boxes::stranger"];

#[test]
fn all_that_holds_for_root_holds_for_everybody() {
    if !geteuid().is_root() {
        // Then all others have been somebody else already.
        return;
    }
    // Neither the test nor coop need to be where a stranger can reach them.
    let scratch = Scratch::new();
    let (coop, home) = (scratch.path("coop"), scratch.path("home"));
    std::fs::copy(binary(), &coop).unwrap();
    std::fs::create_dir(&home).unwrap();
    chown(&home, Some(STRANGER), Some(STRANGER)).unwrap();
    for path in [scratch.dir(), &coop] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let mut again = Command::new("/proc/self/exe");
    again.arg("boxes::").args(LEFT_OUT.iter().flat_map(|name| ["--skip", name]));
    again.env("COOP_TEST_BINARY", &coop).env("COOP_KILLS", KILLS).env("HOME", &home).env_remove("XDG_RUNTIME_DIR");
    let done = again.current_dir("/").uid(STRANGER).gid(STRANGER).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "as user {STRANGER}:\n{said}{}", String::from_utf8_lossy(&done.stderr));
    assert!(!said.contains(" 0 passed"), "as user {STRANGER} nothing was tested: {said}");
}
