//! What an agent is told when it may not stop yet and coop writes the words.

use serde_json::{Map, Value, json};

use super::config::{StopConfig, StopField};
use crate::agent::shell;

/// The operator's words, then the command that lets the agent stop, with an example and the meaning of each field.
///
/// `send` is how the agent runs `coop send`.
pub fn instructions(config: &StopConfig, send: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(config.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty()).map(str::to_owned));
    parts.push(format!(
        "You cannot stop yet. When your work is done, or when you cannot go on with it, run this command in a shell \
         with values that are true for your work, and then stop:\n\n    {send} {}",
        shell::quote(&example(config))
    ));
    match &config.schema {
        Some(schema) if !schema.fields.is_empty() => {
            let fields: Vec<String> = schema.fields.iter().map(|(name, field)| describe(name, field)).collect();
            parts.push(format!("The fields of the JSON object:\n{}", fields.join("\n")));
        }
        _ => parts.push("Any JSON object will do.".to_owned()),
    }
    parts.push("If the command complains, correct the object and run it again.".to_owned());
    parts.join("\n\n")
}

/// A signal that would be taken.
fn example(config: &StopConfig) -> String {
    let fields = config.schema.iter().flat_map(|schema| &schema.fields);
    let values = fields.map(|(name, field)| {
        let value = field.words.first().cloned().unwrap_or_else(|| "...".to_owned());
        (name.clone(), Value::String(value))
    });
    let object: Map<String, Value> = values.collect();
    let object = if object.is_empty() { json!({"status": "done"}) } else { Value::Object(object) };
    object.to_string()
}

fn describe(name: &str, field: &StopField) -> String {
    let need = if field.required { "required" } else { "optional" };
    let meaning = field.description.as_deref().map(|text| format!(": {}", text.trim())).unwrap_or_default();
    let mut lines = vec![format!("- {name} ({need}){meaning}")];
    if !field.words.is_empty() {
        lines.push("  one of these words:".to_owned());
    }
    lines.extend(field.words.iter().map(|word| match field.descriptions.get(word) {
        Some(meaning) => format!("  - {word}: {}", meaning.trim()),
        None => format!("  - {word}"),
    }));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::schema::complaints;
    use super::*;

    fn config(schema: Value) -> StopConfig {
        serde_json::from_value(json!({"mode": "auto", "prompt": "Run the tests first.\n", "schema": schema})).unwrap()
    }

    #[test]
    fn the_words_name_the_command_and_explain_every_field() {
        let config = config(json!({"fields": {
            "status": {
                "required": true, "enum": ["done", "it's stuck"], "description": "how it went",
                "descriptions": {"done": "all tests pass"},
            },
            "summary": {"description": "one sentence"},
        }}));
        let text = instructions(&config, "coop send");
        assert_eq!(
            text,
            r#"Run the tests first.

You cannot stop yet. When your work is done, or when you cannot go on with it, run this command in a shell with values that are true for your work, and then stop:

    coop send '{"status":"done","summary":"..."}'

The fields of the JSON object:
- status (required): how it went
  one of these words:
  - done: all tests pass
  - it's stuck
- summary (optional): one sentence

If the command complains, correct the object and run it again."#
        );
    }

    #[test]
    fn the_example_itself_would_be_taken_whatever_it_holds() {
        for fields in [json!({}), json!({"a": {"required": true}, "b": {"enum": ["it's", "x"], "required": true}})] {
            let config = config(json!({"fields": fields}));
            let signal = serde_json::from_str(&example(&config)).unwrap();
            assert!(complaints(config.schema.as_ref(), &signal).is_empty());
        }
        let quoted = config(json!({"fields": {"b": {"enum": ["it's"]}}}));
        assert!(instructions(&quoted, "coop send").contains(r#"coop send '{"b":"it'\''s"}'"#));
        assert!(instructions(&StopConfig::default(), "coop send").starts_with("You cannot stop yet."));
    }
}
