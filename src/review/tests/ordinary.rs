//! All of this holds for root and for an ordinary user; and some of it needs a small world of its own.

use std::{ffi::OsStr, fs::File, os::unix::fs::DirBuilderExt, process::Command};

const INSIDE: &str = "COOP_TEST_IN_NAMESPACE";

/// An id that no machine gives to anybody.
pub const NOBODY_ELSE: u32 = 54321;

/// This test's program, run again in a namespace in which it may mount, for one test; there, `promise` is kept.
pub fn this_program_in_a_namespace(test: &str, promise: impl FnOnce()) {
    this_program_in_a_namespace_with(test, &[], promise);
}

pub fn this_program_in_a_namespace_with(test: &str, env: &[(&str, &OsStr)], promise: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return promise();
    }
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", MYSELF, "--exact", &format!("review::tests::{test}")])
        .stdin(myself())
        .envs(env.iter().copied())
        .env(INSIDE, "1")
        .output()
        .expect("these tests need `unshare` of util-linux");
    let text = String::from_utf8_lossy(&output.stdout);
    let kept = output.status.success() && text.contains("1 passed");
    assert!(
        kept,
        "in a user namespace (`unshare -Urm true` must work): {text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The program as a file that is open already: another user may not be allowed to walk to it.
fn myself() -> File {
    File::open("/proc/self/exe").unwrap()
}

const MYSELF: &str = "/proc/self/fd/0";

#[test]
fn every_promise_of_a_review_is_kept_for_an_ordinary_user_too() {
    if !nix::unistd::geteuid().is_root() {
        // Then all the other tests have just shown it.
        return;
    }
    let temp = std::env::temp_dir().join(format!("coop-review-ordinary-{}", std::process::id()));
    std::fs::DirBuilder::new().mode(0o700).create(&temp).unwrap();
    std::os::unix::fs::chown(&temp, Some(NOBODY_ELSE), Some(NOBODY_ELSE)).unwrap();
    let id = NOBODY_ELSE.to_string();
    let output = Command::new("setpriv")
        .args(["--reuid", &id, "--regid", &id, "--clear-groups", MYSELF, "review::", "--test-threads=2"])
        .current_dir(&temp)
        .stdin(myself())
        .env("TMPDIR", &temp)
        .output()
        .expect("these tests need `setpriv` of util-linux");
    let text = String::from_utf8_lossy(&output.stdout);
    let clean = std::fs::remove_dir(&temp);
    let _ = std::fs::remove_dir_all(&temp);
    assert!(output.status.success() && !text.contains(" 0 passed"), "as user {id}: {text}");
    clean.expect("the tests clean up behind themselves");
}
