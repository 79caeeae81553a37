//! What is put into a box, and how it looks from inside.

use std::{
    fs,
    os::unix::fs::{MetadataExt, symlink},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use coop::sandbox::{Limits, Mount, Root, Sandbox, Spec, UidMap};

use crate::support::{Scratch, bind, coop, fails, plain, refused, start, told, with};

promise! {
    fn a_workspace_is_the_same_inside_and_outside() {
        let scratch = Scratch::fresh();
        let path = scratch.path("");
        scratch.file("note", "from outside");
        let sandbox = start(&with([bind(&path, &path)]));
        let at = path.display();
        assert_eq!(told(&sandbox, &format!("cat {at}/note; echo from inside > {at}/answer")), "from outside");
        assert_eq!(fs::read_to_string(scratch.path("answer")).unwrap(), "from inside\n");
        assert_eq!(fs::metadata(scratch.path("answer")).unwrap().uid(), nix::unistd::Uid::effective().as_raw());
    }
}

promise! {
    fn what_is_read_only_stays_as_it_is() {
        let scratch = Scratch::fresh();
        let path = scratch.path("");
        scratch.file("note", "as it was");
        let ro = Mount::Bind { from: path.clone(), to: path.clone(), read_only: true, optional: false };
        let sandbox = start(&with([ro]));
        let at = path.display();
        assert_eq!(told(&sandbox, &format!("cat {at}/note")), "as it was");
        for act in ["echo x > note", "rm note", "touch new", "mv note other", "chmod 777 note", "ln -s a b"] {
            fails(&sandbox, &format!("cd {at} && {act}"));
        }
        assert_eq!(fs::read_to_string(scratch.path("note")).unwrap(), "as it was");
    }
}

promise! {
    fn a_part_of_a_writable_workspace_can_be_protected_and_another_hidden() {
        let scratch = Scratch::fresh();
        let path = scratch.path("");
        scratch.dir("hooks");
        scratch.file("hooks/pre-commit", "#!/bin/sh");
        scratch.file("coop.toml", "[box]");
        scratch.file(".env", "TOKEN=1");
        scratch.dir("keys");
        scratch.file("keys/id", "key");
        let to = |name: &str| scratch.path(name);
        let sandbox = start(&with([
            bind(&path, &path),
            Mount::Protect { to: to("hooks"), may_come: false },
            Mount::Protect { to: to("coop.toml"), may_come: false },
            Mount::Hide { to: to(".env") },
            Mount::Hide { to: to("keys") },
            Mount::Hide { to: to("not-there") },
        ]));
        let cd = format!("cd {} && ", path.display());
        fails(&sandbox, &format!("{cd} echo x > hooks/pre-commit"));
        fails(&sandbox, &format!("{cd} touch hooks/post-commit"));
        fails(&sandbox, &format!("{cd} echo x > coop.toml"));
        fails(&sandbox, &format!("{cd} rm coop.toml"));
        fails(&sandbox, &format!("{cd} mv hooks away"));
        assert_eq!(told(&sandbox, &format!("{cd} cat hooks/pre-commit coop.toml")), "#!/bin/sh[box]");
        assert_eq!(told(&sandbox, &format!("{cd} cat .env; ls -A keys")), "");
        fails(&sandbox, &format!("{cd} echo x > .env"));
        fails(&sandbox, &format!("{cd} touch keys/x"));
        fails(&sandbox, &format!("{cd} rm -r keys"));
        told(&sandbox, &format!("{cd} echo new > file && rm file"));
        assert!(sandbox.warnings().iter().all(|warning| !warning.contains("not-there")));
        assert_eq!(fs::read_to_string(to(".env")).unwrap(), "TOKEN=1");
    }
}

promise! {
    fn what_is_protected_can_not_be_moved_aside_with_its_directory() {
        let scratch = Scratch::fresh();
        let path = scratch.path("");
        scratch.dir("a/.git/hooks");
        scratch.file("a/.git/config", "[core]");
        let sandbox = start(&with([bind(&path, &path), Mount::Protect { to: scratch.path("a/.git/hooks"), may_come: false }]));
        let cd = format!("cd {}/a && ", path.display());
        for act in ["mv .git elsewhere", "mv .git/hooks elsewhere", "cd .. && mv a b", "rm -rf .git/hooks", "touch .git/hooks/x"] {
            fails(&sandbox, &format!("{cd} {act}"));
        }
        told(&sandbox, &format!("{cd} echo x >> .git/config && mv .git/config .git/new && rm .git/new && echo y > file"));
        drop(sandbox);
        assert!(scratch.path("a/.git/hooks").is_dir());
        assert_eq!(fs::read_to_string(scratch.path("a/file")).unwrap(), "y\n");
    }
}

promise! {
    fn files_and_directories_in_memory_leave_no_trace() {
        let sandbox = start(&with([
            Mount::File { to: "/run/a/b/told".into(), content: "a word\n".into(), read_only: true },
            Mount::File { to: "/run/a/mine".into(), content: String::new(), read_only: false },
            Mount::Tmpfs { to: "/var/room".into(), mode: 0o700, bytes_max: Some(64 * 1024) },
            Mount::File { to: "/etc/hostname".into(), content: "covered".into(), read_only: true },
        ]));
        assert_eq!(told(&sandbox, "cat /run/a/b/told /etc/hostname; stat -c %a /var/room"), "a word\ncovered700");
        fails(&sandbox, "echo x > /run/a/b/told");
        assert_eq!(told(&sandbox, "echo x > /run/a/mine; cat /run/a/mine"), "x");
        fails(&sandbox, "head -c 1000000 /dev/zero > /var/room/much");
    }
}

promise! {
    fn an_image_may_have_many_layers() {
        let scratch = Scratch::fresh();
        let layers: Vec<_> = (0..40).map(|number| {
            let layer = scratch.dir(&format!("layer{number}"));
            fs::write(layer.join(format!("file{number}")), "x").unwrap();
            layer
        }).collect();
        let to = scratch.path("seen");
        let mount = Mount::Overlay { lower: layers, upper: scratch.dir("upper"), work: scratch.dir("work"), to: to.clone() };
        assert_eq!(told(&start(&with([mount])), &format!("set -- {}/*; echo $#", to.display())), "40");
    }
}

promise! {
    fn an_image_is_a_root_whose_changes_go_to_the_upper_directory() {
        let scratch = Scratch::fresh();
        let (base, above) = (scratch.dir("base"), scratch.dir("above"));
        for (name, text) in [("base/both", "below"), ("above/both", "above"), ("base/gone", "x"), ("base/kept", "kept")] {
            scratch.file(name, text);
        }
        let (upper, work) = (scratch.dir("upper"), scratch.dir("work"));
        let root = Root::Overlay { lower: vec![above, base.clone()], upper: upper.clone(), work };
        let system = ["/usr", "/bin", "/lib", "/lib64"].map(|path| Mount::Bind {
            from: path.into(), to: path.into(), read_only: true, optional: true,
        });
        let spec = Spec { root, uid_map: UidMap::Root, mounts: system.into(), ..plain() };
        let sandbox = start(&spec);
        assert_eq!(told(&sandbox, "cat /both /kept; echo changed > /kept; rm /gone; mkdir /new; id -u"), "abovekept0");
        assert_eq!(told(&sandbox, "ls /proc/self/fd >/dev/null && tty || echo no; ls /dev/pts"), "not a tty\nno\nptmx");
        drop(sandbox);
        assert_eq!(fs::read_to_string(upper.join("kept")).unwrap(), "changed\n");
        assert!(upper.join("new").is_dir());
        assert_eq!(fs::read_to_string(base.join("kept")).unwrap(), "kept");
        // The next box on the same directories finds what was changed.
        assert_eq!(told(&start(&spec), "cat /kept; ls -d /new /gone 2>/dev/null || true"), "changed\n/new");
    }
}

promise! {
    fn a_workspace_can_be_layered_so_that_its_project_stays_untouched() {
        let scratch = Scratch::fresh();
        let (project, upper, work) = (scratch.dir("pro ject,:\\x"), scratch.dir("upper"), scratch.dir("work"));
        fs::write(project.join("file"), "as it was").unwrap();
        let layered = Mount::Overlay { lower: vec![project.clone()], upper: upper.clone(), work, to: project.clone() };
        let sandbox = start(&with([layered]));
        let inside = format!("cd '{}'; cat file; echo changed > file; echo new > other", project.display());
        assert_eq!(told(&sandbox, &inside), "as it was");
        assert_eq!(fs::read_to_string(project.join("file")).unwrap(), "as it was");
        assert!(!project.join("other").exists());
        assert_eq!(fs::read_to_string(upper.join("file")).unwrap(), "changed\n");
    }
}

promise! {
    fn what_every_program_expects_is_there() {
        let sandbox = start(&plain());
        told(&sandbox, "echo x > /dev/null && head -c 8 /dev/urandom > /dev/shm/r && echo y > /tmp/t && test -L /dev/fd && echo z > /var/tmp/v");
        assert_eq!(told(&sandbox, "cat /proc/sys/kernel/ostype; hostname; echo a | cat /dev/stdin"), "Linux\nbox\na");
        told(&sandbox, "echo '#!/bin/sh' > /tmp/tool; chmod +x /tmp/tool; /tmp/tool");
        assert_eq!(told(&sandbox, "umask"), told(&start(&plain()), "umask"));
    }
}

promise! {
    fn a_box_is_made_also_while_others_rename_files() {
        let scratch = Scratch::fresh();
        let shown = scratch.dir("shown");
        fs::create_dir(shown.join("bin")).unwrap();
        fs::write(shown.join("program"), "seen").unwrap();
        // As npm links its programs. While anything is renamed, the kernel cannot be sure of the dots.
        symlink("../program", shown.join("bin/link")).unwrap();
        let onto_the_link = (0..200).map(|_| bind(&shown.join("program"), "/mnt/bin/link"));
        let spec = with([bind(&shown, "/mnt")].into_iter().chain(onto_the_link));
        let (moving, ended) = (scratch.dir("moving"), AtomicBool::new(false));
        let (here, there) = (moving.join("here"), moving.join("there"));
        fs::write(&here, "").unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    fs::rename(&here, &there).unwrap();
                    fs::rename(&there, &here).unwrap();
                }
            });
            let make = |_| Sandbox::start(&spec, &coop()).err().map(|error| error.to_string());
            let failures: Vec<String> = (0..5).filter_map(make).collect();
            ended.store(true, Ordering::Relaxed);
            assert!(failures.is_empty(), "{failures:?}");
        });
    }
}

