//! What programs in a box have: no privilege, no descriptor, no way to get more.

use std::fs;

use coop::sandbox::Spec;
use nix::libc;

use crate::support::{Process, fails, lets_go_of_code, perl, plain, sh, start, told};

promise! {
    fn a_program_has_no_capability_no_new_privileges_and_a_filter() {
        let text = told(&start(&plain()), "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status");
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
            assert_eq!(field(set), "0000000000000000", "{set}");
        }
        assert_eq!((field("NoNewPrivs:"), field("Seccomp:")), ("1".into(), "2".into()));
    }
}

promise! {
    fn being_root_inside_gives_no_capability_either() {
        let sandbox = start(&Spec { uid_map: coop::sandbox::UidMap::Root, ..plain() });
        assert_eq!(told(&sandbox, "id -u; id -g"), "0\n0");
        assert_eq!(told(&sandbox, "grep CapEff /proc/self/status | cut -f2"), "0000000000000000");
        fails(&sandbox, "chown 1 /tmp");
    }
}

promise! {
    fn what_installing_packages_takes_is_kept_when_asked_for_and_no_more() {
        let sandbox = start(&Spec { uid_map: coop::sandbox::UidMap::Root, root_powers: true, ..plain() });
        assert_eq!(told(&sandbox, "grep -E 'Cap(Eff|Bnd)' /proc/self/status | cut -f2"), "00000000800004fb\n00000000800004fb");
        told(&sandbox, "cd /tmp && echo x > f && chmod 0 f && cat f && chown 0:0 f");
        // Of the machine it opens nothing.
        fails(&sandbox, "grep . /etc/shadow");
        fails(&sandbox, "touch /usr/x");
        fails(&sandbox, "mount -t tmpfs none /tmp");
        sh(&sandbox, "kill -9 1");
        assert_eq!(told(&sandbox, "echo still here"), "still here");
        let user = start(&Spec { root_powers: true, uid_map: coop::sandbox::UidMap::Same, ..plain() });
        let expected = if nix::unistd::Uid::effective().is_root() { "00000000800004fb" } else { "0000000000000000" };
        assert_eq!(told(&user, "grep CapEff /proc/self/status | cut -f2"), expected);
    }
}

promise! {
    fn a_program_inherits_its_three_descriptors_and_no_other() {
        // 3 may be the directory that is read.
        let listed = perl(&start(&plain()), "opendir(D, '/proc/self/fd'); print join(' ', sort grep {/\\d/ && -e \"/proc/self/fd/$_\"} readdir D)");
        assert!(matches!(listed.as_str(), "0 1 2" | "0 1 2 3"), "{listed}");
        assert!(!told(&start(&plain()), "ls -l /proc/self/fd").contains("socket"));
    }
}

promise! {
    fn pid_1_can_be_neither_ended_nor_traced_nor_read() {
        let sandbox = start(&plain());
        let first = Process::of(sandbox.pid());
        for signal in ["KILL", "TERM", "INT", "HUP", "SEGV", "STOP"] {
            sh(&sandbox, &format!("kill -{signal} 1"));
        }
        for file in ["environ", "maps", "mem", "stack", "auxv"] {
            fails(&sandbox, &format!("cat /proc/1/{file}"));
        }
        fails(&sandbox, "readlink /proc/1/exe");
        fails(&sandbox, "readlink /proc/1/fd/3");
        fails(&sandbox, "cat /proc/1/fd/3");
        fails(&sandbox, "ls /proc/1/root/");
        fails(&sandbox, "ls -l /proc/1/ns/mnt");
        // PTRACE_ATTACH, PTRACE_SEIZE.
        for request in [16, 0x4206] {
            assert_eq!(perl(&sandbox, &format!("print syscall({}, {request}, 1, 0, 0), ' ', $!+0", libc::SYS_ptrace)), "-1 1");
        }
        // Its limits: prlimit of RLIMIT_NOFILE.
        let limits = format!("my $new = pack('QQ', 3, 3); print syscall({}, 1, 7, $new, 0), ' ', $!+0", libc::SYS_prlimit64);
        assert_eq!(perl(&sandbox, &limits), "-1 1");
        assert!(first.lives());
        assert_eq!(told(&sandbox, "echo still here"), "still here");
    }
}

