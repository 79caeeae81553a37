//! How the gates behave, as operators write it: in `--agent-config`, keys `stop` and `start`, and over the API.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// How often an agent is held back in a row when nobody says otherwise.
const MAX_BLOCKS: u32 = 1;

/// What is wrong with a configuration, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}")]
pub struct BadGates {
    /// The field, such as `stop.schema.fields.status`.
    pub place: String,
    pub why: String,
}

/// Whether an agent may stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopMode {
    /// Always.
    #[default]
    Allow,
    /// Only after a signal; coop tells the agent how to send it.
    Auto,
    /// Only after a signal; the operator's own words tell the agent.
    Gate,
}

/// How the stop gate behaves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopConfig {
    #[serde(default, deserialize_with = "or_default")]
    pub mode: StopMode,
    /// What the agent is told when it may not stop.
    #[serde(default)]
    pub prompt: Option<String>,
    /// What a signal must look like; any object will do without one.
    #[serde(default)]
    pub schema: Option<StopSchema>,
    /// How often in a row it is held back within one turn.
    #[serde(default)]
    pub max_blocks: Option<u32>,
}

/// What a signal must look like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopSchema {
    /// Its fields by name.
    #[serde(default, deserialize_with = "or_default")]
    pub fields: BTreeMap<String, StopField>,
}

/// One field of a signal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopField {
    /// Whether it must be there.
    #[serde(default, deserialize_with = "or_default")]
    pub required: bool,
    /// The words that are allowed; any value when empty.
    #[serde(default, rename = "enum", deserialize_with = "or_default")]
    pub words: Vec<String>,
    /// What each word means.
    #[serde(default, deserialize_with = "or_default")]
    pub descriptions: BTreeMap<String, String>,
    /// What the field means.
    #[serde(default)]
    pub description: Option<String>,
}

/// The kinds of start that agents tell of.
const STARTS: [&str; 4] = ["startup", "resume", "clear", "compact"];

/// What agents are told at their start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartConfig {
    #[serde(default)]
    pub text: Option<String>,
    /// Commands whose output is told.
    #[serde(default, deserialize_with = "or_default")]
    pub shell: Vec<String>,
    /// Something else for one kind of start: `startup`, `resume`, `clear`, `compact`.
    #[serde(default, deserialize_with = "or_default")]
    pub event: BTreeMap<String, StartInjection>,
}

/// What is told at one kind of start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartInjection {
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub shell: Vec<String>,
}

/// What the agent's configuration says about the gates; what it does not mention stays as it is without.
pub fn from_agent_config(config: Option<&Value>) -> Result<(StopConfig, StartConfig), BadGates> {
    let stop: StopConfig = read("stop", config)?;
    stop.check().map_err(|error| BadGates { place: format!("stop.{}", error.place), ..error })?;
    let start: StartConfig = read("start", config)?;
    start.check().map_err(|error| BadGates { place: format!("start.{}", error.place), ..error })?;
    Ok((stop, start))
}

impl StartConfig {
    /// Whether it makes sense as a whole: what is meant for a start that never comes would never be told.
    pub fn check(&self) -> Result<(), BadGates> {
        match self.event.keys().find(|kind| !STARTS.contains(&kind.as_str())) {
            None => Ok(()),
            Some(kind) => Err(BadGates {
                place: format!("event.{kind}"),
                why: format!("no agent starts like this; the kinds are {}", STARTS.join(", ")),
            }),
        }
    }
}

impl StopConfig {
    pub fn max_blocks(&self) -> u32 {
        self.max_blocks.unwrap_or(MAX_BLOCKS)
    }

    /// Whether it makes sense as a whole.
    pub fn check(&self) -> Result<(), BadGates> {
        let bad = |place: String, why: &str| Err(BadGates { place, why: why.to_owned() });
        if self.mode == StopMode::Gate && self.prompt.as_deref().is_none_or(|prompt| prompt.trim().is_empty()) {
            return bad("prompt".into(), "with the mode gate it must say what the agent is told");
        }
        if self.max_blocks == Some(0) {
            return bad("max_blocks".into(), "use 1 or more, or the mode allow");
        }
        for (name, field) in self.schema.iter().flat_map(|schema| &schema.fields) {
            if let Some(word) = field.descriptions.keys().find(|word| !field.words.contains(word)) {
                let place = format!("schema.fields.{name}.descriptions.{word}");
                return bad(place, "this word is not in the field's enum");
            }
        }
        Ok(())
    }
}

