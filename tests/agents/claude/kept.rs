//! In what Claude Code differs from other agents, where all of them keep the same promise.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Claude, ClaudeCode, House, Options};
use crate::model::{Script, ToolResult};
use crate::promises::Kept;

impl Kept for ClaudeCode {
    const LEAVE: &str = "/exit";
    const SHOWS_QUEUE: &str = "edit queued messages";
    const LIKE_COMMANDS: &[&str] =
        &["/exit", "/compact now please", "/nonsense", "!touch marker", "/tmp/x is a path", "!", "/"];
    const KEEPS_ITS_NAME_UNUSED: bool = true;
    const REFUSAL_ENDS_THE_TURN: bool = true;
    /// A few minutes' worth.
    const ROUNDS: u64 = 40;
    const HOOKS: [&str; 4] = ["Stop", "PermissionRequest", "UserPromptSubmit", "PreToolUse"];
    const CHATTER: (&str, &str) = ("MessageDisplay", "delta");
    const COUNTS_CACHE_WRITES: bool = true;
    const HOME_VARIABLE: &str = "CLAUDE_CONFIG_DIR";
    const SEEDED: &[(&str, &str)] = &[(".claude.json", ".claude.json")];

    fn guarded(message: &str) -> String {
        format!(" {message}")
    }

    fn unasked(mut options: Options, commands: &[&str]) -> Options {
        let config = options.agent_config.get_or_insert_with(|| json!({}));
        let allowed = &mut config["settings"]["permissions"]["allow"];
        let mut rules = allowed.as_array().cloned().unwrap_or_default();
        rules.extend(commands.iter().map(|command| Value::from(format!("Bash({command}:*)"))));
        *allowed = rules.into();
        options
    }

    fn exit_code(result: &ToolResult) -> i32 {
        i32::from(result.is_error)
    }

    fn chosen(label: &str) -> String {
        format!("=\"{label}\"")
    }

    async fn plans(agent: &Claude, message: &str) -> Vec<String> {
        agent.model.plays(Script::new().tool("EnterPlanMode", json!({})).plan("# Plan\n\n1. Go\n").text("Planned."));
        agent.told(message).await;
        agent.goes(["working", "prompt:plan"]).await;
        agent.answered(json!({"option": 2})).await;
        agent.goes(["working", "idle"]).await;
        vec![message.to_owned()]
    }

    fn logs(house: &House) -> Vec<PathBuf> {
        house.logs()
    }
}