promise! {
    fn debuggers_work_on_the_boxs_own_processes() {
        // PTRACE_ATTACH to a child.
        let script = format!(
            "my $pid = fork; if (!$pid) {{ sleep 100; exit }} print syscall({}, 16, $pid, 0, 0); kill 9, $pid; wait",
            libc::SYS_ptrace
        );
        assert_eq!(perl(&start(&plain()), &script), "0");
    }
}

promise! {
    fn dangerous_calls_are_refused() {
        let sandbox = start(&plain());
        let errno = |call: i64, arguments: &str| {
            perl(&sandbox, &format!("print syscall({call}, {arguments}) < 0 ? $!+0 : 'allowed'"))
        };
        for call in [
            libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_userfaultfd, libc::SYS_init_module, libc::SYS_kexec_load,
            libc::SYS_reboot, libc::SYS_swapon, libc::SYS_setns, libc::SYS_chroot, libc::SYS_open_by_handle_at,
            libc::SYS_fsopen, libc::SYS_open_tree, libc::SYS_mount_setattr, libc::SYS_quotactl, libc::SYS_acct,
        ] {
            assert_eq!(errno(call, "0, 0, 0, 0, 0"), libc::EPERM.to_string(), "call {call}");
        }
        for call in [libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_io_uring_setup, libc::SYS_clone3] {
            assert_eq!(errno(call, "0, 0, 0, 0, 0"), libc::ENOSYS.to_string(), "call {call}");
        }
        // A personality that makes all memory executable; vsock, which knows no network namespace.
        assert_eq!(errno(libc::SYS_personality, "0x400000"), libc::EPERM.to_string());
        assert_eq!(errno(libc::SYS_socket, "40, 1, 0"), libc::EAFNOSUPPORT.to_string());
        // The upper half of an argument that the kernel takes as 32 bits hides nothing.
        assert_eq!(errno(libc::SYS_socket, "(1 << 32) | 40, 1, 0"), libc::EAFNOSUPPORT.to_string());
        if cfg!(target_arch = "x86_64") {
            assert_eq!(errno(0x4000_0000 + libc::SYS_getpid, "0"), libc::ENOSYS.to_string(), "x32");
        }
    }
}

promise! {
    fn nobody_can_type_into_a_terminal_from_inside() {
        let sandbox = start(&plain());
        let mut job = crate::support::run(&["perl", "-e", "my $c = 'x'; print defined ioctl(STDIN, 0x5412, $c) ? 'typed' : $!+0, \"\\n\"; print defined ioctl(STDIN, (1 << 32) | 0x5412, $c) ? 'typed' : $!+0"]);
        job.size = Some((80, 24));
        let said = crate::support::finish(sandbox.run(&job).unwrap());
        assert_eq!(said.text, format!("{0}\n{0}", libc::EPERM));
    }
}

promise! {
    fn without_a_filter_that_is_said() {
        let sandbox = start(&Spec { seccomp: false, ..plain() });
        assert!(sandbox.warnings().iter().any(|warning| warning.contains("seccomp")), "{:?}", sandbox.warnings());
        assert_eq!(told(&sandbox, "grep Seccomp: /proc/self/status | cut -f2"), "0");
    }
}

promise! {
    fn pid_1_is_small() {
        let sandbox = start(&plain());
        told(&sandbox, "true");
        // Pages of coop's own file are shared with coop; what PID 1 has for itself is what a box costs.
        let pages = fs::read_to_string(format!("/proc/{}/statm", sandbox.pid())).unwrap();
        let numbers: Vec<u64> = pages.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let own_kib = (numbers[1] - numbers[2]) * 4;
        assert!(own_kib < 3 * 1024, "{own_kib} KiB of its own");
    }
}

promise! {
    fn pid_1_lets_go_of_what_ran_only_at_its_start() {
        let sandbox = start(&plain());
        lets_go_of_code(sandbox.pid());
        // What is needed again comes back.
        assert_eq!(told(&sandbox, "echo here"), "here");
        lets_go_of_code(sandbox.pid());
    }
}
