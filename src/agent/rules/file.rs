//! Reading rules: the file that comes with an agent, then what the operator adds.

use serde::Deserialize;
use serde_json::Value;

use super::{Meaning, Patterns, Place, Rule, Rules};

/// The version of the files' layout that this coop reads.
const LAYOUT_VERSION: u32 = 1;

/// One phrase alone is found in too many texts to be taken for a dialog.
const PROMPT_PHRASES_MIN: usize = 2;

/// Rules that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    #[error("screen rule {rule}: {field}: {why}")]
    Rule { rule: String, field: String, why: String },
    #[error("screen rules: {field}: {why}")]
    File { field: String, why: String },
}

/// A file of rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    version: u32,
    /// Which agent, and the version of it that the rules were made from: for the reader of the file.
    #[serde(rename = "agent")]
    _agent: String,
    #[serde(rename = "seen_in")]
    _seen_in: String,
    rules: Vec<Value>,
}

/// The part of `--agent-config` that is about the screen.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ScreenConfig {
    rules: Vec<Value>,
    prompt: Vec<String>,
    working: Vec<String>,
    error: Vec<String>,
}

impl Rules {
    /// An agent's own rules, and before them those of the operator: a rule of the same name replaces the agent's.
    pub fn read(own: &str, agent_config: Option<&Value>) -> Result<Self, RulesError> {
        let file = serde_json::from_str(own).map_err(|error| about_file("file", &error))?;
        let RulesFile { version, rules, .. } = typed(file).map_err(|(field, why)| RulesError::File { field, why })?;
        if version != LAYOUT_VERSION {
            return Err(about_file("version", &format_args!("{version} is not {LAYOUT_VERSION}")));
        }
        let own = read_rules(rules)?;
        let config = screen_config(agent_config)?;
        let patterns = [("prompt", &config.prompt), ("working", &config.working), ("error", &config.error)];
        if let Some((name, _)) = patterns.iter().find(|(_, list)| !list.is_empty()) {
            let why = "patterns are for programs that coop does not know; for an agent give screen.rules";
            return Err(about_file(&format!("screen.{name}"), &why));
        }
        let mut read = Self { rules: read_rules(config.rules)? };
        let replaced: Vec<String> = read.rules.iter().map(|rule| rule.name.clone()).collect();
        read.rules.extend(own.into_iter().filter(|rule| !replaced.contains(&rule.name)));
        Ok(read)
    }
}

impl Patterns {
    /// The operator's patterns, for a program that coop does not know.
    pub fn of_operator(agent_config: Option<&Value>) -> Result<Self, RulesError> {
        let config = screen_config(agent_config)?;
        if !config.rules.is_empty() {
            let why = "rules are for agents that coop knows; for other programs give prompt, working and error";
            return Err(about_file("screen.rules", &why));
        }
        Self::read(&config.prompt, &config.working, &config.error)
    }
}

fn screen_config(agent_config: Option<&Value>) -> Result<ScreenConfig, RulesError> {
    let screen = agent_config.and_then(|config| config.get("screen")).cloned();
    screen
        .map_or(Ok(ScreenConfig::default()), typed)
        .map_err(|(field, why)| RulesError::File { field: format!("screen.{field}"), why })
}

fn read_rules(values: Vec<Value>) -> Result<Vec<Rule>, RulesError> {
    values.into_iter().enumerate().map(|(at, value)| read_rule(at, value)).collect()
}

fn read_rule(at: usize, value: Value) -> Result<Rule, RulesError> {
    let name = value.get("name").and_then(Value::as_str).map_or_else(|| format!("number {}", at + 1), str::to_owned);
    let wrong = |field: String, why: String| RulesError::Rule { rule: name.clone(), field, why };
    let rule: Rule = typed(value).map_err(|(field, why)| wrong(field, why))?;
    let (is_prompt, is_dialog) = (matches!(rule.means, Meaning::Prompt(_)), rule.place == Place::Dialog);
    if is_prompt != is_dialog {
        return Err(wrong("place".into(), "prompts are told by dialogs, and dialogs tell of nothing else".into()));
    }
    let least = if is_prompt { PROMPT_PHRASES_MIN } else { 1 };
    if rule.phrase_count() < least {
        return Err(wrong("phrases".into(), format!("needs {least} or more")));
    }
    Ok(rule)
}

/// The value in its type, or the field that does not fit and why.
fn typed<T: for<'de> Deserialize<'de>>(value: Value) -> Result<T, (String, String)> {
    serde_path_to_error::deserialize(value).map_err(|error| (error.path().to_string(), error.inner().to_string()))
}

fn about_file(field: &str, why: &dyn std::fmt::Display) -> RulesError {
    RulesError::File { field: field.to_owned(), why: why.to_string() }
}
