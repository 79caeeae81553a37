//! The owner: one loop that holds the child and the terminal, obeys commands and publishes what happens.

mod children;
mod painting;
mod seats;
mod turns;
mod typing;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::borrowed::{Answer, Loan};
use crate::child::{Ground, Launch};
use crate::session::clock::sleep_until;
use crate::session::command::{Command, Declared, Reply};
use crate::session::condition::Moment;
use crate::session::echo::Echoes;
use crate::session::environment::Given;
use crate::session::event::{Began, Ended, Event, Transition};
use crate::session::feed::Feed;
use crate::session::filter::{Filtering, InputFilter};
use crate::session::handle::{Session, Shared};
use crate::session::life::{Running, Sign};
use crate::session::lock::Lock;
use crate::session::outbox::Written;
use crate::session::picture::Style;
use crate::session::receipt::Followed;
use crate::session::refusal::Refusal;
use crate::session::revival::{Ends, RestartPolicy};
use crate::session::state::{Cause, State};
use crate::session::tally::{Tally, Times};
use crate::session::terminals::{SizePolicy, Terminals};
use crate::session::vitals::{Counters, Life, Vitals};
use crate::session::waiters::Waiters;
use crate::terminal::{Seq, Terminal};
use turns::Turns;

/// How many rows that scrolled off are kept. At 200 columns they take some 6 MB, and no more however much is printed.
const SCROLLBACK_LINES_MAX: usize = 2000;

/// Commands that wait for the owner's next turn.
const COMMANDS_MAX: usize = 1024;

/// After so many commands the child has a turn, however many callers wait.
const COMMANDS_IN_A_ROW_MAX: usize = 64;

/// What a session runs, and how.
pub struct Plan {
    pub program: Program,
    pub ring_bytes_max: usize,
    /// Whose size the session has when several terminals are attached.
    pub attach_size: SizePolicy,
    /// Leave after so long without output, input or a call.
    pub idle_timeout: Option<Duration>,
    /// Leave when the child does.
    pub exit_with_child: bool,
    /// Whether a child that has ended is started again by itself.
    pub restart: RestartPolicy,
    /// Whether somebody will say what the agent inside is doing.
    pub is_watched: bool,
    /// What people must not type.
    pub input_filter: InputFilter,
    /// What the child is called in the log.
    pub called: &'static str,
}

/// What a session is made of.
pub enum Program {
    /// A child to start, and to start again.
    Own {
        launch: Launch,
        /// What of its environment is the operator's.
        given: Given,
        ground: Ground,
    },
    /// Somebody else's, which can only be let go of.
    Lent(Loan),
}

