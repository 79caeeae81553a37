//! The last row of the outer terminal: which session this is, what its agent does, and how to leave.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::key::DetachKey;
use crate::child::Size;
use crate::cli::words::{plain, word};
use crate::proto::v1::{AgentStateEvent, AgentStateKind, PromptContext, PromptType};

/// How much of a tool's input is shown.
const INPUT_CHARS_MAX: usize = 60;

/// The row in reverse, and in yellow when somebody is waited for.
const QUIET: &str = "\x1b[0;7m";
const URGENT: &str = "\x1b[0;30;43m";

/// What the row tells.
#[derive(Debug, Default)]
pub struct Status {
    /// The session's own name.
    pub name: String,
    /// The kind of agent, or the program.
    pub program: String,
    pub view: bool,
    /// It is a shell, which ends with the sitting.
    pub is_shell: bool,
    /// What the agent does, when it is known.
    pub state: Option<AgentStateEvent>,
    /// Something that went wrong with what was typed.
    pub trouble: Option<String>,
    /// The connection is lost.
    pub lost: Option<String>,
    /// The detach key was pressed once.
    pub asked: bool,
}

impl Status {
    /// The row for a terminal of so many columns that shows `shown` of a session of the size `whole`.
    pub fn row(&self, cols: usize, shown: (usize, usize), whole: Size, key: Option<&DetachKey>) -> String {
        let key = key.map(DetachKey::name);
        let right = match (self.asked, key, self.view) {
            (true, Some(key), _) if self.is_shell => format!("closing; {key} again sends it "),
            (true, Some(key), _) => format!("detaching; {key} again sends it "),
            (_, Some(key), true) => format!("ctrl-c or {key} leaves "),
            (_, None, true) => "ctrl-c leaves ".to_owned(),
            (_, Some(key), false) if self.is_shell => format!("{key} closes the shell "),
            (_, Some(key), false) => format!("{key} detaches "),
            (_, None, false) => String::new(),
        };
        let style = if self.is_urgent() { URGENT } else { QUIET };
        let left = cut(&format!(" {}", self.told(shown, whole).join("  ")), cols);
        let room = cols.saturating_sub(left.width());
        // The way out is worth more than the end of a long question.
        let (left, room) = if room <= right.width() && cols > 2 * right.width() {
            let left = cut(&left, cols - right.width() - 1);
            let room = cols - left.width();
            (left, room)
        } else {
            (left, room)
        };
        let right = if right.width() < room { right } else { String::new() };
        let blanks = " ".repeat(room - right.width());
        format!("{style}{left}{blanks}{right}\x1b[0m")
    }

    /// Whether something is not as it should be.
    pub fn is_wrong(&self) -> bool {
        self.lost.is_some() || self.trouble.is_some()
    }

    fn is_urgent(&self) -> bool {
        self.is_wrong() || self.state.as_ref().is_some_and(|state| state.next == AgentStateKind::Prompt as i32)
    }

    fn told(&self, shown: (usize, usize), whole: Size) -> Vec<String> {
        let mut parts = vec![plain(&self.name)];
        parts.extend(self.lost.clone());
        parts.extend(self.trouble.as_deref().map(plain));
        let (cols, rows) = (usize::from(whole.cols()), usize::from(whole.rows()));
        if cols > shown.0 || rows > shown.1 {
            parts.push(format!("{}x{} of {cols}x{rows}", shown.0.min(cols), shown.1.min(rows)));
        }
        if self.view {
            parts.push("view only".to_owned());
        }
        // Last what may be long: the end of it is cut off.
        parts.push(plain(&self.program));
        parts.extend(self.state.as_ref().map(told_state));
        parts
    }
}

/// `idle`, or what is asked, or what went wrong.
fn told_state(state: &AgentStateEvent) -> String {
    let kind = word::<AgentStateKind>(state.next);
    let detail = match (&state.prompt, &state.error_detail, &state.parked_reason) {
        (Some(prompt), ..) => Some(told_prompt(prompt)),
        (None, Some(text), _) | (None, None, Some(text)) => Some(plain(text)),
        _ => None,
    };
    detail.map_or(kind.clone(), |detail| format!("{kind}: {detail}"))
}

fn told_prompt(prompt: &PromptContext) -> String {
    let kind = word::<PromptType>(prompt.r#type);
    let asked = prompt.questions.get(prompt.question_current as usize).map(|question| question.question.as_str());
    let input = prompt.input.as_deref().map(|input| input.chars().take(INPUT_CHARS_MAX).collect::<String>());
    let parts = [prompt.subtype.as_deref(), prompt.tool.as_deref(), input.as_deref(), asked, prompt.summary.as_deref()];
    std::iter::once(kind).chain(parts.into_iter().flatten().map(plain)).collect::<Vec<_>>().join(" ")
}

/// As much of the text as fits into so many columns.
fn cut(text: &str, cols: usize) -> String {
    let mut left = cols;
    let fits = |ch: &char| {
        let width = ch.width().unwrap_or(0);
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status() -> Status {
        Status { name: "coop-7".into(), program: "claude".into(), ..Default::default() }
    }

    fn row(status: &Status, cols: usize) -> String {
        let (key, whole) = (DetachKey::parse("ctrl-]").unwrap(), Size::new(80, 23).unwrap());
        let row = status.row(cols, (cols, 23), whole, key.as_ref());
        let bare = row.replace(QUIET, "").replace(URGENT, "!").replace("\x1b[0m", "");
        assert_eq!(bare.trim_start_matches('!').width(), cols, "it fills the row and no more: {bare:?}");
        bare
    }

    #[test]
    fn it_tells_the_session_its_state_and_the_way_out() {
        let idle = AgentStateEvent { next: AgentStateKind::Idle.into(), ..Default::default() };
        let status = Status { state: Some(idle), ..status() };
        let told = row(&status, 80);
        assert!(told.starts_with(" coop-7  claude  idle ") && told.ends_with(" ctrl-] detaches "), "{told}");
        assert!(row(&Status { view: true, ..status }, 60).contains("60x23 of 80x23  view only"));
    }

    #[test]
    fn a_question_stands_out_and_is_cut_to_the_width() {
        let prompt = PromptContext {
            r#type: PromptType::Permission.into(),
            tool: Some("Bash".into()),
            input: Some("ls \x1b[2J日本".into()),
            ..Default::default()
        };
        let state = AgentStateEvent { next: AgentStateKind::Prompt.into(), prompt: Some(prompt), ..Default::default() };
        let status = Status { state: Some(state), ..status() };
        let told = row(&status, 80);
        assert!(told.starts_with("! coop-7  claude  prompt: permission Bash ls \\u{1b}[2J日本"), "{told}");
        assert!(row(&status, 50).ends_with(" ctrl-] detaches "));
        for cols in 1..80 {
            row(&status, cols);
        }
    }
}
