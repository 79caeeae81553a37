//! How Codex's dialogs are answered: through the hook that asked where one waits, by keys otherwise.
//!
//! Keys as seen in 0.166.0: a digit alone chooses in the dialogs of tools, questions and plans, and Enter is never added:
//! it would answer the dialog that comes next. In the dialogs of the start a digit only moves the mark. Refusing a tool
//! by key ends the turn; told through its hook, the model reads the reason and goes on.

use serde_json::{Value, json};

use super::hear::{NO, YES, YES_ALWAYS};
use crate::agent::answers::{check_one_kind, in_range, option_like, refuse_answers, refuse_words, remaining};
use crate::agent::look::Dialog;
use crate::agent::press::{Step, Way};
use crate::agent::talk::{Answer, Failure};
use crate::agent::view::View;
use crate::session::{Prompt, PromptKind};

const DOWN: &str = "\x1b[B";
const TAB: &str = "\t";

/// Stands behind the options of every question, and takes own words.
const OWN_WORDS: &str = "None of the above";

/// Why the agent must not go on, when nobody says more.
const REFUSED: &str = "The user refused this.";

/// What somebody decides about a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Permission {
    Yes,
    /// Now and later.
    Always,
    No {
        reason: Option<String>,
    },
}

/// Finds the way to give an answer, or says what would be one.
pub fn way(view: &View, prompt: &Prompt, answer: &Answer) -> Result<Way, Failure> {
    check_one_kind(answer)?;
    match prompt.kind {
        PromptKind::Permission if prompt.subtype.as_deref() == Some("trust") => setup(prompt, answer),
        PromptKind::Permission if view.open_question => Ok(told(permission(prompt, answer)?)),
        PromptKind::Permission => pressed(prompt, answer),
        PromptKind::Question => question(view, prompt, answer),
        PromptKind::Plan => plan(prompt, answer),
        PromptKind::Setup => setup(prompt, answer),
    }
}

/// What an answer decides.
fn permission(prompt: &Prompt, answer: &Answer) -> Result<Permission, Failure> {
    refuse_answers(answer)?;
    let reason = answer.text.clone();
    if let Some(option) = answer.option {
        let option = in_range("option", option, prompt.options.len())?;
        let is_like = |label| option_like(prompt, label) == Some(option);
        return match reason {
            _ if is_like("No") => Ok(Permission::No { reason }),
            Some(_) => Err(bad("text: it goes with a refusal, as the reason that the agent is told")),
            None if is_like(YES_ALWAYS) => Ok(Permission::Always),
            None if is_like("Yes") => Ok(Permission::Yes),
            None => Err(bad("this option is not known: give accept")),
        };
    }
    match (answer.accept, reason) {
        (Some(true), None) => Ok(Permission::Yes),
        (Some(false), reason) => Ok(Permission::No { reason }),
        _ => Err(bad("text: it goes with accept:false here, as the reason that the agent is told")),
    }
}

/// What the hook that waits is told; the keys are for the case that it has left.
fn told(permission: Permission) -> Way {
    let (decision, keys) = match permission {
        Permission::Yes => (json!({"behavior": "allow"}), Some(vec![Step::ChooseLike(YES)])),
        // Only the dialog knows what shall not be asked again.
        Permission::Always => return Way::Undecided(vec![Step::ChooseLike(YES_ALWAYS)]),
        Permission::No { reason: None } => {
            (json!({"behavior": "deny", "message": REFUSED}), Some(vec![Step::ChooseLike(NO)]))
        }
        Permission::No { reason: Some(reason) } => (json!({"behavior": "deny", "message": reason}), None),
    };
    Way::Decision { decision: Box::new(move |_| decided(&decision)), keys }
}

fn decided(decision: &Value) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
}

/// No hook waits: the dialog is answered by one key.
fn pressed(prompt: &Prompt, answer: &Answer) -> Result<Way, Failure> {
    refuse_answers(answer)?;
    if answer.text.is_some() {
        let message = "text: no hook waits that could tell it to the agent, and refusing in Codex's own dialog ends the \
                       turn: give accept:false, then nudge the text";
        return Err(bad(message));
    }
    let option = match (answer.option, answer.accept) {
        (Some(option), _) => in_range("option", option, prompt.options.len())?,
        (None, Some(true)) => {
            let yes = option_like(prompt, "Yes").or(option_like(prompt, "Allow"));
            yes.ok_or_else(|| bad("the dialog has no yes: give an option"))?
        }
        (None, _) => return Ok(Way::Keys(vec![option_like(prompt, "No").map_or(Step::Dismiss, Step::Choose)])),
    };
    // The form in which a server's tool asks was not seen to take digits.
    let is_form = prompt.subtype.as_deref() == Some("mcp");
    Ok(Way::Keys(if is_form { marked(option) } else { vec![Step::Choose(option)] }))
}

