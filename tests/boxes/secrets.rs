//! What only root may read of the machine's configuration, root's boxes do not read either.
//!
//! Only root can make such files, and only root's boxes could read them: for others there is nothing to test.

use std::{
    fs,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use coop::sandbox::Spec;
use nix::{
    mount::{MsFlags, mount},
    unistd::Uid,
};

use crate::support::{fails, plain, start, told, with_own_mounts};

const NONE: Option<&str> = None;

/// A directory of the machine's own configuration, open to everybody and gone with the test.
struct Configured(PathBuf);

impl Configured {
    fn fresh() -> Self {
        Self::below("/etc")
    }

    fn below(place: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = PathBuf::from(format!("{place}/coop-test-{}-{number}", std::process::id()));
        fs::DirBuilder::new().mode(0o755).create(&dir).unwrap();
        Self(dir)
    }

    /// Puts a file there as programs do that replace one: written beside it, then renamed.
    fn put(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let (beside, path) = (self.0.join("beside"), self.0.join(name));
        fs::write(&beside, text).unwrap();
        fs::set_permissions(&beside, fs::Permissions::from_mode(mode)).unwrap();
        fs::rename(&beside, &path).unwrap();
        path
    }

    fn dir(&self, name: &str, mode: u32) -> PathBuf {
        fs::DirBuilder::new().mode(mode).create(self.0.join(name)).unwrap();
        self.0.join(name)
    }
}

impl Drop for Configured {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// What a box says of a file: its text, or nothing.
fn read(path: &Path) -> String {
    format!("cat {} 2>/dev/null;", path.display())
}

fn root() -> bool {
    Uid::effective().is_root()
}

/// The mounts of this thread.
fn mounts() -> String {
    fs::read_to_string("/proc/thread-self/mountinfo").unwrap()
}

#[test]
fn what_others_may_not_read_of_the_configuration_is_not_read_for_root_either() {
    if !root() {
        return;
    }
    let etc = Configured::fresh();
    let group = etc.put("group", "s3cret", 0o640);
    let owner = etc.put("owner", "s3cret", 0o600);
    let closed = etc.dir("closed", 0o700).join("inside");
    fs::write(&closed, "s3cret").unwrap();
    let open = etc.put("open", "open", 0o644);
    let script = [&group, &owner, &closed, &open].map(|path| read(path)).concat();
    assert_eq!(told(&start(&plain()), &format!("{script} head -c 4 /etc/passwd")), "openroot");
    // Nor does a sandbox that is made inside read it.
    let nested = start(&Spec { nested: true, ..plain() });
    assert_eq!(
        told(
            &nested,
            &format!("unshare -Urm sh -c '{script} umount -l {0} /etc 2>/dev/null; {script}'", group.display())
        ),
        "openopen"
    );
}

/// Where programs are put that come from elsewhere, with their keys.
#[test]
fn what_others_may_not_read_in_opt_is_not_read_for_root_either() {
    if !root() {
        return;
    }
    let opt = Configured::below("/opt");
    let (key, open) = (opt.put("key", "s3cret", 0o600), opt.put("open", "open", 0o755));
    let sandbox = start(&plain());
    let new = opt.put("new", "s3cret", 0o640);
    assert_eq!(told(&sandbox, &[&key, &new, &open].map(|path| read(path)).concat()), "open");
    fails(&sandbox, &format!("echo bad >{}", open.display()));
    with_own_mounts(MsFlags::MS_PRIVATE, || {
        // It knows no other owners than its own.
        let inner = opt.dir("inner", 0o755);
        mount(Some("none"), &inner, Some("ramfs"), MsFlags::empty(), NONE).unwrap();
        let sandbox = start(&plain());
        assert!(sandbox.warnings().iter().any(|warning| warning.starts_with("/opt: ")), "{:?}", sandbox.warnings());
        assert_eq!(told(&sandbox, &read(&open)), "open");
    });
}

#[test]
fn what_is_closed_after_the_start_of_a_box_is_not_read_either() {
    if !root() {
        return;
    }
    let etc = Configured::fresh();
    let replaced = etc.put("replaced", "s3cret", 0o600);
    let sandbox = start(&plain());
    // As `passwd` does with /etc/shadow; what covers a file goes with the file that it covers.
    etc.put("replaced", "s3cret too", 0o600);
    let new = etc.put("new", "s3cret", 0o600);
    let open = etc.put("open", "open", 0o644);
    assert_eq!(told(&sandbox, &[&replaced, &new, &open].map(|path| read(path)).concat()), "open");
}

#[test]
fn where_the_kernel_can_not_show_files_without_their_owner_they_are_covered() {
    if !root() {
        return;
    }
    let etc = Configured::fresh();
    with_own_mounts(MsFlags::MS_PRIVATE, || {
        // It knows no other owners than its own, and is a part of the configuration.
        let inner = etc.dir("inner", 0o755);
        mount(Some("none"), &inner, Some("ramfs"), MsFlags::empty(), NONE).unwrap();
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
        let outer = etc.put("outer", "s3cret", 0o600);
        let deep = etc.put("deep", "s3cret", 0o640);
        fs::write(inner.join("file"), "s3cret").unwrap();
        fs::set_permissions(inner.join("file"), fs::Permissions::from_mode(0o600)).unwrap();
        let open = etc.put("open", "open", 0o644);
        let sandbox = start(&plain());
        assert!(sandbox.warnings().iter().any(|warning| warning.starts_with("/etc: ")), "{:?}", sandbox.warnings());
        let script = [&outer, &deep, &inner.join("file"), &open].map(|path| read(path)).concat();
        assert_eq!(told(&sandbox, &script), "open");
        assert_eq!(told(&sandbox, "stat -c %u /etc/passwd"), "0", "the owner is seen: this was the other way");
    });
}

#[test]
fn a_configuration_that_is_mounted_for_everybody_is_the_boxs_own_inside() {
    if !root() {
        return;
    }
    let etc = Configured::fresh();
    // As systemd has it on most machines.
    with_own_mounts(MsFlags::MS_SHARED, || {
        let place = etc.dir("place", 0o755);
        let before = mounts();
        let sandbox = start(&plain());
        assert_eq!(mounts(), before, "what is put over a part of it is not seen outside");
        mount(Some("none"), &place, Some("tmpfs"), MsFlags::empty(), NONE).unwrap();
        fails(&sandbox, &format!("grep {} /proc/self/mountinfo", place.display()));
    });
}
