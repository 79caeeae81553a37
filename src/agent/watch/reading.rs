//! Files that the agent writes for itself: its present status, and the log of the conversation.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::Watch;
use crate::agent::claude::log::{self, Said};
use crate::agent::claude::paths;
use crate::agent::claude::status::{STATUS_BYTES_MAX, Status, StatusWord};
use crate::agent::evidence::{Claim, EpochMs, Evidence, Source};
use crate::agent::handle::Setup;
use crate::agent::tail::{Start, Tail};
use crate::agent::usage::{RunUsage, Totals, Usage};
use crate::session::{Event, Kept};

/// Where an agent's files are, and how far they were read.
pub struct Reading {
    config_dir: Option<PathBuf>,
    workspace: PathBuf,
    pid: u32,
    started: EpochMs,
    status: Option<Status>,
    log: Option<Log>,
    usage: Usage,
}

struct Log {
    tail: Tail,
    /// Lines before this offset were written by an earlier run; they count for usage only.
    news_from: u64,
    /// It has said something in this child's life.
    speaks: bool,
}

impl Reading {
    pub fn new(setup: &Setup, pid: u32, started: EpochMs) -> Self {
        let mut reading = Self {
            config_dir: setup.config_dir.clone(),
            workspace: setup.workspace.clone(),
            pid,
            started,
            status: None,
            log: None,
            usage: Usage::default(),
        };
        if let Some(found) = &setup.resumed {
            reading.open(&found.log_path, found.offset);
        } else if let Some(conversation) = &setup.conversation {
            reading.follow_conversation(conversation);
        }
        reading
    }

    /// The directories whose changes matter.
    pub fn dirs(&self) -> Vec<PathBuf> {
        let log = self.log.as_ref().and_then(|log| log.tail.path().parent().map(Path::to_owned));
        self.config_dir.iter().map(|dir| paths::sessions_dir(dir)).chain(log).collect()
    }

    /// The conversation has this name, and its log the place that follows from it.
    pub fn follow_conversation(&mut self, conversation: &str) {
        if let Some(dir) = &self.config_dir {
            let path = paths::log_path(dir, &self.workspace, conversation);
            self.follow_log(&path);
        }
    }

    /// The conversation is written to this file from now on.
    pub fn follow_log(&mut self, path: &Path) {
        if self.log.as_ref().is_none_or(|log| log.tail.path() != path) {
            self.open(path, 0);
        }
    }

    fn open(&mut self, path: &Path, news_from: u64) {
        let tail = Tail::new(path.to_owned(), Start::Beginning);
        // What the conversation cost is the whole of it, so that it is read from the beginning.
        self.usage = Usage::default();
        self.log = Some(Log { tail, news_from, speaks: false });
    }

    pub fn log_speaks(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.speaks)
    }

    pub fn log_path(&self) -> Option<PathBuf> {
        self.log.as_ref().map(|log| log.tail.path().to_owned())
    }

    pub fn usage(&self) -> Totals {
        self.usage.totals()
    }

    pub fn count_run(&mut self, run: RunUsage) {
        self.usage.told_by_agent(run);
    }

    /// The status file of this child, or of the agent that it started: a wrapper has another process id.
    fn read_status(&self) -> Result<Option<Status>, String> {
        let Some(dir) = &self.config_dir else { return Ok(None) };
        let path = paths::status_path(dir, self.pid);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let mut text = String::new();
        let read = file.take(STATUS_BYTES_MAX as u64).read_to_string(&mut text);
        read.map_err(|error| format!("{}: {error}", path.display()))?;
        if text.trim().is_empty() {
            // Claude writes in place: it is just being written, and will be told again.
            return Ok(self.status.clone());
        }
        Status::parse(&text).map(Some).map_err(|error| format!("{}: {error}", path.display()))
    }
}

impl Watch {
    pub(super) async fn read_files(&mut self) {
        self.read_status();
        self.read_log().await;
    }

