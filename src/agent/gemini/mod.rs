//! Gemini CLI, as measured with version 0.61.0.

mod arguments;
mod hear;
mod hooks;
mod log;
mod nudge;
mod paths;
mod resets;
mod respond;
mod screen;
mod setup;
mod stream;
mod trouble;
pub mod version;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::arguments::Arguments;
use self::stream::Stream;
use super::driver::{Driver, Habits, Sign};
use super::evidence::{Claim, EpochMs, Source};
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
    arbiter: Source::Title,
    // 410 ms were measured at the beginning of a turn, 750 ms at its end.
    arbiter_lag_ms: 1000,
    // It is written when a turn's end is drawn.
    arbiter_settles_ms: 150,
    stop_event: "AfterAgent",
    stops_after_failure: true,
    // 750 ms were measured.
    stop_settles_ms: 800,
    // The dialog is drawn when its hook has ended: 1350 ms after that began were measured.
    opens_within_ms: 3000,
    hook_tells_ready: true,
    // 3.5 s were measured.
    speaks_within_ms: 10_000,
    wakes_within_ms: 0,
    hook_hides_dialog: false,
    // "1 of 2" is the first that was announced.
    asks_in_order: true,
    unasked: &[],
};

/// Stands under an answered trust dialog until the program was started anew. An extension's hooks have told of a start
/// behind that dialog, and will tell of another.
const RESTARTS: &str = "Gemini CLI is restarting to apply the trust changes";

/// The driver for Gemini CLI.
#[derive(Debug)]
pub struct Gemini;

impl Driver for Gemini {
    fn name(&self) -> &'static str {
        "Gemini CLI"
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

    fn takes_context_as_json(&self) -> bool {
        true
    }

    fn hear(&self, event: &str, payload: &Value, _now: EpochMs) -> Heard {
        hear::hear(event, payload)
    }

    fn completed(&self, asked: Asked, begun: &[Done], unasked: &[Done]) -> Asked {
        hear::completed(asked, begun, unasked)
    }

    fn read_line(&self, line: &str, now: EpochMs) -> Result<LogFacts, BadLine> {
        log::read_line(line, now)
    }

    fn printed(&self) -> Box<dyn Printed> {
        Box::<Stream>::default()
    }

    fn look(&self, rules: &Rules, sight: Sight<'_>) -> Look {
        let mut look = screen::look(rules, sight);
        let shows_nothing_else = look.input_box.is_none() && look.dialog.is_none();
        look.restarts = shows_nothing_else && sight.rows.iter().any(|row| row.trim().starts_with(RESTARTS));
        look
    }

    fn limit_ends(&self, words: &str, now: EpochMs) -> Option<EpochMs> {
        resets::reset_time(words, now)
    }

    /// `◇  Ready (project)`, `✦  Working… (project)`, `✋  Action Required (project)`; the clock is a long silence of a
    /// tool. Dialogs that are no tool's are not told: Ready while it asks for trust, Working at a limit.
    fn title(&self, title: &str) -> Option<Sign> {
        match title.chars().next()? {
            '◇' => Some(Sign::new("Ready", Claim::Idle)),
            '✦' | '⏲' => Some(Sign::new("Working", Claim::Working)),
            '✋' => Some(Sign::new("Action Required", Claim::Waiting)),
            _ => None,
        }
    }

    fn log_path(&self, config_dir: &Path, _workspace: &Path, conversation: &str) -> Option<PathBuf> {
        paths::find_log(config_dir, conversation).ok().flatten()
    }

    fn own_log(&self, config_dir: &Path, workspace: &Path, _pid: u32, started: EpochMs) -> Option<PathBuf> {
        paths::log_since(config_dir, workspace, started)
    }

    fn find_log(&self, config_dir: &Path, conversation: &str) -> io::Result<Option<PathBuf>> {
        paths::find_log(config_dir, conversation)
    }

    fn logs_of(&self, config_dir: &Path, workspace: &Path) -> io::Result<Vec<PathBuf>> {
        paths::logs_of(config_dir, workspace)
    }

    fn conversation_of(&self, log: &Path) -> Option<String> {
        paths::conversation_of(log)
    }

    fn typing(&self) -> &'static Typing {
        &nudge::TYPING
    }

    fn guarded(&self, text: &str, is_command: bool) -> Result<String, Failure> {
        Ok(nudge::guarded(text, is_command))
    }

    fn way(&self, view: &View, prompt: &Prompt, answer: &Answer) -> Result<Way, Failure> {
        respond::way(view.look.dialog.as_ref(), prompt, answer)
    }

    fn groom_steps(&self, dialog: &Dialog, _bypass_was_asked: bool) -> Option<Vec<Step>> {
        respond::groom_steps(dialog)
    }
}

#[cfg(test)]
mod tests;
