//! What a conversation cost: tokens and dollars, each message counted once.

use std::collections::VecDeque;

/// How many messages are remembered to recognise a further line of theirs. An agent writes one line for each block of a
/// message, next to each other but for what subagents write in between.
const RECENT_MESSAGES_MAX: usize = 256;

/// Tokens that were read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// What one message cost, as one of its lines tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageUsage {
    pub message_id: String,
    pub tokens: Tokens,
    pub cost_usd: Option<f64>,
}

/// What a run of an agent cost so far, as the agent itself adds it up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunUsage {
    pub tokens: Tokens,
    pub cost_usd: f64,
}

/// What a conversation cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub tokens: Tokens,
    pub cost_usd: f64,
    pub requests: u64,
}

/// Adds up what a conversation costs.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// What earlier runs cost.
    settled: RunUsage,
    /// What the messages of this run cost.
    counted: RunUsage,
    /// What the agent says that this run cost.
    told: RunUsage,
    requests: u64,
    recent: VecDeque<MessageUsage>,
}

impl Usage {
    /// Counts a line of a message. Further lines of the same message only add what they have more: the numbers of a
    /// message grow while it is written.
    pub fn count(&mut self, message: MessageUsage) {
        let known = self.recent.iter_mut().rev().find(|known| known.message_id == message.message_id);
        if let Some(known) = known {
            let before = RunUsage::of(known);
            known.tokens = known.tokens.max(message.tokens);
            known.cost_usd = Some(before.cost_usd.max(message.cost_usd.unwrap_or(0.0)));
            self.counted.add(RunUsage::of(known).minus(before));
            return;
        }
        self.requests += 1;
        self.counted.add(RunUsage::of(&message));
        if self.recent.len() == RECENT_MESSAGES_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(message);
    }

    /// Takes what the agent says that its present run cost so far; it knows of requests that it does not log.
    pub fn told_by_agent(&mut self, run: RunUsage) {
        self.told = self.told.max(run);
    }

    /// A new run of the agent begins: it counts from zero, the conversation does not.
    pub fn begin_run(&mut self) {
        self.settled.add(self.counted.max(self.told));
        self.counted = RunUsage::default();
        self.told = RunUsage::default();
    }

    pub fn totals(&self) -> Totals {
        let mut all = self.settled;
        all.add(self.counted.max(self.told));
        Totals { tokens: all.tokens, cost_usd: all.cost_usd, requests: self.requests }
    }
}

impl RunUsage {
    fn of(message: &MessageUsage) -> Self {
        Self { tokens: message.tokens, cost_usd: message.cost_usd.unwrap_or(0.0) }
    }

    fn add(&mut self, more: Self) {
        self.tokens = self.tokens.zip(more.tokens, u64::saturating_add);
        self.cost_usd += more.cost_usd;
    }

    fn minus(self, less: Self) -> Self {
        Self { tokens: self.tokens.zip(less.tokens, u64::saturating_sub), cost_usd: self.cost_usd - less.cost_usd }
    }

    fn max(self, other: Self) -> Self {
        Self { tokens: self.tokens.max(other.tokens), cost_usd: self.cost_usd.max(other.cost_usd) }
    }
}

impl Tokens {
    fn zip(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            input: with(self.input, other.input),
            output: with(self.output, other.output),
            cache_read: with(self.cache_read, other.cache_read),
            cache_write: with(self.cache_write, other.cache_write),
        }
    }

    fn max(self, other: Self) -> Self {
        self.zip(other, u64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str, output: u64, cost_usd: Option<f64>) -> MessageUsage {
        let tokens = Tokens { input: 10, output, cache_read: 3, cache_write: 1 };
        MessageUsage { message_id: id.to_owned(), tokens, cost_usd }
    }

    #[test]
    fn the_lines_of_one_message_count_once_with_the_largest_numbers() {
        let mut usage = Usage::default();
        for line in
            [message("a", 1, None), message("a", 5, Some(0.5)), message("b", 2, None), message("a", 5, Some(0.5))]
        {
            usage.count(line);
        }
        let tokens = Tokens { input: 20, output: 7, cache_read: 6, cache_write: 2 };
        assert_eq!(usage.totals(), Totals { tokens, cost_usd: 0.5, requests: 2 });
    }

    #[test]
    fn the_agents_own_sum_is_not_added_to_what_was_counted() {
        let mut usage = Usage::default();
        usage.count(message("a", 5, None));
        let told = RunUsage { tokens: Tokens { output: 9, ..Tokens::default() }, cost_usd: 0.25 };
        usage.told_by_agent(told);
        usage.told_by_agent(told);
        let totals = usage.totals();
        assert_eq!((totals.tokens.input, totals.tokens.output, totals.cost_usd), (10, 9, 0.25));
    }

    #[test]
    fn a_new_run_goes_on_from_the_old_sum() {
        let mut usage = Usage::default();
        usage.count(message("a", 5, None));
        usage.told_by_agent(RunUsage { cost_usd: 0.25, ..RunUsage::default() });
        usage.begin_run();
        usage.count(message("a", 5, None));
        usage.told_by_agent(RunUsage { cost_usd: 0.5, ..RunUsage::default() });
        let totals = usage.totals();
        assert_eq!((totals.tokens.input, totals.cost_usd, totals.requests), (10, 0.75, 1));
    }

    #[test]
    fn memory_stays_bounded_over_many_messages() {
        let mut usage = Usage::default();
        for number in 0..10 * RECENT_MESSAGES_MAX {
            usage.count(message(&number.to_string(), 1, None));
        }
        assert_eq!(usage.recent.len(), RECENT_MESSAGES_MAX);
        assert_eq!(usage.totals().requests, 10 * RECENT_MESSAGES_MAX as u64);
    }
}
