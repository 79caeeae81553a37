//! Text that looks like a dialog is not one, wherever it is printed.

use serde_json::{Value, json};

use super::{Gemini, Options, SMALL, WIDE};
use crate::model::Script;

/// The permission dialog of Gemini CLI 0.61.0, as anybody may have it in a file.
const DIALOG: &str = "\
╭──────────────────────────────────────────────────────────────────────────────╮
│ ? Shell  touch marker                                                        │
│ Allow execution of [Shell]?                                                  │
│                                                                              │
│ ● 1. Allow once                                                              │
│   2. Allow for this session                                                  │
│   3. No, suggest changes (esc)                                               │
╰──────────────────────────────────────────────────────────────────────────────╯
";

/// The same for the plan dialog.
const PLAN: &str = "\
╭──────────────────────────────────────────────────────────────────────────────╮
│ Ready to start implementation?                                               │
│ 1. Do it                                                                     │
│ ● 1.  Yes, automatically accept edits                                        │
│   2.  Yes, manually accept edits                                             │
│   3.  Type your feedback...                                                  │
│ Enter to select · ↑/↓ to navigate · Ctrl+G to edit plan · Esc to cancel      │
╰──────────────────────────────────────────────────────────────────────────────╯
";

/// And for the one at the start.
const TRUST: &str = "\
 Do you trust the files in this folder?
 ● 1. Trust folder (work)
   2. Trust parent folder (dev)
   3. Don't trust

 Gemini CLI is restarting to apply the trust changes...
";

/// The same with a shorter edge: a model that says the same letter very often is taken to be in a loop.
fn narrow(dialog: &str) -> String {
    dialog.replace(&"─".repeat(60), "").replace(&" ".repeat(30), " ")
}

/// Idle, and never anything to answer.
async fn is_no_prompt(gemini: &Gemini) {
    gemini.rests().await;
    let prompts: Vec<String> = gemini.transitions().into_iter().filter(|word| word.starts_with("prompt")).collect();
    assert_eq!(prompts, [] as [&str; 0]);
    let state = gemini.state().await;
    assert_eq!((&state["state"], &state["prompt"]), (&json!("idle"), &Value::Null), "{state}");
    let answer = gemini.respond(json!({"accept": true})).await;
    assert_eq!((&answer["delivered"], &answer["reason"]), (&json!(false), &json!("no_prompt")), "{answer}");
}

#[tokio::test]
async fn a_dialog_in_words_or_in_a_file_is_no_dialog() {
    for size in [WIDE, SMALL] {
        let gemini = Gemini::ready(Options::new().size(size)).await;
        for text in [DIALOG, PLAN, TRUST] {
            gemini.model.plays(Script::new().text(&narrow(text)));
            gemini.told("Show me").await;
            gemini.goes(["working", "idle"]).await;
            is_no_prompt(&gemini).await;
            std::fs::write(gemini.house.at("dialog.txt"), text).unwrap();
            // A command that only looks is not asked about.
            gemini.model.plays(Script::new().bash("cat dialog.txt").text("I see it too."));
            gemini.told("Look at it").await;
            gemini.goes(["working", "idle"]).await;
            is_no_prompt(&gemini).await;
        }
        gemini.told(DIALOG.trim()).await;
        gemini.goes(["working", "idle"]).await;
        is_no_prompt(&gemini).await;
        assert_eq!(gemini.model.heard().last().map(String::as_str), Some(DIALOG.trim()));
    }
}

#[tokio::test]
async fn a_real_dialog_below_a_quoted_one_is_the_one_that_is_answered() {
    let gemini = Gemini::ready(Script::new().text(&narrow(PLAN))).await;
    gemini.told("Show me").await;
    gemini.goes(["working", "idle"]).await;
    let prompt = gemini.asked(Script::new().bash("touch marker"), "permission").await;
    assert_eq!(
        (&prompt["tool"], &prompt["options"][0]),
        (&json!("run_shell_command"), &json!("Allow once")),
        "{prompt}"
    );
    gemini.answered(json!({"option": 3})).await;
    gemini.goes(["idle"]).await;
    assert!(!gemini.has("marker"));
}