/// Where a session's children come from.
enum Origin {
    Own {
        launch: Launch,
        given: Given,
        ground: Ground,
    },
    /// From this program.
    Lent(&'static str),
}

/// How a session ended.
#[derive(Debug)]
pub struct Outcome {
    /// How its last child ended.
    pub ended: Option<Ended>,
}

/// Starts the child, and its session on a thread of its own, so that painting never keeps the network waiting.
/// Must be called inside a tokio runtime.
pub fn start(plan: Plan) -> (Session, oneshot::Receiver<Outcome>) {
    let (commands, inbox) = mpsc::channel(COMMANDS_MAX);
    let Plan { program, ring_bytes_max, attach_size, idle_timeout, exit_with_child, restart, .. } = plan;
    let Plan { is_watched, input_filter, called, .. } = plan;
    let (origin, loan, size) = match program {
        Program::Own { launch, given, ground } => {
            let size = launch.size;
            (Origin::Own { launch, given, ground }, None, size)
        }
        Program::Lent(loan) => {
            let size = loan.size;
            (Origin::Lent(loan.backend), Some(loan), size)
        }
    };
    let vitals = Vitals {
        life: Life::Starting,
        size,
        state: State::Starting,
        state_since: Seq(0),
        cause: Cause::process("launch"),
        last_message: None,
        conversation: None,
        restarts: 0,
        restarts_at_ms: None,
        is_parked: false,
        launched: None,
        started_at_ms: 0,
        times: Times::begin(Instant::now()),
    };
    let shared = Arc::new(Shared {
        feed: Arc::new(Feed::new(ring_bytes_max)),
        counters: Arc::new(Counters::default()),
        vitals: ArcSwap::from_pointee(vitals.clone()),
        tally: Tally::default(),
        text: ArcSwapOption::empty(),
        ansi: ArcSwapOption::empty(),
        started: Instant::now(),
        last_call_ms: Default::default(),
        subscribers: Arc::new(AtomicUsize::new(0)),
        screen_watchers: Arc::new(AtomicUsize::new(0)),
        own_screen_watchers: Arc::new(AtomicUsize::new(0)),
        terminals: Arc::new(AtomicUsize::new(0)),
    });
    let session = Session::new(shared.clone(), commands);
    let (written_tx, written) = mpsc::channel(COMMANDS_MAX);
    let mut owner = Owner {
        terminal: Terminal::new(size, SCROLLBACK_LINES_MAX),
        terminals: Terminals::new(attach_size),
        filtering: Filtering::new(input_filter),
        origin,
        idle_timeout,
        exit_with_child,
        ends: Ends::new(restart),
        launched: Instant::now(),
        called,
        is_watched,
        shared,
        vitals,
        commands: inbox,
        written_tx,
        written,
        child: None,
        clearing: Vec::new(),
        seq: Seq(0),
        lock: Lock::default(),
        receipts: HashMap::new(),
        seen_early: HashSet::new(),
        next_receipt: 1,
        echoes: Echoes::default(),
        waiters: Waiters::default(),
        turns: Turns::default(),
        restart: Vec::new(),
        resumes: false,
        closing: false,
        commands_in_a_row: 0,
        last_output: Instant::now(),
        last_input: Instant::now(),
        screen_told: None,
        screen_due: None,
    };
    // Before anybody can ask: a session that is announced has its child.
    match loan {
        Some(loan) => owner.take_over(loan),
        None => owner.launch(),
    }
    let (done, outcome) = oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    std::thread::spawn(move || {
        // Whoever waits for the outcome may have gone already.
        let _ = done.send(runtime.block_on(owner.run()));
    });
    (session, outcome)
}

struct Owner {
    origin: Origin,
    idle_timeout: Option<Duration>,
    exit_with_child: bool,
    ends: Ends,
    launched: Instant,
    called: &'static str,
    is_watched: bool,
    shared: Arc<Shared>,
    vitals: Vitals,
    terminal: Terminal,
    /// Those of people, which are attached.
    terminals: Terminals,
    filtering: Filtering,
    commands: mpsc::Receiver<Command>,
    written_tx: mpsc::Sender<Written>,
    written: mpsc::Receiver<Written>,
    child: Option<Running>,
    /// Children, the present one included, of which something may be left.
    clearing: Vec<Clearing>,
    seq: Seq,
    lock: Lock,
    receipts: HashMap<u64, Followed>,
    /// Inputs whose text was seen before the terminal had told that it took all of them.
    seen_early: HashSet<u64>,
    next_receipt: u64,
    echoes: Echoes,
    waiters: Waiters,
    turns: Turns,
    /// Those who asked for a restart that is under way.
    restart: Vec<Reply<(u32, Seq)>>,
    /// The next child goes on with the same conversation.
    resumes: bool,
    closing: bool,
    commands_in_a_row: usize,
    last_output: Instant,
    last_input: Instant,
    /// When the screen was announced last.
    screen_told: Option<Instant>,
    /// When the next announcement is due.
    screen_due: Option<Instant>,
}

/// A child of which something may be left.
struct Clearing {
    /// Done when nothing is.
    cleared: JoinHandle<()>,
    /// Skips the grace.
    kill_now: CancellationToken,
}

/// What the owner turns to next.
enum Turn {
    Command(Command),
    /// Nobody can ask any more.
    Abandoned,
    Written(Written),
    Sign(Sign),
    /// Whoever wrote several times in a row has finished.
    LetGo,
    Timer,
}

impl Owner {
    async fn run(mut self) -> Outcome {
        while !(self.closing && self.child.is_none()) {
            match self.next_turn().await {
                Turn::Command(command) => self.obey(command),
                Turn::Abandoned => self.close(),
                Turn::Written(written) => self.written(written),
                Turn::Sign(Sign::Printed(bytes)) => self.paint(bytes),
                Turn::Sign(Sign::Resized(size, answer)) => {
                    self.sized(size);
                    answer.into_iter().for_each(Answer::give);
                }
                Turn::Sign(Sign::Stirred { pid, is_agent }) => self.stirred(pid, is_agent),
                Turn::Sign(Sign::Waning) => self.bury().await,
                Turn::LetGo => self.end_turn(),
                Turn::Timer => {}
            }
            self.keep_time();
        }
        self.shared.feed.close();
        self.wait_until_cleared().await;
        let ended = match &self.vitals.life {
            Life::Exited(ended) => Some(ended.clone()),
            _ => None,
        };
        Outcome { ended }
    }

