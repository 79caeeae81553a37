//! What can be checked of an answer before anybody knows how it is given.

use super::look::Tab;
use super::talk::{Answer, Chosen, Failure};
use crate::session::{Prompt, Question};

/// There must be an answer, and words in its text.
pub fn check_one_kind(answer: &Answer) -> Result<(), Failure> {
    if answer.accept.is_none() && answer.option.is_none() && answer.text.is_none() && answer.answers.is_empty() {
        let message = "no answer: give accept, option, text, or answers (one for each question)";
        return Err(Failure::Bad(message.to_owned()));
    }
    if answer.accept.is_some() && answer.option.is_some() {
        return Err(Failure::Bad("give accept or option, not both".to_owned()));
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

/// Where questions are declined, nobody reads words.
pub fn refuse_words(answer: &Answer) -> Result<(), Failure> {
    if answer.text.is_none() && answer.answers.is_empty() {
        return Ok(());
    }
    let message =
        "accept:false declines the questions and tells the agent nothing: give it alone, or answers without it";
    Err(Failure::Bad(message.to_owned()))
}

/// The options of a choice, one or several.
pub fn ticked(chosen: &Chosen) -> Vec<u32> {
    if chosen.options.is_empty() { chosen.option.into_iter().collect() } else { chosen.options.clone() }
}

/// Whether only the shown one of several questions is known: the screen shows one at a time, and no hook told of all.
pub fn is_one_by_one(prompt: &Prompt) -> bool {
    let is_unknown = |(at, question): (usize, &Question)| at != prompt.question_current && question.question.is_empty();
    prompt.questions.iter().enumerate().any(is_unknown)
}

/// A question that keys have to answer, with its number.
pub type Remaining<'a> = (usize, &'a Question, Chosen);

/// The questions from the one that is shown on, with their answers: those before it have theirs. None on the page behind
/// the last one, which sends them all.
pub fn remaining<'a>(prompt: &'a Prompt, answer: &Answer) -> Result<Vec<Remaining<'a>>, Failure> {
    let chosen = chosen(prompt, answer)?;
    let shown = prompt.question_current;
    let last = if is_one_by_one(prompt) { shown + 1 } else { prompt.questions.len() };
    let all = prompt.questions.iter().zip(chosen).enumerate();
    Ok(all.take(last).skip(shown).map(|(at, (question, chosen))| (at, question, chosen)).collect())
}

/// Keys go on from the question that is shown, so that none before it may have been passed over.
pub fn refuse_gaps(tabs: &[Tab], prompt: &Prompt) -> Result<(), Failure> {
    let gap = tabs.iter().take(prompt.question_current).position(|tab| !tab.is_answered);
    let Some(gap) = gap else { return Ok(()) };
    let shown = prompt.question_current;
    Err(Failure::Bad(format!(
        "question {gap} has no answer, but question {shown} is shown: go back to it by keys first"
    )))
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
    if is_one_by_one(prompt) {
        let [alone] = &list[..] else {
            let message =
                "answers: without the agent's hooks only the question that is shown is known: answer it alone";
            return Err(Failure::Bad(message.to_owned()));
        };
        let shown = prompt.question_current;
        let Some(question) = prompt.questions.get(shown) else {
            return Err(Failure::Bad("all questions are answered: give accept, to send the answers or not".to_owned()));
        };
        check(question, alone, 0, answer.answers.is_empty())?;
        let mut list = vec![Chosen::default(); count];
        list[shown] = alone.clone();
        return Ok(list);
    }
    if list.len() != count {
        return Err(Failure::Bad(format!("answers: {} were given, {count} questions are asked", list.len())));
    }
    for (number, (question, chosen)) in prompt.questions.iter().zip(&list).enumerate() {
        check(question, chosen, number, answer.answers.is_empty())?;
    }
    Ok(list)
}

/// Whether the answer with this number fits its question.
fn check(question: &Question, chosen: &Chosen, number: usize, is_bare: bool) -> Result<(), Failure> {
    let name = if is_bare { "option".to_owned() } else { format!("answers[{number}].option") };
    for option in chosen.option.iter().chain(&chosen.options) {
        in_range(&name, *option, question.options.len())?;
    }
    let picks = chosen.options.len() + usize::from(chosen.option.is_some());
    let has_text = chosen.text.as_deref().is_some_and(|text| !text.trim().is_empty());
    match (picks, has_text) {
        (0, false) => Err(Failure::Bad(format!("answers[{number}]: give option, options or text"))),
        (1.., true) => Err(Failure::Bad(format!("answers[{number}]: give an option or text, not both"))),
        (2.., false) if !question.multi_select => {
            Err(Failure::Bad(format!("answers[{number}]: this question takes one option")))
        }
        _ => Ok(()),
    }
}
