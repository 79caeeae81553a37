//! Starts a program on a new pseudo-terminal, or on three pipes.

use std::{ffi::OsStr, io, os::fd::OwnedFd, process::Command};

use nix::unistd::Pid;
use tokio::net::unix::pipe;

use super::{
    Child, Guardian, Input, Launch, Output, Piped, Process, SpawnError, Tty,
    failure::{check_directory, explain, other},
    open_files,
    pty::{self, Pair},
    raw::{self, Entry},
};

/// Starts a program without a guardian. Must be called inside a tokio runtime.
pub fn spawn(launch: &Launch) -> Result<Child, SpawnError> {
    spawn_watched(launch, None)
}

/// Starts a program which the guardian knows of before it runs. Must be called inside a tokio runtime.
pub fn spawn_watched(launch: &Launch, guardian: Option<&Guardian>) -> Result<Child, SpawnError> {
    let program = program_of(launch)?;
    // All that can fail on our side comes first, so that no started child is left behind by an error.
    let pair = pty::open(launch.size).map_err(SpawnError::Pty)?;
    let output = pair.master_file().and_then(Output::new).map_err(SpawnError::Pty)?;
    let input = pair.master_file().and_then(Input::new).map_err(SpawnError::Pty)?;
    let Pair { master, slave } = pair;
    let command = on_terminal(program, slave).map_err(SpawnError::Pty)?;
    let (pid, process) = begin(command, program, launch, guardian, true)?;
    Ok(Child { pid, output, input, tty: Tty::new(master), process })
}

/// Starts a program without a terminal, which the guardian knows of before it runs: it reads, prints and complains
/// through pipes, and can ask nobody, not even through `/dev/tty`. Must be called inside a tokio runtime.
pub(super) fn spawn_piped(launch: &Launch, guardian: Option<&Guardian>) -> Result<Piped, SpawnError> {
    let program = program_of(launch)?;
    let (piped, command) = on_pipes(program).map_err(|error| other(program, error))?;
    let (pid, process) = begin(command, program, launch, guardian, false)?;
    let (stdin, stdout, stderr) = piped;
    Ok(Piped { pid, stdin, stdout, stderr, process })
}

/// What is to be run, if it can be run where it is to be.
fn program_of(launch: &Launch) -> Result<&OsStr, SpawnError> {
    let program = launch.argv.first().ok_or(SpawnError::NothingToRun)?;
    if let Some(directory) = &launch.cwd {
        check_directory(directory)?;
    }
    Ok(program)
}

/// Starts a command whose three streams are set.
fn begin(
    mut command: Command,
    program: &OsStr,
    launch: &Launch,
    guardian: Option<&Guardian>,
    terminal_controls: bool,
) -> Result<(u32, Process), SpawnError> {
    command.args(launch.argv.iter().skip(1));
    if launch.bare {
        command.env_clear();
    }
    for name in &launch.env_remove {
        command.env_remove(name);
    }
    command.envs(launch.env.iter().map(|(name, value)| (name, value)));
    if let Some(directory) = &launch.cwd {
        command.current_dir(directory);
    }
    let announce = guardian.map(Guardian::pipe);
    let open_files = open_files::before_raise();
    raw::enter_session(&mut command, Entry { terminal_controls, open_files, guardian: announce });

    // The command, and with it our copies of the child's ends, goes here: with them the terminal would never hang up.
    let child = tokio::process::Command::from(command).spawn().map_err(|error| {
        if let Some(guardian) = guardian {
            guardian.sweep();
        }
        explain(error, launch, program)
    })?;
    let pid = child.id().ok_or_else(|| other(program, io::Error::other("it ended before it had an id")))?;
    Ok((pid, Process::new(child, Pid::from_raw(pid.cast_signed()))))
}

/// A command whose three standard streams are the terminal.
fn on_terminal(program: &OsStr, slave: OwnedFd) -> io::Result<Command> {
    let mut command = Command::new(program);
    command.stdin(slave.try_clone()?).stdout(slave.try_clone()?).stderr(slave);
    Ok(command)
}

