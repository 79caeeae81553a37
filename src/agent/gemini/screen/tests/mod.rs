//! What coop reads from recorded screens of the real Gemini CLI 0.61.0.

mod anything;
mod half_drawn;
mod quoting;
mod recorded;

use crate::agent::look::Dialog;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use super::*;
use crate::session::{Prompt, PromptKind};
use crate::terminal::Cursor;

/// The folders of recordings, with the size of their screens.
const SIZES: [(&str, usize, usize); 3] = [("screens", 200, 50), ("screens-80x24", 80, 24), ("screens-44x24", 44, 24)];

static OWN_RULES: LazyLock<Rules> = LazyLock::new(|| rules(None).unwrap());

/// A recorded screen.
#[derive(Clone)]
struct Recording {
    rows: Vec<String>,
    ansi: Option<Vec<String>>,
    cursor: Option<Cursor>,
    cols: usize,
}

/// All recordings of one size, by name.
fn recordings(folder: &str, cols: usize, rows: usize) -> BTreeMap<String, Recording> {
    let folder = fixtures().join(folder);
    let cursors: BTreeMap<String, [usize; 2]> =
        serde_json::from_str(&std::fs::read_to_string(folder.join("cursors.json")).unwrap()).unwrap();
    let padded = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.resize(rows, String::new());
        lines
    };
    let mut recordings = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let ansi = std::fs::read_to_string(path.with_extension("ansi")).ok().map(padded);
        let cursor = cursors.get(&name).map(|[row, col]| Cursor { row: *row, col: *col, visible: false });
        let rows = padded(std::fs::read_to_string(&path).unwrap());
        recordings.insert(name, Recording { rows, ansi, cursor, cols });
    }
    recordings
}

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gemini")
}

impl Recording {
    fn look(&self) -> Look {
        let (rows, ansi) = (self.rows.as_slice(), self.ansi.as_deref());
        look(&OWN_RULES, Sight { rows, ansi, cursor: self.cursor, cols: self.cols, is_mid_frame: false })
    }
}

/// A look in one line: `permission/tool Bash: *Yes | No`, where * marks what Enter takes.
fn describe(look: &Look) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut say = |yes: bool, text: &dyn Fn() -> String| {
        if yes {
            parts.push(text());
        }
    };
    if let Some(covered) = &look.covered {
        say(true, &|| format!("covered by {covered}"));
    }
    if let Some(input) = &look.input_box {
        let mark = if input.is_shell { "shell" } else { "box" };
        say(true, &|| format!("{mark} {:?}", input.text));
        say(input.suggestion.is_some(), &|| format!("suggests {:?}", input.suggestion.as_deref().unwrap_or_default()));
        say(input.is_cut, &|| "cut".into());
        say(!input.is_focused, &|| "keys go elsewhere".into());
    }
    say(look.working, &|| "working".into());
    say(look.interrupted, &|| "interrupted".into());
    say(!look.queued.is_empty(), &|| format!("queued {:?}", look.queued));
    if let Some(Banner { rule, is_limit, resets, category, .. }) = &look.error_banner {
        let word = if *is_limit { "limit" } else { "error" };
        let until = resets.as_ref().map(|resets| format!(" until {resets}")).unwrap_or_default();
        say(true, &|| format!("{word} {rule} ({category:?}){until}"));
    }
    if let Some(dialog) = &look.dialog {
        say(true, &|| describe_dialog(dialog));
    }
    if parts.is_empty() { "nothing".into() } else { parts.join(", ") }
}

fn describe_dialog(dialog: &Dialog) -> String {
    let Prompt { kind, subtype, tool, auth_url, questions, question_current, ready, .. } = &dialog.prompt;
    let kind = match kind {
        PromptKind::Permission => "permission",
        PromptKind::Plan => "plan",
        PromptKind::Question => "question",
        PromptKind::Setup => "setup",
    };
    let mut text = kind.to_owned();
    text += &subtype.as_ref().map(|subtype| format!("/{subtype}")).unwrap_or_default();
    text += &tool.as_ref().map(|tool| format!(" {tool}")).unwrap_or_default();
    text += &auth_url.as_ref().map(|url| format!(" at {}…{}", &url[..28], &url[url.len() - 4..])).unwrap_or_default();
    if !questions.is_empty() {
        let headers: Vec<&str> = questions.iter().map(|it| it.header.as_deref().unwrap_or("?")).collect();
        let question = questions.get(*question_current).map_or("review", |it| it.question.as_str());
        text += &format!(" {question_current} of {headers:?} {question:?}");
    }
    if let Some(menu) = &dialog.menu {
        let options: Vec<String> = menu
            .options
            .iter()
            .map(|it| {
                let mark = if dialog.selected == Some(it.number as usize - 1) { "*" } else { "" };
                let checked = it.checked.map_or("", |checked| if checked { "[x] " } else { "[ ] " });
                let tick = if it.ticked { " ✔" } else { "" };
                let about = if it.description.is_empty() { String::new() } else { format!(" ({})", it.description) };
                format!("{mark}{checked}{}{tick}{about}", it.label)
            })
            .collect();
        text += &format!(": {}", options.join(" | "));
        text += &menu
            .button
            .as_ref()
            .map(|it| format!(" | {}<{}>", if it.selected { "*" } else { "" }, it.label))
            .unwrap_or_default();
    }
    if dialog.free_text_focused {
        text += &format!(", typing {:?}", dialog.typed);
    }
    text += if *ready { "" } else { ", not ready" };
    text
}
