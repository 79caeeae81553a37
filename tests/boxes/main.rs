//! Promises of boxes, kept on the real kernel: with the real coop as PID 1, as root and as an ordinary user.
#![cfg(target_os = "linux")]

#[macro_use]
mod support;

mod commands;
mod confinement;
mod covers;
mod escapes;
mod life;
mod mounts;
mod networks;
mod probes;
mod programs;
mod secrets;
mod wrong;
