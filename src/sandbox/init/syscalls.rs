//! Which system calls programs in a box can not make.
//!
//! A list of what is refused, not of what is allowed: agents run every kind of program, and what a box must hold does
//! not rest on this list but on namespaces and missing capabilities. It takes away parts of the kernel that such
//! programs do not need and that were its weak places.
//!
//! ptrace is allowed: debuggers are of use, it reaches no further than the box's processes, which have one user anyway,
//! and PID 1 is closed against it. Programs for other instruction sets (32 bits) are ended, since their numbers differ.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Is, SeccompCondition as Condition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter,
};

use super::super::{error::Step, wire::Failure};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused with EPERM, as the kernel does without a capability.
const FORBIDDEN: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_lookup_dcookie,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_name_to_handle_at,
    libc::SYS_nfsservctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

#[cfg(target_arch = "x86_64")]
const FORBIDDEN_HERE: &[i64] =
    &[libc::SYS_ioperm, libc::SYS_iopl, libc::SYS_uselib, libc::SYS_ustat, libc::SYS_sysfs, libc::SYS__sysctl];
#[cfg(not(target_arch = "x86_64"))]
const FORBIDDEN_HERE: &[i64] = &[];

/// Refused with EPERM unless sandboxes may be made inside.
const FORBIDDEN_UNLESS_NESTED: &[i64] = &[
    libc::SYS_chroot,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_pivot_root,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_umount2,
];

/// Said not to exist, so that libraries do without: keys are shared beyond a box, and io_uring makes calls that no
/// filter sees.
const UNKNOWN: &[i64] = &[
    libc::SYS_add_key,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_request_key,
];

/// Kinds of sockets that programs use. Others are doors to the kernel, and some (vsock) know no network namespace.
const FAMILIES: &[i32] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Every new namespace.
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWTIME,
];
/// Not in every libc: shares its bit with the exit signal of `clone`, hence for `unshare` alone.
const ONLY_UNSHARED: &[i32] = &[libc::CLONE_NEWTIME];

/// What `personality` may be asked for: to tell, plain Linux also as 32 bits and with an old version's name, and
/// without random addresses, as debuggers want.
const PERSONALITIES: &[u64] = &[0xffff_ffff, 0, 0x8, 0x2_0000, 0x2_0008, 0x4_0000];

/// Numbers from here on are the x32 calls, which do the same as others under another number.
#[cfg(target_arch = "x86_64")]
const X32_FROM: u32 = 0x4000_0000;

/// Words of the kernel's filter machine.
mod word {
    pub(super) const LOAD: u16 = 0x20;
    pub(super) const AT_LEAST: u16 = 0x35;
    pub(super) const SKIP: u16 = 0x05;
    pub(super) const RETURN: u16 = 0x06;
}

/// Loads the filter for this process and all it starts.
pub(super) fn filter(nested: bool) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure {
        step: Step::Confine,
        detail: format!("cannot filter system calls: {error}"),
        errno: None,
    };
    let program = joined(programs(nested).map_err(|error| failed(&error))?);
    apply_filter(&program).map_err(|error| failed(&error))
}

/// One program that asks each of these in turn, until one refuses. Loaded one by one, each would cost a box a twentieth of a
/// millisecond, and all of them would run at every call.
fn joined(programs: Vec<BpfProgram>) -> BpfProgram {
    let last = programs.len().saturating_sub(1);
    let mut all = BpfProgram::new();
    for (number, mut program) in programs.into_iter().enumerate() {
        let words = program.len();
        for (at, word) in program.iter_mut().enumerate().filter(|_| number != last) {
            if word.code == word::RETURN && word.k == libc::SECCOMP_RET_ALLOW {
                word.code = word::SKIP;
                // From the word behind this one to the one behind the program. The kernel takes 4096 words at most.
                word.k = u32::try_from(words - at - 1).unwrap_or(u32::MAX);
            }
        }
        all.append(&mut program);
    }
    all
}

fn programs(nested: bool) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let compile = |rules: Rules, errno: i32| -> Result<BpfProgram, seccompiler::BackendError> {
        let refuse = SeccompAction::Errno(errno.cast_unsigned());
        SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()
    };
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "only x86-64 has further numbers"))]
    let mut all = vec![
        compile(forbidden(nested)?, libc::EPERM)?,
        compile(unknown(nested), libc::ENOSYS)?,
        compile(families()?, libc::EAFNOSUPPORT)?,
    ];
    #[cfg(target_arch = "x86_64")]
    all.push(no_x32());
    Ok(all)
}

fn forbidden(nested: bool) -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = FORBIDDEN.iter().chain(FORBIDDEN_HERE).map(|call| (*call, Vec::new())).collect();
    // Puts characters into a terminal as if they were typed, or takes over the console.
    let requests = [libc::TIOCSTI, libc::TIOCLINUX];
    let requests = requests.iter().map(|request| rule(&[(1, Is::Eq, *request)]));
    rules.insert(libc::SYS_ioctl, requests.collect::<Result<_, _>>()?);
    let personalities: Vec<_> = PERSONALITIES.iter().map(|value| (0, Is::Ne, *value)).collect();
    rules.insert(libc::SYS_personality, vec![rule(&personalities)?]);
    // The limits of PID 1: its user is theirs.
    rules.insert(libc::SYS_prlimit64, vec![rule(&[(0, Is::Eq, 1)])?]);
    if !nested {
        rules.extend(FORBIDDEN_UNLESS_NESTED.iter().map(|call| (*call, Vec::new())));
        let any = |flags: &mut dyn Iterator<Item = &i32>| {
            flags
                .map(|flag| {
                    let flag = u64::from(flag.cast_unsigned());
                    rule(&[(0, Is::MaskedEq(flag), flag)])
                })
                .collect::<Result<Vec<_>, _>>()
        };
        rules.insert(libc::SYS_unshare, any(&mut NAMESPACES.iter())?);
        rules.insert(libc::SYS_clone, any(&mut NAMESPACES.iter().filter(|flag| !ONLY_UNSHARED.contains(flag)))?);
    }
    Ok(rules)
}

