//! Starts one program: its terminal or its pipes, the moment between fork and exec, and why it did not work.

use std::{
    ffi::{CString, OsStr, OsString},
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
};

use nix::{
    errno::Errno,
    libc,
    sys::{
        resource::{Resource, getrlimit, setrlimit},
        signal::SigSet,
    },
    unistd::{ForkResult, Pid, chdir, getpid, setsid},
};
use rustix::{
    fs::{Mode, OFlags, openat},
    process::ioctl_tiocsctty,
    pty::{OpenptFlags, ioctl_tiocgptpeer, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use super::super::{
    channel::Channel,
    raw,
    spec::{Limits, Run},
    wire::{RunFailure, Word},
};

/// Where a program without a PATH of its own is looked for, as by a shell.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The soft limit on open files that systems give to everybody.
const USUAL_OPEN_FILES: u64 = 1024;

/// What every start needs.
pub(super) struct Starter<'a> {
    /// The directory of the box's own terminals.
    pub(super) terminals: &'a OwnedFd,
    pub(super) limits: &'a Limits,
}

/// The two sides of what a program reads and prints.
struct Line {
    /// Go out of the box: its terminal, or the one pipe that it prints to, or stdin, stdout and stderr.
    ours: Vec<OwnedFd>,
    /// Without one its stdin stays what PID 1 reads: nothing.
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: OwnedFd,
    terminal: bool,
}

impl Starter<'_> {
    /// Starts a program. All that goes wrong after the fork is told by the new process itself.
    pub(super) fn start(&self, run: Run, pipes: bool, beginning: &Channel) -> Result<Pid, RunFailure> {
        let line = if pipes { three_pipes() } else { self.line(run.size) };
        let line = line.map_err(|error| RunFailure::Terminal { errno: errno(&error) })?;
        match raw::fork_alone().map_err(|error| RunFailure::Fork { errno: errno(&error) })? {
            ForkResult::Parent { child } => Ok(child),
            ForkResult::Child => {
                let failure = self.become_program(&run, &line, beginning);
                let _ = beginning.send(&Word::Failed(failure), &[]);
                raw::leave(127)
            }
        }
    }

    fn line(&self, size: Option<(u16, u16)>) -> io::Result<Line> {
        let Some((columns, rows)) = size else {
            let (ours, theirs) = io::pipe()?;
            let (ours, stdout) = (vec![ours.into()], theirs.try_clone()?.into());
            return Ok(Line { ours, stdin: None, stdout, stderr: theirs.into(), terminal: false });
        };
        // Not through /dev/ptmx, at which the box may have put something else.
        let open = OFlags::RDWR | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let ours = openat(self.terminals, "ptmx", open, Mode::empty())?;
        unlockpt(&ours)?;
        tcsetwinsize(&ours, Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 })?;
        let theirs = ioctl_tiocgptpeer(&ours, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        let (stdin, stdout) = (Some(theirs.try_clone()?), theirs.try_clone()?);
        Ok(Line { ours: vec![ours], stdin, stdout, stderr: theirs, terminal: true })
    }

    /// In the new process; returns only if it stays what it is.
    fn become_program(&self, run: &Run, line: &Line, beginning: &Channel) -> RunFailure {
        self.prepare(run, line, beginning).err().unwrap_or_else(|| exec(run))
    }

    fn prepare(&self, run: &Run, line: &Line, beginning: &Channel) -> Result<(), RunFailure> {
        let terminal = |error: io::Error| RunFailure::Terminal { errno: errno(&error) };
        setsid().map_err(|error| terminal(error.into()))?;
        if line.terminal {
            ioctl_tiocsctty(&line.stdout).map_err(|error| terminal(error.into()))?;
        }
        if let Some(stdin) = &line.stdin {
            raw::replace(stdin, libc::STDIN_FILENO).map_err(terminal)?;
        }
        raw::replace(&line.stdout, libc::STDOUT_FILENO).map_err(terminal)?;
        raw::replace(&line.stderr, libc::STDERR_FILENO).map_err(terminal)?;
        raw::handle_all_signals_by_default();
        let _ = SigSet::empty().thread_set_mask();
        // Said by the new process itself, because the kernel then tells the starter its id as seen from there. PID 1
        // knows the inner one only, and a look into the machine's /proc could find another process by that time.
        let inner_pid = getpid().as_raw().cast_unsigned();
        let ours: Vec<_> = line.ours.iter().map(AsFd::as_fd).collect();
        beginning.send(&Word::Here { inner_pid }, &ours).map_err(terminal)?;
        self.limit()?;
        chdir(&run.cwd).map_err(|error| RunFailure::Directory { errno: error as i32 })?;
        raw::close_on_exec_above_stderr().map_err(terminal)
    }

    fn limit(&self) -> Result<(), RunFailure> {
        let failed = |what: &str| {
            let what = what.to_owned();
            move |error: Errno| RunFailure::Limit { what, errno: error as i32 }
        };
        let both = |resource, limit: u64| {
            let (_, hard) = getrlimit(resource)?;
            setrlimit(resource, limit.min(hard), limit.min(hard))
        };
        match self.limits.open_files {
            Some(count) => both(Resource::RLIMIT_NOFILE, count),
            None => usual_open_files(),
        }
        .map_err(failed("open files"))?;
        if let Some(count) = self.limits.processes {
            // Counted for each user namespace: PID 1 is one of them.
            both(Resource::RLIMIT_NPROC, count.saturating_add(1)).map_err(failed("processes"))?;
        }
        Ok(())
    }
}

