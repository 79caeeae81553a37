//! In what Gemini CLI differs from other agents, where all of them keep the same promise.

use std::path::PathBuf;

use serde_json::json;

use super::{Gemini, GeminiCli, House, Options};
use crate::model::{Script, ToolResult};
use crate::promises::Kept;

/// Stands before a message that begins with a slash; see `nudge.rs` of the driver.
const GUARD: char = '\u{2060}';

impl Kept for GeminiCli {
    const LEAVE: &str = "/quit";
    const SHOWS_QUEUE: &str = "Queued (press";
    const LIKE_COMMANDS: &[&str] =
        &["/quit", "/compress now please", "/nonsense", "/tmp/x is a path", "/", "/ help", "\u{200b}/quit", "!"];
    // Not guarded, because a paste does not make it a command.
    const MESSAGES: &[&str] = &["!touch marker"];
    // Typed, the first end of a line would send it.
    const TYPED_LINES: &str = "\u{1b}[200~several\nlines\nleft over\u{1b}[201~";
    const REFUSAL_ENDS_THE_TURN: bool = true;
    const REFUSES_WITH_WORDS: bool = false;
    const SILENT_BEFORE_THE_END: bool = true;
    /// A few minutes' worth.
    const ROUNDS: u64 = 15;
    const HOOKS: [&str; 4] = ["AfterAgent", "Notification", "BeforeAgent", "BeforeTool"];
    const CHATTER: (&str, &str) = ("AfterModel", "llm_response");
    // Which directories it knows, and the like.
    const LOGS_ITS_START: bool = true;
    const HOME_VARIABLE: &str = "GEMINI_CLI_HOME";
    const SEEDED: &[(&str, &str)] = &[
        (".gemini/settings.json", ".gemini/settings.json"),
        (".gemini/trustedFolders.json", ".gemini/trustedFolders.json"),
    ];

    fn guarded(message: &str) -> String {
        // Letters that nobody sees would hide the slash from the guard, and are taken away.
        let seen = message.trim_start_matches('\u{200b}');
        if seen.starts_with('/') { format!("{GUARD}{seen}") } else { seen.to_owned() }
    }

    fn unasked(options: Options, _commands: &[&str]) -> Options {
        if options.words.iter().any(|word| word == "--yolo") { options } else { options.word("--yolo") }
    }

    fn exit_code(result: &ToolResult) -> i32 {
        let code = result.text.split("Exit Code: ").nth(1);
        code.map_or(0, |code| code.split_whitespace().next().unwrap_or_default().parse().expect("a number"))
    }

    /// Where only the screen tells, a list that scrolls is never known whole.
    async fn asked(agent: &Gemini) {
        agent.until("prompt:question").await;
        agent.shows("Enter to select").await;
    }

    async fn plans(agent: &Gemini, message: &str) -> Vec<String> {
        let script = Script::new().tool("enter_plan_mode", json!({"reason": "It is complex"}));
        agent.model.plays(script.plan("# Plan\n\n1. Go\n").text("Planned."));
        agent.told(message).await;
        agent.goes(["working", "prompt:permission"]).await;
        agent.answered(json!({"accept": true})).await;
        agent.goes(["working", "prompt:plan"]).await;
        agent.answered(json!({"option": 2})).await;
        agent.goes(["working", "idle"]).await;
        vec![message.to_owned()]
    }

    fn logs(house: &House) -> Vec<PathBuf> {
        house.logs()
    }
}
