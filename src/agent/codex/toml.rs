//! JSON written as TOML, for the values of Codex's `-c key=value`.

use serde_json::{Map, Value};

/// One `key=value` for each value, with the keys of tables joined by dots: Codex lays each over what its files say, and
/// leaves their neighbours alone. A key that cannot stand bare in a path is written in a table.
pub fn overrides(path: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Object(table) if path.is_empty() || !table.is_empty() && table.keys().all(|key| is_bare(key)) => {
            table.iter().flat_map(|(key, value)| overrides(&joined(path, key), value)).collect()
        }
        value => vec![format!("{path}={}", written(value))],
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A value in one line.
pub fn written(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            // TOML has no null.
            let items: Vec<String> = items.iter().filter(|item| !item.is_null()).map(written).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(table) => inline(table),
        other => other.to_string(),
    }
}

fn inline(table: &Map<String, Value>) -> String {
    let pairs = table.iter().filter(|(_, value)| !value.is_null());
    let pairs: Vec<String> = pairs.map(|(key, value)| format!("{}={}", name(key), written(value))).collect();
    format!("{{{}}}", pairs.join(","))
}

/// A key of a table.
fn name(key: &str) -> String {
    if is_bare(key) { key.to_owned() } else { quoted(key) }
}

/// Whether a key needs no quotes.
pub fn is_bare(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// JSON's escapes are TOML's too; only DEL may not stand there as it is.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_in_one_line() {
        let value = json!({"a b": [1, 2.5, null, "x\n\"\u{7f}é"], "on": true, "none": null, "deep": {}});
        assert_eq!(written(&value), "{\"a b\"=[1,2.5,\"x\\n\\\"\\u007fé\"],deep={},on=true}");
    }

    #[test]
    fn each_value_is_laid_over_by_itself() {
        let value = json!({"model": "x", "tools": {"view": false, "web": {"on": true}}, "no": null});
        assert_eq!(overrides("", &value), ["model=\"x\"", "tools.view=false", "tools.web.on=true"]);
    }

    #[test]
    fn a_key_that_cannot_stand_in_a_path_is_written_in_a_table() {
        let value = json!({"projects": {"/a.b": {"trust_level": "trusted"}}, "empty": {}});
        assert_eq!(overrides("", &value), ["empty={}", "projects={\"/a.b\"={trust_level=\"trusted\"}}"]);
    }
}
