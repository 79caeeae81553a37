//! What one hook event of Gemini CLI tells, as facts. Field names as seen in 0.61.0.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::agent::evidence::Claim;
use crate::agent::heard::{Asked, Done, Heard, Wants, cut, of_tool};
use crate::session::{Prompt, PromptKind, Question};

/// How much of a plan is shown with its prompt.
const SUMMARY_CHARS_MAX: usize = 4000;

/// Stands before what Gemini reads from the files that a message names with `@`.
const REFERENCES: &str = "\n--- Content from referenced files ---";

/// Stands for the answer in a turn that had none: it failed, was cancelled, or only used tools.
const WORDLESS: &str = "[no response text]";

/// Tools whose dialogs are announced in another way than as a piece of information.
const ANNOUNCED_BY_NAME: [&str; 6] =
    ["run_shell_command", "write_file", "replace", "ask_user", "exit_plan_mode", "enter_plan_mode"];

/// Reads one event. An event that is not known tells only where the conversation is.
pub fn hear(event: &str, payload: &Value) -> Heard {
    let text = |name: &str| payload.get(name).and_then(Value::as_str);
    let mut heard = Heard {
        conversation: text("session_id").map(str::to_owned),
        log: text("transcript_path").filter(|path| !path.is_empty()).map(PathBuf::from),
        ..Heard::default()
    };
    match event {
        "SessionStart" => {
            let source = text("source").unwrap_or("startup").to_owned();
            if source == "resume" {
                // It names a new file, but goes on in the old one; and it draws the past now.
                heard.log = None;
                heard.redraws = true;
            }
            heard.claim = Some(Claim::Idle);
            heard.closes_questions = true;
            heard.wants = Wants::Start { source };
        }
        // `clear` is told as well, and a start after it.
        "SessionEnd" => {
            heard.ends = text("reason") == Some("exit");
            heard.closes_questions = true;
        }
        "BeforeAgent" => {
            heard.claim = Some(Claim::Working);
            heard.took = text("prompt").map(|prompt| typed(prompt).to_owned());
            heard.closes_questions = true;
        }
        "AfterAgent" => {
            heard.claim = Some(Claim::Idle);
            // Not `prompt_response`: pieces of the answer stand in it twice. The log has the words as they were.
            heard.is_wordless = text("prompt_response") == Some(WORDLESS);
            heard.wants = Wants::Stop { already_held: payload.get("stop_hook_active") == Some(&Value::Bool(true)) };
            heard.closes_questions = true;
        }
        "BeforeTool" => {
            heard.claim = Some(Claim::Working);
            heard.begins = tool_use(payload);
        }
        "AfterTool" => {
            heard.claim = Some(Claim::Working);
            heard.done = tool_use(payload);
        }
        "Notification" if text("notification_type") == Some("ToolPermission") => {
            let asked = asked(payload.get("details").unwrap_or(&Value::Null));
            heard.claim = Some(Claim::Prompt(asked.prompt.clone()));
            heard.wants = Wants::Answer(Box::new(asked));
        }
        _ => {}
    }
    heard
}

/// A message as it was typed: without the files that were read into it.
pub fn typed(prompt: &str) -> &str {
    prompt.split(REFERENCES).next().unwrap_or(prompt)
}

fn tool_use(payload: &Value) -> Option<Done> {
    let tool = payload.get("tool_name")?.as_str()?.to_owned();
    Some(Done { tool, input: payload.get("tool_input").cloned().unwrap_or(Value::Null) })
}

/// The dialog that is about to open, as far as its announcement tells; what its tool is to do was told before. Until it
/// is completed its input is all that was announced.
fn asked(details: &Value) -> Asked {
    let text = |name: &str| details.get(name).and_then(Value::as_str).unwrap_or_default();
    let tool = match text("type") {
        "exec" => "run_shell_command",
        "mcp" => text("toolName"),
        "info" if text("title") == "Enter Plan Mode" => "enter_plan_mode",
        "info" => "",
        // `ask_user` and `exit_plan_mode` are the names of their tools.
        other => other,
    };
    let prompt = prompt(tool, &announced_input(details), text("type") == "mcp", &[]);
    Asked { prompt, tool: tool.to_owned(), input: details.clone(), is_held: false }
}

/// What an announcement alone tells of a tool's input.
fn announced_input(details: &Value) -> Value {
    match details["type"].as_str().unwrap_or_default() {
        "exec" => json!({"command": details["command"]}),
        "edit" => json!({"file_path": details["filePath"]}),
        "mcp" => json!({"server": details["serverName"], "tool": details["toolName"]}),
        "info" if details["title"] != "Enter Plan Mode" => json!({"prompt": details["prompt"]}),
        _ => Value::Null,
    }
}

