//! A tmux server of a test's own: nobody's configuration, nobody's sessions, and it ends with the test.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use coop::child::Size;
use coop::terminal::{Seq, Terminal};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{PATIENCE, Scratch, session_members};

/// Between two looks at a pane; tmux tells nobody when a picture has changed.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

pub struct Tmux {
    scratch: Scratch,
}

impl Tmux {
    /// A server with one session `main`, whose one pane of this size runs the words.
    pub fn running(cols: u16, rows: u16, words: &[&str]) -> Self {
        let tmux = Self { scratch: Scratch::new() };
        let (cols, rows) = (cols.to_string(), rows.to_string());
        let mut args = vec!["-f", "/dev/null", "new-session", "-d", "-s", "main", "-x", &cols, "-y", &rows, "--"];
        args.extend(words);
        tmux.does(&args);
        // The picture is the program's alone, and stays when the program has ended.
        tmux.does(&["set", "-g", "status", "off"]);
        tmux.does(&["set", "-g", "remain-on-exit", "on"]);
        tmux
    }

    /// Where the server listens: `tmux -S` of this path reaches it.
    pub fn socket(&self) -> PathBuf {
        self.scratch.path("tmux.sock")
    }

    /// `TMUX_TMPDIR` below which the server goes by this name: `tmux -L` reaches it, and plain `tmux` if it is `default`.
    pub fn known_as(&self, name: &str) -> PathBuf {
        let (below, socket) = (self.scratch.path("named"), self.socket());
        let directory = below.join(format!("tmux-{}", nix::unistd::getuid()));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::set_permissions(&directory, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        std::os::unix::fs::symlink(socket, directory.join(name)).unwrap();
        below
    }

    /// Runs tmux with these words, whatever comes of it.
    pub fn tries(&self, args: &[impl AsRef<OsStr>]) -> Output {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(self.socket()).args(args).env_remove("TMUX").env("TERM", "xterm-256color");
        // Without it tmux shows only ASCII of what is in its panes.
        command.env("LC_ALL", "C.UTF-8");
        command.stdin(Stdio::null()).output().expect("tmux is there: tests/terminals/run installs it")
    }

    /// Runs tmux with these words, which must succeed; what it printed.
    pub fn does(&self, args: &[&str]) -> String {
        let output = self.tries(args);
        assert!(output.status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The rows of a pane as they stand there, without the blanks at their ends.
    pub fn picture(&self, pane: &str) -> Vec<String> {
        let text = self.does(&["capture-pane", "-p", "-t", pane]);
        text.lines().map(|row| row.trim_end().to_owned()).collect()
    }

    /// The rows of a pane with their colours, told as coop tells its own.
    pub fn coloured(&self, pane: &str) -> Vec<String> {
        let size = self.does(&["display-message", "-p", "-t", pane, "#{pane_width} #{pane_height}"]);
        let (cols, rows) = size.trim().split_once(' ').unwrap();
        let size = Size::new(cols.parse().unwrap(), rows.parse().unwrap()).unwrap();
        let text = self.does(&["capture-pane", "-p", "-e", "-N", "-t", pane]);
        let mut terminal = Terminal::new(size, 0);
        // tmux shifts to a second character set where lines are drawn.
        terminal.feed(b"\x1b)0", Seq(1));
        terminal.feed(text.trim_end_matches('\n').replace('\n', "\r\n").as_bytes(), Seq(2));
        terminal.ansi_rows()
    }

    /// Looks at the pane until it is as wanted.
    pub fn shows_that(&self, pane: &str, wanted: impl Fn(&[String]) -> bool) -> Vec<String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let rows = self.picture(pane);
            if wanted(&rows) {
                return rows;
            }
            assert!(Instant::now() < deadline, "the pane never looked as it should:\n{}", rows.join("\n"));
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Looks at the pane until these words are on it.
    pub fn shows(&self, pane: &str, words: &str) -> Vec<String> {
        self.shows_that(pane, |rows| rows.iter().any(|row| row.contains(words)))
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // A program may ignore the hang-up that tmux leaves it with, as Gemini's launcher does. While the server lives, the
        // number of a pane's program is nobody else's.
        let panes = self.tries(&["list-panes", "-a", "-f", "#{?pane_dead,0,1}", "-F", "#{pane_pid}"]);
        let leaders = String::from_utf8_lossy(&panes.stdout);
        leaders.lines().filter_map(|leader| leader.parse().ok()).for_each(kill_session);
        self.tries(&["kill-server"]);
    }
}

/// Kills a session, whatever signals its processes ignore. Its leader must not have been waited for, else the number may
/// be another's by now.
fn kill_session(session: i32) {
    let deadline = Instant::now() + PATIENCE;
    // Looked at again, because a process may have been started between the look and the signal.
    while Instant::now() < deadline {
        let members = session_members(session);
        if members.is_empty() {
            return;
        }
        for pid in members {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}
