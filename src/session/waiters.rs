//! Those who wait for something to become true.

use std::time::{Duration, Instant};

use super::command::Reply;
use super::condition::{Conditions, Met, Moment};
use super::refusal::Refusal;

/// More than any orchestrator needs at once; each is looked at after every change.
const WAITERS_MAX: usize = 1024;

#[derive(Debug, Default)]
pub struct Waiters {
    list: Vec<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    conditions: Conditions,
    reply: Reply<Option<Met>>,
}

impl Waiters {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn push(&mut self, conditions: Conditions, reply: Reply<Option<Met>>) {
        if self.list.len() >= WAITERS_MAX {
            return drop(reply.send(Err(Refusal::TooManyWaiters(WAITERS_MAX))));
        }
        self.list.push(Waiter { conditions, reply });
    }

    pub fn need_rows(&self) -> bool {
        self.list.iter().any(|waiter| waiter.conditions.need_rows())
    }

    /// Answers those whose conditions hold; forgets those who left.
    pub fn look(&mut self, now: &Moment<'_>) {
        self.list.retain(|waiter| !waiter.reply.is_closed());
        for index in (0..self.list.len()).rev() {
            if let Some(met) = self.list[index].conditions.met(now) {
                // Whoever asked may have gone in this very moment.
                let _ = self.list.swap_remove(index).reply.send(Ok(Some(met)));
            }
        }
    }

    /// The child is gone: answers those for whom nothing can come true any more.
    pub fn dismiss_hopeless(&mut self, now: &Moment<'_>) {
        for index in (0..self.list.len()).rev() {
            if !self.list[index].conditions.can_hold_without_output(now) {
                let _ = self.list.swap_remove(index).reply.send(Ok(None));
            }
        }
    }

    /// When silence alone may make something true, given when the child last printed.
    pub fn next_look(&self, last_output: Instant, now: Instant) -> Option<Instant> {
        let quiets = self.list.iter().filter_map(|waiter| waiter.conditions.quiet());
        let due = quiets.map(|quiet: Duration| last_output + quiet);
        due.filter(|at| *at > now).min()
    }
}
