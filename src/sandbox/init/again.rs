//! `coop box-cover`: joins a box that stands, covers in it what was replaced outside, and leaves.
//!
//! It has every right in the box for that moment, and nobody inside can reach it: it is not among the box's processes. The
//! programs inside go on meanwhile and may rename what they can, so that no link is followed, everything is done to handles,
//! and only a look at the end says that it is done.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
    process::ExitCode,
};

use nix::{
    sched::{CloneFlags, setns},
    sys::stat::{Mode, umask},
};
use rustix::mount::{UnmountFlags, unmount};

use super::{
    super::{
        channel::Channel,
        covers::{Cover, Kind, Look, above, beneath, look, pinned},
        raw,
        warden::LINK,
        wire::{CoverAgain, Covered},
    },
    stash::Stash,
    tree::{attach, copy, restrict},
};

/// How often it is tried beside somebody who renames all the time.
const TRIES_MAX: u32 = 100;

/// The whole life of who covers. Nobody but the box's own session calls it.
pub fn main() -> ExitCode {
    let Some((control, order, [ground, users, mounts])) = begin() else {
        eprintln!("coop box-cover is started by coop itself");
        return ExitCode::from(2);
    };
    let failures = match join(&users, &mounts) {
        Ok(()) => cover_all(&ground, &order.covers),
        Err(error) => vec![Some(format!("cannot join the box: {error}")); order.covers.len()],
    };
    match control.send(&Covered { failures }, &[]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Stdin is the socket to the session, and the one message in it says what to cover.
fn begin() -> Option<(Channel, CoverAgain, [OwnedFd; 3])> {
    let control = raw::take_stdin().ok()?;
    raw::close_above(&control).ok()?;
    let control = Channel::from(control);
    let received = control.receive::<CoverAgain>().ok()??;
    Some((control, received.message, received.descriptors.try_into().ok()?))
}

/// First the users: who has their rights may join the mounts.
fn join(users: &OwnedFd, mounts: &OwnedFd) -> io::Result<()> {
    umask(Mode::empty());
    setns(users, CloneFlags::CLONE_NEWUSER)?;
    Ok(setns(mounts, CloneFlags::CLONE_NEWNS)?)
}

fn cover_all(ground: &OwnedFd, covers: &[Cover]) -> Vec<Option<String>> {
    let hides = covers.iter().any(|cover| cover.kind == Kind::Hidden);
    // On top of the root, where no path of the box leads.
    let stash = hides.then(|| Stash::apart().map_err(|failure| failure.detail));
    let done = covers.iter().map(|each| {
        let nothing = stash.as_ref().map(|stash| stash.as_ref().map_err(Clone::clone)).transpose();
        nothing.and_then(|nothing| cover(ground, each, nothing).map_err(|error| error.to_string())).err()
    });
    let done = done.collect();
    if stash.is_some_and(|stash| stash.is_ok()) {
        // What was copied from it stays.
        let _ = unmount("/", UnmountFlags::DETACH);
    }
    done
}

fn cover(ground: &OwnedFd, cover: &Cover, nothing: Option<&Stash>) -> io::Result<()> {
    let mut last = None;
    for _ in 0..TRIES_MAX {
        match look(ground, cover)? {
            Look::Covered | Look::NotThere => return Ok(()),
            Look::Link => return Err(io::Error::other(LINK)),
            Look::Bare => {}
        }
        // What was renamed in between fails; the next look tells what is there now.
        last = lay_over(ground, cover, nothing).err();
    }
    Err(last.unwrap_or_else(|| io::Error::other("it is replaced all the time")))
}

/// The same as at the start of a box; see `mounts.rs`.
fn lay_over(ground: &OwnedFd, cover: &Cover, nothing: Option<&Stash>) -> io::Result<()> {
    for path in above(&cover.below).into_iter().skip(1) {
        let place = beneath(ground, path)?;
        if !pinned(&place)? {
            attach(&copy(&place, Path::new(""))?, &place)?;
        }
    }
    let place = beneath(ground, &cover.below)?;
    match (cover.kind, nothing) {
        (Kind::Hidden, Some(nothing)) => nothing.cover(&place),
        (Kind::Hidden, None) => Err(io::ErrorKind::Unsupported.into()),
        (Kind::Protected, _) => {
            let itself = copy(place.as_fd(), Path::new(""))?;
            restrict(&itself, true, false)?;
            attach(&itself, &place)
        }
    }
}
