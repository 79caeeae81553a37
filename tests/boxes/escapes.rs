//! Ways out of a box, tried.

use std::{
    fs,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::symlink,
            net::{SocketAddr, UnixListener},
        },
    },
};

use coop::sandbox::{Mount, Network, Spec};

use crate::support::{Scratch, bind, coop, fails, perl, plain, refused, start, told, with};

promise! {
    fn files_of_people_are_not_there() {
        let outside = Scratch::fresh();
        let secret = outside.file("secret", "s3cret");
        let sandbox = start(&plain());
        fails(&sandbox, &format!("cat {}", secret.display()));
        assert_eq!(told(&sandbox, "ls -A /home /mnt /srv /var/lib /var/log | grep -v : | tr -d '\\n'"), "");
        fails(&sandbox, "ls /root");
        fails(&sandbox, "head -c 1 /proc/kpageflags | grep -q .");
        fails(&sandbox, "head -c 1 /proc/kcore | grep -q .");
        fails(&sandbox, "grep . /etc/shadow");
        assert_eq!(told(&sandbox, "ls -A /tmp /run | grep -v : | tr -d '\\n'"), "");
    }
}

promise! {
    fn no_process_of_the_machine_is_seen_or_reached() {
        let sandbox = start(&plain());
        let own = std::process::id();
        assert_eq!(told(&sandbox, "set -- /proc/[0-9]*; echo $#; cat /proc/1/comm"), "2\ncoop-box");
        fails(&sandbox, &format!("kill -0 {own}"));
        fails(&sandbox, &format!("ls /proc/{own}/"));
    }
}

promise! {
    fn the_machines_files_can_not_be_changed() {
        let sandbox = start(&plain());
        for place in ["/", "/usr", "/usr/bin", "/etc", "/bin", "/dev", "/opt", "/proc/sys/kernel", "/sys"] {
            fails(&sandbox, &format!("touch {place}/coop-was-here"));
            assert!(!std::path::Path::new(place).join("coop-was-here").exists());
        }
        // What it is, so that a box which does not hold leaves the machine as it was.
        fails(&sandbox, "old=$(cat /proc/sys/kernel/core_pattern) && echo \"$old\" > /proc/sys/kernel/core_pattern");
        fails(&sandbox, "echo h > /proc/sysrq-trigger");
        fails(&sandbox, ": >> /etc/passwd");
    }
}

promise! {
    fn mounts_can_be_neither_made_nor_taken_off_nor_changed() {
        let sandbox = start(&plain());
        fails(&sandbox, "mount -t tmpfs none /tmp");
        fails(&sandbox, "mount --bind /usr /tmp");
        fails(&sandbox, "mount -o remount,rw /usr");
        fails(&sandbox, "mount -o remount,rw,bind /usr");
        fails(&sandbox, "umount /proc");
        fails(&sandbox, "umount -l /usr");
        fails(&sandbox, "unshare -m true");
    }
}

promise! {
    fn without_the_filter_the_rest_still_holds() {
        let sandbox = start(&Spec { seccomp: false, landlock: false, ..plain() });
        fails(&sandbox, "mount -t tmpfs none /tmp");
        fails(&sandbox, "mount -o remount,rw,bind /usr");
        fails(&sandbox, "umount -l /usr");
        fails(&sandbox, "chroot / true");
        fails(&sandbox, "mknod /tmp/disk b 8 0");
        fails(&sandbox, "hostname other");
        // Namespaces can be made then; what they can not do is undo.
        fails(&sandbox, "unshare -Urm mount -o remount,rw,bind /usr");
        fails(&sandbox, "unshare -Urm umount /usr");
        fails(&sandbox, "unshare -Urm umount -l /etc");
    }
}

promise! {
    fn new_namespaces_are_not_given() {
        let sandbox = start(&plain());
        for kind in ["U", "Ur", "m", "p", "n", "i", "u", "C", "T"] {
            fails(&sandbox, &format!("unshare -{kind} true"));
        }
        // The same by clone, where libraries go when clone3 is missing.
        let clone = format!("print syscall({}, 0x10000000 | 17, 0, 0, 0, 0), ' ', $!+0", nix::libc::SYS_clone);
        assert_eq!(perl(&sandbox, &clone), "-1 1");
    }
}

