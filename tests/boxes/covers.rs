//! What is hidden or protected stays so when it is replaced outside while the box runs.

use std::{fs, os::unix::fs::symlink, path::Path};

use coop::sandbox::{Mount, Replaced, Sandbox, Spec};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use tokio::sync::mpsc;

use crate::support::{Scratch, coop, fails, run, sh, told, with};

/// A box, and what it says of what was replaced.
struct Watched {
    sandbox: Sandbox,
    news: mpsc::Receiver<Replaced>,
}

impl Watched {
    fn start(spec: &Spec) -> Self {
        let (tell, news) = mpsc::channel(64);
        let sandbox = Sandbox::start_telling(spec, &coop(), tell).unwrap_or_else(|error| panic!("{error}"));
        Self { sandbox, news }
    }

    /// Waits until this was told; whether it is covered.
    fn hears_of(&mut self, path: &Path) -> bool {
        loop {
            let replaced = self.news.blocking_recv().expect("its warden is there");
            if replaced.path == path {
                return replaced.bare.is_none();
            }
        }
    }
}

/// The project, for reading and writing.
fn project(scratch: &Scratch, read_only: bool) -> Mount {
    Mount::Straight { from: scratch.path(""), to: scratch.path(""), read_only }
}

/// As editors, git and `sed -i` save: written beside it, then renamed.
fn replace(path: &Path, text: &str) {
    let beside = path.with_extension("lock");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, path).unwrap();
}

fn write_to(path: &Path) -> String {
    format!("echo evil >>{}", path.display())
}

fn read(path: &Path) -> String {
    format!("cat {}", path.display())
}

promise! {
    fn what_is_protected_stays_so_each_time_that_it_is_replaced() {
        let scratch = Scratch::fresh();
        scratch.dir(".git/hooks");
        let config = scratch.file(".git/config", "first");
        let protected = Mount::Protect { to: config.clone(), may_come: false };
        let mut watched = Watched::start(&with([project(&scratch, false), protected]));
        fails(&watched.sandbox, &write_to(&config));
        for text in ["second", "third"] {
            replace(&config, text);
            assert!(watched.hears_of(&config));
            fails(&watched.sandbox, &write_to(&config));
            fails(&watched.sandbox, &format!("mv {} {}.old", config.display(), config.display()));
            assert_eq!(told(&watched.sandbox, &read(&config)), text, "it is seen as it is now");
        }
        assert_eq!(fs::read_to_string(&config).unwrap(), "third");
    }
}

promise! {
    fn what_is_hidden_stays_so_whether_the_project_can_be_written_or_not() {
        for read_only in [false, true] {
            let scratch = Scratch::fresh();
            let (env, keys) = (scratch.file(".env", "s3cret"), scratch.dir("keys"));
            scratch.file("keys/id", "s3cret");
            let hidden = [&env, &keys].map(|to| Mount::Hide { to: to.clone() });
            let mut watched = Watched::start(&with([project(&scratch, read_only)].into_iter().chain(hidden)));
            replace(&env, "s3cret too");
            assert!(watched.hears_of(&env));
            fs::rename(&keys, scratch.path("old")).unwrap();
            scratch.dir("keys");
            scratch.file("keys/id", "s3cret too");
            assert!(watched.hears_of(&keys));
            let script = format!("{}; ls -A {}", read(&env), keys.display());
            assert_eq!(told(&watched.sandbox, &script), "", "read-only: {read_only}");
            fails(&watched.sandbox, &write_to(&env));
        }
    }
}

promise! {
    fn a_directory_above_that_is_replaced_takes_nothing_away() {
        let scratch = Scratch::fresh();
        let make = |text: &str| {
            scratch.dir("a/.git/hooks");
            scratch.file("a/.git/config", text);
        };
        make("first");
        let (config, hooks) = (scratch.path("a/.git/config"), scratch.path("a/.git/hooks"));
        let protected = [&config, &hooks].map(|to| Mount::Protect { to: to.clone(), may_come: false });
        let mut watched = Watched::start(&with([project(&scratch, false)].into_iter().chain(protected)));
        // As one who clones anew.
        fs::rename(scratch.path("a/.git"), scratch.path("old")).unwrap();
        make("second");
        assert!(watched.hears_of(&config));
        fails(&watched.sandbox, &write_to(&config));
        fails(&watched.sandbox, &format!("touch {}/pre-commit", hooks.display()));
        fails(&watched.sandbox, &format!("cd {}/a && mv .git elsewhere", scratch.path("").display()));
        fails(&watched.sandbox, &format!("cd {} && mv a elsewhere", scratch.path("").display()));
        assert_eq!(fs::read_to_string(&config).unwrap(), "second");
    }
}

