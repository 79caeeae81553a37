//! Codex CLI, as measured with version 0.166.0.

mod agreed;
mod arguments;
mod hear;
mod hooks;
mod log;
mod nudge;
mod own_log;
mod paths;
mod resets;
mod respond;
mod screen;
mod setup;
mod signal;
mod stream;
mod toml;
mod trouble;
mod version;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::arguments::Arguments;
use self::stream::Stream;
use super::driver::{Driver, Habits, Sign};
use super::evidence::{EpochMs, Source};
use super::facts::{BadLine, LogFacts, Printed};
use super::heard::{Asked, Done, Heard};
use super::look::{Dialog, Look};
use super::press::{Step, Way};
use super::rules::{Rules, RulesError};
use super::sight::Sight;
use super::start::{BadSettings, Given, Plan, Reading};
use super::talk::{Answer, Failure};
use super::typing::Typing;
use super::version::Release;
use super::view::View;
use crate::session::Prompt;

const HABITS: Habits = Habits {
    arbiter: Source::Signal,
    // It follows its hooks by 50 ms; 680 ms were seen once.
    arbiter_lag_ms: 300,
    // Between a turn and the plan's dialog or the next message 60 ms were measured.
    arbiter_settles_ms: 200,
    stop_event: "Stop",
    stops_after_failure: false,
    // A queued message is told by its hook 150 ms later.
    stop_settles_ms: 500,
    // A question is drawn 25 ms after its hook. Where no question may be asked, the model is told so within 200 ms.
    opens_within_ms: 500,
    hook_tells_ready: false,
    // The first hook comes with the first message.
    speaks_within_ms: 1000,
    // 76 ms were measured.
    wakes_within_ms: 250,
    hook_hides_dialog: true,
    asks_in_order: true,
    // It offers another model when a limit is near.
    unasked: &["rate_limit_options"],
};

/// The driver for Codex CLI.
#[derive(Debug)]
pub struct Codex;

impl Driver for Codex {
    fn name(&self) -> &'static str {
        "Codex"
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

    fn prepare(&self, given: &Given<'_>, _read: Reading<'_>) -> Result<Plan, BadSettings> {
        setup::prepare(given)
    }

    fn prints_jsonl(&self, argv: &[OsString]) -> bool {
        Arguments::read(argv).prints_jsonl()
    }

    fn asks_for_bypass(&self, argv: &[OsString]) -> bool {
        Arguments::read(argv).asks_for_bypass()
    }

    fn hear(&self, event: &str, payload: &Value, _now: EpochMs) -> Heard {
        hear::hear(event, payload)
    }

    fn is_agreed(&self, asked: &Asked, agreed: &[Done]) -> bool {
        agreed::covers(asked, agreed)
    }

    fn read_line(&self, line: &str, now: EpochMs) -> Result<LogFacts, BadLine> {
        log::read_line(line, now)
    }

    fn printed(&self) -> Box<dyn Printed> {
        Box::<Stream>::default()
    }

    fn limit_ends(&self, words: &str, now: EpochMs) -> Option<EpochMs> {
        resets::reset_time(words, now, jiff::tz::TimeZone::system())
    }

    fn look(&self, rules: &Rules, sight: Sight<'_>) -> Look {
        screen::look(rules, sight)
    }

    fn title(&self, title: &str) -> Option<Sign> {
        signal::title(title)
    }

    fn signal(&self, text: &str) -> Option<Sign> {
        signal::signal(text)
    }

    /// Its name has the time of its beginning in it: it can be found, but not foretold.
    fn log_path(&self, config_dir: &Path, _workspace: &Path, conversation: &str) -> Option<PathBuf> {
        paths::find_log(config_dir, conversation).ok().flatten()
    }

    fn own_log(&self, config_dir: &Path, workspace: &Path, pid: u32, started: EpochMs) -> Option<PathBuf> {
        own_log::find(config_dir, workspace, pid, started)
    }

    fn find_log(&self, config_dir: &Path, conversation: &str) -> io::Result<Option<PathBuf>> {
        paths::find_log(config_dir, conversation)
    }

    fn logs_of(&self, config_dir: &Path, workspace: &Path) -> io::Result<Vec<PathBuf>> {
        paths::logs_of(config_dir, workspace)
    }

    fn conversation_of(&self, log: &Path) -> Option<String> {
        paths::conversation_of(log).map(str::to_owned)
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

    fn groom_steps(&self, dialog: &Dialog, _bypass_was_asked: bool) -> Option<Vec<Step>> {
        respond::groom_steps(dialog)
    }
}

#[cfg(test)]
mod tests;