promise! {
    fn the_old_root_is_gone() {
        let sandbox = start(&plain());
        let mounts = told(&sandbox, "cat /proc/self/mountinfo");
        let roots = mounts.lines().filter(|line| line.split(' ').nth(4) == Some("/")).count();
        assert_eq!(roots, 1, "{mounts}");
        assert!(!mounts.contains(" / / rw"), "{mounts}");
    }
}

promise! {
    fn nothing_that_is_mounted_in_a_box_is_seen_outside() {
        let outside = || fs::read_to_string("/proc/self/mountinfo").unwrap();
        let scratch = Scratch::fresh();
        let before = outside().lines().count();
        let place = scratch.path("only-inside");
        let sandbox = start(&with([Mount::Tmpfs { to: place.clone(), mode: 0o700, bytes_max: None }]));
        assert!(told(&sandbox, "cat /proc/self/mountinfo").contains("only-inside"));
        assert!(!outside().contains("only-inside"));
        assert_eq!(outside().lines().count(), before);
        assert!(!place.exists());
    }
}

promise! {
    fn sockets_without_a_file_are_not_reached() {
        let name = format!("coop-boxes-{}", std::process::id());
        let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let dial = format!(
            "use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die; print connect($s, pack('S a*', AF_UNIX, \"\\0{name}\")) ? 'reached' : 'not'"
        );
        assert_eq!(perl(&start(&plain()), &dial), "not");
        // On the machine's network only Landlock is in the way; where the kernel has none, that is said.
        let sandbox = start(&Spec { network: Network::Host, ..plain() });
        if !sandbox.warnings().iter().any(|warning| warning.contains("Landlock")) {
            assert_eq!(perl(&sandbox, &dial), "not");
        }
        // It is there to be reached.
        let open = start(&Spec { network: Network::Host, landlock: false, ..plain() });
        assert_eq!(perl(&open, &dial), "reached");
    }
}

promise! {
    fn links_in_a_workspace_lead_nowhere_but_into_the_box() {
        let outside = Scratch::fresh();
        let workspace = outside.dir("project");
        let treasure = outside.dir("treasure");
        fs::write(treasure.join("gold"), "gold").unwrap();
        symlink("/", workspace.join("up")).unwrap();
        symlink(&treasure, workspace.join("there")).unwrap();
        symlink("../treasure", workspace.join("beside")).unwrap();
        let to = |name: &str| workspace.join(name);
        let tmpfs = |to| Mount::Tmpfs { to, mode: 0o755, bytes_max: None };
        let sandbox = start(&with([bind(&workspace, &workspace), tmpfs(to("up/tmp/inner"))]));
        fails(&sandbox, &format!("cat {}/there/gold {0}/beside/gold {0}/up{}/gold", workspace.display(), treasure.display()));
        assert_eq!(told(&sandbox, "grep -c ' /tmp/inner ' /proc/self/mountinfo"), "1", "it lands where the link leads inside");
        assert!(!std::path::Path::new("/tmp/inner").exists());

        // A link to a place that is not in the box: nothing is made for it outside, and nothing of it is shown.
        let said = refused(&with([bind(&workspace, &workspace), tmpfs(to("there"))]));
        assert!(said.contains("there"), "{said}");
        let sandbox = start(&with([bind(&workspace, &workspace), Mount::Protect { to: to("there"), may_come: false }]));
        assert!(sandbox.warnings().iter().any(|warning| warning.contains("there")));
        fails(&sandbox, &format!("cat {}/there/gold", workspace.display()));
        assert_eq!(fs::read_dir(&treasure).unwrap().count(), 1);
    }
}

promise! {
    fn set_uid_programs_give_nothing() {
        let sandbox = start(&plain());
        let mounts = told(&sandbox, "cat /proc/self/mountinfo");
        for line in mounts.lines() {
            assert!(line.split(' ').nth(5).unwrap().contains("nosuid"), "{line}");
        }
    }
}

/// As who runs the tests: somebody else may not reach the place where it was built.
#[test]
fn coop_itself_can_be_shown_and_started_inside() {
    let spec = with([Mount::Bind { from: coop(), to: "/run/coop/coop".into(), read_only: true, optional: false }]);
    assert!(fails(&start(&spec), "/run/coop/coop box-init </dev/null").contains("started by coop itself"));
}
