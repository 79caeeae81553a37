//! The dialog that Gemini CLI shows in the place of its input box.

use std::ops::Range;

use super::field::{self, Place};
use super::frame::Frame;
use super::questions::Asking;
use crate::agent::Sight;
use crate::agent::block::Block;
use crate::agent::look::{Dialog, Nth};
use crate::agent::menu::{self, Choice, Menu};
use crate::agent::rows::{is_blank, wrapped_url};
use crate::agent::rules::{Asked, Parts, Rule, Rules};
use crate::agent::shades::Colour;
use crate::session::{Prompt, PromptKind};

/// Names what has a dialog's looks but is not known.
const UNKNOWN_DIALOG: &str = "dialog";

/// Marks the option that Enter would take (0.61.0).
const MARKS: [char; 1] = ['●'];

/// A label that is wrapped goes on one column left of where it began.
const HANG_COLS: usize = 1;

/// Stand at the end of dialogs, known or not.
const FOOTERS: [&str; 5] = ["Enter to ", "Esc to ", "Use Enter", "Press Esc", "(esc)"];

/// Begin a frame within the dialog, which shows a command, a change or a field.
const INNER_FRAME: [char; 3] = ['╭', '│', '╰'];

/// What the options say that take a text (0.61.0).
const OWN_TEXT: [&str; 2] = ["Enter a custom value", "Type your feedback..."];

/// What an empty field for a key says.
const KEY_HINT: &str = "Paste your API key here";

/// Where the key begins behind the frame of its field.
const KEY_COL: usize = 2;

/// Begin the first and the last row of a login in a browser, which takes the whole screen.
const LOGIN: &str = "Please visit the following URL";
const LOGIN_FIELD: &str = "Enter the authorization code:";

/// A dialog's frame and its menu, which may be shown in part.
pub struct Shown<'a> {
    pub sight: &'a Sight<'a>,
    pub frame: &'a Frame,
    /// In the rows and columns of the frame.
    pub menu: Option<Menu>,
    /// Whether the menu's last option is in sight.
    pub is_end_shown: bool,
    /// The colour of hints, as the dialog's footer has it.
    secondary: Option<Colour>,
}

/// The dialog on this screen; there must be no input box.
pub fn find(rules: &Rules, sight: &Sight<'_>) -> Option<Dialog> {
    let Some(frame) = Frame::find(sight) else { return login(rules, sight) };
    // What a dialog shows in a frame of its own is no part of it.
    let is_quoted = |row: &String| row.starts_with(INNER_FRAME);
    let own: Vec<String> =
        frame.texts.iter().map(|row| if is_quoted(row) { String::new() } else { row.clone() }).collect();
    let title_row = own.iter().position(|row| !is_blank(row)).filter(|_| frame.has_top);
    let shown = Shown::read(sight, &frame, &own);
    let block = Block::new(&own, 0..own.len(), title_row, shown.menu.clone());
    if let Some((rule, asked)) = rules.dialog(&block.parts) {
        return Some(shown.known(&block.parts, rule, asked));
    }
    let is_dialog = shown.menu.is_some() || FOOTERS.iter().any(|footer| block.parts.footer.contains(footer));
    let mut dialog = is_dialog.then(|| shown.dialog(UNKNOWN_DIALOG, PromptKind::Setup))?;
    dialog.prompt.subtype = Some(UNKNOWN_DIALOG.to_owned());
    Some(dialog)
}

/// Whether no rule knows the dialog.
pub fn is_unknown(dialog: &Dialog) -> bool {
    dialog.rule == UNKNOWN_DIALOG
}

