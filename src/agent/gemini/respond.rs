//! How Gemini CLI's dialogs are answered: by keys, because its hooks are only told of them.
//!
//! Keys as seen in 0.61.0: a digit alone chooses in every numbered list. Letters are ignored, and Enter takes what is
//! marked, which is "Allow once" at first: it is only sent where a text was typed, or where no list is. The digit that
//! refuses is another one in each dialog, while Escape refuses in all of them; either ends the turn.

use crate::agent::answers::{
    check_one_kind, in_range, is_one_by_one, option_like, refuse_answers, refuse_gaps, refuse_words, remaining, ticked,
};
use crate::agent::look::{Dialog, Tab};
use crate::agent::press::{Step, Way};
use crate::agent::talk::{Answer, Chosen, Failure};
use crate::session::{Prompt, PromptKind, Question};

/// The row of a list of several that leaves it, when it is marked.
const DONE: &str = "●Done";

/// Finds the way to give an answer, or says what would be one.
pub fn way(shown: Option<&Dialog>, prompt: &Prompt, answer: &Answer) -> Result<Way, Failure> {
    check_one_kind(answer)?;
    let tabs = shown.map_or(&[][..], |dialog| &dialog.tabs);
    let keys = match prompt.kind {
        PromptKind::Permission if prompt.subtype.as_deref() == Some("trust") => setup(shown, prompt, answer),
        PromptKind::Permission => permission(prompt, answer),
        PromptKind::Plan => plan(prompt, answer),
        PromptKind::Question => question(tabs, prompt, answer),
        PromptKind::Setup => setup(shown, prompt, answer),
    }?;
    Ok(Way::Keys(keys))
}

fn bad(message: impl Into<String>) -> Failure {
    Failure::Bad(message.into())
}

fn permission(prompt: &Prompt, answer: &Answer) -> Result<Vec<Step>, Failure> {
    refuse_answers(answer)?;
    if answer.text.is_some() {
        return Err(bad(
            "text: Gemini CLI takes none with a permission, and to refuse one ends its turn; give accept:false alone, \
             and tell it the reason in the next message",
        ));
    }
    if let Some(option) = answer.option {
        let option = in_range("option", option, prompt.options.len())?;
        // An editor would open on the terminal, where nobody sees it.
        if option_like(prompt, "Modify with external editor") == Some(option) {
            return Err(bad(format!(
                "option {option} opens an editor on the terminal: accept, or refuse and tell why"
            )));
        }
        return Ok(vec![Step::Choose(option)]);
    }
    match answer.accept {
        Some(false) => Ok(vec![Step::Dismiss]),
        _ => Ok(vec![Step::Choose(option_like(prompt, "Allow once").ok_or_else(unknown)?)]),
    }
}

fn plan(prompt: &Prompt, answer: &Answer) -> Result<Vec<Step>, Failure> {
    refuse_answers(answer)?;
    let feedback = option_like(prompt, "Type your feedback");
    let told = |own: u32, text: &String| vec![Step::Focus(own), Step::Type(text.clone())];
    if let Some(option) = answer.option {
        let option = in_range("option", option, prompt.options.len())?;
        return match (&answer.text, feedback) {
            (Some(text), Some(own)) if own == option => Ok(told(own, text)),
            (None, Some(own)) if own == option => {
                Err(bad(format!("option {option} needs text: what shall be changed")))
            }
            (Some(_), _) => Err(bad("text: it goes with the option that asks for it, or alone")),
            (None, _) => Ok(vec![Step::Choose(option)]),
        };
    }
    match (answer.accept, &answer.text) {
        (Some(true), Some(_)) => Err(bad("text: a plan is accepted as it is, or refused with text")),
        // Not the first option, which also turns on a mode that asks less: the careful one.
        (Some(true), None) => {
            let careful = option_like(prompt, "Yes, manually").or(option_like(prompt, "Yes"));
            Ok(vec![Step::Choose(careful.ok_or_else(unknown)?)])
        }
        (_, Some(text)) => Ok(told(feedback.ok_or_else(unknown)?, text)),
        (_, None) => Ok(vec![Step::Dismiss]),
    }
}