fn read<T: DeserializeOwned + Default>(key: &str, config: Option<&Value>) -> Result<T, BadGates> {
    let Some(value) = config.and_then(|config| config.get(key)).filter(|value| !value.is_null()) else {
        return Ok(T::default());
    };
    // serde would take an array for the fields in their order.
    if !value.is_object() {
        return Err(BadGates { place: key.to_owned(), why: "it must be a JSON object".to_owned() });
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { key.to_owned() } else { format!("{key}.{path}") };
        BadGates { place, why: error.inner().to_string() }
    })
}

/// `null` is as good as absent, because the API shows what is absent as `null`.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mistake(config: Value) -> String {
        from_agent_config(Some(&config)).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_mentioned_is_off() {
        let nothing = (StopConfig::default(), StartConfig::default());
        for config in [None, Some(json!({})), Some(json!({"stop": null, "start": {}, "settings": {}}))] {
            assert_eq!(from_agent_config(config.as_ref()), Ok(nothing.clone()));
        }
        assert_eq!((nothing.0.mode, nothing.0.max_blocks()), (StopMode::Allow, 1));
    }

    #[test]
    fn everything_is_read_and_null_is_absent() {
        let config = json!({
            "stop": {"mode": "auto", "prompt": null, "max_blocks": 3, "schema": {"fields": {
                "status": {"required": true, "enum": ["done", "stuck"], "descriptions": {"done": "finished"}},
                "note": {"required": null, "enum": null, "descriptions": null, "description": "free words"},
            }}},
            "start": {"text": "hello", "shell": ["date"], "event": {"clear": {"text": "again"}}},
        });
        let (stop, start) = from_agent_config(Some(&config)).unwrap();
        assert_eq!((stop.mode, stop.max_blocks()), (StopMode::Auto, 3));
        let fields = stop.schema.unwrap().fields;
        assert_eq!(fields["status"].words, ["done", "stuck"]);
        assert_eq!(fields["note"].description.as_deref(), Some("free words"));
        assert_eq!((start.shell[0].as_str(), start.event["clear"].text.as_deref()), ("date", Some("again")));
    }

    #[test]
    fn mistakes_are_named() {
        let told = mistake(json!({"stop": {"mode": "never"}}));
        assert!(told.starts_with("stop.mode: unknown variant `never`, expected one of `allow`, `auto`"), "{told}");
        let told = mistake(json!({"stop": {"schema": {"fields": {"a": {"requird": true}}}}}));
        assert!(told.starts_with("stop.schema.fields.a.requird: unknown field `requird`"), "{told}");
        assert!(mistake(json!({"stop": []})).starts_with("stop: it must be"));
        assert!(mistake(json!({"start": {"shell": "date"}})).starts_with("start.shell: invalid type"));
        let told = mistake(json!({"start": {"event": {"resumed": {"text": "x"}}}}));
        assert!(
            told.starts_with("start.event.resumed: no agent starts like this") && told.contains("resume,"),
            "{told}"
        );
        assert!(mistake(json!({"stop": {"max_blocks": -1}})).starts_with("stop.max_blocks: invalid value"));
        assert!(mistake(json!({"stop": {"max_blocks": 0}})).starts_with("stop.max_blocks: use 1 or more"));
        assert!(mistake(json!({"stop": {"mode": "gate"}})).starts_with("stop.prompt: with the mode gate"));
        let strange = json!({"stop": {"schema": {"fields": {"a": {"enum": ["x"], "descriptions": {"y": ""}}}}}});
        assert!(mistake(strange).starts_with("stop.schema.fields.a.descriptions.y: this word"));
    }
}
