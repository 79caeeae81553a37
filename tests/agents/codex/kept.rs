//! In what Codex CLI differs from other agents, where all of them keep the same promise.

use std::path::PathBuf;

use serde_json::json;

use super::scenes::{BYPASS, inside};
use super::{Codex, CodexCli, House, Options};
use crate::model::{Script, ToolResult};
use crate::promises::Kept;

impl Kept for CodexCli {
    const LEAVE: &str = "/quit";
    const TAKE_BACK: &[&str] = &["shift-left"];
    const SHOWS_QUEUE: &str = "Queued follow-up inputs";
    const LIKE_COMMANDS: &[&str] = &[
        "/quit",
        "/compact now please",
        "/nonsense",
        "!touch marker",
        "/tmp/x is a path",
        "!",
        "/",
        // Codex takes such blanks off, too.
        "\u{a0}!touch marker",
        "\u{3000}/quit",
    ];
    const BEGINS_WITH_A_MESSAGE: bool = true;
    const REFUSAL_ENDS_THE_TURN: bool = false;
    // A hook waits meanwhile, and it draws that.
    const SILENT_WHILE_ASKING: bool = false;
    /// Half a minute's worth.
    const ROUNDS: u64 = 12;
    const HOOKS: [&str; 4] = ["Stop", "PermissionRequest", "UserPromptSubmit", "PreToolUse"];
    const CHATTER: (&str, &str) = ("MessageDisplay", "delta");
    const HOME_VARIABLE: &str = "CODEX_HOME";
    const SEEDED: &[(&str, &str)] = &[(".codex/config.toml", "config.toml")];

    fn guarded(message: &str) -> String {
        // The space before a slash is gone when it arrives.
        match message.trim_start() {
            shell if shell.starts_with('!') => format!("\u{200b}{message}"),
            slash => slash.to_owned(),
        }
    }

    fn runs(script: Script, command: &str) -> Script {
        script.tools(&[inside(command)])
    }

    fn unasked(options: Options, _commands: &[&str]) -> Options {
        if options.words.iter().any(|word| word == BYPASS) { options } else { options.word(BYPASS) }
    }

    fn exit_code(result: &ToolResult) -> i32 {
        let code = result.text.split("exited with code ").nth(1).expect("the code of a command that has ended");
        code.split_whitespace().next().unwrap_or_default().parse().expect("a number")
    }

    /// It runs commands in a login shell, which has a PATH of its own; the instructions name coop by its place, too.
    fn coop() -> String {
        crate::support::binary().display().to_string()
    }

    fn asking(options: Options) -> Options {
        options.asking()
    }

    async fn plans(agent: &Codex, message: &str) -> Vec<String> {
        agent.model.plays(Script::new().plan("# Plan\n\n1. Go\n").text("Planned."));
        agent.plans().await;
        agent.told(message).await;
        agent.goes(["working", "prompt:plan"]).await;
        agent.answered(json!({"option": 1})).await;
        agent.goes(["working", "idle"]).await;
        // What it says to itself then.
        vec![message.to_owned(), "Implement the plan.".to_owned()]
    }

    fn ungroomed(options: Options) -> Options {
        options.untouched()
    }

    fn logs(house: &House) -> Vec<PathBuf> {
        house.logs()
    }
}
