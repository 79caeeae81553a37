//! A tmux server, asked by single commands.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use tokio::process::Command;

use crate::borrowed::CannotBorrow;
use crate::borrowed::run::run;
use crate::borrowed::target::Socket;

/// The program, as errors name it.
pub const TMUX: &str = "tmux";

/// A tmux server.
#[derive(Clone, Debug)]
pub struct Server {
    socket: Option<Socket>,
}

/// A release of tmux; what comes later counts as newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(u32, u32);

impl Release {
    /// From here on `send-keys -H` takes bytes as they are.
    pub const TAKES_BYTES: Self = Self(3, 0);
    /// From here on `capture-pane -N` keeps blanks at the ends of rows, which may have a colour.
    pub const KEEPS_BLANKS: Self = Self(3, 1);
    /// From here on `copy-mode -q` ends whatever mode of tmux's own a pane is in.
    pub const ENDS_MODES: Self = Self(3, 2);
    /// From here on a client may say that its size does not count, and be told when a format changes.
    pub const SUBSCRIBES: Self = Self(3, 2);

    /// Reads `tmux 3.3a`, `tmux next-3.5`; a development version is taken for the newest.
    fn parse(text: &str) -> Self {
        let word = text.trim().rsplit([' ', '-']).next().unwrap_or_default();
        let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
        let parsed = word.split_once('.').and_then(|(major, minor)| Some(Self(number(major)?, number(minor)?)));
        parsed.unwrap_or(Self(u32::MAX, 0))
    }
}

impl Server {
    /// The server that is named, or else the one that coop itself runs in, or else the user's own.
    pub fn new(socket: Option<&Socket>) -> Self {
        let around = || {
            let around = std::env::var_os("TMUX")?;
            let path = around.to_str()?.split(',').next().filter(|path| !path.is_empty())?.to_owned();
            Some(Socket::Path(path.into()))
        };
        Self { socket: socket.cloned().or_else(around) }
    }

    /// tmux with these words, for this server.
    pub fn command(&self, words: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(TMUX);
        // Names and pictures come as UTF-8, whatever coop's own locale is.
        command.arg("-u").env_remove("TMUX").env_remove("TMUX_PANE");
        match &self.socket {
            Some(Socket::Name(name)) => command.arg("-L").arg(name),
            Some(Socket::Path(path)) => command.arg("-S").arg(path),
            None => &mut command,
        };
        command.args(words);
        command
    }

    /// What tmux prints to these words.
    pub async fn ask(&self, words: &[impl AsRef<OsStr>]) -> Result<Vec<u8>, CannotBorrow> {
        self.ask_with(words, b"").await
    }

    /// The same with something to read.
    pub async fn ask_with(&self, words: &[impl AsRef<OsStr>], input: &[u8]) -> Result<Vec<u8>, CannotBorrow> {
        let output = run(TMUX, self.command(words), input).await?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(self.failure(String::from_utf8_lossy(&output.stderr).trim()))
    }

    pub async fn release(&self) -> Result<Release, CannotBorrow> {
        let output = run(TMUX, self.command(&["-V"]), b"").await?;
        Ok(Release::parse(&String::from_utf8_lossy(&output.stdout)))
    }

    /// What a complaint of tmux means.
    pub fn failure(&self, complaint: &str) -> CannotBorrow {
        let path =
            complaint.strip_prefix("error connecting to ").and_then(|rest| rest.split_once(" (")).map(|(path, _)| path);
        let is = |words: &str| complaint.contains(words);
        if is("ermission denied") || is("access not allowed") {
            let owner = path.and_then(|path| owner(Path::new(path)));
            let why = owner.map_or_else(|| complaint.to_owned(), |owner| format!("{complaint}; it belongs to {owner}"));
            return CannotBorrow::Denied { what: "the tmux server".to_owned(), why };
        }
        if is("no server running")
            || is("No such file or directory")
            || is("Connection refused")
            || is("server exited")
            || is("lost server")
        {
            let way_out = "start tmux, or name its socket with --tmux-socket";
            return CannotBorrow::NotFound { what: format!("tmux server ({complaint}): {way_out}"), there: Vec::new() };
        }
        if is("can't find") || is("no such") {
            return CannotBorrow::NotFound { what: format!("such thing in tmux ({complaint})"), there: Vec::new() };
        }
        CannotBorrow::Failed { program: TMUX, reason: complaint.to_owned() }
    }
}

/// Who owns a path, or the directory that hides it.
fn owner(path: &Path) -> Option<String> {
    let uid = path.ancestors().find_map(|path| path.metadata().ok())?.uid();
    let user = nix::unistd::User::from_uid(uid.into()).ok().flatten();
    Some(user.map_or_else(|| format!("the user with id {uid}"), |user| user.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_told_apart() {
        assert_eq!(Release::parse("tmux 3.3a\n"), Release(3, 3));
        assert_eq!(Release::parse("tmux next-3.5"), Release(3, 5));
        assert!(Release::parse("tmux 2.9a") < Release::TAKES_BYTES);
        assert!(Release::parse("tmux 3.1c") < Release::SUBSCRIBES);
        assert!(Release::parse("tmux master") > Release::SUBSCRIBES);
    }

    #[test]
    fn complaints_of_tmux_are_told_with_a_way_out() {
        let server = Server { socket: None };
        let told = |complaint: &str| server.failure(complaint).to_string();
        assert!(told("no server running on /tmp/tmux-0/default").contains("--tmux-socket"));
        let denied = told("error connecting to /tmp/x/default (Permission denied)");
        assert!(denied.contains("may not be used by you") && denied.contains("belongs to"), "{denied}");
        assert!(server.failure("can't find pane: %9").is_gone());
        assert!(!server.failure("something else").is_gone());
    }
}