/// A stream for each of the three; the first goes the other way.
fn three_pipes() -> io::Result<Line> {
    let ((stdin, writes), (reads, stdout), (reads_errors, stderr)) = (io::pipe()?, io::pipe()?, io::pipe()?);
    let ours = vec![writes.into(), reads.into(), reads_errors.into()];
    Ok(Line { ours, stdin: Some(stdin.into()), stdout: stdout.into(), stderr: stderr.into(), terminal: false })
}

/// coop raises its own soft limit as far as it goes, for its connections. Programs that use `select` break above this
/// one; others raise it themselves.
fn usual_open_files() -> nix::Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if soft > USUAL_OPEN_FILES {
        setrlimit(Resource::RLIMIT_NOFILE, USUAL_OPEN_FILES, hard)?;
    }
    Ok(())
}

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}

/// Tries the program at each of its places. As in a shell, one that may not be run is remembered while others are
/// looked for.
fn exec(run: &Run) -> RunFailure {
    let text = |word: &OsStr| CString::new(word.as_bytes()).unwrap_or_default();
    let argv: Vec<CString> = run.argv.iter().map(|word| text(word)).collect();
    let variables = run.env.iter().map(|(name, value)| {
        let mut line = name.clone();
        line.push("=");
        line.push(value);
        text(&line)
    });
    let env: Vec<CString> = variables.collect();
    let (mut worst, mut found) = (Errno::ENOENT, false);
    for path in candidates(&run.argv[0], &run.env) {
        let error = raw::exec(&text(path.as_os_str()), &argv, &env);
        match error {
            Errno::ENOENT => found |= path.exists(),
            Errno::ENOTDIR => {}
            Errno::EACCES => worst = error,
            _ => return RunFailure::Exec { errno: error as i32, found: true },
        }
    }
    RunFailure::Exec { errno: worst as i32, found }
}

/// Where a program may be: at its path, or in the directories of its own PATH.
fn candidates(program: &OsString, env: &[(OsString, OsString)]) -> Vec<PathBuf> {
    if program.is_empty() {
        return Vec::new();
    }
    if program.as_bytes().contains(&b'/') {
        return vec![PathBuf::from(program)];
    }
    let path = env.iter().rev().find(|(name, _)| name == "PATH").map_or(OsStr::new(USUAL_PATH), |(_, value)| value);
    std::env::split_paths(path).map(|directory| Path::new(&directory).join(program)).collect()
}
