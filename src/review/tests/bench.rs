//! A project and a box on top of it: real files, a real overlay, in a namespace that one command makes.

use std::{
    ffi::OsStr,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use super::super::{
    ApplyOptions, Baseline, CHANGES_MAX, Change, Changes, Kind, Options, Overlay, Report, ReviewError, Selection,
};

pub struct Bench {
    root: PathBuf,
    pub overlay: Overlay,
}

impl Bench {
    /// Makes the project by a script, and notes how it is.
    pub fn on(project: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("coop-review-{}-{number}", std::process::id()));
        for dir in ["", "lower", "upper", "work", "merged"] {
            std::fs::DirBuilder::new().mode(0o755).create(root.join(dir)).unwrap();
        }
        let overlay = Overlay { lower: root.join("lower"), upper: root.join("upper") };
        let bench = Self { root, overlay };
        bench.project(project);
        Baseline::take(&bench.overlay.lower, bench.root.join("baseline")).unwrap();
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Works on the project itself, as its owner does.
    pub fn project(&self, script: &str) {
        self.in_namespace(&format!("cd lower\n{script}"));
    }

    /// Works in the box, then keeps what it sees in `seen`.
    pub fn in_box(&self, script: &str) {
        self.in_namespace(&format!(
            "mount -t overlay -o userxattr,lowerdir=lower,upperdir=upper,workdir=work overlay merged\n\
             (cd merged\n{script}\n)\n\
             rm -rf seen; cp -a merged seen"
        ));
    }

    /// As root of a user namespace of its own, so that it can mount, and nothing is locked to it.
    fn in_namespace(&self, script: &str) -> Vec<u8> {
        let output = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-eu", "-c", script])
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .output()
            .expect("these tests need `unshare` of util-linux");
        assert!(
            output.status.success(),
            "a script failed in a user namespace. These tests need namespaces that an ordinary user can make \
             (`unshare -Urm true`; see `coop doctor`) and a kernel with overlayfs and userxattr (5.11).\n{}\n{}",
            script,
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    }

    /// Everything in a tree that a review carries: names, kinds, modes, link targets, contents.
    pub fn view(&self, dir: &str) -> String {
        let script = format!(
            "cd {dir}\n\
             find . -mindepth 1 -printf '%P %y %m %l\\0' | sort -z | tr '\\n\\0' '|\\n'\n\
             find . -type f -print0 | sort -z | xargs -0 -r sha256sum -z | tr '\\n\\0' '|\\n'"
        );
        self.in_namespace(&script).escape_ascii().to_string().replace("\\n", "\n")
    }

    pub fn changes(&self) -> Changes {
        self.overlay.changes(&Options { include_git: true, ..Options::default() }).unwrap()
    }

    /// The changes in short, as `git status` has them: `A path`.
    pub fn status(&self) -> Vec<String> {
        self.changes().list.iter().map(short).collect()
    }

    pub fn options(&self) -> ApplyOptions {
        let baseline = Baseline::at(self.root.join("baseline"));
        ApplyOptions { baseline, protect: Vec::new(), force: false, and_clear: true, changes_max: CHANGES_MAX }
    }

    pub fn apply(&self, paths: &[&str]) -> Result<Report, ReviewError> {
        self.overlay.apply(&Selection::of(paths)?, &self.options())
    }

    pub fn discard(&self, paths: &[&str]) -> Result<(), ReviewError> {
        self.overlay.discard(&Selection::of(paths)?)
    }

    /// What is done before the box is started again.
    pub fn renew(&self) {
        self.overlay.renew(&self.options().baseline).unwrap();
    }

    /// What the box sees after a script that does nothing: a look through a fresh mount.
    pub fn seen_again(&self) -> String {
        self.in_box(":");
        self.view("seen")
    }

    pub fn git(&self, dir: &Path, args: &[&str]) -> Vec<u8> {
        let output = self.git_with(dir, args, Stdio::null());
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    pub fn git_with(&self, dir: &Path, args: &[&str], stdin: Stdio) -> std::process::Output {
        let set =
            ["user.name=x", "user.email=x@x", "core.autocrlf=false", "commit.gpgsign=false", "core.fileMode=true"];
        let set = set.iter().flat_map(|set| ["-c", set]);
        Command::new("git")
            .args(set)
            .args(args)
            .current_dir(dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CEILING_DIRECTORIES", &self.root)
            .env("HOME", OsStr::new("/nowhere"))
            .stdin(stdin)
            .output()
            .expect("these tests need git")
    }

    /// Copies a tree as it is.
    pub fn copy(&self, from: &str, to: &str) {
        self.in_namespace(&format!("cp -a {from} {to}"));
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // The kernel leaves a locked directory in `work`, which only its own root can remove.
        let script = format!("rm -rf '{}'", self.root.display());
        let _ = Command::new("unshare").args(["-Urm", "sh", "-c", &script]).stdin(Stdio::null()).status();
    }
}

pub fn short(change: &Change) -> String {
    let sign = match change.kind {
        Kind::Added => 'A',
        Kind::Modified => 'M',
        Kind::Deleted => 'D',
        Kind::TypeChanged => 'T',
        Kind::ModeChanged => 'C',
    };
    let slash = if change.is_dir() { "/" } else { "" };
    format!("{sign} {}{slash}", change.path.as_os_str().as_encoded_bytes().escape_ascii())
}