    /// Callers come before output, so that a flood of it keeps nobody waiting; but not without end.
    async fn next_turn(&mut self) -> Turn {
        let timer = self.next_deadline();
        let mut sign = std::pin::pin!(async {
            match &mut self.child {
                Some(child) => child.sign().await,
                None => std::future::pending().await,
            }
        });
        if self.commands_in_a_row >= COMMANDS_IN_A_ROW_MAX
            && let Some(sign) = sign.as_mut().now_or_never()
        {
            self.commands_in_a_row = 0;
            return Turn::Sign(sign);
        }
        self.commands_in_a_row += 1;
        tokio::select! {
            biased;
            command = self.commands.recv() => command.map_or(Turn::Abandoned, Turn::Command),
            () = self.turns.over() => Turn::LetGo,
            Some(written) = self.written.recv() => Turn::Written(written),
            sign = sign => {
                self.commands_in_a_row = 0;
                Turn::Sign(sign)
            }
            () = sleep_until(timer) => Turn::Timer,
        }
    }

    fn obey(&mut self, command: Command) {
        let Some(command) = self.turns.admit(command) else { return };
        // An answer that nobody waits for any more is dropped with its place.
        match command {
            Command::Picture { style, reply } => drop(reply.send(self.picture(style))),
            Command::Difference { style, since, reply } => drop(reply.send(self.difference(style, since))),
            Command::Scrollback { lines_max, reply } => drop(reply.send(self.terminal.scrollback_text(lines_max))),
            Command::Redraw { reply } => drop(reply.send(self.redrawn())),
            Command::Attach { joining, reply } => self.attach(joining, reply),
            Command::Measured { terminal, size, reply } => drop(reply.send(self.measured(terminal, size))),
            Command::Detach(terminal) => self.detach(terminal),
            Command::Write { what, writer, expect, reply } => drop(reply.send(self.write(&what, writer, &expect))),
            Command::Type { terminal, bytes, reply } => drop(reply.send(self.type_in(terminal, bytes))),
            Command::BeginTurn { kind, writer, expect, exit_confirms, reply } => {
                let given = self.begin_turn(kind, writer, &expect, exit_confirms);
                self.give_turn(given, reply);
            }
            Command::WriteInTurn { turn, bytes, reply } => drop(reply.send(self.write_in_turn(turn, bytes))),
            Command::Progress { turn, phase } => self.progress(turn.0, phase),
            Command::Declare(declared) => self.declared(declared),
            Command::Announce(event) => {
                // Whoever hears of a conversation finds it here, also where the state stays what it is.
                if let Event::Began(Began { conversation: Some(begun), .. }) = &event
                    && matches!(self.vitals.life, Life::Running { .. })
                {
                    self.vitals.conversation = Some(begun.clone());
                    self.publish_vitals();
                }
                let seq = self.next_seq();
                self.shared.feed.publish_event(seq, event);
            }
            Command::Resize { size, reply } => self.resize(size, reply),
            Command::HasRead { reply } => {
                let has_read = self.running().ok().and_then(Running::has_read);
                let _ = reply.send(has_read);
            }
            Command::Echoes { reply } => drop(reply.send(self.running().ok().and_then(Running::echoes))),
            Command::Signal { signal, reply } => {
                let sent = self.running().and_then(|child| {
                    child.signal(signal).map_err(|error| match error {
                        crate::child::SignalError::Gone => Refusal::Exited,
                        other => Refusal::Failed { what: "the signal", reason: other.to_string() },
                    })
                });
                drop(reply.send(sent));
            }
            Command::Acquire { id, ttl, reply } => {
                let acquired = self.lock.acquire(id, ttl, Instant::now()).map_err(typing::locked);
                drop(reply.send(acquired));
            }
            Command::Release { id, reply } => drop(reply.send(Ok(self.lock.release(&id, Instant::now())))),
            Command::Wait { conditions, reply } => self.waiters.push(conditions, reply),
            Command::Restart { env, argv, resumes, by_hand, reply } => {
                if by_hand {
                    self.ends.forget();
                }
                self.begin_restart(env, argv, resumes, reply)
            }
            Command::Environment { change, reply } => drop(reply.send(self.change_environment(change))),
            Command::NextLaunch { env, reply } => drop(reply.send(self.next_launch(env))),
            Command::Shutdown => {
                match self.origin {
                    Origin::Own { .. } => tracing::info!("asked to leave: {} is asked to end", self.called),
                    Origin::Lent(_) => tracing::info!("asked to leave: what was borrowed runs on"),
                }
                self.close();
            }
            Command::KillNow => {
                self.close();
                self.kill_now();
            }
        }
    }