/// A command whose three standard streams are pipes, and our ends of them.
fn on_pipes(program: &OsStr) -> io::Result<((pipe::Sender, pipe::Receiver, pipe::Receiver), Command)> {
    let ((stdin, writes), (reads, stdout), (reads_errors, stderr)) = (io::pipe()?, io::pipe()?, io::pipe()?);
    let mut command = Command::new(program);
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    let ours = (
        pipe::Sender::from_owned_fd(writes.into())?,
        pipe::Receiver::from_owned_fd(reads.into())?,
        pipe::Receiver::from_owned_fd(reads_errors.into())?,
    );
    Ok((ours, command))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::super::{
        stat::Stat,
        support::{launch, printed, sh, start},
    };

    #[tokio::test]
    async fn no_shell_sees_the_arguments() {
        let argv = launch(["printf", "<%s>", "$HOME", "a  b", "*; echo x", "", "\"'\\"]);
        assert_eq!(printed(&argv).await, "<$HOME><a  b><*; echo x><><\"'\\>");
    }

    #[tokio::test]
    async fn arguments_need_not_be_utf_8() {
        let mut argv = launch(["sh", "-c", "printf %s \"$1\" | od -An -tx1", "sh"]);
        argv.argv.push(std::ffi::OsString::from_vec(vec![0xff, b'a']));
        assert_eq!(printed(&argv).await.trim(), "ff 61");
    }

    #[tokio::test]
    async fn a_child_leads_a_session_of_its_own_on_its_terminal() {
        let mut child = start(&sh("tty; test -t 0 && test -t 1 && test -t 2 && echo here > /dev/tty; read line"));
        let name = child.until("here").await;
        let stat = Stat::of(child.pid).unwrap();
        assert_eq!((stat.group, stat.session), (child.pid, child.pid));
        assert!(name.starts_with("/dev/pts/"), "{name}");
        let tty = std::fs::read_link(format!("/proc/{}/fd/0", child.pid)).unwrap();
        assert_eq!(tty.to_str(), Some(name.trim()));
    }

    #[tokio::test]
    async fn a_child_on_pipes_reads_and_prints_bytes_and_has_no_terminal_to_ask() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let script = "cat; echo complaint >&2; test -t 0 || test -t 1 || test -t 2 || echo no terminal; \
                      (: </dev/tty) 2>/dev/null || echo nobody to ask";
        let mut child = super::spawn_piped(&sh(script), None).unwrap();
        let bytes = b"a\r\nb\x04\x03\xff\0";
        child.stdin.write_all(bytes).await.unwrap();
        drop(child.stdin);
        let (mut printed, mut complained) = (Vec::new(), Vec::new());
        child.stdout.read_to_end(&mut printed).await.unwrap();
        child.stderr.read_to_end(&mut complained).await.unwrap();
        assert_eq!(printed, [&bytes[..], b"no terminal\nnobody to ask\n"].concat());
        assert_eq!(complained, b"complaint\n");
        assert_eq!(child.process.exit().await.unwrap(), super::super::Exit::Code(0));
    }

    #[tokio::test]
    async fn variables_are_removed_then_set() {
        let mut env = sh("echo \"${CARGO_PKG_NAME-none} ${HOME-none} $MARK\"; echo \"${PATH:+path}\"");
        env.env_remove = vec!["CARGO_PKG_NAME".into(), "HOME".into()];
        env.env = vec![("HOME".into(), "/new".into()), ("MARK".into(), "a=b c".into())];
        assert_eq!(printed(&env).await, "none /new a=b c\npath\n");
    }

    #[tokio::test]
    async fn a_child_starts_where_it_is_told() {
        let mut there = sh("pwd");
        there.cwd = Some("/usr/bin".into());
        assert_eq!(printed(&there).await, "/usr/bin\n");
    }

    #[tokio::test]
    async fn a_child_inherits_no_end_of_any_terminal_but_its_own() {
        let _other = start(&sh("read line"));
        let links = printed(&sh("ls -l /proc/self/fd; tty")).await;
        let own = links.lines().last().unwrap();
        assert_eq!(links.matches("/dev/pts/").count(), links.matches(own).count(), "{links}");
        assert!(!links.contains("ptmx"), "{links}");
    }
}
