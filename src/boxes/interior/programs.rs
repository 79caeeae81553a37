//! Programs that are installed in somebody's home, as agents often are. A box does not see that home, so that what the
//! program needs is shown to it, read-only: each link on the way, its package, and the interpreter that its first line names.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc;

use crate::boxfile::real_path;

/// What a box with the machine's own programs sees anyway.
const SYSTEM: [&str; 8] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt"];

/// Links that lead to links, and interpreters of interpreters; no installation has so many.
const STEPS_MAX: usize = 16;

/// The kernel looks at no more of a first line.
const FIRST_LINE_BYTES: u64 = 256;

/// What must be shown, and where it is then found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    /// Files and directories: where they are inside, and where they lie, without a link on the way.
    pub shown: BTreeMap<PathBuf, PathBuf>,
    /// Directories for PATH.
    pub path: Vec<PathBuf>,
}

/// What a box must be shown for this program to run; nothing where it is not installed or needs nothing. What lies in
/// `strange` directories can be written from inside, and has no say in what else is shown.
pub fn installed(program: &str, path: &OsStr, strange: &[PathBuf]) -> Installed {
    let mut search = Search { path, strange, installed: Installed::default() };
    search.follow(program, STEPS_MAX);
    search.installed
}

struct Search<'a> {
    path: &'a OsStr,
    strange: &'a [PathBuf],
    installed: Installed,
}

impl Search<'_> {
    fn follow(&mut self, program: &str, steps: usize) {
        let Some(found) = find(program, self.path).filter(|_| steps > 0) else { return };
        let Ok(real) = real_path(&found, self.strange) else { return };
        if !is_system(&found)
            && let Some(dir) = found.parent()
            && !self.installed.path.iter().any(|known| known == dir)
        {
            self.installed.path.push(dir.to_owned());
        }
        let mut link = found;
        for _ in 0..steps {
            self.show(&link, &real);
            let Ok(next) = std::fs::read_link(&link) else { break };
            link = link.parent().unwrap_or(Path::new("/")).join(next);
        }
        let whole = package(&real).unwrap_or_else(|| real.clone());
        self.show(&whole, &whole);
        // Who wrote the program wrote its first line. A name is looked for on the PATH; a path could be that of any file.
        let is_strange = self.strange.iter().any(|dir| real.starts_with(dir));
        if let Some(next) = interpreter(&real).filter(|next| !is_strange || !next.contains('/')) {
            self.follow(&next, steps - 1);
        }
    }

    fn show(&mut self, at: &Path, real: &Path) {
        // Steps such as `../lib` are taken out first, and links on the way to the name.
        let Some(dir) = at.parent().and_then(|dir| real_path(dir, self.strange).ok()) else { return };
        let to = dir.join(at.file_name().unwrap_or_default());
        let is_shown = |shown: &PathBuf| to.starts_with(shown);
        if !is_system(&to) && !self.installed.shown.keys().any(is_shown) {
            self.installed.shown.insert(to, real.to_owned());
        }
    }
}

/// The directory of all packages that a program was installed with: they need each other.
fn package(program: &Path) -> Option<PathBuf> {
    program.ancestors().filter(|dir| dir.file_name() == Some(OsStr::new("node_modules"))).last().map(Path::to_owned)
}

/// The program that the first line names.
fn interpreter(program: &Path) -> Option<String> {
    let mut head = Vec::new();
    // A FIFO under that name must not hold us.
    let file = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(program).ok()?;
    file.take(FIRST_LINE_BYTES).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line.split_whitespace();
    let first = words.next()?;
    if Path::new(first).file_name() != Some(OsStr::new("env")) {
        return Some(first.to_owned());
    }
    // `env -S node --flag` and `env NAME=value node` name it later.
    words.find(|word| !word.starts_with('-') && !word.contains('=')).map(str::to_owned)
}

