//! The agent's own files, read as they grow: its status, the log of the conversation, or what it prints.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Watch;
use super::helpers::HelperLogs;
use crate::agent::driver::Driver;
use crate::agent::evidence::{EpochMs, Source};
use crate::agent::facts::Printed as Reader;
use crate::agent::fence;
use crate::agent::handle::Setup;
use crate::agent::lines::Splitter;
use crate::agent::mind::Effect;
use crate::agent::record::What;
use crate::agent::tail::{Start, Tail};
use crate::agent::usage::{Totals, Usage};
use crate::borrowed::process;
use crate::config;
use crate::session::{Event, Kept, WrittenTo, Wrote};

/// The largest status file that is read; those seen have some 400 bytes.
const STATUS_BYTES_MAX: u64 = 64 * 1024;

/// How often the log is looked for that nobody has named, and the agent that is not the child itself: all of today's
/// conversations may be looked through, or all processes.
const SEEK_EVERY: Duration = Duration::from_millis(300);

/// Where an agent's files are, and how far they were read.
pub struct Readers {
    driver: &'static dyn Driver,
    config_dir: Option<PathBuf>,
    workspace: PathBuf,
    pid: u32,
    /// The process that is the agent: the child, or one that a shell or another wrapper has started.
    agent_pid: u32,
    /// When the agent was last looked for among the child's processes.
    agent_sought: Option<Instant>,
    /// The status file as it was read last.
    status: Option<String>,
    log: Option<Log>,
    printed: Printed,
    usage: Usage,
    /// When the log was last looked for.
    sought: Option<Instant>,
}

struct Log {
    tail: Tail,
    helpers: HelperLogs,
    /// It has said something in this child's life.
    speaks: bool,
    /// All that was there when it was opened has been read.
    is_caught_up: bool,
    /// When the last line was written that has a time.
    dated: Option<EpochMs>,
    bad: BadLines,
}

impl Log {
    fn new(tail: Tail) -> Self {
        let (helpers, bad) = (HelperLogs::default(), BadLines::default());
        Self { tail, helpers, speaks: false, is_caught_up: false, dated: None, bad }
    }

    /// When a line was written. Some have no time: of those that were there before, the one before them tells, or else the
    /// file itself.
    fn time_of(&mut self, at: Option<EpochMs>) -> Option<EpochMs> {
        self.dated = at.or(self.dated);
        let began = || std::fs::metadata(self.tail.path()).and_then(|file| file.created()).ok().map(EpochMs::from);
        at.or_else(|| if self.is_caught_up { None } else { self.dated.or_else(began) })
    }
}

/// Lines of a log that could not be read.
#[derive(Default)]
struct BadLines {
    count: u64,
    /// What was wrong with the last one.
    last: String,
}

impl BadLines {
    fn note(&mut self, problem: impl Into<String>) {
        self.count += 1;
        self.last = problem.into();
    }

    /// What is said of them.
    fn told(&self) -> Option<String> {
        let lines = if self.count == 1 { "1 line".to_owned() } else { format!("{} lines", self.count) };
        (self.count > 0).then(|| format!("{lines} could not be read, the last because {}", self.last))
    }
}

/// The output of a run without a user interface.
struct Printed {
    splitter: Splitter,
    stream: Box<dyn Reader>,
}

impl Readers {
    pub fn new(setup: &Setup, config_dir: Option<PathBuf>, pid: u32, is_first: bool) -> Self {
        let mut readers = Self {
            driver: setup.driver,
            config_dir,
            workspace: setup.workspace.clone(),
            pid,
            agent_pid: pid,
            agent_sought: None,
            status: None,
            log: None,
            printed: Printed { splitter: Splitter::new(0), stream: setup.driver.printed() },
            usage: Usage::default(),
            sought: None,
        };
        if !is_first {
            // The agent will say where the conversation of a later child is written.
            return readers;
        }
        if let Some(found) = &setup.resumed {
            // What is before was read when it was found.
            readers.open(&found.log_path, Start::Offset(found.offset), found.usage.clone());
        } else if let Some(conversation) = &setup.conversation {
            readers.follow_conversation(conversation);
        }
        readers
    }

    /// The directories whose changes matter.
    pub fn dirs(&self) -> Vec<PathBuf> {
        let log = self.log.as_ref().and_then(|log| log.tail.path().parent().map(Path::to_owned));
        let status = self.status_path().and_then(|path| path.parent().map(Path::to_owned));
        status.into_iter().chain(log).collect()
    }