/// The login in a browser, which has the screen for itself.
fn login(rules: &Rules, sight: &Sight<'_>) -> Option<Dialog> {
    let rows = sight.rows;
    let last = rows.iter().rposition(|row| !is_blank(row))?;
    let is_login = rows[0].starts_with(LOGIN) && rows[last].starts_with(LOGIN_FIELD);
    let block = is_login.then(|| Block::new(rows, 0..last + 1, Some(0), None))?;
    let (rule, asked) = rules.dialog(&block.parts)?;
    let mut dialog = empty(&rule.name, asked.kind, 0..last + 1, rows[..=last].to_vec());
    dialog.prompt.subtype.clone_from(&asked.subtype);
    dialog.prompt.auth_url = wrapped_url(rows, sight.cols);
    dialog.prompt.ready = !sight.is_mid_frame && dialog.prompt.auth_url.is_some();
    dialog.free_text_focused = true;
    dialog.typed = rows[last][LOGIN_FIELD.len()..].trim().to_owned();
    Some(dialog)
}

impl<'a> Shown<'a> {
    /// Reads the menu from the frame's own rows.
    fn read(sight: &'a Sight<'a>, frame: &'a Frame, own: &[String]) -> Self {
        let last = own.iter().rposition(|row| !is_blank(row));
        let secondary = last.and_then(|row| field::secondary(sight, frame.rows.start + row, frame.left));
        let mut shown = Self { sight, frame, menu: None, is_end_shown: true, secondary };
        // A row may be full to its end, and still a blank follows.
        let cols = (sight.cols + 1).saturating_sub(2 * frame.left);
        let Some(mut menu) = menu::read_hanging(own, cols, &MARKS, HANG_COLS) else { return shown };
        // Both triangles are there when a list does not fit; the one that leads nowhere is secondary.
        let arrow = |sign: &str| own.iter().rposition(|row| row.trim() == sign);
        let leads_on = |row: usize| secondary.is_none() || shown.colour(row) != secondary;
        let is_begin_shown = menu.options.first().is_some_and(|option| option.number == 1);
        let is_end_known =
            menu.button.is_some() || menu.options.last().is_some_and(|it| OWN_TEXT.contains(&&*it.label));
        let is_end_shown = is_end_known || !arrow("▼").is_some_and(leads_on);
        menu.whole = is_begin_shown && is_end_shown;
        shown.is_end_shown = is_end_shown;
        shown.menu = Some(menu);
        shown
    }

    fn colour(&self, row: usize) -> Option<Colour> {
        field::secondary(self.sight, self.frame.rows.start + row, self.frame.left)
    }

    fn known(&self, parts: &Parts, rule: &Rule, asked: &Asked) -> Dialog {
        let mut dialog = self.dialog(&rule.name, asked.kind);
        let prompt = &mut dialog.prompt;
        prompt.subtype.clone_from(&asked.subtype);
        prompt.tool = if asked.subtype.as_deref() == Some("mcp") { self.mcp_tool() } else { asked.tool.clone() };
        prompt.ready &= rule.is_whole(parts);
        match asked.kind {
            PromptKind::Question => {
                let asking = Asking::read(self, asked.subtype.as_deref() == Some("review"));
                prompt.ready &= asking.is_known();
                prompt.question_current = asking.current;
                prompt.questions = asking.questions;
                dialog.tabs = asking.tabs;
                self.read_text(&mut dialog, asking.field);
            }
            PromptKind::Plan => self.read_text(&mut dialog, None),
            PromptKind::Setup if self.menu.is_none() => self.read_text(&mut dialog, self.key_field()),
            _ => {}
        }
        dialog
    }

    /// What can be told of any dialog.
    fn dialog(&self, rule: &str, kind: PromptKind) -> Dialog {
        let texts = &self.frame.texts;
        let first = texts.iter().position(|row| !is_blank(row)).unwrap_or(0);
        let last = texts.iter().rposition(|row| !is_blank(row)).map_or(0, |last| last + 1);
        let mut dialog = empty(rule, kind, self.frame.rows.clone(), texts[first.min(last)..last].to_vec());
        dialog.prompt.ready = !self.sight.is_mid_frame && self.menu.as_ref().is_none_or(|menu| menu.whole);
        dialog.nth = texts.get(first).and_then(|title| nth(title));
        let Some(menu) = &self.menu else { return dialog };
        dialog.prompt.options = by_number(menu, |option| option.label.clone());
        dialog.selected = menu.selected.and_then(|at| menu.options.get(at)).and_then(index);
        dialog.menu = Some(self.on_screen(menu.clone()));
        dialog
    }

