//! Who commits in a box: the user's name and address, as git knows them outside. Nothing else of their configuration comes
//! in, which could name programs to run.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// Where git looks for them in a HOME.
const FILE: &str = ".gitconfig";

/// A few files are read. A repository can name others by `include`, and one of these may never end.
const TOLD_WITHIN: Duration = Duration::from_secs(5);

/// Longer than any name.
const TOLD_BYTES_MAX: u64 = 16 * 1024;

/// Who commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    name: Option<String>,
    email: Option<String>,
}

impl Identity {
    /// What git would write under a commit in this project; nobody where it has not been told, or is not there.
    pub fn in_project(project: &Path) -> Self {
        let found = told_by_git(project, None).map(|told| Self::read(&told)).unwrap_or_default();
        if found != Self::default() {
            return found;
        }
        // A repository that git does not read, because it is somebody else's or broken.
        told_by_git(project, Some("--global")).map(|told| Self::read(&told)).unwrap_or_default()
    }

    /// Lines as `git config -z` has them: a key, a newline, a value and a zero byte. The last of each counts.
    fn read(told: &[u8]) -> Self {
        let mut found = Self::default();
        for line in told.split(|byte| *byte == 0) {
            let Ok(line) = std::str::from_utf8(line) else { continue };
            let Some((key, value)) = line.split_once('\n') else { continue };
            if value.trim().is_empty() || value.chars().any(char::is_control) {
                continue;
            }
            match key {
                "user.name" => found.name = Some(value.to_owned()),
                "user.email" => found.email = Some(value.to_owned()),
                _ => {}
            }
        }
        found
    }

    /// Writes them into a HOME that has nothing of the kind yet.
    pub fn settle_in(&self, home: &Path) -> io::Result<()> {
        if *self == Self::default() {
            return Ok(());
        }
        let mut text = "# The name and address that git had outside when this box was made.\n[user]\n".to_owned();
        for (key, value) in [("name", &self.name), ("email", &self.email)] {
            if let Some(value) = value {
                let value = value.replace('\\', "\\\\").replace('"', "\\\"");
                text.push_str(&format!("\t{key} = \"{value}\"\n"));
            }
        }
        match OpenOptions::new().write(true).create_new(true).mode(0o644).open(home.join(FILE)) {
            Ok(mut file) => file.write_all(text.as_bytes()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// `None` without git, or where it does not end in time.
fn told_by_git(project: &Path, scope: Option<&str>) -> Option<Vec<u8>> {
    let mut git = Command::new("git");
    git.arg("-C").arg(project).args(["config", "-z"]).args(scope).args(["--get-regexp", r"^user\.(name|email)$"]);
    let mut git = git.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let (tell, told) = sync_channel(1);
    let mut stdout = git.stdout.take()?.take(TOLD_BYTES_MAX);
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = stdout.read_to_end(&mut text);
        tell.send(read.ok().map(|_| text))
    });
    let told = told.recv_timeout(TOLD_WITHIN);
    if told.is_err() {
        tracing::warn!(project = %project.display(), "git does not tell who commits here");
        let _ = git.kill();
    }
    let _ = git.wait();
    told.ok()?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scratch;

    #[test]
    fn the_last_of_each_counts_and_what_is_no_name_is_nobody() {
        let told =
            b"user.name\nOld\0user.email\na@b.example\0user.name\nAda \"L\" \\o/\0user.signingkey\nx\0user.email\n\0";
        let found = Identity::read(told);
        assert_eq!(found.name.as_deref(), Some("Ada \"L\" \\o/"));
        assert_eq!(found.email.as_deref(), Some("a@b.example"));
        assert_eq!(
            Identity::read(b"user.name\nAda\n[core]\n\tpager = evil\0user.name\0user.email\n\xff\0"),
            Identity::default()
        );
    }

    #[test]
    fn git_reads_what_was_written_and_a_home_with_its_own_is_left_alone() {
        let scratch = Scratch::fresh();
        let home = scratch.path("");
        Identity::default().settle_in(&home).unwrap();
        assert!(!home.join(FILE).exists(), "nobody is nobody");
        let ada = Identity { name: Some("Ada \"L\" \\o/ ; # x".into()), email: Some("a@b.example".into()) };
        ada.settle_in(&home).unwrap();
        let mut git = Command::new("git");
        git.args(["config", "-z", "--file"]).arg(home.join(FILE)).args(["--get-regexp", "."]);
        assert_eq!(Identity::read(&git.output().unwrap().stdout), ada);
        Identity { name: Some("Eve".into()), ..ada }.settle_in(&home).unwrap();
        assert!(!std::fs::read_to_string(home.join(FILE)).unwrap().contains("Eve"));
    }

    #[test]
    fn a_repository_that_leads_git_to_something_without_end_keeps_nobody() {
        let scratch = Scratch::fresh();
        let project = scratch.path("");
        assert!(Command::new("git").arg("init").arg("-q").arg(&project).status().unwrap().success());
        nix::unistd::mkfifo(&project.join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let config = project.join(".git/config");
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(&config, format!("{text}[include]\n\tpath = {}\n", project.join("fifo").display())).unwrap();
        assert_eq!(told_by_git(&project, None), None);
    }
}
