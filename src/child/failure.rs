//! Why a program could not be started, said so that one knows what to do.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
};

use nix::{
    libc,
    unistd::{AccessFlags, access},
};

use super::Launch;

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("cannot run anything: the command is empty")]
    NothingToRun,
    #[error("cannot run {program:?}: no such program{}", if is_path(.program) { "" } else { " on PATH" })]
    NotFound { program: OsString },
    #[error(
        "cannot run {program:?} in the box: no such program there; a box of the machine's own files finds what is on your \
         PATH (`coop doctor --agent` looks for agents), an image must have it, or it is mounted (box.mounts)"
    )]
    NotFoundInBox { program: OsString },
    #[error("cannot run {program:?}: {reason}")]
    NotExecutable { program: OsString, reason: &'static str },
    #[error("cannot start in {path:?}: {reason}")]
    BadDirectory { path: PathBuf, reason: &'static str },
    #[error("cannot open a pseudo-terminal: {0} (see /proc/sys/kernel/pty/max and the limit on open files)")]
    Pty(#[source] io::Error),
    #[error("cannot run {program:?}: {source}")]
    Other { program: OsString, source: io::Error },
}

impl SpawnError {
    /// The code a shell would end with: 127 if there is no such program, 126 if it can not be run.
    pub fn shell_code(&self) -> i32 {
        match self {
            Self::NotFound { .. } | Self::NotFoundInBox { .. } => 127,
            _ => 126,
        }
    }
}

/// A missing directory and a missing program are the same errno to the one who starts both, hence this look before.
pub(super) fn check_directory(path: &Path) -> Result<(), SpawnError> {
    let bad = |reason| SpawnError::BadDirectory { path: path.to_owned(), reason };
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(bad("permission denied")),
        Err(_) => Err(bad("no such directory")),
        Ok(found) if !found.is_dir() => Err(bad("it is not a directory")),
        Ok(_) => access(path, AccessFlags::X_OK).map_err(|_| bad("permission denied")),
    }
}

pub(super) fn explain(error: io::Error, launch: &Launch, program: &OsStr) -> SpawnError {
    let program = program.to_owned();
    let not_executable = |reason| SpawnError::NotExecutable { program: program.clone(), reason };
    match error.raw_os_error() {
        Some(libc::ENOENT) if found(&program, launch, Path::exists) => {
            not_executable("the interpreter that it names (its #! line or loader) does not exist")
        }
        Some(libc::ENOENT | libc::ENOTDIR) => SpawnError::NotFound { program },
        Some(libc::EACCES) if found(&program, launch, Path::is_dir) => not_executable("it is a directory"),
        // A directory on PATH that may not be entered says so for every program, and a shell looks on.
        Some(libc::EACCES) if !is_path(&program) && !found(&program, launch, Path::exists) => {
            SpawnError::NotFound { program }
        }
        Some(libc::EACCES) => not_executable("permission denied (is it executable?)"),
        Some(libc::ENOEXEC) => not_executable("it is no program for this machine"),
        _ => other(&program, error),
    }
}

pub(super) fn other(program: &OsStr, source: io::Error) -> SpawnError {
    SpawnError::Other { program: program.to_owned(), source }
}

/// Whether something of this kind is where the program was looked for.
fn found(program: &OsStr, launch: &Launch, is: impl Fn(&Path) -> bool) -> bool {
    let start = launch.cwd.as_deref().unwrap_or(Path::new("."));
    if program.is_empty() || is_path(program) {
        return !program.is_empty() && is(&start.join(program));
    }
    let chosen = launch.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let inherited = || std::env::var_os("PATH").filter(|_| !launch.env_remove.iter().any(|name| name == "PATH"));
    let path = chosen.or_else(inherited).unwrap_or_default();
    std::env::split_paths(&path).any(|directory| is(&start.join(directory).join(program)))
}

/// A program with a slash in its name is not looked for on PATH.
fn is_path(program: &OsStr) -> bool {
    program.as_encoded_bytes().contains(&b'/')
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::super::{
        spawn,
        support::{launch, sh},
    };
    use super::*;

    fn failure(launch: &Launch) -> (String, i32) {
        let error = spawn(launch).expect_err("it must not start");
        (error.to_string(), error.shell_code())
    }

    /// A directory of files to fail on, removed at the end.
    struct Files(PathBuf);

    impl Files {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("coop-failure-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn file(&self, name: &str, text: &str, mode: u32) {
            let path = self.0.join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        }
    }

    impl Drop for Files {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[tokio::test]
    async fn a_missing_program_is_127_and_says_where_it_was_looked_for() {
        let on_path = failure(&launch(["no-such-bsah"]));
        assert_eq!(on_path, ("cannot run \"no-such-bsah\": no such program on PATH".into(), 127));
        let by_path = failure(&launch(["/nope/x"]));
        assert_eq!(by_path, ("cannot run \"/nope/x\": no such program".into(), 127));
        assert_eq!(failure(&launch([""])).1, 127);
    }

    #[tokio::test]
    async fn what_can_not_be_run_is_126_and_says_why() {
        let files = Files::new("run");
        files.file("plain", "x", 0o644);
        files.file("script", "#!/nope/interpreter\n", 0o755);
        let mut here = launch(["./plain"]);
        here.cwd = Some(files.0.clone());
        let plain = failure(&here);
        assert_eq!(plain, ("cannot run \"./plain\": permission denied (is it executable?)".into(), 126));
        here.argv = vec!["./script".into()];
        let script = failure(&here);
        assert!(script.0.contains("\"./script\": the interpreter") && script.1 == 126, "{script:?}");
        here.argv = vec!["script".into()];
        here.env = vec![("PATH".into(), files.0.clone().into())];
        let on_path = failure(&here);
        assert!(on_path.0.contains("\"script\": the interpreter") && on_path.1 == 126, "{on_path:?}");
        assert_eq!(failure(&launch(["/usr"])), ("cannot run \"/usr\": it is a directory".into(), 126));
    }

    #[tokio::test]
    async fn a_bad_directory_is_not_mistaken_for_a_missing_program() {
        let mut there = sh("true");
        there.cwd = Some("/nope".into());
        assert_eq!(failure(&there), ("cannot start in \"/nope\": no such directory".into(), 126));
        there.cwd = Some("/etc/passwd".into());
        assert_eq!(failure(&there), ("cannot start in \"/etc/passwd\": it is not a directory".into(), 126));
    }

    #[tokio::test]
    async fn an_impossible_command_is_refused() {
        assert_eq!(failure(&launch([])).1, 126);
        let (text, code) = failure(&launch(["a\0b"]));
        assert!(text.starts_with("cannot run \"a\\0b\": ") && code == 126, "{text}");
    }
}
