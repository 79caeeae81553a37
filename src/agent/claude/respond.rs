//! How Claude Code's dialogs are answered: through the hook that asked where one waits, by keys otherwise.
//!
//! Keys as seen in 2.1.197: a digit alone chooses in every numbered dialog, so that Enter is never added: it would
//! answer the dialog that comes next. Letters are ignored, and `n` with Enter after it *accepts*.

use serde_json::{Map, Value, json};

use crate::agent::answers::{
    Remaining, check_one_kind, chosen, in_range, is_one_by_one, option_like, refuse_answers, refuse_gaps, refuse_words,
    remaining, ticked,
};
use crate::agent::asks::Decision;
use crate::agent::look::Dialog;
use crate::agent::press::{Step, Way};
use crate::agent::talk::{Answer, Failure};
use crate::agent::view::View;
use crate::session::{Prompt, PromptKind};

const TAB: &str = "\t";

/// Stands below a dialog whose yes or no can be given words of its own.
const AMENDS: &str = "Tab to amend";

/// The last row below the options of a question declines it, so that it can be talked about.
const CHAT: &str = "Chat about this";

/// The row for own words of a question that takes several options, by their number, when it is marked.
const OWN_ROWS: [&str; 5] =
    ["❯1.[]Typesomething", "❯2.[]Typesomething", "❯3.[]Typesomething", "❯4.[]Typesomething", "❯5.[]Typesomething"];

/// On the page with all answers this option sends them.
const SUBMIT: Step = Step::Choose(1);

/// Dialogs that only want to be read, where Enter does nothing else than go on.
const ONLY_READ: [&str; 2] = ["security_notes", "login_success"];

/// Finds the way to give an answer, or says what would be one.
pub fn way(view: &View, prompt: &Prompt, answer: &Answer) -> Result<Way, Failure> {
    check_one_kind(answer)?;
    let keys = match prompt.kind {
        PromptKind::Permission => permission(prompt, answer),
        PromptKind::Plan => plan(prompt, answer),
        PromptKind::Question => question(view, prompt, answer),
        PromptKind::Setup => setup(prompt, answer),
    }?;
    let can_be_told = view.open_question && !is_begun(view, prompt);
    let decision = if can_be_told { decision(prompt, answer) } else { None };
    match (decision, keys) {
        (Some(decision), keys) => Ok(Way::Decision { decision, keys }),
        (None, Some(keys)) => Ok(Way::Keys(keys)),
        (None, None) => {
            let message = "this answer needs the agent's hooks, which do not wait for one: give an option instead";
            Err(Failure::Bad(message.to_owned()))
        }
    }
}

fn permission(prompt: &Prompt, answer: &Answer) -> Result<Option<Vec<Step>>, Failure> {
    refuse_answers(answer)?;
    let no = option_like(prompt, "No");
    if answer.option == Some(1) && prompt.options.is_empty() && answer.text.is_none() {
        // Not drawn yet, but a plain yes in any case: the hook can be told that.
        return Ok(None);
    }
    let option = answer.option.map(|option| in_range("option", option, prompt.options.len())).transpose()?;
    let refuses = option.map_or(answer.accept == Some(false), |option| no == Some(option));
    let accepts = option.map_or(answer.accept == Some(true), |option| option == 1);
    match (&answer.text, option) {
        (Some(text), _) if refuses => Ok(amended(prompt, "No", text)),
        (Some(text), _) if accepts && let Some(steps) = amended(prompt, "Yes", text) => Ok(Some(steps)),
        (Some(_), _) => {
            let with = if takes_words(prompt) { "a plain yes, or with accept:false" } else { "accept:false here" };
            Err(Failure::Bad(format!("text: it goes with {with}, as what the agent is told")))
        }
        (None, Some(option)) => Ok(Some(vec![Step::Choose(option)])),
        (None, None) if refuses => Ok(Some(vec![no.map_or(Step::Dismiss, Step::Choose)])),
        (None, None) => Ok(option_like(prompt, "Yes").map(|option| vec![Step::Choose(option)])),
    }
}

