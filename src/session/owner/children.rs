//! The lives of children: launch, end, restart, and what is left behind.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Instant;

use super::{Clearing, Origin, Owner};
use crate::borrowed::{Loan, process};
use crate::child::Launch;
use crate::session::clock::epoch_ms;
use crate::session::command::Reply;
use crate::session::environment::{Change, Environment};
use crate::session::event::{Ended, Event};
use crate::session::life::Running;
use crate::session::receipt::Phase;
use crate::session::refusal::Refusal;
use crate::session::revival::Next;
use crate::session::state::{Cause, State};
use crate::session::vitals::Life;
use crate::terminal::Seq;

/// Leaving the alternate screen, ending the modes, a new line.
const UNDO_STEPS: usize = 3;

impl Owner {
    pub(super) fn launch(&mut self) {
        let Origin::Own { launch, ground, .. } = &self.origin else { return };
        (self.vitals.started_at_ms, self.launched) = (epoch_ms(), Instant::now());
        self.vitals.launched = Some(Arc::new(launch.clone()));
        (self.vitals.restarts_at_ms, self.vitals.is_parked) = (None, false);
        let started = Running::start(launch, ground, self.shared.counters.clone(), self.written_tx.clone());
        match started {
            Ok((child, cleared)) => {
                let program = launch.argv.first().map(|program| program.to_string_lossy());
                tracing::info!(pid = child.pid, program = program.as_deref(), "{} runs", self.called);
                self.vitals.life = Life::Running { pid: child.pid };
                self.clearing.retain(|earlier| !earlier.cleared.is_finished());
                self.clearing.push(Clearing { cleared, kill_now: child.kill_now() });
                let pid = child.pid;
                self.child = Some(child);
                // Somebody who watches the agent will say more; otherwise nothing more will be known.
                let state = if self.is_watched { State::Starting } else { State::Unknown };
                self.enter(state, Cause::process("running"));
                let seq = self.seq;
                self.restart.drain(..).for_each(|reply| drop(reply.send(Ok((pid, seq)))));
            }
            Err(error) => {
                tracing::error!(%error, code = error.shell_code(), "{} could not be started", self.called);
                let (code, reason) = (error.shell_code(), error.to_string());
                let failed = Refusal::Failed { what: "the restart", reason: reason.clone() };
                self.finish(Ended::NotStarted { code, reason });
                self.restart.drain(..).for_each(|reply| drop(reply.send(Err(failed.clone()))));
            }
        }
    }

    /// Serves what somebody else started.
    pub(super) fn take_over(&mut self, loan: Loan) {
        tracing::info!(pid = loan.pid, "{} is served; it runs on when coop leaves", loan.name);
        self.vitals.started_at_ms = process::began_ms(loan.agent_pid.unwrap_or(loan.pid)).unwrap_or_else(epoch_ms);
        let child = Running::lent(loan, self.shared.counters.clone(), self.written_tx.clone());
        self.vitals.life = Life::Running { pid: child.pid };
        self.child = Some(child);
        let state = if self.is_watched { State::Starting } else { State::Unknown };
        self.enter(state, Cause::process("running"));
    }

    /// The agent on what was borrowed may have ended, or another have begun.
    pub(super) fn stirred(&mut self, pid: u32, is_agent: bool) {
        let Some(child) = self.child.as_mut().filter(|child| child.pid != pid) else { return };
        child.stirred(pid);
        if self.closing || !self.is_watched {
            self.vitals.life = Life::Running { pid };
            return self.publish_vitals();
        }
        // As with a child of our own, whoever watches it watches one process, and messages were for that one.
        self.turns.end_with_child(&Refusal::NotReady);
        let others = self.receipts.extract_if(|_, input| !input.awaits_witness()).collect::<Vec<_>>();
        self.end_receipts(true);
        self.receipts.extend(others);
        self.enter(State::Restarting, Cause::process("another program"));
        self.vitals.life = Life::Running { pid };
        self.vitals.started_at_ms = process::began_ms(pid).unwrap_or_else(epoch_ms);
        self.vitals.last_message = None;
        self.vitals.conversation = None;
        let (state, cause) = match is_agent {
            true => (State::Starting, "the agent began"),
            false => (State::Unknown, "the agent has ended"),
        };
        self.enter(state, Cause::process(cause));
    }

    /// What a child has read before it left was written, although nobody may have said so yet.
    async fn hear_writer_out(&mut self, mut child: Running) {
        loop {
            tokio::select! {
                biased;
                Some(written) = self.written.recv() => self.written(written),
                () = child.outbox.stopped() => break,
            }
        }
        while let Ok(written) = self.written.try_recv() {
            self.written(written);
        }
    }

    /// Looks whether the child is over, and if so tells it or starts the next.
    pub(super) async fn bury(&mut self) {
        let Some(ended) = self.child.as_ref().and_then(Running::is_over) else { return };
        if let Some(child) = self.child.take() {
            self.hear_writer_out(child).await;
        }
        let is_replaced = !self.restart.is_empty() && !self.closing;
        self.turns.end_with_child(if is_replaced { &Refusal::NotReady } else { &Refusal::Exited });
        self.echoes.clear();
        self.seen_early.clear();
        // What was written stays written; what still waited can never be, and what awaited a witness has none.
        self.receipts.retain(|_, input| input.phase() == Phase::Queued || input.awaits_witness());
        self.end_receipts(self.restart.is_empty() && !self.closing);
        match &ended {
            Ended::Left { reason, .. } => tracing::info!(code = ended.code(), signal = ended.signal(), "{reason}"),
            _ => tracing::info!(code = ended.code(), signal = ended.signal(), "{} has exited", self.called),
        }
        if self.restart.is_empty() || self.closing {
            let closing = Refusal::Closing;
            self.restart.drain(..).for_each(|reply| drop(reply.send(Err(closing.clone()))));
            self.finish(ended);
        } else {
            self.vitals.restarts += 1;
            self.relaunch();
        }
    }

