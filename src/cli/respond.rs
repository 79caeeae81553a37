//! `coop respond`: answers the dialog that the agent shows.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use clap::Args;

use super::input::millis;
use super::nudge::{WRITER_BUSY, exit_code, seen_by};
use super::reach::{Lock, Reach};
use super::words::{plain, print_json, print_or_complain, word};
use crate::config;
use crate::proto::v1::{PromptType, QuestionAnswer, RespondRequest, RespondResponse};

/// Answer the dialog that the agent shows
///
/// `coop state` shows the dialog: its id, such as p3, and its options. Exit codes: 0 a witness saw the agent take the
/// answer, 1 it was not given, 124 nobody has seen the agent take it yet.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  coop respond --accept\n  coop respond --deny --text 'use the test database'\n  coop respond --option 2 --prompt p3\n  coop respond --answer 1 --answer 2,3 --answer 'text:none of these'"
)]
#[group(id = "given", required = true, multiple = true, args = ["accept", "deny", "option", "text", "answer"])]
pub struct Respond {
    /// Yes
    #[arg(long, conflicts_with_all = ["deny", "option", "answer"])]
    accept: bool,
    /// No
    #[arg(long, conflicts_with_all = ["option", "answer"])]
    deny: bool,
    /// The option with this number, counted from 1
    #[arg(long, value_name = "N")]
    option: Option<u32>,
    /// In your own words: why not, what to change in a plan, or the answer to a question
    #[arg(long)]
    text: Option<String>,
    /// The answer to one question: N, N,M for several options, or text:WORDS (repeat for each question)
    #[arg(long, value_name = "ANSWER", conflicts_with_all = ["option", "text"])]
    answer: Vec<String>,
    /// Only the dialog with this id: another one is not answered
    #[arg(long, value_name = "ID")]
    prompt: Option<String>,
    /// How long to wait for a witness
    #[arg(long, value_name = "SECS", default_value = "10", value_parser = config::seconds)]
    timeout: Duration,
    #[command(flatten)]
    lock: Lock,
    #[command(flatten)]
    reach: Reach,
}

impl Respond {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let answers = self.answer.iter().map(|text| parse_answer(text)).collect::<anyhow::Result<Vec<_>>>()?;
        let client = self.reach.connect_with(&self.lock).await?;
        let request = RespondRequest {
            accept: if self.accept { Some(true) } else { self.deny.then_some(false) },
            option: self.option,
            text: self.text,
            answers,
            prompt_id: self.prompt,
            timeout_ms: Some(millis(self.timeout)),
            ..Default::default()
        };
        let answer = client.answer_after(self.timeout, client.calls().respond(request)).await?;
        if self.reach.json {
            print_json(&answer)?;
        } else {
            print_or_complain(answer.delivered, &describe(&answer))?;
        }
        Ok(exit_code(answer.delivered, answer.reason.as_deref()))
    }
}

fn parse_answer(text: &str) -> anyhow::Result<QuestionAnswer> {
    if let Some(words) = text.strip_prefix("text:") {
        return Ok(QuestionAnswer { text: Some(words.to_owned()), ..Default::default() });
    }
    let numbers: Result<Vec<u32>, _> = text.split(',').map(|number| number.trim().parse()).collect();
    match numbers.as_deref() {
        Ok([one]) => Ok(QuestionAnswer { option: Some(*one), ..Default::default() }),
        Ok(several) => Ok(QuestionAnswer { options: several.to_vec(), ..Default::default() }),
        Err(_) => bail!("--answer {text:?}: use a number, numbers such as 1,3, or text:WORDS"),
    }
}

fn describe(answer: &RespondResponse) -> String {
    let kind = answer.prompt_type.map(word::<PromptType>).unwrap_or_default();
    match answer.reason.as_deref() {
        None => format!("{kind} answered, {}", seen_by(answer.receipt.as_ref())),
        Some("no_prompt") => "not answered: the agent shows no dialog".to_owned(),
        Some("already_answered") => "not answered: somebody else answers this dialog".to_owned(),
        Some("writer_busy") => WRITER_BUSY.to_owned(),
        Some("unconfirmed") => "given, but nobody has seen the agent take it yet".to_owned(),
        Some(reason) => format!("not answered: {}", plain(reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_numbers_or_words() {
        assert_eq!(parse_answer("2").unwrap().option, Some(2));
        assert_eq!(parse_answer("1, 3").unwrap().options, [1, 3]);
        assert_eq!(parse_answer("text:a,b").unwrap().text.as_deref(), Some("a,b"));
        assert!(parse_answer("two").unwrap_err().to_string().contains("text:WORDS"));
    }
}
