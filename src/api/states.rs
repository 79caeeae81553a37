//! States and dialogs, in the contract's words.

use crate::proto::v1;
use crate::session::{ErrorCategory, Prompt, PromptKind, Question, State};

impl From<PromptKind> for v1::PromptType {
    fn from(kind: PromptKind) -> Self {
        match kind {
            PromptKind::Permission => Self::Permission,
            PromptKind::Plan => Self::Plan,
            PromptKind::Question => Self::Question,
            PromptKind::Setup => Self::Setup,
        }
    }
}

impl From<ErrorCategory> for v1::ErrorCategory {
    fn from(category: ErrorCategory) -> Self {
        match category {
            ErrorCategory::Unauthorized => Self::Unauthorized,
            ErrorCategory::OutOfCredits => Self::OutOfCredits,
            ErrorCategory::RateLimited => Self::RateLimited,
            ErrorCategory::NoInternet => Self::NoInternet,
            ErrorCategory::ServerError => Self::ServerError,
            ErrorCategory::ContextWindow => Self::ContextWindow,
            ErrorCategory::Other => Self::Other,
        }
    }
}

fn question(question: &Question) -> v1::QuestionContext {
    v1::QuestionContext {
        question: question.question.clone(),
        header: question.header.clone(),
        options: question.options.clone(),
        descriptions: question.descriptions.clone(),
        multi_select: question.multi_select,
    }
}

fn prompt(prompt: &Prompt) -> v1::PromptContext {
    v1::PromptContext {
        id: prompt.id.clone(),
        r#type: v1::PromptType::from(prompt.kind).into(),
        subtype: prompt.subtype.clone(),
        tool: prompt.tool.clone(),
        input: prompt.input.clone(),
        input_full: prompt.input_full.as_deref().map(str::to_owned),
        auth_url: prompt.auth_url.clone(),
        options: prompt.options.clone(),
        options_fallback: prompt.options_fallback,
        questions: prompt.questions.iter().map(question).collect(),
        question_current: u32::try_from(prompt.question_current).unwrap_or(u32::MAX),
        ready: prompt.ready,
        summary: prompt.summary.clone(),
        screen_lines: prompt.screen_lines.clone(),
    }
}

/// What a state carries, as both the state and its events tell it.
#[derive(Debug, Default)]
pub struct Context {
    pub prompt: Option<v1::PromptContext>,
    pub error_detail: Option<String>,
    pub error_category: Option<i32>,
    pub parked_reason: Option<String>,
    pub resume_at_epoch_ms: Option<u64>,
}

impl From<&State> for Context {
    fn from(state: &State) -> Self {
        let (trouble, parked) = (state.trouble(), state.parked());
        let category = trouble.map(|trouble| trouble.category).or(parked.map(|parked| parked.category));
        Self {
            prompt: state.prompt().map(|shown| prompt(shown)),
            error_detail: trouble.map(|t| t.detail.clone()).or(parked.map(|parked| parked.reason.clone())),
            error_category: category.map(|category| v1::ErrorCategory::from(category).into()),
            parked_reason: parked.map(|parked| parked.reason.clone()),
            resume_at_epoch_ms: parked
                .and_then(|parked| parked.resume_at_epoch_ms)
                .or(trouble.and_then(|trouble| trouble.resume_at_epoch_ms)),
        }
    }
}