    /// Says of all inputs that are still followed what their child's end means for them.
    fn end_receipts(&mut self, by_itself: bool) {
        let ends: Vec<_> = self.receipts.iter().map(|(id, input)| (*id, input.phase_at_exit(by_itself))).collect();
        for (id, phase) in ends {
            self.progress(id, phase);
        }
    }

    pub(super) fn finish(&mut self, ended: Ended) {
        // Published with the end, so that nobody sees the one without the other.
        let next = if self.closing { Next::Stay } else { self.ends.ended(&ended, self.launched, Instant::now()) };
        match next {
            Next::Stay => {}
            Next::Again(wait) => {
                tracing::info!(secs = wait.as_secs(), "the program will be started again");
                let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                self.vitals.restarts_at_ms = Some(epoch_ms().saturating_add(wait_ms));
            }
            Next::Park => {
                tracing::warn!("the program ended too often within a minute and is not started again by itself");
                self.vitals.is_parked = true;
            }
        }
        self.vitals.life = Life::Exited(ended.clone());
        let seq = self.next_seq();
        let prev = self.vitals.state.kind();
        self.note_state(State::Exited, Cause::process("exit"), seq);
        self.shared.feed.publish_event(seq, Event::Ended { ended, prev });
        if self.exit_with_child {
            self.close();
        }
    }

    pub(super) fn begin_restart(
        &mut self,
        env: BTreeMap<String, String>,
        argv: Option<Vec<OsString>>,
        resumes: bool,
        reply: Reply<(u32, Seq)>,
    ) {
        if let Origin::Lent(backend) = self.origin {
            return drop(reply.send(Err(Refusal::Borrowed(backend))));
        }
        if self.closing {
            return drop(reply.send(Err(Refusal::Closing)));
        }
        if !self.restart.is_empty() {
            return drop(reply.send(Err(Refusal::NotReady)));
        }
        if let Err(refusal) = self.change_environment(Change { set: env, unset: Vec::new() }) {
            return drop(reply.send(Err(refusal)));
        }
        if let (Origin::Own { launch, .. }, Some(argv)) = (&mut self.origin, argv) {
            launch.argv = argv;
        }
        self.restart.push(reply);
        self.resumes = resumes;
        self.vitals.restarts_at_ms = None;
        self.vitals.life = match &self.child {
            Some(_) => Life::Starting,
            None => self.vitals.life.clone(),
        };
        self.enter(State::Restarting, Cause::process("restart"));
        match &self.child {
            Some(child) => child.end(),
            None => {
                self.vitals.restarts += 1;
                self.relaunch();
            }
        }
    }

    /// What the next child is given; nothing of a change that is refused is made.
    pub(super) fn change_environment(&mut self, change: Change) -> Result<Environment, Refusal> {
        match &mut self.origin {
            Origin::Own { launch, given, .. } => {
                given.change(launch, change)?;
                Ok(given.environment(launch))
            }
            Origin::Lent(_) if change.set.is_empty() && change.unset.is_empty() => Ok(Environment::default()),
            Origin::Lent(_) => {
                let reason = "it was started with what it has".to_owned();
                Err(Refusal::Kept { what: "changing the environment", reason })
            }
        }
    }

    /// What the next child would be started with, were it given this too.
    pub(super) fn next_launch(&self, env: BTreeMap<String, String>) -> Result<Launch, Refusal> {
        match &self.origin {
            Origin::Own { launch, given, .. } => {
                let (mut launch, mut given) = (launch.clone(), given.clone());
                given.change(&mut launch, Change { set: env, unset: Vec::new() })?;
                Ok(launch)
            }
            Origin::Lent(backend) => Err(Refusal::Borrowed(backend)),
        }
    }

    pub(super) fn relaunch(&mut self) {
        self.vitals.life = Life::Starting;
        // They were the last child's.
        self.vitals.last_message = None;
        if !self.resumes {
            self.vitals.conversation = None;
        }
        if self.is_watched {
            // An agent is starting from when its child runs, and whoever follows the lives of children is told then.
            self.publish_vitals();
        } else {
            self.enter(State::Starting, Cause::process("restart"));
        }
        // The last child may have left modes behind. Readers of the bytes must see what the picture sees.
        for _ in 0..UNDO_STEPS {
            let undo = self.terminal.undo();
            if undo.is_empty() {
                break;
            }
            self.paint(undo.into());
        }
        self.launch();
    }

    pub(super) fn close(&mut self) {
        self.closing = true;
        if self.vitals.restarts_at_ms.take().is_some() {
            self.publish_vitals();
        }
        if let Some(child) = &self.child {
            child.end();
        }
    }

    pub(super) fn kill_now(&self) {
        self.clearing.iter().for_each(|child| child.kill_now.cancel());
    }

    /// Waits until nothing of any child is left, still obeying: the last screen can be read, and the grace be cut short.
    pub(super) async fn wait_until_cleared(&mut self) {
        while let Some(child) = self.clearing.last_mut() {
            tokio::select! {
                _ = &mut child.cleared => drop(self.clearing.pop()),
                Some(command) = self.commands.recv() => {
                    self.obey(command);
                    self.keep_time();
                }
            }
        }
    }
}
