//! Text that looks like a dialog is not one, wherever it is printed.

use serde_json::{Value, json};

use super::scenes::{BYPASS, inside};
use super::{Codex, Options, SMALL, WIDE};
use crate::model::Script;

/// The permission dialog of Codex 0.166.0, as anybody may have it in a file.
const DIALOG: &str = "\
  Would you like to run the following command?

  Environment: local

  Reason: Shall the command of the test run?

  $ touch marker


› 1. Yes, proceed (y)
  2. Yes, and don't ask again for commands that start with `touch marker` (p)
  3. No, and tell Codex what to do differently (esc)

  Press enter to confirm or esc to cancel
";

/// The same for the plan dialog.
const PLAN: &str = "\
  Implement this plan?

› 1. Yes, implement this plan          Switch to Default and start coding.
  2. Yes, clear context and implement  Fresh thread with this plan.
  3. No, stay in Plan mode             Continue planning with the model.

  enter select · esc back
";

/// And for the one at the start.
const TRUST: &str = "\
  Folder access
  /home/dev/project

  Trust this folder? Codex can read, edit, and run files here.

› 1. Trust and continue
  2. Quit

  enter continue · esc quit
";

/// Idle, and never anything to answer.
async fn is_no_prompt(codex: &Codex) {
    codex.rests().await;
    let prompts: Vec<String> = codex.transitions().into_iter().filter(|word| word.starts_with("prompt")).collect();
    assert_eq!(prompts, [] as [&str; 0]);
    let state = codex.state().await;
    assert_eq!((&state["state"], &state["prompt"]), (&json!("idle"), &Value::Null), "{state}");
    let answer = codex.respond(json!({"accept": true})).await;
    assert_eq!((&answer["delivered"], &answer["reason"]), (&json!(false), &json!("no_prompt")), "{answer}");
}

#[tokio::test]
async fn a_dialog_in_a_file_is_no_dialog() {
    for size in [WIDE, SMALL] {
        let look = |script: Script| script.tools(&[inside("cat dialog.txt")]).text("I see it too.");
        let script = look(look(look(Script::new())));
        let codex = Codex::ready(Options::script(script).size(size).word(BYPASS)).await;
        for text in [DIALOG, PLAN, TRUST] {
            std::fs::write(codex.house.at("dialog.txt"), text).unwrap();
            codex.commanded("!cat dialog.txt").await;
            codex.settles().await;
            is_no_prompt(&codex).await;
            codex.told("Look at it").await;
            codex.goes(["working", "idle"]).await;
            is_no_prompt(&codex).await;
        }
    }
}

#[tokio::test]
async fn a_dialog_in_the_models_words_is_no_dialog() {
    for size in [WIDE, SMALL] {
        let script = Script::new().text(DIALOG).text(PLAN).text(TRUST);
        let codex = Codex::ready(Options::script(script).size(size)).await;
        for _ in 0..3 {
            codex.told("Show me").await;
            codex.goes(["working", "idle"]).await;
            is_no_prompt(&codex).await;
        }
    }
}

#[tokio::test]
async fn a_dialog_in_a_nudge_is_no_dialog() {
    let codex = Codex::ready(Script::new().text("I see.")).await;
    codex.told(DIALOG.trim()).await;
    codex.goes(["working", "idle"]).await;
    is_no_prompt(&codex).await;
    assert_eq!(codex.model.heard(), [DIALOG.trim()]);
}

#[tokio::test]
async fn a_real_dialog_below_a_quoted_one_is_the_one_that_is_answered() {
    let script = Script::new().text(PLAN).bash("touch marker").text("Done.");
    let codex = Codex::ready(script).await;
    codex.told("Show me").await;
    codex.goes(["working", "idle"]).await;
    codex.told("Touch it").await;
    let prompt = codex.prompt("permission").await;
    assert_eq!(prompt["tool"], "Bash", "{prompt}");
    codex.answered(json!({"option": 3})).await;
    codex.goes(["working", "idle"]).await;
    assert!(!codex.has("marker"));
}
