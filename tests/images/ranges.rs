//! Boxes with users of their own, from the range that an administrator gave to the caller.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::Path,
    process::{Command, Stdio},
};

use coop::sandbox::{Spec, UidMap};
use nix::{
    mount::{MsFlags, mount},
    unistd::Uid,
};

use crate::house::House;
use crate::support::{STRANGER, Scratch, as_stranger, bind, coop, start, told, with, with_own_mounts};

const NONE: Option<&str> = None;

/// The first of the users that the stranger is given, and how many; far from those of real people.
const RANGE: (u32, u32) = (1_900_000_000, 65_536);

/// On a thread for which the machine knows the stranger, and gives a range to it.
fn with_a_range(test: impl FnOnce() + Send) {
    let scratch = Scratch::fresh();
    let (user, range) = (format!("{STRANGER}:{STRANGER}::/:/bin/sh"), format!("{}:{}", RANGE.0, RANGE.1));
    with_own_mounts(MsFlags::MS_PRIVATE, || {
        for (path, line) in [
            ("/etc/passwd", format!("coop-stranger:x:{user}\n")),
            ("/etc/subuid", format!("coop-stranger:{range}\n")),
            ("/etc/subgid", format!("coop-stranger:{range}\n")),
        ] {
            let all = fs::read_to_string(path).unwrap() + &line;
            let ours = scratch.file(&path.replace('/', "-"), &all);
            mount(Some(&ours), path, NONE, MsFlags::MS_BIND, NONE).unwrap();
        }
        test();
    });
}

/// Root removes what it likes; this is about everybody else.
#[test]
fn what_the_users_of_a_box_made_is_removed_by_who_is_none_of_them() {
    if Uid::effective().is_root() {
        let name = concat!(module_path!(), "::what_the_users_of_a_box_made_is_removed_by_who_is_none_of_them");
        with_a_range(|| as_stranger(name));
    } else {
        assert_eq!(Uid::effective().as_raw(), STRANGER, "a range is given out by root: run this as root");
        others_files_go();
        the_file_chooses_it();
    }
}

/// A box whose coop.toml asks for the range: root inside is who made it, and another user can be made there.
fn the_file_chooses_it() {
    let house = House::new();
    house.says("[box]\nuidmap = \"range\"\n[network]\nmode = \"none\"\n");
    house.up(&[]);
    let (said, done) = house.inside("id -u && cat /proc/self/uid_map && echo made >made");
    let ids: Vec<&str> = said.split_whitespace().collect();
    let (own, range) = (STRANGER.to_string(), [RANGE.0, RANGE.1].map(|number| number.to_string()));
    assert!(done && ids == ["0", "0", &own, "1", "1", &range[0], &range[1]], "{said}");
    let made = fs::metadata(house.scratch.path("project/made")).unwrap();
    assert_eq!(made.uid(), STRANGER, "what it makes is its maker's");
}

fn others_files_go() {
    let home = Scratch::fresh();
    let volume = home.dir("volumes/cache");
    let spec = Spec { uid_map: UidMap::Range, root_powers: true, ..with([bind(&volume, &volume)]) };
    let make = "mkdir -p a/b && echo x > a/b/file && chown -R 5:7 a && chmod -R go= a && id -u";
    assert_eq!(told(&start(&spec), &format!("cd {} && {make}", volume.display())), "0");
    let theirs = fs::metadata(volume.join("a")).unwrap();
    assert_eq!((theirs.uid(), theirs.gid()), (RANGE.0 + 4, RANGE.0 + 6), "0 inside is who made the box, 1 the first");
    assert!(fs::read_dir(volume.join("a")).is_err() && fs::remove_dir_all(&volume).is_err(), "it is not ours");
    assert!(remove(home.path("").as_path(), "cache").is_ok());
    assert!(!volume.exists());
    assert!(remove(home.path("").as_path(), "cache").unwrap_err().contains("no volume"));
}

/// `coop volume rm`, which has a whole directory to remove. Otherwise: what it says.
fn remove(home: &Path, volume: &str) -> Result<(), String> {
    let mut coop = Command::new(coop());
    coop.args(["volume", "rm", volume, "--yes"]).env("COOP_HOME", home).stdin(Stdio::null());
    let done = coop.output().unwrap();
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}
