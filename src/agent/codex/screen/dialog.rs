//! The dialog that Codex shows in the place of its composer, or on a screen of its own.

use std::ops::Range;

use super::frame::{Frame, offers_keys};
use super::questions::Asking;
use crate::agent::Sight;
use crate::agent::block::Block;
use crate::agent::look::Dialog;
use crate::agent::menu;
use crate::agent::rows::{indent, is_blank};
use crate::agent::rules::{Asked, Rule, Rules};
use crate::session::{Prompt, PromptKind};

/// Names what has a dialog's looks but is not known.
const UNKNOWN_DIALOG: &str = "dialog";

/// Mark the option that Enter would take: in the pane, and on the screens to log in (0.166.0).
const MARKS: [char; 2] = ['›', '>'];

/// How far a dialog's own rows are indented, and its menu at most.
const INDENT: usize = 2;

/// Stands on the screens to log in, which have no pane.
const FIRST_START: &str = "Welcome to Codex";

/// The dialog on this screen; there must be no composer.
pub fn find(rules: &Rules, frame: &Frame<'_>) -> Option<Dialog> {
    let field = field(&frame.sight);
    let starts: Vec<usize> = match &frame.pane {
        Some(pane) => vec![pane.start],
        None => guessed_starts(frame),
    };
    let blocks: Vec<Block<'_>> = starts.into_iter().map(|start| cut(frame, start, field.as_ref())).collect();
    let known = blocks.iter().find_map(|block| Some((block, rules.dialog(&block.parts)?)));
    if let Some((block, (rule, asked))) = known {
        return Some(read_known(frame, block, field, rule, asked));
    }
    let block = blocks.last().filter(|block| is_dialog(frame, block) && !rules.knows_title(&block.parts.title))?;
    let mut dialog = start(frame, block, field, UNKNOWN_DIALOG, PromptKind::Setup);
    dialog.prompt.subtype = Some(UNKNOWN_DIALOG.to_owned());
    dialog.prompt.ready = !frame.sight.is_mid_frame && is_whole(frame, block);
    Some(dialog)
}

/// Without colours a dialog can begin at any paragraph; the lowest that is known counts. Some have the whole screen.
fn guessed_starts(frame: &Frame<'_>) -> Vec<usize> {
    let rows = frame.sight.rows;
    let begins = |row: &usize| {
        !is_blank(&rows[*row]) && indent(&rows[*row]) == INDENT && (*row == 0 || is_blank(&rows[*row - 1]))
    };
    (0..frame.end).rev().filter(begins).chain([0]).collect()
}

/// The rows from here to the screen's end. A field for text is no part of the menu, whatever was typed there.
fn cut<'a>(frame: &Frame<'a>, start: usize, field: Option<&Range<usize>>) -> Block<'a> {
    let rows = frame.sight.rows;
    let pane_end = frame.pane.as_ref().map_or(frame.end, |pane| pane.end.min(frame.end));
    let menu_end = field.map_or(pane_end, |field| field.start.min(pane_end));
    let menu = menu::read(&rows[start..menu_end.max(start)], frame.sight.cols, &MARKS);
    let menu = menu.filter(|menu| menu.mark_col <= INDENT).map(|menu| menu.moved_down(start));
    let title = (start..frame.end).find(|row| !is_blank(&rows[*row]));
    Block::new(rows, start..frame.end.max(start), title, menu)
}

fn read_known(frame: &Frame<'_>, block: &Block<'_>, field: Option<Range<usize>>, rule: &Rule, asked: &Asked) -> Dialog {
    let mut dialog = start(frame, block, field, &rule.name, asked.kind);
    let prompt = &mut dialog.prompt;
    prompt.subtype = asked.subtype.clone();
    prompt.tool = asked.tool.clone().or_else(|| mcp_tool(block));
    let is_menu_whole = block.menu.as_ref().is_none_or(|menu| menu.whole);
    prompt.ready = !frame.sight.is_mid_frame && is_menu_whole && rule.is_whole(&block.parts);
    match (asked.kind, asked.subtype.as_deref()) {
        (PromptKind::Question, None) => {
            let asking = Asking::read(block);
            prompt.ready &= asking.is_known;
            prompt.question_current = asking.current;
            prompt.questions = asking.questions;
            dialog.free_text = asking.free_text;
        }
        (PromptKind::Setup, Some("oauth_login")) => {
            prompt.auth_url = auth_url(block.texts());
            prompt.ready &= prompt.auth_url.is_some();
        }
        _ => {}
    }
    dialog
}

/// What can be told of any dialog.
fn start(frame: &Frame<'_>, block: &Block<'_>, field: Option<Range<usize>>, rule: &str, kind: PromptKind) -> Dialog {
    let mut prompt = Prompt::new(kind);
    prompt.options = block.parts.options.clone().unwrap_or_default();
    prompt.screen_lines = block.texts().to_vec();
    let typed = field.map(|rows| {
        let col = indent(&frame.sight.rows[rows.start]) + INDENT;
        frame.sight.field(rows, col, col).text
    });
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

/// The rows of the field that keys go to: the terminal's cursor is shown there, and only there.
fn field(sight: &Sight<'_>) -> Option<Range<usize>> {
    let cursor = sight.cursor.filter(|cursor| cursor.visible && cursor.row < sight.rows.len())?;
    let is_first = |row: &usize| sight.rows[*row].trim_start().starts_with(MARKS[0]);
    let first =
        (0..=cursor.row).rev().take_while(|row| !is_blank(&sight.rows[*row]) || *row == cursor.row).find(is_first)?;
    let last = (cursor.row..sight.rows.len()).take_while(|row| !is_blank(&sight.rows[*row])).last()?;
    Some(first..last + 1)
}

/// Whether something unknown has a dialog's looks: keys are offered below it, and it does not begin as a message does.
fn is_dialog(frame: &Frame<'_>, block: &Block<'_>) -> bool {
    let is_first_start = || frame.sight.rows.iter().any(|row| row.contains(FIRST_START));
    let title = block.title_row.map_or("", |row| frame.sight.rows[row].as_str());
    offers_keys(&block.parts.footer) && !title.starts_with(MARKS) && (frame.pane.is_some() || is_first_start())
}

/// Whether no option can be missing. Rows with numbers that make no menu are one of which too little is seen, and without
/// a pane and a menu nothing tells where a dialog ends.
fn is_whole(frame: &Frame<'_>, block: &Block<'_>) -> bool {
    let is_numbered = |row: &String| row.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let without_menu = || frame.pane.is_some() && !block.texts().iter().any(is_numbered);
    block.menu.as_ref().map_or_else(without_menu, |menu| menu.whole)
}

/// `Allow the desk MCP server to run tool "write_note"?`, as hooks call it.
fn mcp_tool(block: &Block<'_>) -> Option<String> {
    let (server, rest) = block.parts.body.strip_prefix("Allow the ")?.split_once(" MCP server to run tool \"")?;
    let (tool, _) = rest.split_once('"')?;
    Some(format!("mcp__{server}__{tool}"))
}

/// The address, which goes on in the first column of the next rows.
fn auth_url(rows: &[String]) -> Option<String> {
    let first = rows.iter().position(|row| row.trim_start().starts_with("https://"))?;
    let url: String = rows[first..].iter().take_while(|row| !is_blank(row)).map(|row| row.trim()).collect();
    (!url.contains(char::is_whitespace)).then_some(url)
}