fn find(program: &str, path: &OsStr) -> Option<PathBuf> {
    if program.contains('/') {
        // A path of the workspace needs nothing, and any other is the caller's to mount.
        return Path::new(program).is_absolute().then(|| PathBuf::from(program)).filter(|path| path.is_file());
    }
    std::env::split_paths(path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(program)).find(|path| path.is_file())
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|dir| path.starts_with(dir))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::config::Scratch;

    #[test]
    fn an_agent_of_npm_comes_with_its_links_its_packages_and_its_interpreter() {
        let scratch = Scratch::fresh();
        let home = scratch.path("").canonicalize().unwrap();
        let package = home.join("nvm/lib/node_modules/@google/gemini-cli");
        fs::create_dir_all(&package).unwrap();
        fs::create_dir_all(home.join("nvm/bin")).unwrap();
        fs::write(package.join("gemini.js"), "#!/usr/bin/env -S node --no-warnings\n").unwrap();
        fs::write(home.join("nvm/bin/node"), "\x7fELF").unwrap();
        symlink("../lib/node_modules/@google/gemini-cli/gemini.js", home.join("nvm/bin/gemini")).unwrap();
        let installed = installed("gemini", home.join("nvm/bin").as_os_str(), &[]);
        let shown = ["nvm/bin/gemini", "nvm/bin/node", "nvm/lib/node_modules/@google/gemini-cli/gemini.js"];
        assert_eq!(installed.shown[&home.join(shown[0])], home.join(shown[2]), "{installed:?}");
        assert_eq!(installed.shown[&home.join(shown[1])], home.join(shown[1]), "{installed:?}");
        assert!(installed.shown.contains_key(&home.join("nvm/lib/node_modules")), "{installed:?}");
        assert_eq!(installed.path, [home.join("nvm/bin")]);
    }

    #[test]
    fn what_the_system_has_needs_nothing_and_what_is_missing_is_not_guessed() {
        assert_eq!(installed("sh", OsStr::new("/bin:/usr/bin"), &[]), Installed::default());
        assert_eq!(installed("no-such-program", OsStr::new("/usr/bin"), &[]), Installed::default());
        assert_eq!(installed("./claude", OsStr::new("/usr/bin"), &[]), Installed::default());
    }

    #[test]
    fn a_circle_of_links_or_interpreters_ends() {
        let scratch = Scratch::fresh();
        let home = scratch.path("").canonicalize().unwrap();
        symlink("b", home.join("a")).unwrap();
        symlink("a", home.join("b")).unwrap();
        installed("a", home.as_os_str(), &[]);
        fs::write(home.join("c"), format!("#!{}\n", home.join("c").display())).unwrap();
        installed("c", home.as_os_str(), &[]);
    }

    #[test]
    fn a_program_that_can_be_rewritten_from_inside_shows_no_file_of_its_choice() {
        let scratch = Scratch::fresh();
        let root = scratch.path("").canonicalize().unwrap();
        let (project, secret, bin) = (root.join("project"), root.join("id_rsa"), root.join("bin"));
        for dir in [&project, &bin] {
            fs::create_dir(dir).unwrap();
        }
        fs::write(&secret, "key").unwrap();
        fs::write(bin.join("node"), "\x7fELF").unwrap();
        fs::write(project.join("named"), format!("#!{}\n", secret.display())).unwrap();
        symlink(&secret, project.join("linked")).unwrap();
        symlink(project.join("linked"), bin.join("mine")).unwrap();
        fs::write(project.join("script"), "#!/usr/bin/env node\n").unwrap();
        let path = std::env::join_paths([&project, &bin]).unwrap();
        let strange = [project.clone()];
        for program in ["named", "linked", "mine"] {
            let shown = installed(program, &path, &strange).shown;
            assert!(shown.iter().all(|(to, from)| *to != secret && *from != secret), "{program}: {shown:?}");
        }
        let shown = installed("script", &path, &strange).shown;
        assert_eq!(shown.get(&bin.join("node")), Some(&bin.join("node")), "found by its name: {shown:?}");
    }
}
