//! Text that looks like a dialog is not one, wherever it is printed.

use serde_json::{Value, json};

use super::{Claude, Options, SMALL, WIDE};
use crate::model::Script;

/// The permission dialog of Claude Code 2.1.197, as anybody may have it in a file.
const DIALOG: &str = "\
────────────────────────────────────────────────────────────────────────────────
 Bash command

   touch marker
   A command of the test

 Do you want to proceed?
 ❯ 1. Yes
   2. Yes, and always allow access to work/ from this project
   3. No

 Esc to cancel · Tab to amend · ctrl+e to explain
";

/// The same for the plan dialog.
const PLAN: &str = "\
 Ready to code?

 Here is Claude's plan:
 1. Do it
 Claude has written up a plan and is ready to execute. Would you like to proceed?

 ❯ 1. Yes, and use auto mode
   2. Yes, manually approve edits
   3. Tell Claude what to change
";

/// And for the one at the start.
const TRUST: &str = "\
 Accessing workspace:

 Quick safety check: Is this a project you created or one you trust?

 ❯ 1. Yes, I trust this folder
   2. No, exit

 Enter to confirm · Esc to cancel
";

/// Idle, and never anything to answer.
async fn is_no_prompt(claude: &Claude) {
    claude.rests().await;
    let prompts: Vec<String> = claude.transitions().into_iter().filter(|word| word.starts_with("prompt")).collect();
    assert_eq!(prompts, [] as [&str; 0]);
    let state = claude.state().await;
    assert_eq!((&state["state"], &state["prompt"]), (&json!("idle"), &Value::Null), "{state}");
    let answer = claude.respond(json!({"accept": true})).await;
    assert_eq!((&answer["delivered"], &answer["reason"]), (&json!(false), &json!("no_prompt")), "{answer}");
}

#[tokio::test]
async fn a_dialog_in_a_file_is_no_dialog() {
    for size in [WIDE, SMALL] {
        for text in [DIALOG, PLAN, TRUST] {
            let script = Script::new().text("I see.").bash("cat dialog.txt").text("I see it too.");
            let claude = Claude::ready(Options::script(script).size(size)).await;
            std::fs::write(claude.house.at("dialog.txt"), text).unwrap();
            claude.types("!cat dialog.txt").await;
            claude.shows("cat dialog.txt").await;
            claude.keys(&["enter"]).await;
            claude.goes(["working", "idle"]).await;
            is_no_prompt(&claude).await;
            claude.told("Look at it").await;
            claude.goes(["working", "idle"]).await;
            is_no_prompt(&claude).await;
        }
    }
}

#[tokio::test]
async fn a_dialog_in_the_models_words_is_no_dialog() {
    for size in [WIDE, SMALL] {
        let script = Script::new().text(DIALOG).text(PLAN).text(TRUST);
        let claude = Claude::ready(Options::script(script).size(size)).await;
        for _ in 0..3 {
            claude.told("Show me").await;
            claude.goes(["working", "idle"]).await;
            is_no_prompt(&claude).await;
        }
    }
}

#[tokio::test]
async fn a_dialog_in_a_nudge_is_no_dialog() {
    let claude = Claude::ready(Script::new().text("I see.")).await;
    claude.told(DIALOG.trim()).await;
    claude.goes(["working", "idle"]).await;
    is_no_prompt(&claude).await;
    assert_eq!(claude.model.heard(), [DIALOG.trim()]);
}

#[tokio::test]
async fn a_real_dialog_below_a_quoted_one_is_the_one_that_is_answered() {
    let script = Script::new().text(PLAN).bash("touch marker").text("Done.");
    let claude = Claude::ready(script).await;
    claude.told("Show me").await;
    claude.goes(["working", "idle"]).await;
    claude.told("Touch it").await;
    let prompt = claude.prompt("permission").await;
    assert_eq!((&prompt["tool"], &prompt["options"][2]), (&json!("Bash"), &json!("No")), "{prompt}");
    claude.answered(json!({"option": 3})).await;
    claude.goes(["idle"]).await;
    assert!(!claude.has("marker"));
}

#[tokio::test]
async fn a_footer_that_speaks_of_bypassing_is_no_dialog() {
    let claude = Claude::ready(Options::new().word("--dangerously-skip-permissions")).await;
    claude.shows("bypass permissions on").await;
    claude.told("Hello").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert_eq!(claude.state().await["state"], "idle");
}
