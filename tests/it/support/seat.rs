//! A terminal of a test's own that a program runs in: a real PTY, and an emulator that shows what arrives.

use std::ffi::OsString;

use bytes::BytesMut;
use coop::child::{Exit, Group, Input, Launch, Output, Signal, Size, Supervised, Tty, spawn};
use coop::terminal::{Seq, Terminal};
use tokio_util::sync::CancellationToken;

use super::{Coop, PATIENCE, binary};

/// Somebody's terminal.
pub struct Seat {
    pid: i32,
    output: Output,
    input: Input,
    tty: Tty,
    group: Group,
    supervised: Supervised,
    end: CancellationToken,
    /// What the terminal shows.
    pub shown: Terminal,
    /// Every byte that reached it.
    pub bytes: Vec<u8>,
    seq: u64,
}

impl Seat {
    /// Runs the words in a terminal of this size.
    pub fn running(cols: u32, rows: u32, argv: Vec<OsString>) -> Self {
        let names = std::env::vars_os().map(|(name, _)| name);
        let env_remove = names.filter(|name| name.to_string_lossy().starts_with("COOP")).collect();
        let size = Size::new(cols, rows).unwrap();
        let env = vec![("TERM".into(), "xterm-256color".into())];
        let child = spawn(&Launch { argv, cwd: None, env, env_remove, bare: false, size }).unwrap();
        let (end, group) = (CancellationToken::new(), child.process.group());
        let supervised = child.process.supervise(None, end.clone());
        let shown = Terminal::new(size, 0);
        let (pid, output, input, tty) = (child.pid.cast_signed(), child.output, child.input, child.tty);
        Self { pid, output, input, tty, group, supervised, end, shown, bytes: Vec::new(), seq: 0 }
    }

    /// Attaches to a session with these further words.
    pub fn attached(coop: &Coop, cols: u32, rows: u32, words: &[&str]) -> Self {
        let verb = coop.verb_command(&[&["attach"], words].concat());
        let argv = std::iter::once(binary().into_os_string()).chain(verb.get_args().map(OsString::from));
        Self::running(cols, rows, argv.collect())
    }

    /// The process that runs in it.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// The same from a shell, which tells about the terminal before and after: `before SETTINGS`, then `after SETTINGS`
    /// and `code N`.
    pub fn attached_from_shell(coop: &Coop, cols: u32, rows: u32, words: &[&str]) -> Self {
        let script = "printf '\\033]2;before\\007'; echo before $(stty -g); \"$@\"; code=$?; \
                      echo after $(stty -g); echo code $code; exec cat";
        let verb = coop.verb_command(&[&["attach"], words].concat());
        let mut argv: Vec<OsString> = ["sh", "-c", script, "sh"].map(OsString::from).to_vec();
        argv.push(binary().into());
        argv.extend(verb.get_args().map(OsString::from));
        Self::running(cols, rows, argv)
    }

    pub async fn types(&mut self, bytes: &str) {
        self.input.write_all(bytes.as_bytes()).await.unwrap();
    }

    pub fn resize(&mut self, cols: u32, rows: u32) {
        let size = Size::new(cols, rows).unwrap();
        self.seq += 1;
        self.shown.resize(size, Seq(self.seq));
        self.tty.resize(size).unwrap();
    }

    pub fn signal(&self, signal: Signal) {
        self.group.signal(signal).unwrap();
    }

    pub fn rows(&self) -> Vec<String> {
        self.shown.snapshot().lines
    }

    /// Reads until the terminal is as wanted.
    pub async fn until(&mut self, what: &str, wanted: impl Fn(&Self) -> bool) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while !wanted(self) {
            let mut more = BytesMut::new();
            let read = tokio::time::timeout_at(deadline, self.output.read(&mut more, 65_536)).await;
            let read = read.unwrap_or_else(|_| panic!("{what}: never\n{}", self.sight())).unwrap();
            assert!(read > 0, "{what}: not before its end\n{}", self.sight());
            self.seq += 1;
            self.shown.feed(&more, Seq(self.seq));
            self.bytes.extend_from_slice(&more);
        }
    }

    /// Reads until these words stand somewhere.
    pub async fn shows(&mut self, words: &str) {
        self.until(words, |seat| seat.rows().iter().any(|row| row.contains(words))).await;
    }

    /// Reads until the first rows are those of the session, with their colours.
    pub async fn shows_the_session(&mut self, coop: &Coop) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let screen = coop.get("/api/v1/screen?format=ansi").await.ok();
            let lines: Vec<&str> = screen["lines"].as_array().unwrap().iter().filter_map(|row| row.as_str()).collect();
            let shown = self.shown.ansi_rows();
            if shown.iter().zip(&lines).all(|(shown, line)| shown == line) && lines.len() <= shown.len() {
                return;
            }
            assert!(tokio::time::Instant::now() < deadline, "not\n{}\nbut\n{}", lines.join("\n"), self.sight());
            let mut more = BytesMut::new();
            let wait = std::time::Duration::from_millis(100);
            if let Ok(Ok(_)) = tokio::time::timeout(wait, self.output.read(&mut more, 65_536)).await {
                self.seq += 1;
                self.shown.feed(&more, Seq(self.seq));
                self.bytes.extend_from_slice(&more);
            }
        }
    }

    /// How the program ended, while nobody reads what it prints.
    pub async fn ended_unread(&mut self) -> Exit {
        tokio::time::timeout(PATIENCE, &mut self.supervised.exit).await.expect("it never ended").unwrap()
    }

    /// How the program ended.
    pub async fn ended(&mut self) -> Exit {
        let mut more = BytesMut::new();
        while self.output.read(&mut more, 65_536).await.unwrap_or(0) > 0 {}
        self.bytes.extend_from_slice(&more);
        tokio::time::timeout(PATIENCE, &mut self.supervised.exit).await.unwrap().unwrap()
    }

    fn sight(&self) -> String {
        self.rows().join("\n")
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // The kernel hangs up what still runs when the terminal is closed; this is for what ignores it.
        let _ = self.group.signal(Signal::SIGKILL);
        self.end.cancel();
    }
}