fn unknown(nested: bool) -> Rules {
    let mut rules: Rules = UNKNOWN.iter().map(|call| (*call, Vec::new())).collect();
    if !nested {
        // Its flags are in memory, where no filter can look. Libraries fall back to `clone`.
        rules.insert(libc::SYS_clone3, Vec::new());
    }
    rules
}

fn families() -> Result<Rules, seccompiler::BackendError> {
    let others: Vec<_> = FAMILIES.iter().map(|family| (0, Is::Ne, u64::from(family.cast_unsigned()))).collect();
    [libc::SYS_socket, libc::SYS_socketpair].into_iter().map(|call| Ok((call, vec![rule(&others)?]))).collect()
}

/// All of these at once. Arguments are looked at as the kernel takes them: as 32 bits.
fn rule(conditions: &[(u8, Is, u64)]) -> Result<SeccompRule, seccompiler::BackendError> {
    let each = conditions.iter().map(|(index, is, value)| Condition::new(*index, Width::Dword, is.clone(), *value));
    SeccompRule::new(each.collect::<Result<_, _>>()?)
}

/// Refuses every number of the x32 calls.
#[cfg(target_arch = "x86_64")]
fn no_x32() -> BpfProgram {
    let word = |code, jt, jf, k| seccompiler::sock_filter { code, jt, jf, k };
    vec![
        word(word::LOAD, 0, 0, 0),
        word(word::AT_LEAST, 0, 1, X32_FROM),
        word(word::RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()),
        word(word::RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a program says of a call: the kernel's machine, as far as filters of system calls use it.
    fn said(program: &BpfProgram, number: i64, arguments: [u64; 6]) -> u32 {
        let arch: u32 = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };
        let mut data = Vec::new();
        data.extend((number as u32).to_ne_bytes());
        data.extend(arch.to_ne_bytes());
        data.extend(0u64.to_ne_bytes());
        data.extend(arguments.iter().flat_map(|argument| argument.to_ne_bytes()));
        let (mut at, mut held) = (0, 0u32);
        loop {
            let word = &program[at];
            at += 1;
            let holds = match word.code {
                word::LOAD => {
                    let from = word.k as usize;
                    held = u32::from_ne_bytes(data[from..from + 4].try_into().unwrap());
                    continue;
                }
                // And.
                0x54 => {
                    held &= word.k;
                    continue;
                }
                word::SKIP => {
                    at += word.k as usize;
                    continue;
                }
                word::RETURN => return word.k,
                // Equal, greater, at least, any bit of.
                0x15 => held == word.k,
                0x25 => held > word.k,
                word::AT_LEAST => held >= word.k,
                0x45 => held & word.k != 0,
                other => panic!("a word that this machine does not know: {other:#x}"),
            };
            at += usize::from(if holds { word.jt } else { word.jf });
        }
    }

    /// The first refusal.
    fn said_apart(programs: &[BpfProgram], number: i64, arguments: [u64; 6]) -> u32 {
        let each = programs.iter().map(|program| said(program, number, arguments));
        each.into_iter().find(|said| *said != libc::SECCOMP_RET_ALLOW).unwrap_or(libc::SECCOMP_RET_ALLOW)
    }

    const EPERM: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    const ENOSYS: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    const EAFNOSUPPORT: u32 = libc::SECCOMP_RET_ERRNO | libc::EAFNOSUPPORT as u32;

    #[test]
    fn one_program_refuses_what_each_of_them_does() {
        let of = |nested, number, first| said(&joined(programs(nested).unwrap()), number, [first, 0, 0, 0, 0, 0]);
        assert_eq!(of(false, libc::SYS_bpf, 0), EPERM);
        assert_eq!(of(false, libc::SYS_mount, 0), EPERM);
        assert_eq!(of(true, libc::SYS_mount, 0), libc::SECCOMP_RET_ALLOW);
        assert_eq!(of(false, libc::SYS_clone3, 0), ENOSYS);
        assert_eq!(of(false, libc::SYS_io_uring_setup, 0), ENOSYS);
        assert_eq!(of(false, libc::SYS_socket, libc::AF_VSOCK as u64), EAFNOSUPPORT);
        assert_eq!(of(false, libc::SYS_socket, libc::AF_INET as u64), libc::SECCOMP_RET_ALLOW);
        assert_eq!(of(false, libc::SYS_read, 0), libc::SECCOMP_RET_ALLOW);
        #[cfg(target_arch = "x86_64")]
        assert_eq!(of(false, i64::from(X32_FROM) + 1, 0), ENOSYS);
    }

    proptest! {
        #[test]
        fn joining_changes_no_answer(
            nested: bool,
            number in prop_oneof![0i64..600, any::<u32>().prop_map(i64::from)],
            first in prop_oneof![0u64..64, any::<u64>(), (0u32..64).prop_map(|bit| 1 << bit)],
            second in prop_oneof![Just(libc::TIOCSTI), any::<u64>()],
        ) {
            let apart = programs(nested).unwrap();
            let arguments = [first, second, 0, 0, 0, 0];
            let expected = said_apart(&apart, number, arguments);
            prop_assert_eq!(said(&joined(apart), number, arguments), expected);
        }
    }
}
