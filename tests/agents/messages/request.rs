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

/// As it came, with the path and the credentials it came with.
#[derive(Clone, Debug)]
pub struct Request {
    pub kind: Kind,
    pub body: Value,
    /// The `x-api-key` or `authorization` header.
    pub credential: Option<String>,
}

/// Text that the agent adds by itself, not the user.
const ADDED: [&str; 7] = [
    "<system-reminder>",
    "<command-",
    "<local-command-",
    "<bash-",
    "[Request interrupted",
    "Caveat: ",
    "Output token limit hit.",
];

/// How Claude Code 2.1.197 hands over what was typed while a tool ran.
const TYPED_MEANWHILE: &str = "The user sent a new message while you were working:\n";
const TYPED_MEANWHILE_END: &str = "\n\nIMPORTANT: After completing your current task";

impl Request {
    fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Every text of the conversation with the role that it has, what the agent adds included.
    pub fn texts(&self) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        for message in self.messages() {
            let role = message["role"].as_str().unwrap_or_default();
            match &message["content"] {
                Value::String(text) => texts.push((role.to_owned(), text.clone())),
                content => {
                    let blocks = content.as_array().into_iter().flatten();
                    let words: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
                    let last = words.len().saturating_sub(1);
                    // Claude Code 2.1.197 sends messages that follow each other as one, each but the last with a newline.
                    let own = |(index, text): (usize, &&str)| match index < last {
                        true => text.strip_suffix('\n').unwrap_or(text).to_owned(),
                        false => (*text).to_owned(),
                    };
                    texts.extend(words.iter().enumerate().map(own).map(|text| (role.to_owned(), text)));
                }
            }
        }
        texts
    }

    /// The user's own words, oldest first, exactly as they came.
    pub fn said(&self) -> Vec<String> {
        let mut said = Vec::new();
        for (role, text) in self.texts() {
            match role.as_str() {
                "user" if !ADDED.iter().any(|added| text.trim_start().starts_with(added)) => said.push(text),
                "system" => {
                    let typed = text.split(TYPED_MEANWHILE).skip(1);
                    said.extend(typed.map(|rest| rest.split(TYPED_MEANWHILE_END).next().unwrap().to_owned()));
                }
                _ => {}
            }
        }
        said
    }

    /// Whether anything in the conversation holds this text.
    pub fn mentions(&self, text: &str) -> bool {
        self.texts().iter().any(|(_, words)| words.contains(text))
            || self.results().iter().any(|result| result.text.contains(text))
    }

    /// What tools gave back, oldest first.
    pub fn results(&self) -> Vec<ToolResult> {
        let blocks = || self.messages().iter().flat_map(|message| message["content"].as_array().into_iter().flatten());
        let call = |id: &Value| blocks().find(|block| block["type"] == "tool_use" && block["id"] == *id);
        let results = blocks().filter(|block| block["type"] == "tool_result");
        results
            .map(|block| {
                let call = call(&block["tool_use_id"]);
                let field = |name: &str| call.map_or(Value::Null, |call| call[name].clone());
                ToolResult {
                    id: block["tool_use_id"].as_str().unwrap_or_default().to_owned(),
                    tool: field("name").as_str().unwrap_or_default().to_owned(),
                    input: field("input"),
                    text: plain(&block["content"]),
                    is_error: block["is_error"] == true,
                }
            })
            .collect()
    }

    /// A few lines for a failing test.
    pub fn summary(&self) -> String {
        let short = |text: &str| text.chars().take(200).collect::<String>();
        let said: Vec<String> = self.said().iter().map(|text| short(text)).collect();
        let results: Vec<String> = self
            .results()
            .iter()
            .map(|result| {
                format!("{}{}: {}", result.tool, if result.is_error { " (error)" } else { "" }, short(&result.text))
            })
            .collect();
        format!("{:?}: said {said:?}, results {results:?}", self.kind)
    }
}

/// A string, or the texts of blocks.
fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        content => {
            let texts = content.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}