/// A yes or a no with words of its own, where the dialog takes them. The mark must be seen on that option: on the other
/// one the same keys would answer the opposite, with these words. No hook can be told a yes with words.
fn amended(prompt: &Prompt, label: &str, words: &str) -> Option<Vec<Step>> {
    let at = prompt.options.iter().position(|option| option == label).filter(|_| takes_words(prompt))?;
    let row = ["❯1.Yes", "❯1.No", "❯2.No", "❯3.No", "❯4.No"]
        .into_iter()
        .find(|row| *row == format!("❯{}.{label}", at + 1))?;
    Some(vec![Step::Reach(row), Step::Key(TAB), Step::Stand(row), Step::Type(words.to_owned())])
}

fn takes_words(prompt: &Prompt) -> bool {
    prompt.screen_lines.iter().any(|row| row.contains(AMENDS))
}

fn plan(prompt: &Prompt, answer: &Answer) -> Result<Option<Vec<Step>>, Failure> {
    refuse_answers(answer)?;
    let feedback = option_like(prompt, "Tell Claude");
    if let Some(option) = answer.option {
        let option = in_range("option", option, prompt.options.len())?;
        return match (&answer.text, feedback) {
            (Some(text), Some(own)) if own == option => Ok(Some(vec![Step::Focus(own), Step::Type(text.clone())])),
            (None, Some(own)) if own == option => {
                Err(Failure::Bad(format!("option {option} needs text: what shall be changed")))
            }
            (Some(_), _) => Err(Failure::Bad("text: it goes with the option that asks for it, or alone".to_owned())),
            (None, _) => Ok(Some(vec![Step::Choose(option)])),
        };
    }
    match (answer.accept, &answer.text) {
        (Some(true), Some(_)) => {
            Err(Failure::Bad("text: a plan is accepted as it is, or refused with text".to_owned()))
        }
        // Not the first option, which also turns on a mode that asks less: the careful one.
        (Some(true), None) => {
            let careful = option_like(prompt, "Yes, manually").or(option_like(prompt, "Yes"));
            Ok(careful.map(|option| vec![Step::Choose(option)]))
        }
        (_, Some(text)) => Ok(feedback.map(|own| vec![Step::Focus(own), Step::Type(text.clone())])),
        (_, None) => Ok(Some(vec![Step::Dismiss])),
    }
}

fn setup(prompt: &Prompt, answer: &Answer) -> Result<Option<Vec<Step>>, Failure> {
    refuse_answers(answer)?;
    if answer.text.is_some() {
        return Err(Failure::Bad("text: this dialog takes none; give option, or use the input call".to_owned()));
    }
    if let Some(option) = answer.option {
        return Ok(Some(vec![Step::Choose(in_range("option", option, prompt.options.len())?)]));
    }
    match answer.accept {
        Some(false) => Ok(Some(vec![Step::Dismiss])),
        _ if prompt.subtype.as_deref().is_some_and(|subtype| ONLY_READ.contains(&subtype)) => {
            Ok(Some(vec![Step::Enter]))
        }
        _ if prompt.options.is_empty() => {
            let message = "what Enter would do here is not known: use the input call, or give accept:false";
            Err(Failure::Bad(message.to_owned()))
        }
        // Not the first, which may be "No, exit".
        _ => match option_like(prompt, "Yes") {
            Some(yes) => Ok(Some(vec![Step::Choose(yes)])),
            None => Err(Failure::Bad(format!("this dialog needs an option, 1 to {}", prompt.options.len()))),
        },
    }
}

fn question(view: &View, prompt: &Prompt, answer: &Answer) -> Result<Option<Vec<Step>>, Failure> {
    if answer.accept == Some(false) {
        refuse_words(answer)?;
        return Ok(Some(vec![Step::Dismiss]));
    }
    let is_review = prompt.question_current >= prompt.questions.len();
    if is_review && answer.accept == Some(true) {
        return Ok(Some(vec![SUBMIT]));
    }
    if answer.option.is_some() && answer.option == option_like(prompt, CHAT) && answer.text.is_none() {
        return Ok(answer.option.map(|option| vec![Step::Choose(option)]));
    }
    let tabs = view.look.dialog.as_ref().map_or(&[][..], |dialog| &dialog.tabs);
    if !view.open_question || is_begun(view, prompt) {
        refuse_gaps(tabs, prompt)?;
    }
    let mut steps = Vec::new();
    for remaining in &remaining(prompt, answer)? {
        steps.extend(one_question(prompt, remaining)?);
    }
    let reviews = prompt.questions.len() > 1 || prompt.questions.iter().any(|question| question.multi_select);
    if reviews && !is_one_by_one(prompt) {
        steps.push(SUBMIT);
    }
    Ok(Some(steps))
}

