//! What a process does between fork and exec to stand alone; all unsafe code of this room is in this file.
#![allow(unsafe_code)]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::libc;
use nix::unistd::setsid;

/// Makes the command a session of its own, without a terminal, that holds nothing of ours open but its stdio: what
/// outlives us must not keep our callers' pipes from ending.
pub fn detach(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; setsid and close_range are system calls that
    // allocate nothing and take no lock.
    unsafe { command.pre_exec(stand_alone) }
}

fn stand_alone() -> io::Result<()> {
    setsid()?;
    #[cfg(target_os = "linux")]
    {
        let first = libc::c_uint::try_from(libc::STDERR_FILENO + 1).unwrap_or(3);
        // SAFETY: the call takes no pointers. Descriptors are only marked to be closed by exec, so that those that the
        // standard library needs until then stay. Kernels before 5.11 do not know the flag; then those stay open that
        // somebody else left open.
        unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    }
    Ok(())
}
