//! What Prometheus is told: numbers that were counted anyway, read when somebody asks. None of it waits for the owner,
//! the child or its output. docs/metrics.md says what each is for.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::exposition::{Exposition, Labels, label_name};
use super::faces::Face;
use super::machine;
use super::service::Service;
use crate::session::{Life, StateKind, Vitals};

/// Labels of a session that are shown; an operator gives a handful.
const LABELS_MAX: usize = 64;

/// How much of a label's value is shown.
const VALUE_CHARS_MAX: usize = 256;

impl Service {
    /// Everything, in Prometheus' text format.
    pub fn metrics(&self) -> String {
        let mut page = Exposition::default();
        let vitals = self.session.vitals();
        self.tell_session(&mut page, &vitals);
        self.tell_states(&mut page, &vitals);
        self.tell_inputs(&mut page);
        self.tell_traffic(&mut page, &vitals);
        self.tell_agent(&mut page);
        tell_process(&mut page, self.session.uptime());
        page.into_text()
    }

    fn tell_session(&self, page: &mut Exposition, vitals: &Vitals) {
        let version = [("version", self.about.version)];
        page.gauge("coop_build_info", "Which coop this is; always 1.", [(&version[..], 1.0)]);
        let labels = session_labels(&self.about.agent, &self.about.labels);
        let labels: Vec<_> = labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let help = "Which session this is: its agent, and its --label values as label_NAME; always 1.";
        page.gauge("coop_session_info", help, [(&labels[..], 1.0)]);
        let alone = |value: f64| [(&[][..] as Labels<'_>, value)];
        page.gauge("coop_uptime_seconds", "How long coop has run.", alone(self.session.uptime().as_secs_f64()));
        let up = matches!(vitals.life, Life::Running { .. });
        page.gauge("coop_child_up", "Whether the child runs.", alone(u8::from(up).into()));
        page.counter("coop_restarts_total", "How often the child was started again.", alone(vitals.restarts.into()));
    }

    fn tell_states(&self, page: &mut Exposition, vitals: &Vitals) {
        let (present, now) = (vitals.state.kind(), Instant::now());
        let words: Vec<_> = StateKind::ALL.iter().map(|kind| [("state", kind.word())]).collect();
        let is_present = StateKind::ALL.iter().map(|kind| f64::from(u8::from(*kind == present)));
        let help = "The agent's state: 1 for the present one, 0 for the others.";
        page.gauge("coop_state", help, words.iter().map(|word| &word[..]).zip(is_present));
        let spent = vitals.times.spent(present, now).map(|(_, spent)| spent.as_secs_f64());
        let help = "How long the agent was in each state.";
        page.counter("coop_state_seconds_total", help, words.iter().map(|word| &word[..]).zip(spent));
        let entered = self.session.tally().transitions().map(|(_, count)| count as f64);
        let help = "How often the agent came into each state.";
        page.counter("coop_state_transitions_total", help, words.iter().map(|word| &word[..]).zip(entered));
        let help = "How long the dialog that is shown has been waiting; absent when none is.";
        let waiting = vitals.times.waiting();
        let waiting = waiting.map(|(kind, since)| ([("type", kind.word())], now.saturating_duration_since(since)));
        let waiting = waiting.iter().map(|(kind, waits)| (&kind[..], waits.as_secs_f64()));
        page.gauge("coop_prompt_waiting_seconds", help, waiting);
        let prompts: Vec<_> =
            self.session.tally().prompts().map(|(kind, waited)| ([("type", kind.word())], waited)).collect();
        let help = "How long dialogs were shown until they were answered or gone.";
        let prompts = prompts.iter().map(|(kind, waited)| (&kind[..], waited.clone()));
        page.histogram("coop_prompt_wait_seconds", help, prompts);
    }

    fn tell_inputs(&self, page: &mut Exposition) {
        let tally = self.session.tally();
        let receipts: Vec<_> = tally
            .receipts()
            .filter(|(.., took)| took.count > 0)
            .map(|(kind, outcome, took)| ([("kind", kind.word()), ("outcome", outcome)], took))
            .collect();
        let help = "How long inputs took to get this far, by what they were.";
        let receipts = receipts.iter().map(|(labels, took)| (&labels[..], took.clone()));
        page.histogram("coop_receipt_seconds", help, receipts);
        let late: Vec<_> = tally.late().map(|(kind, count)| ([("kind", kind.word())], count)).collect();
        let help = "How many inputs were confirmed only after they had been called unconfirmed.";
        page.counter("coop_receipts_late_total", help, late.iter().map(|(kind, count)| (&kind[..], *count as f64)));
    }

    fn tell_traffic(&self, page: &mut Exposition, vitals: &Vitals) {
        let alone = |value: u64| [(&[][..] as Labels<'_>, value as f64)];
        page.counter("coop_output_bytes_total", "What the child has printed.", alone(self.session.bytes_read()));
        page.counter("coop_input_bytes_total", "What the child has been given.", alone(self.session.bytes_written()));
        let queued = if matches!(vitals.life, Life::Running { .. }) { self.session.input_queued() } else { 0 };
        page.gauge("coop_input_queued_bytes", "What waits for the child to read.", alone(queued));
        let followers: Vec<_> = Face::ALL.iter().map(|face| ([("face", face.word())], self.followers(*face))).collect();
        let help = "Who follows the session, by the way in which they do.";
        page.gauge("coop_subscribers", help, followers.iter().map(|(face, count)| (&face[..], *count as f64)));
        let gaps: Vec<_> = self.session.tally().gaps().map(|(kind, count)| ([("kind", kind)], count)).collect();
        let help = "How often a reader was told that it had missed something.";
        page.counter("coop_gaps_total", help, gaps.iter().map(|(kind, count)| (&kind[..], *count as f64)));
    }

    fn tell_agent(&self, page: &mut Exposition) {
        let tally = self.session.tally();
        let hooks = tally.hooks();
        let hooks: Vec<_> = hooks.iter().map(|(event, count)| ([("event", event.as_str())], *count)).collect();
        let help = "How often the agent's hooks called, by event.";
        page.counter("coop_hook_events_total", help, hooks.iter().map(|(event, count)| (&event[..], *count as f64)));
        let unread = [(&[][..] as Labels<'_>, tally.hooks_unread() as f64)];
        page.counter("coop_hook_events_unreadable_total", "Calls of hooks that could not be read.", unread);
        let Some(agent) = &self.agent else { return };
        let usage = agent.view().usage;
        let tokens = [
            ([("type", "input")], usage.tokens.input),
            ([("type", "output")], usage.tokens.output),
            ([("type", "cache_read")], usage.tokens.cache_read),
            ([("type", "cache_write")], usage.tokens.cache_write),
        ];
        let help = "Tokens of this conversation, by the agent's own log.";
        page.counter("coop_agent_tokens_total", help, tokens.iter().map(|(kind, count)| (&kind[..], *count as f64)));
        let alone = |value: f64| [(&[][..] as Labels<'_>, value)];
        page.counter(
            "coop_agent_cost_usd_total",
            "What the conversation cost, where it is told.",
            alone(usage.cost_usd),
        );
        page.counter("coop_agent_requests_total", "Requests of the agent to its model.", alone(usage.requests as f64));
    }

    fn followers(&self, face: Face) -> usize {
        match face {
            Face::WebSocket => usize::try_from(self.ws_clients()).unwrap_or(usize::MAX),
            face => self.faces.number(face),
        }
    }
}

/// The agent, and what the operator calls the session. Names that become the same are told apart by a number.
fn session_labels(agent: &str, labels: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let mut told = vec![("agent".to_owned(), agent.to_owned())];
    for (name, value) in labels.iter().take(LABELS_MAX) {
        let name = format!("label_{}", label_name(name));
        let numbered = (2..).map(|n| format!("{name}_{n}"));
        let free = |name: &String| told.iter().all(|(known, _)| known != name);
        let name = std::iter::once(name.clone()).chain(numbered).find(free).unwrap_or(name);
        told.push((name, value.chars().take(VALUE_CHARS_MAX).collect()));
    }
    told
}

/// Under the names that all programs use for them.
fn tell_process(page: &mut Exposition, uptime: Duration) {
    let alone = |value: f64| [(&[][..] as Labels<'_>, value)];
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(uptime);
    // To the second: the same number every time.
    let started = started.as_secs_f64().round();
    page.gauge("process_start_time_seconds", "When coop was started, in seconds since 1970.", alone(started));
    if let Some(max) = machine::max_fds() {
        page.gauge("process_max_fds", "How many descriptors may be open.", alone(max as f64));
    }
    let Some(taken) = machine::taken() else { return };
    page.counter("process_cpu_seconds_total", "Processor time that coop took.", alone(taken.cpu.as_secs_f64()));
    page.gauge("process_resident_memory_bytes", "Memory that coop holds.", alone(taken.resident_bytes as f64));
    page.gauge("process_virtual_memory_bytes", "Addresses that coop has taken.", alone(taken.virtual_bytes as f64));
    page.gauge("process_open_fds", "How many descriptors are open.", alone(taken.open_fds as f64));
    page.gauge("process_threads", "How many threads coop has.", alone(taken.threads as f64));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_become_the_same_are_told_apart() {
        let given = [("team-a", "1"), ("team.a", "2"), ("team_a", "3"), ("x", "y")];
        let labels = given.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let told = session_labels("claude", &labels);
        let names: Vec<_> = told.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["agent", "label_team_a", "label_team_a_2", "label_team_a_3", "label_x"]);
    }

    #[test]
    fn there_are_only_so_many_labels_of_such_a_length() {
        let labels = (0..1000).map(|n| (format!("l{n}"), "v".repeat(9999))).collect();
        let told = session_labels("unknown", &labels);
        assert_eq!(told.len(), LABELS_MAX + 1);
        assert!(told.iter().all(|(_, value)| value.chars().count() <= VALUE_CHARS_MAX));
    }
}
