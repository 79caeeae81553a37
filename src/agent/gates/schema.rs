//! Whether a signal is what the operator asked for; complaints are for the model that sent it.

use serde_json::Value;

use super::config::{StopField, StopSchema};

/// A signal is a status and some sentences; it is shown to everybody who follows the session.
const SIGNAL_BYTES_MAX: usize = 64 * 1024;

/// Everything that is wrong with a signal; nothing when it will do.
pub fn complaints(schema: Option<&StopSchema>, signal: &Value) -> Vec<String> {
    let Some(object) = signal.as_object() else {
        return vec![format!(
            "the signal is {}, but must be a JSON object such as {{\"status\":\"done\"}}",
            kind(signal)
        )];
    };
    if signal.to_string().len() > SIGNAL_BYTES_MAX {
        return vec![format!("the signal is larger than {SIGNAL_BYTES_MAX} bytes: say it shorter")];
    }
    let Some(schema) = schema.filter(|schema| !schema.fields.is_empty()) else { return Vec::new() };
    let known = schema.fields.iter().filter_map(|(name, field)| {
        let value = object.get(name).filter(|value| !value.is_null());
        match value {
            None if field.required => Some(format!("the field {name:?} is missing{}", hint(field))),
            None => None,
            Some(value) => wrong_word(name, field, value),
        }
    });
    let names = || quoted(schema.fields.keys());
    let unknown = object.keys().filter(|name| !schema.fields.contains_key(*name));
    let unknown = unknown.map(|name| format!("there is no field {name:?}: the fields are {}", names()));
    known.chain(unknown).collect()
}

fn wrong_word(name: &str, field: &StopField, value: &Value) -> Option<String> {
    let fits = field.words.is_empty() || value.as_str().is_some_and(|word| field.words.iter().any(|w| w == word));
    (!fits).then(|| format!("the field {name:?} is {value}{}", hint(field)))
}

/// What would do instead.
fn hint(field: &StopField) -> String {
    match (field.words.is_empty(), &field.description) {
        (false, _) => format!(": use one of {}", quoted(&field.words)),
        (true, Some(description)) => format!(": {description}"),
        (true, None) => String::new(),
    }
}

fn quoted<'a>(words: impl IntoIterator<Item = &'a String>) -> String {
    words.into_iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ")
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> StopSchema {
        let fields = json!({"fields": {
            "status": {"required": true, "enum": ["done", "stuck"]},
            "summary": {"required": true, "description": "what was done"},
            "note": {},
        }});
        serde_json::from_value(fields).unwrap()
    }

    #[test]
    fn a_signal_that_fits_is_not_complained_about() {
        for good in [
            json!({"status": "done", "summary": "all"}),
            json!({"status": "stuck", "summary": 3, "note": [1]}),
            json!({"status": "done", "summary": "", "note": null}),
        ] {
            assert_eq!(complaints(Some(&schema()), &good), [] as [&str; 0], "{good}");
        }
        assert!(complaints(None, &json!({"anything": 1})).is_empty());
        assert!(complaints(Some(&StopSchema::default()), &json!({"anything": 1})).is_empty());
    }

    #[test]
    fn every_complaint_says_what_would_do() {
        let told = complaints(Some(&schema()), &json!({"status": "finished", "summary": null, "extra": 1}));
        assert_eq!(
            told,
            [
                r#"the field "status" is "finished": use one of "done", "stuck""#,
                r#"the field "summary" is missing: what was done"#,
                r#"there is no field "extra": the fields are "note", "status", "summary""#,
            ]
        );
        let told = complaints(Some(&schema()), &json!({"status": 1, "summary": "x"}));
        assert_eq!(told, [r#"the field "status" is 1: use one of "done", "stuck""#]);
        assert!(complaints(None, &json!("done"))[0].contains("is a text, but must be a JSON object"));
        assert!(complaints(None, &json!({"a": "x".repeat(SIGNAL_BYTES_MAX)}))[0].contains("larger than"));
    }
}