    fn next_seq(&mut self) -> Seq {
        self.seq = Seq(self.seq.0 + 1);
        self.shared.counters.seq.store(self.seq.0, Ordering::Release);
        self.seq
    }

    fn enter(&mut self, next: State, cause: Cause) {
        if self.vitals.state == next {
            return self.publish_vitals();
        }
        let prev = self.vitals.state.kind();
        let seq = self.next_seq();
        self.note_state(next.clone(), cause.clone(), seq);
        let last_message = self.vitals.last_message.clone();
        self.shared.feed.publish_event(seq, Event::Transition(Transition { prev, next, cause, last_message }));
    }

    /// The agent's side says what it is doing. What the owner itself knows, that the child is gone or is being replaced,
    /// is not overruled.
    fn declared(&mut self, declared: Declared) {
        let replacing = !self.restart.is_empty() || self.closing;
        if replacing || self.vitals.life != (Life::Running { pid: declared.pid }) {
            return;
        }
        self.vitals.last_message = declared.last_message.or(self.vitals.last_message.take());
        self.vitals.conversation = declared.conversation.or(self.vitals.conversation.take());
        self.enter(declared.state, declared.cause);
    }

    fn note_state(&mut self, state: State, cause: Cause, since: Seq) {
        let (from, tally) = (self.vitals.state.kind(), &self.shared.tally);
        if let Some((kind, waited)) = self.vitals.times.change(from, &state, Instant::now()) {
            tally.prompted(kind, waited);
        }
        if from != state.kind() {
            tally.entered(state.kind());
        }
        self.vitals.state = state;
        self.vitals.state_since = since;
        self.vitals.cause = cause;
        self.publish_vitals();
    }

    fn publish_vitals(&self) {
        self.shared.vitals.store(Arc::new(self.vitals.clone()));
    }

    /// What is due after each turn.
    fn keep_time(&mut self) {
        let now = Instant::now();
        if self.screen_due.is_some_and(|due| due <= now) {
            self.tell_screen(now);
        }
        if !self.waiters.is_empty() {
            let picture = if self.waiters.need_rows() { Some(self.picture(Style::Text)) } else { None };
            let cursor_row = picture.as_ref().map(|picture| picture.cursor_row()).unwrap_or_default();
            let moment = Moment {
                seq: self.seq,
                state: self.vitals.state.kind(),
                offset: self.shared.feed.end(),
                rows: picture.as_ref().map_or(&[], |picture| &picture.screen.lines),
                cursor_row: &cursor_row,
                quiet_for: now.saturating_duration_since(self.last_output),
            };
            self.waiters.look(&moment);
            // With another start ahead, much can still come true.
            if matches!(self.vitals.life, Life::Exited(_)) && self.vitals.restarts_at_ms.is_none() {
                self.waiters.dismiss_hopeless(&moment);
            }
        }
        if self.idle_at().is_some_and(|at| at <= now) && !self.closing {
            tracing::info!("nothing happened for the idle timeout; coop leaves");
            self.close();
        }
    }

    /// When the session will have been idle for long enough to leave.
    fn idle_at(&self) -> Option<Instant> {
        let timeout = self.idle_timeout?;
        let last_call = self.shared.started + Duration::from_millis(self.shared.last_call_ms.load(Ordering::Relaxed));
        let last = self.last_output.max(self.last_input).max(last_call);
        let readers =
            self.shared.subscribers.load(Ordering::Relaxed) + self.shared.screen_watchers.load(Ordering::Relaxed);
        // Whoever reads a stream or waits has a call under way.
        let last = if readers > 0 || !self.waiters.is_empty() { last.max(Instant::now()) } else { last };
        Some(last + timeout)
    }

    fn next_deadline(&self) -> Option<Instant> {
        let now = Instant::now();
        let idle = if self.closing { None } else { self.idle_at() };
        [self.screen_due, self.waiters.next_look(self.last_output, now), idle].into_iter().flatten().min()
    }
}