    /// Reads what was typed into the field, or into the option that takes a text.
    fn read_text(&self, dialog: &mut Dialog, field: Option<Place>) {
        let own = self.own_text();
        dialog.free_text = own.and_then(index);
        let is_marked = dialog.free_text.is_some() && dialog.free_text == dialog.selected;
        let own = own.filter(|_| is_marked).map(|option| {
            let end = self.menu.as_ref().map_or(option.label_rows.end, |menu| menu.rows.end);
            self.place(option.label_rows.start..end, option.label_col)
        });
        let Some(place) = field.or(own) else { return };
        dialog.free_text_focused = true;
        dialog.typed = field::read(self.sight, &place, self.secondary, &[OWN_TEXT[0], OWN_TEXT[1], KEY_HINT]).text;
    }

    /// The option that takes a text: the last one of a question or a plan.
    pub fn own_text(&self) -> Option<&Choice> {
        self.menu.as_ref().filter(|_| self.is_end_shown)?.options.last()
    }

    /// A field within the frame.
    pub fn place(&self, rows: Range<usize>, col: usize) -> Place {
        let (down, right) = (self.frame.rows.start, self.frame.left);
        let cols = self.sight.cols.saturating_sub(2 * right + col);
        Place { rows: rows.start + down..rows.end + down, col: col + right, cols, frames: 1 }
    }

    /// The field for a key, which has a frame of its own.
    fn key_field(&self) -> Option<Place> {
        let row = self.frame.texts.iter().position(|row| row.starts_with('│'))?;
        Some(Place { frames: 2, ..self.place(row..row + 1, KEY_COL) })
    }

    /// The name that the model calls a server's tool by.
    fn mcp_tool(&self) -> Option<String> {
        let named = |name: &str| self.frame.texts.iter().find_map(|row| row.strip_prefix(name));
        let (server, tool) = (named("MCP Server: ")?, named("Tool: ")?);
        Some(format!("mcp_{server}_{tool}"))
    }

    /// The menu where the screen has it.
    fn on_screen(&self, menu: Menu) -> Menu {
        let mut menu = menu.moved_down(self.frame.rows.start);
        menu.mark_col += self.frame.left;
        menu.options.iter_mut().for_each(|option| option.label_col += self.frame.left);
        menu
    }
}

/// Which of several this title is of: `? Shell  touch one      1 of 2` (0.61.0). Blanks part it from what is asked.
fn nth(title: &str) -> Option<Nth> {
    let (_, count) = title.trim_end().rsplit_once("  ")?;
    let (number, of) = count.trim_start().split_once(" of ")?;
    let nth = Nth { number: number.parse().ok()?, of: of.parse().ok()? };
    (1..=nth.of).contains(&nth.number).then_some(nth)
}

/// Something about each option, at the place of its number; nothing for those that are out of sight above.
pub fn by_number(menu: &Menu, tell: impl Fn(&Choice) -> String) -> Vec<String> {
    let hidden = menu.options.first().and_then(index).unwrap_or(0);
    let hidden = std::iter::repeat_n(String::new(), hidden);
    hidden.chain(menu.options.iter().map(tell)).collect()
}

/// The place of an option, counted from 0.
fn index(option: &Choice) -> Option<usize> {
    usize::try_from(option.number).ok()?.checked_sub(1)
}

fn empty(rule: &str, kind: PromptKind, rows: Range<usize>, screen_lines: Vec<String>) -> Dialog {
    let mut prompt = Prompt::new(kind);
    prompt.screen_lines = screen_lines;
    Dialog::new(rule, prompt, rows)
}
