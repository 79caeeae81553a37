//! stub
use crate::session::Prompt;
use crate::terminal::Snapshot;
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    pub input_box: Option<InputBox>,
    pub dialog: Option<Dialog>,
    pub working: bool,
    pub retrying: Option<Retry>,
    pub queued: Vec<String>,
}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputBox {
    pub text: String,
}
#[derive(Clone, Debug, PartialEq)]
pub struct Dialog {
    pub rule: String,
    pub prompt: Prompt,
    pub selected: Option<usize>,
}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retry {
    pub seconds: u32,
    pub attempt: u32,
    pub of: u32,
}
pub fn look(_: &Snapshot) -> Look {
    Look::default()
}
