//! What an agent asks and says, told to people below the line of its session.

use super::words::{plain, word};
use crate::proto::v1::{AgentState, PromptContext, PromptType};

/// How much of an agent's last words is shown.
const WORDS_CHARS_MAX: usize = 300;

/// The dialog with its options and the way to answer it, why it is parked, the agent's last words.
pub fn context(agent: &AgentState) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(prompt) = &agent.prompt {
        lines.extend(dialog(prompt));
    }
    lines.extend(agent.parked_reason.as_deref().map(|reason| format!("  parked: {}", plain(reason))));
    let words = agent.last_message.as_deref().filter(|words| !words.trim().is_empty());
    lines.extend(words.map(|words| format!("  last words: {}", cut(&plain(words)))));
    lines
}

fn dialog(prompt: &PromptContext) -> Vec<String> {
    let kind = word::<PromptType>(prompt.r#type);
    let parts = [Some(kind.as_str()), prompt.subtype.as_deref(), prompt.tool.as_deref(), prompt.input.as_deref()];
    let parts: Vec<String> = parts.into_iter().flatten().map(plain).collect();
    let mut lines = vec![format!("  {} asks: {}", plain(&prompt.id), parts.join("  "))];
    lines.extend(prompt.auth_url.as_deref().map(|url| format!("    log in at {}", plain(url))));
    for (number, question) in prompt.questions.iter().enumerate() {
        lines.push(format!("    question {}: {}", number + 1, plain(&question.question)));
        lines.extend(options(&question.options, "      "));
    }
    if prompt.questions.is_empty() {
        lines.extend(options(&prompt.options, "    "));
    }
    lines
}

fn options<'a>(labels: &'a [String], indent: &'a str) -> impl Iterator<Item = String> + 'a {
    labels.iter().enumerate().map(move |(number, label)| format!("{indent}{}. {}", number + 1, plain(label)))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(WORDS_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::QuestionContext;

    #[test]
    fn a_dialog_is_told_with_its_name_and_its_options() {
        let prompt = PromptContext {
            id: "p3".into(),
            r#type: PromptType::Permission.into(),
            tool: Some("Bash".into()),
            input: Some("{\"command\":\"ls\"}".into()),
            options: vec!["Yes".into(), "No".into()],
            ..Default::default()
        };
        let agent =
            AgentState { prompt: Some(prompt), last_message: Some("I will look.".into()), ..Default::default() };
        let expected = [
            "  p3 asks: permission  Bash  {\"command\":\"ls\"}",
            "    1. Yes",
            "    2. No",
            "  last words: I will look.",
        ];
        assert_eq!(context(&agent), expected);
    }

    #[test]
    fn each_question_has_its_own_options() {
        let question =
            |text: &str| QuestionContext { question: text.into(), options: vec!["a".into()], ..Default::default() };
        let prompt = PromptContext {
            id: "p1".into(),
            r#type: PromptType::Question.into(),
            questions: vec![question("Which?"), question("And?")],
            ..Default::default()
        };
        let told = context(&AgentState { prompt: Some(prompt), ..Default::default() });
        assert_eq!(told[1..], ["    question 1: Which?", "      1. a", "    question 2: And?", "      1. a"]);
    }
}