    /// The conversation is written to this file from now on.
    pub fn follow_log(&mut self, path: &Path) {
        if self.log.as_ref().is_none_or(|log| log.tail.path() != path) {
            self.open(path, Start::Beginning, Usage::default());
        }
    }

    /// The conversation has this name, and its log the place that follows from it.
    fn follow_conversation(&mut self, conversation: &str) {
        let Some(dir) = &self.config_dir else { return };
        if let Some(path) = self.driver.log_path(dir, &self.workspace, conversation) {
            self.follow_log(&path);
        }
    }

    fn open(&mut self, path: &Path, start: Start, usage: Usage) {
        self.usage = usage;
        // What stands before an offset was read when it was found, and nothing was behind it.
        let is_caught_up = start != Start::Beginning;
        self.log = Some(Log { is_caught_up, ..Log::new(Tail::new(path, start)) });
    }

    /// Looks for the log of this child, where nobody has named it; not more often than it is worth.
    fn seek_log(&mut self, started: EpochMs) -> Option<String> {
        let (None, Some(dir)) = (&self.log, &self.config_dir) else { return None };
        let is_due = self.sought.is_none_or(|sought| sought.elapsed() >= SEEK_EVERY);
        if !is_due {
            return None;
        }
        self.sought = Some(Instant::now());
        let path = self.driver.own_log(dir, &self.workspace, self.pid, started)?;
        self.follow_log(&path);
        self.driver.conversation_of(&path)
    }

    fn note_bad_line(&mut self, problem: impl Into<String>) {
        if let Some(log) = &mut self.log {
            log.bad.note(problem);
        }
    }

    pub fn log_speaks(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.speaks)
    }

    pub fn log_path(&self) -> Option<PathBuf> {
        self.log.as_ref().map(|log| log.tail.path().to_owned())
    }

    /// A helper's end is a line of the conversation's own log, or a hook, so that nobody has to watch its file.
    fn count_helpers(&mut self) {
        if let Some(log) = &mut self.log {
            log.helpers.count(self.driver, log.tail.path(), &mut self.usage);
        }
    }

    pub fn usage(&self) -> Totals {
        self.usage.totals()
    }

    fn status_path(&self) -> Option<PathBuf> {
        // What the agent itself takes for its process id; in a box it is another.
        let own_pid = process::inner_pid(self.agent_pid).unwrap_or(self.agent_pid);
        self.driver.status_path(self.config_dir.as_ref()?, own_pid)
    }

    /// Looks for the agent below the child, while none is known that keeps a status; not more often than it is worth.
    fn seek_agent(&mut self) {
        let is_due = self.agent_sought.is_none_or(|sought| sought.elapsed() >= SEEK_EVERY);
        if self.status.is_some() || !is_due || process::agent_of(self.agent_pid) != config::Agent::Unknown {
            return;
        }
        self.agent_sought = Some(Instant::now());
        self.agent_pid = process::agent_below(self.pid, None).map_or(self.pid, |found| found.pid);
    }

    /// The status file of this child; `None` when there is none.
    fn read_status(&self, path: &Path) -> Result<Option<String>, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let file = match fence::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let mut text = String::new();
        file.take(STATUS_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
        if text.trim().is_empty() {
            // Claude writes in place: it is just being written, and the change will be told again.
            return Ok(self.status.clone());
        }
        Ok(Some(text))
    }
}

impl Watch {
    /// Finds the log of a child that nobody has named.
    pub(super) async fn seek_log(&mut self) {
        if let Some(conversation) = self.readers.seek_log(self.mind.started()) {
            self.mind.conversation.get_or_insert(conversation);
            self.read_log().await;
        }
    }

    pub(super) async fn read_files(&mut self) {
        self.seek_log().await;
        self.read_status();
        self.read_log().await;
    }

    fn read_status(&mut self) {
        self.readers.seek_agent();
        let Some(path) = self.readers.status_path() else { return };
        let now = EpochMs::now();
        let told = self.readers.read_status(&path).and_then(|text| {
            let facts = text.as_ref().map(|text| self.readers.driver.read_status(text, now)).transpose();
            Ok((text, facts.map_err(|error| format!("{}: {error}", path.display()))?))
        });
        match told {
            Ok((status, _)) if status.is_some() && status == self.readers.status => {}
            Ok((status, facts)) => {
                self.record(|| What::Status(status.clone()), now);
                self.mind.read_status(facts);
                let conversation = self.mind.conversation.clone();
                if let Some(conversation) = conversation.filter(|_| !self.mind.hooks_speak) {
                    self.readers.follow_conversation(&conversation);
                }
                self.readers.status = status;
            }
            Err(problem) => {
                self.mind.read_status(None);
                self.mind.ails(Source::Status, Some(problem));
            }
        }
    }

