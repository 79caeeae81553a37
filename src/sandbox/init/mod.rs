//! `coop box-init`: becomes PID 1 of a box, builds it, gives up every privilege, and serves.
//!
//! No runtime and no threads: it is as small as a process can be, and may fork.

mod again;
mod confine;
mod devices;
mod failure;
mod host;
mod land;
mod mounts;
mod network;
mod overlay;
mod pivot;
mod run;
mod serve;
mod setup;
mod stash;
mod syscalls;
mod tree;

use std::{ffi::CStr, os::fd::AsFd, process::ExitCode};

use nix::{
    sched::CloneFlags,
    sys::stat::{Mode, umask},
    unistd::{ForkResult, Uid, setgroups, setsid},
};
use rustix::thread::set_name;

pub use self::again::main as cover_main;
use self::failure::At;
pub(super) use self::host::SYSTEM;
use super::{
    channel::Channel,
    error::Step,
    raw,
    spec::{Network, Spec},
    stranger,
    wire::{Failure, Order, Report},
};

/// What `ps` and `top` call PID 1 of a box, however coop was started.
const TITLE: &CStr = c"coop-box";

/// The whole life of the helper and of PID 1. Nobody but [`Sandbox::start`](super::Sandbox::start) calls it.
pub fn main() -> ExitCode {
    let Some((control, spec)) = begin() else {
        eprintln!("coop box-init is started by coop itself");
        return ExitCode::from(2);
    };
    match enter(spec.network) {
        Ok(ForkResult::Parent { .. }) => {
            if stranger::needed(&spec) {
                let users = stranger::become_one().ok();
                let with: Vec<_> = users.iter().map(AsFd::as_fd).collect();
                let _ = control.send(&Report::Stranger, &with);
            }
            ExitCode::SUCCESS
        }
        Ok(ForkResult::Child) => first_process(&control, &spec),
        Err(failure) => {
            let _ = control.send(&Report::Failed(failure), &[]);
            ExitCode::FAILURE
        }
    }
}

/// Stdin is the socket to the starter, and the first message in it says what to build.
fn begin() -> Option<(Channel, Spec)> {
    let control = raw::take_stdin().ok()?;
    raw::close_above(&control).ok()?;
    let control = Channel::from(control);
    match control.receive::<Order>().ok()??.message {
        Order::Begin(spec) => Some((control, *spec)),
        Order::Go { .. } => None,
    }
}

/// Makes PID 1, in namespaces of its own. All at once, so that the user namespace owns the others.
fn enter(network: Network) -> Result<ForkResult, Failure> {
    let mut namespaces = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWCGROUP;
    if network != Network::Host {
        namespaces |= CloneFlags::CLONE_NEWNET;
    }
    if Uid::effective().is_root() {
        // Groups of the one who became root open files that the box's users must not open. Others can not drop theirs.
        let _ = setgroups(&[]);
    }
    raw::clone_as_sibling(namespaces).at(Step::Namespaces, || "cannot make namespaces".into())
}

fn first_process(control: &Channel, spec: &Spec) -> ExitCode {
    let _ = set_name(TITLE);
    // Keys pressed in coop's own terminal are not for the box.
    let _ = setsid();
    // Modes inside are what the setup says; programs get the caller's mask back.
    let mask = umask(Mode::empty());
    let go = control.send(&Report::Hello, &[]).and_then(|()| control.receive::<Order>());
    let Ok(Some(go)) = go else { return ExitCode::FAILURE };
    let Order::Go { shown } = go.message else { return ExitCode::FAILURE };
    let shown: Vec<_> = shown.into_iter().zip(go.descriptors).collect();
    let stood = setup::stand(spec, &shown);
    drop(shown);
    match stood {
        Ok(standing) => {
            umask(mask);
            for ground in &standing.grounds {
                let with: Vec<_> = ground.iter().map(AsFd::as_fd).collect();
                if control.send(&Report::Ground, &with).is_err() {
                    return ExitCode::FAILURE;
                }
            }
            drop(standing.grounds);
            let ready = Report::Ready { warnings: standing.warnings };
            let listener = standing.listener;
            let with: Vec<_> = listener.iter().map(AsFd::as_fd).collect();
            if control.send(&ready, &with).is_err() {
                return ExitCode::FAILURE;
            }
            drop(listener);
            serve::until_closed(control, &standing.terminals, &spec.limits)
        }
        Err(failure) => {
            let _ = control.send(&Report::Failed(failure), &[]);
            ExitCode::FAILURE
        }
    }
}