fn setup(shown: Option<&Dialog>, prompt: &Prompt, answer: &Answer) -> Result<Vec<Step>, Failure> {
    refuse_answers(answer)?;
    let is_key = prompt.subtype.as_deref() == Some("api_key");
    if let Some(text) = &answer.text {
        return match is_key {
            // One that stands there already would only become longer.
            true if is_typable_key(text) => Ok(vec![Step::Empty, Step::Type(text.clone())]),
            true => Err(bad("text: a key has letters, digits, dots, dashes and underscores only")),
            false => Err(bad("text: this dialog takes none; give option, or use the input call")),
        };
    }
    if let Some(option) = answer.option {
        return Ok(vec![Step::Choose(in_range("option", option, prompt.options.len())?)]);
    }
    if answer.accept == Some(false) {
        let stop = option_like(prompt, "Stop").or(option_like(prompt, "Don't trust"));
        return Ok(vec![stop.map_or(Step::Dismiss, Step::Choose)]);
    }
    if is_key {
        // The one that stands there.
        let is_given = shown.is_some_and(|dialog| dialog.free_text_focused && !dialog.typed.is_empty());
        return if is_given { Ok(vec![Step::Enter]) } else { Err(bad("this dialog needs text: the key")) };
    }
    if prompt.options.is_empty() {
        return Err(bad("what Enter would do here is not known: use the input call, or give accept:false"));
    }
    let yes = match prompt.subtype.as_deref() {
        Some("trust") => option_like(prompt, "Trust folder"),
        Some("quota" | "high_demand") => option_like(prompt, "Keep trying"),
        Some("loop") => option_like(prompt, "Keep loop detection"),
        _ => None,
    };
    let needed = || bad(format!("this dialog needs an option, 1 to {}", prompt.options.len()));
    Ok(vec![Step::Choose(yes.ok_or_else(needed)?)])
}

/// Gemini drops all else without a word, so that another key would be sent than the one that was given.
fn is_typable_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

fn question(tabs: &[Tab], prompt: &Prompt, answer: &Answer) -> Result<Vec<Step>, Failure> {
    if answer.accept == Some(false) {
        refuse_words(answer)?;
        return Ok(vec![Step::Dismiss]);
    }
    let is_review = prompt.question_current >= prompt.questions.len();
    if is_review && answer.accept == Some(true) {
        return Ok(vec![Step::Enter]);
    }
    refuse_gaps(tabs, prompt)?;
    let several = prompt.questions.len() > 1 && !is_one_by_one(prompt);
    let mut steps = Vec::new();
    for (number, question, chosen) in remaining(prompt, answer)? {
        steps.extend(one_question(question, &chosen)?);
        steps.extend(several.then_some(Step::Await(number + 1)));
    }
    if several {
        // "Review your answers": nothing is marked there, and Enter submits them.
        steps.push(Step::Enter);
    }
    Ok(steps)
}

fn one_question(question: &Question, chosen: &Chosen) -> Result<Vec<Step>, Failure> {
    let row = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let count = question.options.len();
    Ok(match (&chosen.text, question.multi_select) {
        (Some(text), _) if count == 0 => vec![Step::Type(text.clone())],
        // Before the row for own words stands "All of the above", where there is more than one.
        (Some(text), true) => vec![Step::Focus(row(count + 1 + usize::from(count > 1))), Step::Type(text.clone())],
        (Some(text), false) => vec![Step::Focus(row(count + 1)), Step::Type(text.clone())],
        (None, true) => {
            let ticks = ticked(chosen).into_iter().map(Step::Tick);
            ticks.chain([Step::Reach(DONE), Step::Enter]).collect()
        }
        (None, false) => chosen.option.map(Step::Choose).into_iter().collect(),
    })
}

fn unknown() -> Failure {
    bad("the options of this dialog are not known yet: try again in a moment")
}

/// What passes a dialog of the agent's start that does no harm; `None` leaves it to somebody who decides.
pub fn groom_steps(dialog: &Dialog) -> Option<Vec<Step>> {
    let prompt = &dialog.prompt;
    match prompt.subtype.as_deref()? {
        "trust" => Some(vec![Step::Choose(option_like(prompt, "Trust folder")?)]),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
