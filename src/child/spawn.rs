//! Starts a program on a new pseudo-terminal.

use std::{
    ffi::OsStr,
    io,
    os::fd::OwnedFd,
    process::{Command, Stdio},
};

use nix::unistd::Pid;

use super::{
    Child, Guardian, Input, Launch, Output, Process, SpawnError, Tty,
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
    let (program, arguments) = launch.argv.split_first().ok_or(SpawnError::NothingToRun)?;
    if let Some(directory) = &launch.cwd {
        check_directory(directory)?;
    }
    // All that can fail on our side comes first, so that no started child is left behind by an error.
    let pair = pty::open(launch.size).map_err(SpawnError::Pty)?;
    let output = pair.master_file().and_then(Output::new).map_err(SpawnError::Pty)?;
    let input = pair.master_file().and_then(Input::new).map_err(SpawnError::Pty)?;
    let Pair { master, slave } = pair;
    let mut command = on_terminal(program, slave, launch.no_input).map_err(SpawnError::Pty)?;
    command.args(arguments);
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
    let (open_files, terminal_controls) = (open_files::before_raise(), !launch.no_input);
    raw::enter_session(&mut command, Entry { terminal_controls, open_files, guardian: announce });

    // The command, and with it our copy of the slave, goes here: with it the terminal would never hang up.
    let child = tokio::process::Command::from(command).spawn().map_err(|error| {
        if let Some(guardian) = guardian {
            guardian.sweep();
        }
        explain(error, launch, program)
    })?;
    let pid = child.id().ok_or_else(|| other(program, io::Error::other("it ended before it had an id")))?;
    let leader = Pid::from_raw(pid.cast_signed());
    Ok(Child { pid, output, input, tty: Tty::new(master), process: Process::new(child, leader) })
}

/// A command whose three standard streams are the terminal, or all but the one it reads.
fn on_terminal(program: &OsStr, slave: OwnedFd, no_input: bool) -> io::Result<Command> {
    let mut command = Command::new(program);
    let stdin = if no_input { Stdio::null() } else { slave.try_clone()?.into() };
    command.stdin(stdin).stdout(slave.try_clone()?).stderr(slave);
    Ok(command)
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
    async fn a_child_without_input_reads_an_end_at_once_and_has_no_terminal_to_ask() {
        let script = "cat; test -t 0 || echo nothing to read; test -t 1 && echo a terminal to print on; \
                      (: </dev/tty) 2>/dev/null || echo nobody to ask";
        let silent = super::super::Launch { no_input: true, ..sh(script) };
        assert_eq!(printed(&silent).await, "nothing to read\na terminal to print on\nnobody to ask\n");
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
