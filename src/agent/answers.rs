//! What can be checked of an answer before anybody knows how it is given.

use super::talk::{Answer, Chosen, Failure};
use crate::session::Prompt;

/// There must be an answer, and words in its text.
pub fn check_one_kind(answer: &Answer) -> Result<(), Failure> {
    if answer.accept.is_none() && answer.option.is_none() && answer.text.is_none() && answer.answers.is_empty() {
        let message = "no answer: give accept, option, text, or answers (one for each question)";
        return Err(Failure::Bad(message.to_owned()));
    }
    if answer.text.as_deref().is_some_and(|text| text.trim().is_empty()) {
        return Err(Failure::Bad("text: there is nothing in it".to_owned()));
    }
    Ok(())
}

/// The option, if the dialog has it.
pub fn in_range(name: &str, option: u32, count: usize) -> Result<u32, Failure> {
    if count == 0 {
        let way_out = "give accept, or try again in a moment";
        return Err(Failure::Bad(format!("{name} {option}: the options of this dialog are not known yet; {way_out}")));
    }
    if option == 0 || usize::try_from(option).is_ok_and(|n| n > count) {
        return Err(Failure::Bad(format!("{name} {option}: this dialog has options 1 to {count}")));
    }
    Ok(option)
}

/// The first option whose label begins like this.
pub fn option_like(prompt: &Prompt, beginning: &str) -> Option<u32> {
    let index = prompt.options.iter().position(|label| label.starts_with(beginning))?;
    u32::try_from(index + 1).ok()
}

/// Answers are for questions.
pub fn refuse_answers(answer: &Answer) -> Result<(), Failure> {
    if answer.answers.is_empty() {
        return Ok(());
    }
    Err(Failure::Bad("answers: this dialog asks no questions; give accept or option".to_owned()))
}

/// The options of a choice, one or several.
pub fn ticked(chosen: &Chosen) -> Vec<u32> {
    if chosen.options.is_empty() { chosen.option.into_iter().collect() } else { chosen.options.clone() }
}

/// One answer for each question, checked.
pub fn chosen(prompt: &Prompt, answer: &Answer) -> Result<Vec<Chosen>, Failure> {
    let count = prompt.questions.len();
    if count == 0 {
        return Err(Failure::Bad("the questions are not known yet: try again in a moment".to_owned()));
    }
    let list = if answer.answers.is_empty() {
        vec![Chosen { option: answer.option, options: Vec::new(), text: answer.text.clone() }]
    } else {
        answer.answers.clone()
    };
    if list.len() != count {
        return Err(Failure::Bad(format!("answers: {} were given, {count} questions are asked", list.len())));
    }
    for (number, (question, chosen)) in prompt.questions.iter().zip(&list).enumerate() {
        let name = if answer.answers.is_empty() { "option".to_owned() } else { format!("answers[{number}].option") };
        for option in chosen.option.iter().chain(&chosen.options) {
            in_range(&name, *option, question.options.len())?;
        }
        let picks = chosen.options.len() + usize::from(chosen.option.is_some());
        let has_text = chosen.text.as_deref().is_some_and(|text| !text.trim().is_empty());
        match (picks, has_text) {
            (0, false) => return Err(Failure::Bad(format!("answers[{number}]: give option, options or text"))),
            (1.., true) => return Err(Failure::Bad(format!("answers[{number}]: give an option or text, not both"))),
            (2.., false) if !question.multi_select => {
                return Err(Failure::Bad(format!("answers[{number}]: this question takes one option")));
            }
            _ => {}
        }
    }
    Ok(list)
}
