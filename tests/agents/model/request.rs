//! One request that the model got, and the words and tool results in it.

use serde_json::Value;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The conversation goes on.
    Turn,
    /// A subagent's conversation goes on.
    Helper,
    /// The conversation shall be summed up.
    Summary,
    /// A small request beside the conversation, such as for its title.
    Side,
}

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    pub id: String,
    pub tool: String,
    /// What the model had asked the tool for.
    pub input: Value,
    pub text: String,
    pub is_error: bool,
}

/// What a conversation holds, read by the dialect.
#[derive(Clone, Debug, Default)]
pub struct Talk {
    /// Every text with the role that it has, what the agent adds included.
    pub texts: Vec<(String, String)>,
    /// The user's own words, oldest first, exactly as they came.
    pub said: Vec<String>,
    /// What tools gave back, oldest first.
    pub results: Vec<ToolResult>,
}

/// What it held, with the credentials it came with.
#[derive(Clone, Debug)]
pub struct Request {
    pub kind: Kind,
    /// The header that proves who pays.
    pub credential: Option<String>,
    pub talk: Talk,
}

impl Request {
    /// The user's own words, oldest first, exactly as they came.
    pub fn said(&self) -> Vec<String> {
        self.talk.said.clone()
    }

    /// Whether anything in the conversation holds this text.
    pub fn mentions(&self, text: &str) -> bool {
        self.talk.texts.iter().any(|(_, words)| words.contains(text))
            || self.talk.results.iter().any(|result| result.text.contains(text))
    }

    /// A few lines for a failing test.
    pub fn summary(&self) -> String {
        let short = |text: &str| text.chars().take(200).collect::<String>();
        let said: Vec<String> = self.talk.said.iter().map(|text| short(text)).collect();
        let result = |result: &ToolResult| {
            let failed = if result.is_error { " (error)" } else { "" };
            format!("{}{failed}: {}", result.tool, short(&result.text))
        };
        let results: Vec<String> = self.talk.results.iter().map(result).collect();
        format!("{:?}: said {said:?}, results {results:?}", self.kind)
    }
}

/// A string, or the texts of blocks.
pub fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        content => {
            let texts = content.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}
