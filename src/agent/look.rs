//! What a look at an agent's screen finds: its input box, its dialog, whether it works. The same for all agents.

use std::ops::Range;

use super::menu::Menu;
use crate::session::{ErrorCategory, Prompt};

/// What the screen shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// It can be typed to; in most agents the box stays visible while they work.
    pub input_box: Option<InputBox>,
    /// A dialog in the input box's place.
    pub dialog: Option<Dialog>,
    /// Whether it is drawn at work: a spinner turns, or a key is offered that would interrupt.
    pub working: bool,
    /// It waits before it asks the model once more.
    pub retrying: Option<Retry>,
    /// It does not get on, and says why: the network is gone, for example.
    pub stalled: Option<Banner>,
    /// Whether the last turn was interrupted or a tool was refused.
    pub interrupted: bool,
    /// Messages that wait for the turn's end.
    pub queued: Vec<String>,
    /// The error or limit that the last turn ended with. A model's own words may be drawn the same way.
    pub error_banner: Option<Banner>,
    /// It is about to start anew, by itself: what it told so far is over.
    pub restarts: bool,
    /// The rule of another view that hides the conversation: nothing may be typed.
    pub covered: Option<String>,
}

/// A pause before the model is asked once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    pub seconds: u64,
    pub attempt: u32,
    /// How many attempts there will be.
    pub of: u32,
}

/// An error or a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banner {
    pub rule: String,
    pub text: String,
    pub category: ErrorCategory,
    /// Whether it is a limit that ends by itself.
    pub is_limit: bool,
    /// When it ends, in the agent's words.
    pub resets: Option<String>,
}

/// A dialog, with what is needed to answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// The rule that knows it.
    pub rule: String,
    /// What is asked; without a name.
    pub prompt: Prompt,
    /// The option that Enter takes, counted from 0.
    pub selected: Option<usize>,
    /// The menu with its checkboxes and the rows it stands on.
    pub menu: Option<Menu>,
    /// The tabs of several questions.
    pub tabs: Vec<Tab>,
    /// The option that takes a text, counted from 0.
    pub free_text: Option<usize>,
    /// Whether keys go into a text, not to the menu.
    pub free_text_focused: bool,
    /// What was typed there, where that field is an option.
    pub typed: String,
    /// Where it says so: which of several it is that are shown one after the other.
    pub nth: Option<Nth>,
    pub rows: Range<usize>,
}

/// A number among several, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nth {
    pub number: usize,
    pub of: usize,
}

impl Dialog {
    /// One of which nothing is known but what it asks and where it stands.
    pub fn new(rule: &str, prompt: Prompt, rows: Range<usize>) -> Self {
        Self {
            rule: rule.to_owned(),
            prompt,
            selected: None,
            menu: None,
            tabs: Vec::new(),
            free_text: None,
            free_text_focused: false,
            typed: String::new(),
            nth: None,
            rows,
        }
    }
}

/// The input box. It may stay visible while the agent works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputBox {
    /// What was typed, without suggestions. Compare it by its words: where rows were wrapped is a guess.
    pub text: String,
    /// What the agent suggests, faintly, behind the text or in its place.
    pub suggestion: Option<String>,
    /// Whether what is typed is a command for the shell.
    pub is_shell: bool,
    /// Whether the cursor is in it, so that keys go there.
    pub is_focused: bool,
    /// Whether it is taller than the screen, so that its first rows are not seen.
    pub is_cut: bool,
    pub first_row: usize,
    pub last_row: usize,
}

impl InputBox {
    /// Whether it shows a suggestion and nothing was typed.
    pub fn is_placeholder(&self) -> bool {
        self.text.is_empty() && self.suggestion.is_some()
    }
}

/// A question's tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab {
    pub header: String,
    pub is_answered: bool,
}
