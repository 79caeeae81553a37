//! The kernel calls that the compiler cannot check; all unsafe code of this room is in this file.
#![allow(unsafe_code)]

use std::{
    ffi::CString,
    io,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
    ptr,
};

use nix::{
    errno::Errno,
    libc,
    sys::signal::{SigHandler, Signal, signal},
    unistd::{ForkResult, Pid},
};
use rustix::mount::MountAttrFlags;

/// The largest pages of the machines that coop runs on; where they are smaller, nothing is missed but a part of a page.
const PAGE_BYTES: u64 = 64 * 1024;

/// Takes stdin away from everybody else; it is the socket to the starter.
pub(super) fn take_stdin() -> io::Result<OwnedFd> {
    // SAFETY: plain numbers in, a new descriptor out, which is ours alone.
    let copy = unsafe { libc::fcntl(libc::STDIN_FILENO, libc::F_DUPFD_CLOEXEC, 3) };
    // SAFETY: the call above made it, and nothing else knows it.
    let copy = Errno::result(copy).map(|number| unsafe { OwnedFd::from_raw_fd(number) })?;
    let nothing = std::fs::File::open("/dev/null")?;
    replace(&nothing, libc::STDIN_FILENO)?;
    Ok(copy)
}

/// Makes one of the three standard numbers mean this descriptor.
pub(super) fn replace(with: &impl AsRawFd, number: RawFd) -> io::Result<()> {
    // SAFETY: plain numbers. std never closes the standard three, so that nobody's ownership is broken.
    Errno::result(unsafe { libc::dup2(with.as_raw_fd(), number) })?;
    Ok(())
}

/// Closes every descriptor above this one. For a process that has just been started and owns none of them.
pub(super) fn close_above(last: &impl AsRawFd) -> io::Result<()> {
    let first = last.as_raw_fd().cast_unsigned() + 1;
    // SAFETY: whatever is open there was inherited by accident; no Rust value of this process owns it.
    Errno::result(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) })?;
    Ok(())
}

/// Whatever is open above the standard three does not survive exec, even if somebody forgot to say so.
pub(super) fn close_on_exec_above_stderr() -> io::Result<()> {
    // SAFETY: only marks descriptors; all of them stay open and owned.
    Errno::result(unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) })?;
    Ok(())
}

/// Forks into new namespaces, with the child becoming a child of *our parent*: it is the starter who must learn of
/// its end, and reap it, while we are gone in a moment.
pub(super) fn clone_as_sibling(namespaces: nix::sched::CloneFlags) -> io::Result<ForkResult> {
    let flags = u64::from(namespaces.bits().cast_unsigned() | libc::CLONE_PARENT.cast_unsigned())
        | u64::from(libc::SIGCHLD.cast_unsigned());
    // SAFETY: without a new stack this is fork, in a process that has one thread and thus holds no lock of another.
    // The C library does not hear of it, which it would need only for threads and for abort.
    let pid = Errno::result(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })?;
    Ok(match i32::try_from(pid) {
        Ok(0) | Err(_) => ForkResult::Child,
        Ok(pid) => ForkResult::Parent { child: Pid::from_raw(pid) },
    })
}

/// Forks in a process that has one thread.
pub(super) fn fork_alone() -> io::Result<ForkResult> {
    #[expect(clippy::disallowed_methods, reason = "PID 1 of a box has no threads, and must keep its memory small")]
    // SAFETY: there is one thread, so that no lock of another can be left behind in the child.
    let forked = unsafe { nix::unistd::fork() };
    Ok(forked?)
}

/// Adds restrictions to a whole tree of mounts.
pub(super) fn restrict_tree(tree: BorrowedFd<'_>, add: MountAttrFlags, recursive: bool) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: add.bits().into(), attr_clr: 0, propagation: 0, userns_fd: 0 };
    set_attributes(tree, &attributes, recursive)
}

/// The same, with files that belong to whom these users say, and apart from every other mount.
pub(super) fn disown_tree(tree: BorrowedFd<'_>, add: MountAttrFlags, users: BorrowedFd<'_>) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: (add | MountAttrFlags::MOUNT_ATTR_IDMAP).bits().into(),
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: u64::from(users.as_raw_fd().cast_unsigned()),
    };
    set_attributes(tree, &attributes, true)
}

fn set_attributes(tree: BorrowedFd<'_>, attributes: &libc::mount_attr, recursive: bool) -> io::Result<()> {
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the pointers are to live values, and the size is that of the struct which the kernel reads.
    Errno::result(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            flags,
            ptr::from_ref(attributes),
            size_of::<libc::mount_attr>(),
        )
    })?;
    Ok(())
}

/// Ignored signals survive exec, and so do blocked ones; a program starts with neither.
pub(super) fn handle_all_signals_by_default() {
    for each in Signal::iterator() {
        // SAFETY: the default disposition runs none of our code. KILL and STOP refuse, rightly.
        let _ = unsafe { signal(each, SigHandler::SigDfl) };
    }
}

/// Becomes another program; returns only if that failed.
pub(super) fn exec(program: &CString, argv: &[CString], env: &[CString]) -> Errno {
    let pointers = |all: &[CString]| -> Vec<*const libc::c_char> {
        all.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
    };
    let (argv, env) = (pointers(argv), pointers(env));
    // SAFETY: both arrays end with a null pointer, and their strings live until the call returns.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    Errno::last()
}

/// Leaves at once, without running anything that was meant for the end of the parent.
pub(super) fn leave(code: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) }
}

/// Switches the loopback interface on.
pub(super) fn raise_loopback(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: all zero is a valid value of this struct of plain numbers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    #[expect(clippy::cast_possible_truncation, reason = "both flags are in the lower half")]
    let up = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    request.ifr_ifru.ifru_flags = up;
    // SAFETY: the pointer is to a live struct of the kind that this request reads.
    Errno::result(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) })?;
    Ok(())
}

/// Takes code and constants out of this process's memory; what is used again comes back from the file, page by page. Most
/// of a program runs once, at its start.
pub fn let_go_of_code() {
    /// Looks at one object that is loaded.
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: libc::size_t, _: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the loader gives a valid description, which lives for as long as this call.
        let object = unsafe { &*info };
        // SAFETY: as above; there are so many headers at that place.
        let headers = unsafe { std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
        for header in headers.iter().filter(|it| it.p_type == libc::PT_LOAD && it.p_flags & libc::PF_W == 0) {
            let begins = (object.dlpi_addr + header.p_vaddr).next_multiple_of(PAGE_BYTES);
            let ends = (object.dlpi_addr + header.p_vaddr + header.p_memsz) & !(PAGE_BYTES - 1);
            if let Ok(bytes) = usize::try_from(ends.saturating_sub(begins))
                && bytes > 0
            {
                // SAFETY: these pages are mapped from a file and cannot be written, so that reading them again gives the
                // same. Where the kernel refuses, all stays as it is.
                unsafe { libc::madvise(begins as *mut libc::c_void, bytes, libc::MADV_DONTNEED) };
            }
        }
        0
    }
    // SAFETY: the function fits, and keeps nothing of what it is shown.
    unsafe { libc::dl_iterate_phdr(Some(visit), ptr::null_mut()) };
}