    async fn read_log(&mut self) {
        if let Some(conversation) = self.mind.conversation.clone().filter(|_| self.readers.log.is_none()) {
            // Some agents put the time into the name of a log, which is known when it is there.
            self.readers.follow_conversation(&conversation);
        }
        loop {
            let Some(log) = &mut self.readers.log else { return };
            let batch = match log.tail.read() {
                Ok(batch) => batch,
                Err(error) => return self.mind.ails(Source::Log, Some(error.to_string())),
            };
            if batch.restarted {
                // All of it comes again, and is counted again.
                (log.bad, log.helpers) = (BadLines::default(), HelperLogs::default());
                self.readers.usage = Usage::default();
            }
            for line in &batch.lines {
                match line.text() {
                    Some(text) => self.read_line(text).await,
                    None => self.readers.note_bad_line("it is too long"),
                }
            }
            let told = self.readers.log.as_ref().and_then(|log| log.bad.told());
            self.mind.ails(Source::Log, told.or_else(|| self.mind.log_is_missed()));
            if !batch.more {
                break;
            }
        }
        if let Some(log) = &mut self.readers.log {
            log.is_caught_up = true;
        }
        self.readers.count_helpers();
    }

    async fn read_line(&mut self, line: &str) {
        let now = EpochMs::now();
        let mut facts = match self.readers.driver.read_line(line, now) {
            Ok(facts) => facts,
            Err(problem) => return self.readers.note_bad_line(problem.to_string()),
        };
        self.record(|| What::Line(line.to_owned()), now);
        if let Some(usage) = facts.usage.take() {
            self.readers.usage.count(usage);
        }
        if let Some(log) = &mut self.readers.log {
            log.speaks = true;
            facts.at = log.time_of(facts.at);
        }
        // Earlier lines are history, which a catch-up tells.
        if facts.at.is_none_or(|at| at >= self.mind.started()) {
            self.session.announce(Event::Wrote(Wrote::new(WrittenTo::Log, line))).await;
        }
        for effect in self.mind.read_line(facts, now) {
            match effect {
                Effect::Took { text, by, witness } => self.saw_taken(&text, by, witness),
                Effect::GaveBack { text } => self.was_given_back(&text).await,
                Effect::Compacts => self.keep_transcript().await,
                _ => {}
            }
        }
    }

    pub(super) async fn read_output(&mut self, bytes: &[u8]) {
        let Printed { splitter, stream } = &mut self.readers.printed;
        let mut lines = Vec::new();
        splitter.push(bytes, &mut lines);
        let now = EpochMs::now();
        for line in lines {
            let Some(text) = line.text().map(str::trim_end) else { continue };
            let Some(mut facts) = stream.read_line(text, now) else { continue };
            self.session.announce(Event::Wrote(Wrote::new(WrittenTo::Stdout, text))).await;
            if let Some(usage) = facts.usage.take() {
                // Where there is a log too, it has the same message, and each counts once.
                self.readers.usage.count(usage);
            }
            if let Some(run) = facts.run {
                self.readers.usage.told_by_agent(run);
            }
            if let Some(recorder) = &mut self.recorder {
                recorder.note(What::Printed(line.text().unwrap_or_default().to_owned()), now);
            }
            self.mind.read_printed(facts, now);
        }
    }

    /// Keeps the log as it is now, before the agent forgets it.
    pub(super) async fn keep_transcript(&mut self) {
        let (Some(log), Some(conversation)) = (self.readers.log_path(), self.mind.conversation.clone()) else {
            return tracing::warn!("no transcript could be kept, because the agent's log is not known");
        };
        let shared = self.shared.clone();
        let taking = move || shared.transcripts(&conversation)?.take(&log, EpochMs::now());
        let taken = tokio::task::spawn_blocking(taking).await;
        match taken.map_err(std::io::Error::other).and_then(|taken| taken) {
            Ok(taken) => {
                let (number, line_count) = (taken.number, taken.line_count);
                let kept = Kept { number, timestamp: taken.at.iso8601(), line_count };
                self.session.announce(Event::Kept(kept)).await;
            }
            Err(error) => tracing::warn!(%error, "no transcript could be kept"),
        }
    }
}
