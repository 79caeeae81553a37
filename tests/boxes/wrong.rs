//! Boxes that can not be made: what is wrong is named, and nothing is left.

use std::{fs, path::Path};

use coop::sandbox::{Mount, Root, Sandbox, Spec, UidMap};

use crate::support::{Scratch, bind, offspring, plain, refused, with};

fn tmpfs(to: &str) -> Mount {
    Mount::Tmpfs { to: to.into(), mode: 0o755, bytes_max: None }
}

promise! {
    fn a_mount_that_can_not_be_made_is_named_with_its_reason() {
        let scratch = Scratch::fresh();
        let file = scratch.file("file", "x");
        let dir = scratch.dir("dir");
        for (mount, expected) in [
            (bind(Path::new("/no/such/source"), "/tmp/x"), "cannot bind /no/such/source: No such file"),
            (bind(&dir, "/etc/passwd"), "/etc/passwd, where a file is in the way"),
            (bind(&file, "/etc"), "/etc, which is a directory"),
            (tmpfs("/etc/passwd"), "/etc/passwd"),
            (tmpfs("/usr/not-there"), "/usr/not-there: Read-only file system (its parent is read-only"),
            (tmpfs("relative"), "relative must be an absolute path"),
            (tmpfs("/"), "must be an absolute path below /"),
            (tmpfs("/tmp/../etc"), "must not contain \"..\""),
            (Mount::File { to: "/etc/passwd/x".into(), content: String::new(), read_only: true }, "/etc/passwd/x"),
            (Mount::Overlay { lower: vec!["/no/layer".into()], upper: dir.clone(), work: dir.clone(), to: "/tmp".into() }, "/no/layer"),
        ] {
            let said = refused(&with([mount.clone()]));
            assert!(said.starts_with("cannot make box \"test\": ") && said.contains(expected), "{mount:?}: {said}");
        }
        let optional = Mount::Bind { from: "/no/such".into(), to: "/tmp/x".into(), read_only: true, optional: true };
        crate::support::start(&with([optional]));
    }
}

promise! {
    fn a_failure_leaves_no_process() {
        for _ in 0..3 {
            let spec = with([bind(Path::new("/no/such/source"), "/tmp/x")]);
            refused(&Spec { name: "test-of-failure".into(), ..spec });
        }
        let left: Vec<String> = offspring(std::process::id())
            .into_iter()
            .filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/cmdline")).ok())
            .filter(|line| line.contains("box-init\0test-of-failure"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

promise! {
    fn other_mistakes_are_named_too() {
        let said = refused(&Spec { hostname: "x".repeat(100), ..plain() });
        assert!(said.contains("host name"), "{said}");
        let limits = coop::sandbox::Limits { cpus: Some(0.0), ..Default::default() };
        let said = refused(&Spec { limits, ..plain() });
        assert!(said.contains("the limit on processors must be more than nothing"), "{said}");
        let said = refused(&with([bind(Path::new("relative"), "/tmp/x")]));
        assert!(said.contains("relative must be an absolute path"), "{said}");
        let nowhere = Root::Overlay { lower: vec!["/nowhere".into()], upper: "/tmp".into(), work: "/tmp".into() };
        let said = refused(&Spec { root: nowhere, ..plain() });
        assert!(said.contains("/nowhere"), "{said}");
        let said = Sandbox::start(&plain(), Path::new("/no/coop")).unwrap_err().to_string();
        assert!(said.contains("/no/coop") && said.contains("No such file"), "{said}");
        let said = Sandbox::start(&plain(), Path::new("/bin/true")).unwrap_err().to_string();
        assert!(said.contains("without a word"), "{said}");
    }
}

promise! {
    fn a_range_of_users_that_nobody_gave_is_explained() {
        let map = fs::read_to_string("/etc/subuid").unwrap_or_default();
        let user = nix::unistd::User::from_uid(nix::unistd::Uid::effective()).unwrap().map(|user| user.name).unwrap_or_default();
        let own = nix::unistd::Uid::effective().to_string();
        let given = map.lines().any(|line| line.starts_with(&format!("{user}:")) || line.starts_with(&format!("{own}:")));
        let spec = Spec { uid_map: UidMap::Range, ..plain() };
        if given {
            assert_eq!(crate::support::told(&crate::support::start(&spec), "id -u; wc -l < /proc/self/uid_map"), "0\n2");
        } else {
            let said = refused(&spec);
            assert!(said.contains("usermod --add-subuids"), "{said}");
        }
    }
}
