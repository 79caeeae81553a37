//! How the rest of the program speaks to a session's owner, and reads what it has published.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::command::{Command, Declared, Difference, Expect, Write};
use super::condition::{Conditions, Met};
use super::environment::{Change, Environment};
use super::event::Event;
use super::feed::{Feed, Resume};
use super::lock::LockId;
use super::picture::{Picture, Style};
use super::receipt::{Phase, Ticket};
use super::refusal::Refusal;
use super::subscription::{Counted, Subscription, Wants};
use super::tally::{InputKind, Tally};
use super::terminals::{Joining, TerminalId};
use super::turn::{Turn, TurnId};
use super::vitals::{Counters, Vitals};
use crate::child::{Launch, Signal, Size};
use crate::terminal::{Offset, Seq, Slice};

/// A session, for all who use it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Session {
    shared: Arc<Shared>,
    commands: mpsc::Sender<Command>,
}

/// What the owner publishes and everybody reads.
#[derive(Debug)]
pub struct Shared {
    pub feed: Arc<Feed>,
    pub counters: Arc<Counters>,
    pub vitals: ArcSwap<Vitals>,
    pub tally: Tally,
    /// The latest rendered picture in each style.
    pub text: ArcSwapOption<Picture>,
    pub ansi: ArcSwapOption<Picture>,
    pub started: Instant,
    /// When the last call came, in milliseconds after `started`.
    pub last_call_ms: AtomicU64,
    pub subscribers: Arc<AtomicUsize>,
    pub screen_watchers: Arc<AtomicUsize>,
    /// Those of coop's own, which do not keep an idle session from leaving.
    pub own_screen_watchers: Arc<AtomicUsize>,
    pub terminals: Arc<AtomicUsize>,
}

impl Shared {
    pub fn picture(&self, style: Style) -> &ArcSwapOption<Picture> {
        match style {
            Style::Text => &self.text,
            Style::Ansi => &self.ansi,
        }
    }
}

/// The screen as bytes that paint it on any terminal of the same size.
#[derive(Clone, Debug, PartialEq)]
pub struct Redrawn {
    pub bytes: Bytes,
    /// How much of the child's output it shows.
    pub offset: Offset,
    /// The last change of the session that it shows.
    pub seq: Seq,
    pub size: Size,
}

/// A terminal that has joined; it leaves when this is dropped.
#[derive(Debug)]
pub struct Attached {
    /// The screen as it was when it joined.
    pub redrawn: Redrawn,
    terminal: TerminalId,
    session: Session,
    _counted: Option<Counted>,
}

impl Attached {
    /// Writes what was typed at it.
    pub async fn type_in(&self, bytes: Bytes) -> Result<(), Refusal> {
        let terminal = self.terminal;
        self.session.ask(|reply| Command::Type { terminal, bytes, reply }).await?
    }

    /// It measures another size; what follows from it is the operator's choice.
    pub async fn measured(&self, size: Size) -> Result<(), Refusal> {
        let terminal = self.terminal;
        self.session.ask(|reply| Command::Measured { terminal, size, reply }).await?
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let left = self.session.commands.try_send(Command::Detach(self.terminal));
        // A queue that is full has room again a moment later. Without a runtime there is no session either.
        if let Err(mpsc::error::TrySendError::Full(detach)) = left
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let commands = self.session.commands.clone();
            runtime.spawn(async move { commands.send(detach).await });
        }
    }
}

impl Session {
    pub(super) fn new(shared: Arc<Shared>, commands: mpsc::Sender<Command>) -> Self {
        Self { shared, commands }
    }

    pub fn vitals(&self) -> Arc<Vitals> {
        self.shared.vitals.load_full()
    }

    pub fn uptime(&self) -> Duration {
        self.shared.started.elapsed()
    }

    pub fn seq(&self) -> Seq {
        self.shared.counters.seq()
    }

    pub fn screen_seq(&self) -> Seq {
        self.shared.counters.screen_seq()
    }

    /// What is counted for statistics.
    pub fn tally(&self) -> &Tally {
        &self.shared.tally
    }

    /// How much the child has printed, without waiting for anybody who writes it down.
    pub fn bytes_read(&self) -> u64 {
        self.shared.counters.bytes_read.load(Ordering::Relaxed)
    }

