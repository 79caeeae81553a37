//! Which users of the machine the users of a box are.

use std::{
    fs, io,
    process::{Command, Stdio},
};

use nix::unistd::{Gid, Uid, User};

use super::spec::UidMap;

/// Maps users and groups of the namespace that this process leads. On failure: what to do about it.
pub(super) fn write(pid: u32, map: UidMap) -> Result<(), String> {
    let (uid, gid) = (Uid::effective().as_raw(), Gid::effective().as_raw());
    match map {
        UidMap::Same => own(pid, (uid, uid), (gid, gid)),
        UidMap::Root => own(pid, (0, uid), (0, gid)),
        UidMap::Range => range(pid),
    }
}

/// One user and one group: those of the caller, which needs no privilege.
fn own(pid: u32, uid: (u32, u32), gid: (u32, u32)) -> Result<(), String> {
    let put = |file: &str, text: String| {
        let path = format!("/proc/{pid}/{file}");
        fs::write(&path, text).map_err(|error| format!("cannot write {path}: {error}"))
    };
    put("uid_map", format!("{} {} 1\n", uid.0, uid.1))?;
    // The kernel's condition for mapping a group without privilege: a box must not drop a group that forbids.
    put("setgroups", "deny\n".into())?;
    put("gid_map", format!("{} {} 1\n", gid.0, gid.1))
}

/// Root is the caller, and the rest comes from the range that the system's administrator set aside.
pub fn range(pid: u32) -> Result<(), String> {
    let (uid, gid) = (Uid::effective().as_raw(), Gid::effective().as_raw());
    let user = User::from_uid(Uid::from_raw(uid)).ok().flatten().map_or_else(|| uid.to_string(), |user| user.name);
    for (tool, file, own) in [("newuidmap", "/etc/subuid", uid), ("newgidmap", "/etc/subgid", gid)] {
        let text = fs::read_to_string(file).unwrap_or_default();
        let (start, count) = granted(&text, &user, uid).ok_or_else(|| {
            format!(
                "{file} gives no range to {user}: run `usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {user}` as root, or choose another uidmap"
            )
        })?;
        let numbers = [pid, 0, own, 1, 1, start, count].map(|number| number.to_string());
        let done =
            Command::new(tool).args(numbers).stdin(Stdio::null()).output().map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => {
                    format!("{tool} is not installed: install the package uidmap (or shadow-utils)")
                }
                _ => format!("cannot run {tool}: {error}"),
            })?;
        if !done.status.success() {
            return Err(format!("{tool} refused: {}", String::from_utf8_lossy(&done.stderr).trim()));
        }
    }
    Ok(())
}

/// The first range that a file like `/etc/subuid` gives to a user, by name or by number.
pub(super) fn granted(text: &str, user: &str, uid: u32) -> Option<(u32, u32)> {
    text.lines().find_map(|line| {
        let mut parts = line.trim().split(':');
        let who = parts.next()?;
        let (start, count) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        ((who == user || who.parse() == Ok(uid)) && count > 0).then_some((start, count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_found_by_name_or_by_number() {
        let text = "# none\nann:100000:65536\n1001:200000:10\nbob:x:y\nbob:300000:0\nbob:400000:7\n";
        assert_eq!(granted(text, "ann", 1000), Some((100_000, 65536)));
        assert_eq!(granted(text, "eve", 1001), Some((200_000, 10)));
        assert_eq!(granted(text, "bob", 1002), Some((400_000, 7)));
        assert_eq!(granted(text, "dan", 1003), None);
    }
}
