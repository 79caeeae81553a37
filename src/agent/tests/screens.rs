//! Recorded screens of the real agents, and what is read from them in one line each.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::agent::look::{Banner, Dialog, Look, Retry};
use crate::agent::sight::Sight;
use crate::session::{Prompt, PromptKind};
use crate::terminal::Cursor;

/// The folders of recordings, with the size of their screens.
pub const SIZES: [(&str, usize, usize); 3] =
    [("screens", 200, 50), ("screens-80x24", 80, 24), ("screens-44x24", 44, 24)];

/// The recordings of one agent.
pub struct Gallery {
    /// The agent's folder of fixtures.
    pub agent: &'static str,
    pub look: fn(Sight<'_>) -> Look,
    /// Whether the recorded cursors are visible ones, and all others hidden.
    pub shows_cursors: bool,
}

/// A recorded screen.
#[derive(Clone)]
pub struct Recording {
    pub rows: Vec<String>,
    pub ansi: Option<Vec<String>>,
    pub cursor: Option<Cursor>,
    pub cols: usize,
    pub look: fn(Sight<'_>) -> Look,
}

impl Gallery {
    pub fn fixtures(&self) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(self.agent)
    }

    /// All recordings of one size, by name.
    pub fn recordings(&self, (folder, cols, rows): (&str, usize, usize)) -> BTreeMap<String, Recording> {
        let folder = self.fixtures().join(folder);
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
            let recorded = cursors.get(&name);
            let cursor = recorded.map(|[row, col]| Cursor { row: *row, col: *col, visible: self.shows_cursors });
            let hidden = self.shows_cursors.then_some(Cursor { row: 0, col: 0, visible: false });
            let rows = padded(std::fs::read_to_string(&path).unwrap());
            recordings.insert(name, Recording { rows, ansi, cursor: cursor.or(hidden), cols, look: self.look });
        }
        recordings
    }

    /// Holds the recordings against `expected.table`, which has a line for each.
    pub fn check(&self, size: (&str, usize, usize)) {
        let seen: Vec<String> = self
            .recordings(size)
            .iter()
            .map(|(name, recording)| format!("{name:<34} {}", describe(&recording.look())))
            .collect();
        let expected = std::fs::read_to_string(self.fixtures().join(size.0).join("expected.table")).unwrap();
        let expected: Vec<&str> = expected.lines().collect();
        let wrong: Vec<&String> = seen.iter().filter(|line| !expected.contains(&line.as_str())).collect();
        assert!(wrong.is_empty(), "{}, not as expected:\n{wrong:#?}", size.0);
        assert_eq!(seen.len(), expected.len(), "{}: each recording is in the table once", size.0);
    }
}

impl Recording {
    pub fn look(&self) -> Look {
        let (rows, ansi) = (self.rows.as_slice(), self.ansi.as_deref());
        (self.look)(Sight { rows, ansi, cursor: self.cursor, cols: self.cols, is_mid_frame: false })
    }
}

/// A look in one line: `permission/tool Bash: *Yes | No`, where * marks what Enter takes.
pub fn describe(look: &Look) -> String {
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
    if let Some(Banner { rule, category, .. }) = &look.stalled {
        say(true, &|| format!("stalled {rule} ({category:?})"));
    }
    if let Some(Retry { seconds, attempt, of }) = look.retrying {
        say(true, &|| format!("retrying in {seconds}s {attempt}/{of}"));
    }
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
            .enumerate()
            .map(|(at, it)| {
                // Options may be out of sight above.
                let place = at + dialog.prompt.options.len().saturating_sub(menu.options.len());
                let mark = if Some(place) == dialog.selected { "*" } else { "" };
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