    pub fn bytes_written(&self) -> u64 {
        self.shared.counters.bytes_written.load(Ordering::Relaxed)
    }

    pub fn input_queued(&self) -> u64 {
        self.shared.counters.input_queued.load().load(Ordering::Relaxed)
    }

    /// When something was printed last, in milliseconds since 1970.
    pub fn last_output_at_ms(&self) -> Option<u64> {
        Some(self.shared.counters.last_output_at_ms.load(Ordering::Relaxed)).filter(|at| *at > 0)
    }

    /// When something was last given to be typed, in milliseconds since 1970.
    pub fn last_input_at_ms(&self) -> Option<u64> {
        Some(self.shared.counters.last_input_at_ms.load(Ordering::Relaxed)).filter(|at| *at > 0)
    }

    /// Where the held output begins and ends.
    pub fn output_bounds(&self) -> (Offset, Offset) {
        (self.shared.feed.oldest(), self.shared.feed.end())
    }

    /// Held output, and how much there has been in all.
    pub fn output(&self, from: Option<Offset>, limit: usize) -> (Slice, Offset) {
        self.shared.feed.read(from, limit)
    }

    /// A call came; an idle session counts from here.
    pub fn touch(&self) {
        let ms = u64::try_from(self.shared.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.shared.last_call_ms.store(ms, Ordering::Relaxed);
    }

    /// The screen as it is. Whoever comes while nothing changes shares the same picture without asking the owner.
    pub async fn picture(&self, style: Style) -> Result<Arc<Picture>, Refusal> {
        let latest = self.shared.picture(style).load_full();
        if let Some(picture) = latest.filter(|picture| picture.seq() == self.screen_seq()) {
            return Ok(picture);
        }
        self.ask(|reply| Command::Picture { style, reply }).await
    }

    /// The rows that changed after `since`, if that is known.
    pub async fn difference(&self, style: Style, since: Seq) -> Result<Difference, Refusal> {
        self.ask(|reply| Command::Difference { style, since, reply }).await
    }

    /// The last rows that scrolled off the top, oldest first.
    pub async fn scrollback(&self, lines_max: usize) -> Result<Vec<String>, Refusal> {
        self.ask(|reply| Command::Scrollback { lines_max, reply }).await
    }

    /// Bytes that paint the screen on any terminal.
    pub async fn redraw(&self) -> Result<Redrawn, Refusal> {
        self.ask(|reply| Command::Redraw { reply }).await
    }

    pub async fn write(&self, what: Write, writer: Option<LockId>, expect: Expect) -> Result<Ticket, Refusal> {
        self.ask(|reply| Command::Write { what, writer, expect, reply }).await?
    }

    /// Waits for the right to write several times in a row.
    /// `exit_confirms` when the end of the child shows that what was written was taken.
    pub async fn begin_turn(
        &self,
        kind: InputKind,
        writer: Option<LockId>,
        expect: Expect,
        exit_confirms: bool,
    ) -> Result<Turn, Refusal> {
        let given = self.ask(|reply| Command::BeginTurn { kind, writer, expect, exit_confirms, reply }).await??;
        Ok(Turn::new(given, self.clone()))
    }

    pub(super) async fn write_in_turn(&self, turn: TurnId, bytes: Bytes) -> Result<Ticket, Refusal> {
        self.ask(|reply| Command::WriteInTurn { turn, bytes, reply }).await?
    }

    /// What was written in a turn got further; also after the turn has ended.
    pub async fn progress(&self, turn: TurnId, phase: Phase) {
        // A session that is gone has nobody to tell.
        let _ = self.commands.send(Command::Progress { turn, phase }).await;
    }

    /// Says what the agent is doing.
    pub async fn declare(&self, declared: Declared) {
        let _ = self.commands.send(Command::Declare(declared)).await;
    }

    /// Tells everybody who follows the session.
    pub async fn announce(&self, event: Event) {
        let _ = self.commands.send(Command::Announce(event)).await;
    }

    pub async fn resize(&self, size: Size) -> Result<Size, Refusal> {
        self.ask(|reply| Command::Resize { size, reply }).await?
    }

    /// Whether the child has read all that it was typed; `None` where nobody can tell.
    pub async fn has_read(&self) -> Option<bool> {
        self.ask(|reply| Command::HasRead { reply }).await.ok().flatten()
    }

    /// Whether the child's terminal shows what is typed by itself; `None` where nobody can tell.
    pub async fn echoes(&self) -> Option<bool> {
        self.ask(|reply| Command::Echoes { reply }).await.ok().flatten()
    }

    pub async fn signal(&self, signal: Signal) -> Result<(), Refusal> {
        self.ask(|reply| Command::Signal { signal, reply }).await?
    }

    pub async fn acquire(&self, id: LockId, ttl: Duration) -> Result<(), Refusal> {
        self.ask(|reply| Command::Acquire { id, ttl, reply }).await?
    }

    pub async fn release(&self, id: LockId) -> Result<bool, Refusal> {
        self.ask(|reply| Command::Release { id, reply }).await?
    }

    /// Waits until something is true; `None` when the child is gone and it cannot be any more. Dropping the future ends
    /// the waiting.
    pub async fn wait(&self, conditions: Conditions) -> Result<Option<Met>, Refusal> {
        self.ask(|reply| Command::Wait { conditions, reply }).await?
    }

    /// Ends the child and starts it again, with another command line where one is given; answers with the new one's
    /// process id. `resumes` when it goes on with the same conversation, `by_hand` when somebody asked for it.
    pub async fn restart(
        &self,
        env: BTreeMap<String, String>,
        argv: Option<Vec<OsString>>,
        resumes: bool,
        by_hand: bool,
    ) -> Result<(u32, Seq), Refusal> {
        self.ask(|reply| Command::Restart { env, argv, resumes, by_hand, reply }).await?
    }

    /// What children are given beyond coop's own environment.
    pub async fn environment(&self) -> Result<Environment, Refusal> {
        self.change_environment(Change::default()).await
    }

    /// Changes it for the next child.
    pub async fn change_environment(&self, change: Change) -> Result<Environment, Refusal> {
        self.ask(|reply| Command::Environment { change, reply }).await?
    }

    /// What the next child would be started with, were it given this too.
    pub async fn next_launch(&self, env: BTreeMap<String, String>) -> Result<Launch, Refusal> {
        self.ask(|reply| Command::NextLaunch { env, reply }).await?
    }

    /// Ends the child, then the session.
    pub async fn shutdown(&self) {
        // A session that is already gone is what was asked for.
        let _ = self.commands.send(Command::Shutdown).await;
    }

    /// Ends the child without grace.
    pub async fn kill_now(&self) {
        let _ = self.commands.send(Command::KillNow).await;
    }

    pub fn subscribe(&self, wants: Wants, resume: Resume) -> Result<Subscription, Refusal> {
        let watched = if wants.screen { &self.shared.screen_watchers } else { &self.shared.subscribers };
        self.subscribe_as(Counted::new(watched), wants, resume)
    }

    /// A reader of coop's own, which does not keep an idle session from leaving.
    pub fn subscribe_uncounted(&self, wants: Wants, resume: Resume) -> Result<Subscription, Refusal> {
        let watched = if wants.screen { self.shared.own_screen_watchers.clone() } else { Arc::default() };
        self.subscribe_as(Counted::new(&watched), wants, resume)
    }

    fn subscribe_as(&self, counted: Counted, wants: Wants, resume: Resume) -> Result<Subscription, Refusal> {
        let asked = resume.after_seq.unwrap_or_default().0;
        let cursor =
            self.shared.feed.join(resume, self.seq()).map_err(|now| Refusal::SeqAhead { asked, seq: now.0 })?;
        Ok(Subscription::new(self.clone(), self.shared.feed.clone(), cursor, wants, counted))
    }

    /// Joins as a terminal.
    pub async fn attach(&self, joining: Joining) -> Result<Attached, Refusal> {
        let _counted = joining.types.then(|| Counted::new(&self.shared.terminals));
        let (terminal, redrawn) = self.ask(|reply| Command::Attach { joining, reply }).await?;
        Ok(Attached { redrawn, terminal, session: self.clone(), _counted })
    }

    /// Whether somebody sits at a terminal that is joined to the session.
    pub fn has_terminal(&self) -> bool {
        self.shared.terminals.load(Ordering::Relaxed) > 0
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, Refusal> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| Refusal::Closing)?;
        answer.await.map_err(|_| Refusal::Closing)
    }
}