/// Whether somebody has answered a part of several questions. A hook is told all answers at once, and what was chosen
/// already is not known in words: the keys leave it as it is.
fn is_begun(view: &View, prompt: &Prompt) -> bool {
    let tabs = view.look.dialog.as_ref().map_or(&[][..], |dialog| &dialog.tabs);
    let is_any = if tabs.is_empty() { prompt.question_current > 0 } else { tabs.iter().any(|tab| tab.is_answered) };
    prompt.kind == PromptKind::Question && is_any
}

fn one_question(prompt: &Prompt, (number, question, chosen): &Remaining<'_>) -> Result<Vec<Step>, Failure> {
    let own = question.options.len();
    Ok(match (&chosen.text, question.multi_select) {
        (Some(text), false) => {
            vec![Step::Focus(u32::try_from(own + 1).unwrap_or(u32::MAX)), Step::Type(text.clone())]
        }
        // A digit only ticks the row, and Enter takes the tick away that the words have made.
        (Some(text), true) => {
            let row =
                OWN_ROWS.get(own).ok_or_else(|| Failure::Bad("text: this question takes options only".to_owned()))?;
            let button = if number + 1 == prompt.questions.len() { "❯Submit" } else { "❯Next" };
            vec![Step::Reach(row), Step::Fill(text.clone()), Step::Reach(button), Step::Enter]
        }
        (None, true) => ticked(chosen).into_iter().map(Step::Tick).chain([Step::Next]).collect(),
        (None, false) => chosen.option.map(Step::Choose).into_iter().collect(),
    })
}

/// What the hook is told, where it can be told that.
fn decision(prompt: &Prompt, answer: &Answer) -> Option<Decision> {
    let allow = json!({"behavior": "allow"});
    match (prompt.kind, answer.option, answer.accept, &answer.text) {
        (PromptKind::Question, _, Some(false), _) => None,
        (PromptKind::Question, ..) => {
            let texts: Map<String, Value> = answer_texts(prompt, answer)?;
            Some(Box::new(move |open| {
                let mut input = open.input.clone();
                input["answers"] = Value::Object(texts);
                decided(json!({"behavior": "allow", "updatedInput": input}))
            }))
        }
        // The first option of a tool's dialog is a plain yes; the first of a plan's is more than that.
        (PromptKind::Permission, Some(1), _, None) | (_, None, Some(true), None) => {
            Some(Box::new(move |_| decided(allow)))
        }
        (_, option, Some(false) | None, Some(text)) if option.is_none() || option == option_like(prompt, "No") => {
            let deny = json!({"behavior": "deny", "message": text, "interrupt": false});
            Some(Box::new(move |_| decided(deny)))
        }
        _ => None,
    }
}

fn decided(decision: Value) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
}

/// The answers in words, under their questions: as the agent itself records them.
fn answer_texts(prompt: &Prompt, answer: &Answer) -> Option<Map<String, Value>> {
    let chosen = chosen(prompt, answer).ok()?;
    let label = |labels: &[String], option: u32| labels.get(usize::try_from(option).ok()?.checked_sub(1)?).cloned();
    let mut texts = Map::new();
    for (question, chosen) in prompt.questions.iter().zip(chosen) {
        let text = match &chosen.text {
            Some(text) => text.clone(),
            None => {
                let labels: Option<Vec<String>> =
                    ticked(&chosen).into_iter().map(|option| label(&question.options, option)).collect();
                labels?.join(", ")
            }
        };
        texts.insert(question.question.clone(), text.into());
    }
    Some(texts)
}

/// What passes a dialog of the agent's start that does no harm; `None` leaves it to somebody who decides.
pub fn groom_steps(dialog: &Dialog, bypass_was_asked: bool) -> Option<Vec<Step>> {
    let prompt = &dialog.prompt;
    let preset = || dialog.selected.and_then(|selected| u32::try_from(selected + 1).ok()).map(Step::Choose);
    let step = match prompt.subtype.as_deref()? {
        "theme_picker" => preset()?,
        "security_notes" | "login_success" => Step::Enter,
        "terminal_setup" => Step::Choose(option_like(prompt, "No")?),
        "trust" => Step::Choose(option_like(prompt, "Yes")?),
        "bypass" if bypass_was_asked => Step::Choose(option_like(prompt, "Yes")?),
        _ => return None,
    };
    Some(vec![step])
}

#[cfg(test)]
mod tests;
