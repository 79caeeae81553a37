//! The dialog that Claude Code shows in the place of its input box.

use super::block;
use super::frame::Frame;
use super::questions::Asking;
use crate::agent::block::Block;
use crate::agent::look::Dialog;
use crate::agent::menu::Menu;
use crate::agent::rows::wrapped_url;
use crate::agent::rules::{Asked, Rule, Rules};
use crate::session::{Prompt, PromptKind};

/// Names what has a dialog's looks but is not known.
const UNKNOWN_DIALOG: &str = "dialog";

/// Stand at the end of dialogs, known or not (2.1.197).
const FOOTERS: [&str; 3] = ["Esc to ", "Enter to confirm", "Enter to select"];

/// How the screens of the first start begin, which have no line above them.
const FIRST_START: &str = "Welcome to Claude Code";

/// The dialog on this screen; there must be no input box.
pub fn find(rules: &Rules, frame: &Frame<'_>) -> Option<Dialog> {
    let blocks: Vec<Block<'_>> = frame.lines.iter().map(|line| block::below(frame, Some(*line))).collect();
    let screen = block::below(frame, None);
    let screen = Some(screen).filter(|screen| frame.is_all_dialog(screen.menu.as_ref()));
    let known = blocks.iter().chain(&screen).find_map(|block| Some((block, rules.dialog(&block.parts)?)));
    if let Some((block, (rule, asked))) = known {
        return Some(read_known(frame, block, rule, asked));
    }
    let is_first_start = |block: &&Block<'_>| block.parts.title.starts_with(FIRST_START) && block.menu.is_some();
    let is_new = |block: &&Block<'_>| ends(block) && !rules.knows_title(&block.parts.title);
    let unknown = blocks.first().filter(is_new).or(screen.as_ref().filter(is_first_start))?;
    let mut dialog = start(frame, unknown, UNKNOWN_DIALOG, PromptKind::Setup);
    dialog.prompt.subtype = Some(UNKNOWN_DIALOG.to_owned());
    dialog.prompt.ready = !frame.sight.is_mid_frame && ends(unknown) && is_whole(unknown);
    Some(dialog)
}

fn read_known(frame: &Frame<'_>, block: &Block<'_>, rule: &Rule, asked: &Asked) -> Dialog {
    let mut dialog = start(frame, block, &rule.name, asked.kind);
    let prompt = &mut dialog.prompt;
    prompt.subtype = asked.subtype.clone();
    prompt.tool = asked.tool.clone();
    let is_menu_whole = block.menu.as_ref().is_none_or(|menu| menu.whole);
    prompt.ready = !frame.sight.is_mid_frame && is_menu_whole && rule.is_whole(&block.parts);
    match asked.kind {
        PromptKind::Question => {
            let asking = Asking::read(&frame.sight, block, asked.subtype.as_deref() == Some("review"));
            prompt.ready &= asking.is_known();
            prompt.question_current = asking.current;
            prompt.questions = asking.questions;
            (dialog.tabs, dialog.free_text) = (asking.tabs, asking.free_text);
        }
        PromptKind::Plan if asked.subtype.is_none() => {
            dialog.free_text = block.menu.as_ref().and_then(|menu| menu.options.len().checked_sub(1));
        }
        PromptKind::Setup if asked.subtype.as_deref() == Some("oauth_login") => {
            prompt.auth_url = wrapped_url(block.texts(), frame.sight.cols);
            prompt.ready &= prompt.auth_url.is_some();
        }
        _ => {}
    }
    dialog
}

/// What can be told of any dialog.
fn start(frame: &Frame<'_>, block: &Block<'_>, rule: &str, kind: PromptKind) -> Dialog {
    let mut prompt = Prompt::new(kind);
    prompt.options = block.parts.options.clone().unwrap_or_default();
    prompt.screen_lines = block.texts().to_vec();
    let typed = block.menu.as_ref().and_then(|menu| typed(frame, menu));
    Dialog {
        rule: rule.to_owned(),
        prompt,
        selected: block.menu.as_ref().and_then(|menu| menu.selected),
        menu: block.menu.clone(),
        tabs: Vec::new(),
        free_text: None,
        free_text_focused: typed.is_some(),
        typed: typed.unwrap_or_default(),
        nth: None,
        rows: block.rows.clone(),
    }
}

/// What was typed into the field that keys go to. On an option the cursor stands at the mark, in a field behind it;
/// where Claude shows no cursor, it stays below the dialog.
fn typed(frame: &Frame<'_>, menu: &Menu) -> Option<String> {
    let (sight, cursor) = (&frame.sight, frame.sight.cursor?);
    if cursor.col <= menu.mark_col || cursor.row >= frame.end {
        return None;
    }
    let option = menu.selected.and_then(|at| menu.options.get(at)).filter(|it| it.label_rows.contains(&cursor.row));
    let field = option.map(|it| sight.field(it.label_rows.clone(), it.label_col, it.label_col));
    Some(field.unwrap_or_default().text)
}

fn ends(block: &Block<'_>) -> bool {
    FOOTERS.iter().any(|footer| block.parts.footer.contains(footer))
}

/// Whether no option can be missing. Rows with numbers that make no menu are one of which too little is seen.
fn is_whole(block: &Block<'_>) -> bool {
    let is_numbered = |row: &String| row.trim_start().starts_with(|c: char| c.is_ascii_digit());
    block.menu.as_ref().map_or_else(|| !block.texts().iter().any(is_numbered), |menu| menu.whole)
}
