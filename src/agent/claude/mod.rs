//! Claude Code, as measured with version 2.1.197.

mod arguments;
mod hear;
mod hooks;
mod log;
mod message;
mod nudge;
pub mod paths;
mod resets;
mod respond;
mod screen;
mod setup;
mod status;
mod stream;
mod trouble;
pub mod version;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::arguments::Arguments;
use self::status::{Status, StatusWord};
use self::stream::Stream;
use super::driver::{Driver, Habits, Sign};
use super::evidence::{Claim, EpochMs, Source};
use super::facts::{BadLine, LogFacts, Printed, StatusFacts};
use super::heard::Heard;
use super::look::{Dialog, Look};
use super::press::{Step, Way};
use super::resume::{entries, newest};
use super::rules::{Rules, RulesError};
use super::sight::Sight;
use super::start::{BadSettings, Given, Plan, Reading};
use super::talk::{Answer, Failure};
use super::typing::Typing;
use super::version::Release;
use super::view::View;
use crate::session::Prompt;

const HABITS: Habits = Habits {
    arbiter: Source::Status,
    // 60 ms were measured, more when a turn is over at once.
    arbiter_lag_ms: 400,
    // 23 ms were measured.
    arbiter_settles_ms: 80,
    stop_event: "Stop",
    stops_after_failure: false,
    // 240 ms were measured.
    stop_settles_ms: 400,
    // 260 ms were measured.
    opens_within_ms: 400,
    hook_tells_ready: false,
    // A second was seen.
    speaks_within_ms: 10_000,
    wakes_within_ms: 0,
    hook_hides_dialog: false,
    // Of two tools that ask at once the last one's dialog was drawn.
    asks_in_order: false,
    unasked: &[],
};

/// The driver for Claude Code.
#[derive(Debug)]
pub struct Claude;

impl Driver for Claude {
    fn name(&self) -> &'static str {
        "Claude Code"
    }

    fn release(&self) -> &'static Release {
        &version::RELEASE
    }

    fn habits(&self) -> &'static Habits {
        &HABITS
    }

    fn rules(&self, agent_config: Option<&Value>) -> Result<Rules, RulesError> {
        screen::rules(agent_config)
    }

    fn config_dir(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        paths::config_dir(env)
    }

    fn prepare(&self, given: &Given<'_>, read: Reading<'_>) -> Result<Plan, BadSettings> {
        setup::prepare(given, read)
    }

    fn prints_jsonl(&self, argv: &[OsString]) -> bool {
        Arguments(argv).prints_jsonl()
    }

    fn asks_for_bypass(&self, argv: &[OsString]) -> bool {
        Arguments(argv).asks_for_bypass()
    }

    fn hear(&self, event: &str, payload: &Value, now: EpochMs) -> Heard {
        hear::hear(event, payload, now)
    }

    fn read_line(&self, line: &str, now: EpochMs) -> Result<LogFacts, BadLine> {
        log::read_line(line, now)
    }

    fn printed(&self) -> Box<dyn Printed> {
        Box::<Stream>::default()
    }

    fn status_path(&self, config_dir: &Path, pid: u32) -> Option<PathBuf> {
        Some(paths::status_path(config_dir, pid))
    }

    fn read_status(&self, text: &str, now: EpochMs) -> Result<StatusFacts, String> {
        let status = Status::parse(text).map_err(|error| error.to_string())?;
        let evidence = status.evidence(now);
        let unknown = match status.status {
            Some(StatusWord::Other(word)) => Some(word),
            _ => None,
        };
        Ok(StatusFacts { evidence, unknown, session_id: status.session_id })
    }

    fn limit_ends(&self, words: &str, now: EpochMs) -> Option<EpochMs> {
        resets::reset_time(words, now)
    }

    fn look(&self, rules: &Rules, sight: Sight<'_>) -> Look {
        screen::look(rules, sight)
    }

    /// It begins with a turning sign while Claude works.
    fn title(&self, title: &str) -> Option<Sign> {
        match title.chars().next()? {
            '\u{2800}'..='\u{28ff}' => Some(Sign::new("sign", Claim::Working)),
            '✳' => Some(Sign::new("sign", Claim::Still)),
            _ => None,
        }
    }

    fn log_path(&self, config_dir: &Path, workspace: &Path, conversation: &str) -> Option<PathBuf> {
        Some(paths::log_path(config_dir, workspace, conversation))
    }

    /// The newest, when a workspace that was moved left several.
    fn find_log(&self, config_dir: &Path, conversation: &str) -> io::Result<Option<PathBuf>> {
        let projects = entries(&paths::projects_dir(config_dir))?;
        Ok(newest(projects.into_iter().map(|project| project.join(paths::log_name(conversation)))))
    }

    fn logs_of(&self, config_dir: &Path, workspace: &Path) -> io::Result<Vec<PathBuf>> {
        let mut logs = entries(&paths::project_dir(config_dir, workspace))?;
        logs.retain(|path| paths::session_of(path).is_some());
        Ok(logs)
    }

    fn helper_logs(&self, log: &Path) -> Vec<PathBuf> {
        let mut logs = entries(&paths::helpers_dir(log)).unwrap_or_default();
        logs.retain(|path| paths::is_log(path));
        logs
    }

    fn conversation_of(&self, log: &Path) -> Option<String> {
        paths::session_of(log).map(str::to_owned)
    }

    fn typing(&self) -> &'static Typing {
        &nudge::TYPING
    }

    fn guarded(&self, text: &str, is_command: bool) -> Result<String, Failure> {
        Ok(nudge::guarded(text, is_command))
    }

    fn way(&self, view: &View, prompt: &Prompt, answer: &Answer) -> Result<Way, Failure> {
        respond::way(view, prompt, answer)
    }

    fn groom_steps(&self, dialog: &Dialog, bypass_was_asked: bool) -> Option<Vec<Step>> {
        respond::groom_steps(dialog, bypass_was_asked)
    }
}

#[cfg(test)]
mod tests;