promise! {
    fn what_comes_to_be_there_is_covered_too() {
        let scratch = Scratch::fresh();
        let (env, makefile) = (scratch.path("deep/er/.env"), scratch.path("Makefile"));
        let mut watched = Watched::start(&with([
            project(&scratch, false),
            Mount::Protect { to: makefile.clone(), may_come: false },
            Mount::Hide { to: env.clone() },
        ]));
        scratch.dir("deep/er");
        fs::write(&env, "s3cret").unwrap();
        assert!(watched.hears_of(&env));
        assert_eq!(told(&watched.sandbox, &read(&env)), "");
        fs::write(&makefile, "all:").unwrap();
        assert!(watched.hears_of(&makefile));
        fails(&watched.sandbox, &write_to(&makefile));
    }
}

promise! {
    fn what_can_not_be_covered_is_told_and_covered_when_it_can() {
        let scratch = Scratch::fresh();
        let env = scratch.file(".env", "s3cret");
        scratch.file("other", "no secret");
        let mut watched = Watched::start(&with([project(&scratch, false), Mount::Hide { to: env.clone() }]));
        symlink("other", scratch.path("link")).unwrap();
        fs::rename(scratch.path("link"), &env).unwrap();
        assert!(!watched.hears_of(&env));
        assert_eq!(told(&watched.sandbox, "cat /etc/hostname >/dev/null; echo lives"), "lives");
        replace(&env, "s3cret");
        assert!(watched.hears_of(&env));
        assert_eq!(told(&watched.sandbox, &read(&env)), "");
        assert_eq!(told(&watched.sandbox, &read(&scratch.path("other"))), "no secret", "no link was followed");
    }
}

promise! {
    fn through_an_overlay_nothing_is_seen_of_what_is_replaced() {
        let (scratch, own) = (Scratch::fresh(), Scratch::fresh());
        let env = scratch.file(".env", "s3cret");
        let layers = Mount::Overlay { lower: vec![scratch.path("")], upper: own.dir("upper"), work: own.dir("work"), to: scratch.path("") };
        let later = scratch.path("later.env");
        let hidden = [&env, &later].map(|to| Mount::Hide { to: to.clone() });
        let mut watched = Watched::start(&with([layers].into_iter().chain(hidden)));
        for _ in 0..10 {
            replace(&env, "s3cret too");
            assert_eq!(told(&watched.sandbox, &read(&env)), "");
        }
        assert!(watched.news.try_recv().is_err(), "so that there was nothing to tell");
        // The kernel remembers that it was not there, but does not promise to.
        fs::write(&later, "s3cret").unwrap();
        assert!(!watched.hears_of(&later));
        fails(&watched.sandbox, &read(&later));
    }
}

promise! {
    fn a_program_that_renames_all_the_time_does_not_mislead_who_watches() {
        let scratch = Scratch::fresh();
        // Made elsewhere: where the box writes, a link could lead us anywhere.
        let make = |name: &str| {
            scratch.dir(&format!("{name}/b"));
            scratch.file(&format!("{name}/b/.env"), "s3cret");
        };
        make("a");
        let secret = scratch.path("a/b/.env");
        let mut watched = Watched::start(&with([project(&scratch, false), Mount::Hide { to: secret.clone() }]));
        let at = scratch.path("");
        let swaps = "while :; do mv a/b a/c; ln -s /etc a/b; rm a/b; mv a/c a/b; done 2>/dev/null";
        let swaps = format!("cd {} && {swaps}", at.display());
        let swapping = watched.sandbox.run(&run(&["sh", "-c", &swaps])).unwrap();
        let put = |nth: u32| {
            make(&format!("new{nth}"));
            fs::rename(scratch.path("a"), scratch.path(&format!("old{nth}"))).unwrap();
            fs::rename(scratch.path(&format!("new{nth}")), scratch.path("a")).unwrap();
        };
        // What it takes away in the moment before stays taken; who watches is not led astray by it.
        (0..10).for_each(put);
        killpg(Pid::from_raw(swapping.pid.cast_signed()), Signal::SIGKILL).unwrap();
        swapping.exit.wait();
        put(10);
        while !sh(&watched.sandbox, &read(&secret)).text.is_empty() {
            watched.hears_of(&secret);
        }
        fails(&watched.sandbox, &format!("cd {} && mv a/b a/c", at.display()));
    }
}

#[test]
fn a_box_with_nothing_to_cover_has_nobody_who_watches() {
    let scratch = Scratch::fresh();
    let mut watched = Watched::start(&with([project(&scratch, false)]));
    assert!(matches!(watched.news.try_recv(), Err(mpsc::error::TryRecvError::Disconnected)));
    let mut watched = Watched::start(&with([project(&scratch, false), Mount::Hide { to: scratch.path(".env") }]));
    assert!(matches!(watched.news.try_recv(), Err(mpsc::error::TryRecvError::Empty)));
    watched.sandbox.end();
    assert!(watched.news.blocking_recv().is_none(), "who watches leaves with the box");
}