/// The same with what its tool was told to do. Several tools may have begun before the first of their dialogs opens: of
/// those that were not asked about yet, one is only taken for it when nothing else could be meant.
pub fn completed(asked: Asked, begun: &[Done], unasked: &[Done]) -> Asked {
    let details = asked.input;
    let fitting: Vec<&Done> = unasked.iter().filter(|done| fits(&details, done)).collect();
    let exact: Vec<&Done> = fitting.iter().copied().filter(|done| is_told(&details, &done.input)).collect();
    let Some(Done { tool, input }) = only(&fitting).or_else(|| only(&exact)).cloned() else {
        return Asked { input: announced_input(&details), ..asked };
    };
    let is_mcp = details["type"] == "mcp";
    Asked { prompt: prompt(&tool, &input, is_mcp, begun), tool, input, ..asked }
}

/// The one that all of them are.
fn only<'a>(tools: &[&'a Done]) -> Option<&'a Done> {
    let first = *tools.first()?;
    tools.iter().all(|tool| *tool == first).then_some(first)
}

/// Whether the announcement can be about this use of a tool.
fn fits(details: &Value, done: &Done) -> bool {
    let tool = done.tool.as_str();
    match details["type"].as_str().unwrap_or_default() {
        "exec" => tool == "run_shell_command" && done.input["command"] == details["command"],
        "edit" => {
            let announced = details["filePath"].as_str().and_then(|path| Path::new(path).file_name());
            announced.is_some() && file_name(&done.input) == announced.map(Path::new)
        }
        "mcp" => is_tool_of(tool, &details["serverName"], &details["toolName"]),
        "info" if details["title"] == "Enter Plan Mode" => tool == "enter_plan_mode",
        "info" => !ANNOUNCED_BY_NAME.contains(&tool),
        other => tool == other,
    }
}

/// Whether the announcement has this very input in its words: the change of a file, or what shall be fetched.
fn is_told(details: &Value, input: &Value) -> bool {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let (before, after) = (text(&details["originalContent"]), text(&details["newContent"]));
    let has = |content: &Option<String>, part: &Value| match (content, text(part)) {
        (Some(content), Some(part)) => content.contains(&part),
        _ => false,
    };
    if details["type"] == "edit" {
        return after.is_some() && text(&input["content"]) == after
            || has(&before, &input["old_string"]) && has(&after, &input["new_string"]);
    }
    text(&input["prompt"]).is_some_and(|prompt| details["prompt"] == prompt.as_str())
}

/// `mcp_files_delete` is the tool `delete` of the server `files`; signs that a name must not have are changed.
fn is_tool_of(name: &str, server: &Value, tool: &Value) -> bool {
    let bare = |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
    let (server, tool) = (server.as_str().unwrap_or_default(), tool.as_str().unwrap_or_default());
    !tool.is_empty() && (name == tool || bare(name).ends_with(&(bare(server) + &bare(tool))))
}

fn file_name(input: &Value) -> Option<&Path> {
    input["file_path"].as_str().and_then(|path| Path::new(path).file_name()).map(Path::new)
}

/// The dialog that a tool's request opens.
fn prompt(tool: &str, input: &Value, is_mcp: bool, begun: &[Done]) -> Prompt {
    let base = |kind| of_tool(kind, tool, input);
    let permission = |subtype: &str| Prompt { subtype: Some(subtype.to_owned()), ..base(PromptKind::Permission) };
    match tool {
        _ if is_mcp => permission("mcp"),
        "ask_user" => {
            let questions: Vec<Question> = input["questions"].as_array().into_iter().flatten().map(question).collect();
            let options = questions.first().map(|first| first.options.clone()).unwrap_or_default();
            Prompt { options, questions, ..base(PromptKind::Question) }
        }
        "exit_plan_mode" => Prompt { summary: plan(input, begun), ..base(PromptKind::Plan) },
        "run_shell_command" => permission("tool"),
        "write_file" | "replace" | "edit" => permission("edit"),
        "enter_plan_mode" => permission("plan_entry"),
        _ => permission("tool"),
    }
}

/// The text of a plan: the request names a file, which was written by a tool before.
fn plan(input: &Value, begun: &[Done]) -> Option<String> {
    let name = Path::new(input["plan_filename"].as_str()?).file_name()?;
    let wrote = begun.iter().rev().find(|done| file_name(&done.input) == Some(Path::new(name)))?;
    wrote.input["content"].as_str().map(|plan| cut(plan, SUMMARY_CHARS_MAX))
}

fn question(value: &Value) -> Question {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let options = value["options"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut question = Question {
        question: text(value, "question"),
        header: value["header"].as_str().map(str::to_owned),
        options: options.iter().map(|option| text(option, "label")).collect(),
        descriptions: options.iter().map(|option| text(option, "description")).collect(),
        multi_select: value["multiSelect"].as_bool().unwrap_or_default(),
    };
    if value["type"] == "yesno" {
        question.options = vec!["Yes".to_owned(), "No".to_owned()];
        question.descriptions = vec![String::new(); 2];
    }
    question
}

#[cfg(test)]
mod tests;