    fn read_status(&mut self) {
        let now = EpochMs::now();
        match self.reading.read_status() {
            Ok(Some(file)) => {
                self.seen.ails(Source::Status, None);
                if self.reading.status.as_ref() == Some(&file) {
                    return;
                }
                if let Some(conversation) = file.session_id.as_ref().filter(|_| !self.hooks_speak) {
                    // Nobody else tells where the log is: the status file names the conversation.
                    self.reading.follow_conversation(conversation);
                    self.conversation = Some(conversation.clone());
                }
                if file.status == Some(StatusWord::Waiting) {
                    let waiting = Evidence::new(Source::Status, "waiting", Claim::Waiting, file.moment(now));
                    self.seen.note(Evidence { detail: file.waiting_for.clone(), ..waiting });
                } else if let Some(evidence) = file.evidence(now) {
                    self.seen.note(evidence);
                }
                self.reading.status = Some(file);
            }
            Ok(None) => {
                self.reading.status = None;
                self.seen.forget(Source::Status);
                self.seen.ails(Source::Status, Some("no status file: this version may not write one".to_owned()));
            }
            Err(problem) => {
                self.seen.forget(Source::Status);
                self.seen.ails(Source::Status, Some(problem));
            }
        }
    }

    async fn read_log(&mut self) {
        loop {
            let Some(log) = &mut self.reading.log else { return };
            let batch = match log.tail.read() {
                Ok(batch) => batch,
                Err(error) => {
                    let problem = format!("{}: {error}", log.tail.path().display());
                    return self.seen.ails(Source::Log, Some(problem));
                }
            };
            self.seen.ails(Source::Log, None);
            let more = batch.more;
            let news_from = log.news_from;
            for line in batch.lines {
                match line.text() {
                    Some(text) => self.read_line(text, line.offset_after > news_from).await,
                    None => self.seen.ails(Source::Log, Some("a line was too long to be read".to_owned())),
                }
            }
            if !more {
                return;
            }
        }
    }

    async fn read_line(&mut self, line: &str, is_news: bool) {
        let facts = match log::read_line(line, EpochMs::now()) {
            Ok(facts) => facts,
            Err(problem) => return self.seen.ails(Source::Log, Some(problem.to_string())),
        };
        if let Some(usage) = facts.usage {
            self.reading.usage.count(usage);
        }
        // A line without a time is of now; one from before this child speaks of another.
        let at = facts.at.unwrap_or_else(EpochMs::now);
        if !is_news || at < self.reading.started {
            return;
        }
        if let Some(log) = &mut self.reading.log {
            log.speaks = true;
        }
        if let Some(text) = facts.last_message {
            self.last_message = Some(text);
        }
        match facts.said {
            Some(Said::Prompt { text, .. }) => self.saw_taken(&text, "log: prompt".into()).await,
            Some(Said::TakenInTurn { text }) => self.saw_taken(&text, "log: queued_command".into()).await,
            Some(Said::Queued { .. }) => self.seen.queued += 1,
            Some(Said::Dequeued | Said::Removed | Said::Withdrawn { .. }) => {
                self.seen.queued = self.seen.queued.saturating_sub(1);
            }
            None => {}
        }
        if let Some((rule, claim)) = facts.claim {
            self.seen.note(Evidence::new(Source::Log, rule, claim, at));
        }
    }

    /// Keeps the log as it is now, before the agent forgets it.
    pub(super) async fn keep_transcript(&mut self) {
        let (Some(log), Some(conversation)) = (self.reading.log_path(), self.conversation.clone()) else {
            return tracing::warn!("no transcript could be kept, because the agent's log is not known");
        };
        let store = match self.shared.transcripts(&conversation) {
            Ok(store) => store,
            Err(error) => return tracing::warn!(%error, "no transcript could be kept"),
        };
        let taken = tokio::task::spawn_blocking(move || store.take(&log)).await;
        match taken {
            Ok(Ok(taken)) => {
                let kept =
                    Kept { number: taken.number, timestamp: taken.timestamp, line_count: taken.line_count };
                self.session.announce(Event::Kept(kept)).await;
            }
            Ok(Err(error)) => tracing::warn!(%error, "no transcript could be kept"),
            Err(error) => tracing::warn!(%error, "no transcript could be kept"),
        }
    }
}