fn plan(prompt: &Prompt, answer: &Answer) -> Result<Way, Failure> {
    refuse_answers(answer)?;
    if answer.text.is_some() {
        let message = "text: Codex's plan dialog takes none; give accept:false, then nudge what shall be changed";
        return Err(bad(message));
    }
    let step = match (answer.option, answer.accept) {
        (Some(option), _) => Step::Choose(in_range("option", option, prompt.options.len())?),
        // Not the one that forgets the conversation.
        (None, Some(true)) => Step::Choose(option_like(prompt, "Yes, implement this plan").ok_or_else(not_drawn)?),
        (None, _) => option_like(prompt, "No").map_or(Step::Dismiss, Step::Choose),
    };
    Ok(Way::Keys(vec![step]))
}

fn question(view: &View, prompt: &Prompt, answer: &Answer) -> Result<Way, Failure> {
    if answer.accept == Some(false) {
        // It ends the turn.
        refuse_words(answer)?;
        return Ok(Way::Keys(vec![Step::Dismiss]));
    }
    // The row that Codex adds is an answer, too.
    if let (Some(none), [_], None) = (option_like(prompt, OWN_WORDS), &prompt.questions[..], &answer.text)
        && answer.option == Some(none)
    {
        return Ok(Way::Keys(vec![Step::Choose(none)]));
    }
    let mut steps = Vec::new();
    for (number, question, chosen) in remaining(prompt, answer)? {
        let Some(text) = chosen.text else {
            steps.extend(chosen.option.map(Step::Choose));
            continue;
        };
        let own = question.options.iter().position(|label| label.starts_with(OWN_WORDS));
        let own = own.unwrap_or(question.options.len());
        // A digit would answer at once: the mark is moved there, one row after the other.
        let marked =
            view.look.dialog.as_ref().and_then(|dialog| dialog.selected).filter(|_| number == prompt.question_current);
        steps.extend(std::iter::repeat_n(Step::Key(DOWN), own.saturating_sub(marked.unwrap_or(0))));
        steps.extend([Step::Key(TAB), Step::Type(text)]);
    }
    Ok(Way::Keys(steps))
}

/// Dialogs of the start, and those that change more than the present turn. `accept` is only taken where it can mean but
/// one thing: in others Enter updates Codex, or changes the model.
fn setup(prompt: &Prompt, answer: &Answer) -> Result<Way, Failure> {
    refuse_answers(answer)?;
    let subtype = prompt.subtype.as_deref().unwrap_or_default();
    if let Some(text) = &answer.text {
        if subtype == "api_key" {
            return Ok(Way::Keys(vec![Step::Type(text.clone())]));
        }
        return Err(bad("text: this dialog takes none; give option, or use the input call"));
    }
    if let Some(option) = answer.option {
        let option = in_range("option", option, prompt.options.len())?;
        // Here a digit chooses.
        let steps = if subtype == "login_method" { vec![Step::Choose(option)] } else { marked(option) };
        return Ok(Way::Keys(steps));
    }
    let accepts = answer.accept == Some(true);
    let label = match (subtype, accepts) {
        ("trust", true) => "Trust",
        ("trust", false) => "Quit",
        // Esc confirms what is marked, here.
        ("model_migration", false) => "Use existing",
        ("rate_limit_options", false) => "Keep current",
        (_, false) => return Ok(Way::Keys(vec![Step::Dismiss])),
        ("api_key", true) => return Err(bad("this dialog needs text: the key")),
        (_, true) if prompt.options.is_empty() => {
            return Err(bad("what Enter would do here is not known: use the input call, or give accept:false"));
        }
        (_, true) => return Err(bad(&format!("this dialog needs an option, 1 to {}", prompt.options.len()))),
    };
    Ok(Way::Keys(marked(option_like(prompt, label).ok_or_else(not_drawn)?)))
}

/// Moves the mark, sees it there, and confirms.
fn marked(option: u32) -> Vec<Step> {
    vec![Step::Select(option), Step::Enter]
}

/// What passes a dialog of the agent's start that does no harm; `None` leaves it to somebody who decides. Hooks that wait
/// for a review are never trusted by coop.
pub fn groom_steps(dialog: &Dialog) -> Option<Vec<Step>> {
    let label = match dialog.prompt.subtype.as_deref()? {
        // The operator started the agent here.
        "trust" => "Trust",
        "model_migration" => "Use existing",
        "rate_limit_options" => "Keep current",
        "update" => return Some(vec![Step::Dismiss]),
        _ => return None,
    };
    Some(marked(option_like(&dialog.prompt, label)?))
}

fn not_drawn() -> Failure {
    bad("the options of this dialog are not known yet: try again in a moment")
}

fn bad(message: &str) -> Failure {
    Failure::Bad(message.to_owned())
}

#[cfg(test)]
mod tests;