promise! {
    fn what_became_a_link_is_not_followed() {
        let scratch = Scratch::fresh();
        let secret = scratch.dir("secret");
        fs::write(secret.join("id"), "key").unwrap();
        let kept = scratch.dir("kept");
        fs::create_dir(kept.join("data")).unwrap();
        fs::write(kept.join("data/file"), "seen").unwrap();
        let straight = |from| with([Mount::Straight { from, to: "/mnt/data".into(), read_only: false }]);
        assert_eq!(told(&start(&straight(kept.join("data"))), "cat /mnt/data/file"), "seen");
        symlink(&secret, kept.join("link")).unwrap();
        fs::create_dir(secret.join("below")).unwrap();
        for turned in ["link", "link/below", "link/id"] {
            let told = refused(&straight(kept.join(turned)));
            assert!(told.contains("has a link in it"), "{told}");
        }
        let (upper, work) = (scratch.dir("upper"), scratch.dir("work"));
        let layered = Mount::Overlay { lower: vec![kept.join("link")], upper, work, to: "/mnt/data".into() };
        assert!(refused(&with([layered])).contains("has a link in it"));
    }
}

promise! {
    fn what_is_hidden_can_not_be_moved_to_where_the_next_box_would_show_it() {
        let scratch = Scratch::fresh();
        let path = scratch.path("");
        scratch.dir("a/b");
        scratch.file("a/b/.env", "TOKEN=1");
        let spec = with([bind(&path, &path), Mount::Hide { to: scratch.path("a/b/.env") }]);
        let sandbox = start(&spec);
        let cd = format!("cd {} && ", path.display());
        for act in ["mv a c", "mv a/b c", "mv a/b/.env c"] {
            fails(&sandbox, &format!("{cd} {act}"));
        }
        told(&sandbox, &format!("{cd} touch a/b/new"));
        drop(sandbox);
        assert_eq!(told(&start(&spec), &format!("cat {}/*/*/.env", path.display())), "");
    }
}

promise! {
    fn what_is_in_memory_takes_no_more_than_the_box_may_have() {
        let limits = Limits { memory_bytes: Some(32 * 1024 * 1024), ..Limits::default() };
        let sandbox = start(&Spec { limits, ..plain() });
        for place in ["/tmp", "/dev/shm"] {
            assert_eq!(told(&sandbox, &format!("df -Pk {place} | tail -n 1 | awk '{{ print $2 }}'")), "32768", "{place}");
        }
        assert_eq!(told(&sandbox, "df -Pk /run | tail -n 1 | awk '{ print $2 }'"), "65536");
    }
}
