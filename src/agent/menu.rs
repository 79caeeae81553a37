//! A numbered menu, read from the rows that show it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::rows::{Seam, from_col, indent, is_blank, seam};

/// Stand beside the first or last shown option of a list that goes on, or on a row of their own.
const SCROLL_MARKS: [char; 4] = ['↑', '↓', '▲', '▼'];

/// What the unnumbered row under a list of checkboxes says (Claude Code 2.1.197, Gemini CLI 0.61.0).
const BUTTONS: [&str; 3] = ["Submit", "Next", "Done"];

/// Begin a pane that is drawn at the right of the options.
const PANE_EDGES: [char; 7] = ['│', '┌', '├', '└', '╭', '╰', '┃'];

/// Stand behind the option that is in force.
const TICKS: [&str; 2] = [" ✔", " ✓"];

/// A label that wraps may lose the blank after its number: `1.A long one`.
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^(?<lead>\s*(?<mark>[^\s\w])?\s*)(?<number>[0-9]{1,2})\.(?<gap>\s*)(?<rest>\S.*)$";
    Regex::new(pattern).expect("the pattern does not change")
});

/// A menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Menu {
    pub options: Vec<Choice>,
    /// The marked option's place in `options`.
    pub selected: Option<usize>,
    /// The row that ends a choice of several.
    pub button: Option<Button>,
    pub rows: Range<usize>,
    /// The column of the mark.
    pub mark_col: usize,
    /// Whether neither the first nor the last option is out of sight.
    pub whole: bool,
}

/// One option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The digit that stands before it.
    pub number: u32,
    pub label: String,
    /// What is written under the label, or in a second column.
    pub description: String,
    /// Whether its box is ticked, where it has one.
    pub checked: Option<bool>,
    /// Whether it is the one in force.
    pub ticked: bool,
    /// Where the label begins on its row.
    pub label_col: usize,
    /// The rows of the label, without those of the description.
    pub label_rows: Range<usize>,
}

/// The unnumbered row that ends a choice of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    pub label: String,
    pub selected: bool,
    pub row: usize,
}

impl Menu {
    /// The same menu in a longer list of rows.
    pub fn moved_down(mut self, by: usize) -> Self {
        let moved = |rows: &Range<usize>| rows.start + by..rows.end + by;
        self.rows = moved(&self.rows);
        self.options.iter_mut().for_each(|option| option.label_rows = moved(&option.label_rows));
        self.button.iter_mut().for_each(|button| button.row += by);
        self
    }
}

/// The lowest menu of these rows that has a mark. Other lists with numbers, above it or in its texts, are no menus.
/// `marks` are the agent's signs for the option that Enter would take.
pub fn read(rows: &[String], cols: usize, marks: &[char]) -> Option<Menu> {
    read_hanging(rows, cols, marks, 0)
}

/// The same where a label that wraps goes on so many columns left of its beginning.
pub fn read_hanging(rows: &[String], cols: usize, marks: &[char], hang_cols: usize) -> Option<Menu> {
    let page = Page { rows, cols, marks, hang_cols };
    let heads: Vec<Head> = (0..rows.len()).filter_map(|row| page.head(row)).collect();
    (0..heads.len()).rev().find_map(|last| page.assemble(&page.run_up_to(&heads, last)))
}

/// What a menu is looked for in.
struct Page<'a> {
    rows: &'a [String],
    cols: usize,
    marks: &'a [char],
    hang_cols: usize,
}

/// An option's first row.
#[derive(Clone, Debug)]
struct Head {
    row: usize,
    mark: Option<char>,
    number: u32,
    number_col: usize,
    checked: Option<bool>,
    label_col: usize,
}

impl Head {
    /// The column after the number, where numbers of one and two digits meet.
    fn number_end(&self) -> usize {
        self.number_col + if self.number > 9 { 2 } else { 1 }
    }

    /// Whether both can belong to one menu.
    fn aligns(&self, other: &Self) -> bool {
        self.number_col == other.number_col || self.number_end() == other.number_end()
    }
}

impl<'a> Page<'a> {
    fn head(&self, row: usize) -> Option<Head> {
        let found = NUMBERED.captures(&self.rows[row])?;
        let (lead, number, gap, rest) = (&found["lead"], &found["number"], &found["gap"], &found["rest"]);
        if gap.is_empty() && rest.starts_with(|c: char| c.is_ascii_digit()) {
            return None; // 1.5 is no option.
        }
        let mark = found.name("mark").and_then(|mark| mark.as_str().chars().next());
        if mark.is_some_and(|mark| !self.marks.contains(&mark) && !SCROLL_MARKS.contains(&mark)) {
            return None;
        }
        let number_col = lead.chars().count();
        let checked = match rest.get(..rest.find(']').map_or(0, |end| end + 1)) {
            Some("[ ]") => Some(false),
            Some("[✔]" | "[x]" | "[X]" | "[✓]") => Some(true),
            _ => None,
        };
        let label_col = number_col + number.len() + 1 + gap.chars().count();
        let label_col = if checked.is_some() { label_col + "[ ] ".len() } else { label_col };
        Some(Head { row, mark, number: number.parse().ok()?, number_col, checked, label_col })
    }

    /// The options that lead to this one, each below the one before it.
    fn run_up_to(&self, heads: &[Head], last: usize) -> Vec<Head> {
        let mut run = vec![heads[last].clone()];
        for head in heads[..last].iter().rev() {
            let first = &run[run.len() - 1];
            let left = head.number_col.min(first.number_col);
            if first.number <= 1 || !self.only_details(head.row + 1..first.row, left) {
                break;
            }
            if head.number + 1 == first.number && head.aligns(first) {
                run.push(head.clone());
            }
        }
        run.reverse();
        run
    }

    /// Whether the rows between two options can be what is said about the first: not left of its number, no gaps.
    fn only_details(&self, rows: Range<usize>, number_col: usize) -> bool {
        let between = &self.rows[rows.clone()];
        let is_detail = |at: usize| {
            let row = &self.rows[at];
            is_line(row) || is_blank(row) || self.button(row).is_some() || self.is_about(at, number_col)
        };
        rows.into_iter().all(is_detail) && between.windows(2).all(|pair| !pair.iter().all(|row| is_blank(row)))
    }

    fn assemble(&self, run: &[Head]) -> Option<Menu> {
        let (first, last) = (run.first()?, run.last()?);
        let mut menu = Menu {
            options: Vec::new(),
            selected: run.iter().rposition(|head| head.mark.is_some_and(|mark| self.marks.contains(&mark))),
            button: None,
            rows: first.row..last.row + 1,
            mark_col: 0,
            whole: false,
        };
        for (at, head) in run.iter().enumerate() {
            let end = run.get(at + 1).map_or(self.rows.len(), |next| next.row);
            let (choice, below) = self.details(head, end);
            if let Some((label, selected)) = self.rows[..end].get(below).and_then(|row| self.button_of(head, row)) {
                menu.button = Some(Button { label: label.to_owned(), selected, row: below });
            }
            menu.rows.end = menu.rows.end.max(below);
            menu.options.push(choice);
        }
        let goes_on = run.iter().any(|head| head.mark.is_some_and(|mark| SCROLL_MARKS.contains(&mark)))
            || self.rows.get(menu.rows.end).is_some_and(|row| is_scroll_mark(row));
        menu.whole = first.number == 1 && !goes_on;
        // Claude 2.1.197 leaves the button's mark when the mark has moved on to an option below it.
        let marked_row = menu.selected.map(|at| run[at].row);
        menu.button.iter_mut().for_each(|button| button.selected &= marked_row.is_none_or(|row| row < button.row));
        let button_row = menu.button.as_ref().filter(|button| button.selected).map(|button| button.row);
        menu.mark_col = indent(&self.rows[marked_row.or(button_row)?]);
        Some(menu)
    }

    /// The option, and the first row below that is not about it.
    fn details(&self, head: &Head, end: usize) -> (Choice, usize) {
        let (label, column) = two_columns(from_col(&self.rows[head.row], head.label_col));
        let column_col = column.map(|(col, _)| head.label_col + col);
        let mut label = label.to_owned();
        let mut description = vec![column.map_or("", |(_, text)| text)];
        let mut label_rows = head.row..head.row + 1;
        let mut below = head.row + 1;
        while below < end {
            let row = &self.rows[below];
            if is_blank(row)
                || is_line(row)
                || is_scroll_mark(row)
                || self.button_of(head, row).is_some()
                || !self.is_about(below, head.number_col)
            {
                break;
            }
            let is_next = label_rows.end == below && indent(row) + self.hang_cols == head.label_col;
            let joint = seam(&self.rows[below - 1], row, self.cols);
            let beside =
                column_col.and_then(|col| split_at_col(row, col)).filter(|(left, _)| is_next && !is_blank(left));
            if let Some((left, right)) = beside {
                // The label goes on in its own column, and what is said about it in the other.
                label.push(' ');
                label.push_str(left.trim());
                label_rows.end = below + 1;
                description.push(right.trim());
            } else if is_next && column.is_none() && joint != Seam::Break {
                label.push_str(if joint == Seam::Space { " " } else { "" });
                label.push_str(row.trim());
                label_rows.end = below + 1;
            } else if !row.trim_start().starts_with(PANE_EDGES) {
                description.push(row.trim());
            }
            below += 1;
        }
        let unticked = TICKS.iter().find_map(|tick| label.strip_suffix(tick));
        let (ticked, label) = (unticked.is_some(), unticked.unwrap_or(&label).trim_end().to_owned());
        let description = description.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
        let Head { number, checked, label_col, .. } = *head;
        (Choice { number, label, description, checked, ticked, label_col, label_rows }, below)
    }

    /// Whether a row can be about the option above it: not left of its number, or wrapped there (Codex 0.166.0).
    fn is_about(&self, row: usize, number_col: usize) -> bool {
        let text = &self.rows[row];
        indent(text) >= number_col || (indent(text) == 0 && seam(&self.rows[row - 1], text, self.cols) != Seam::Break)
    }

    /// The button that stands below a checkbox, in another column than what is said about it.
    fn button_of<'r>(&self, head: &Head, row: &'r str) -> Option<(&'r str, bool)> {
        let is_apart = indent(row) > head.number_col && indent(row) != head.label_col;
        let is_button = |is_marked| head.checked.is_some() && (is_marked || is_apart);
        self.button(row).filter(|(_, is_marked)| is_button(*is_marked))
    }

    /// The button on this row, and whether it is marked.
    fn button<'r>(&self, row: &'r str) -> Option<(&'r str, bool)> {
        let text = row.trim();
        let label = text.strip_prefix(self.marks).unwrap_or(text).trim();
        BUTTONS.contains(&label).then_some((label, label.len() < text.len()))
    }
}

/// A label, and what stands beside it behind two blanks or more, with its column; panes are no part of a menu.
fn two_columns(text: &str) -> (&str, Option<(usize, &str)>) {
    let text = text.trim_end();
    let Some((label, rest)) = text.split_once("  ") else { return (text, None) };
    let column = rest.trim_start();
    let col = text.chars().count() - column.chars().count();
    (label, (!column.starts_with(PANE_EDGES)).then_some((col, column)))
}

/// The row before a column and from it on, where a blank parts them or nothing is left.
fn split_at_col(row: &str, col: usize) -> Option<(&str, &str)> {
    let right = from_col(row, col);
    let left = &row[..row.len() - right.len()];
    (right.is_empty() || left.ends_with("  ")).then_some((left, right))
}

/// A row that has nothing but a sign that the list goes on (Codex 0.166.0).
fn is_scroll_mark(row: &str) -> bool {
    let mut characters = row.trim().chars();
    characters.next().is_some_and(|mark| SCROLL_MARKS.contains(&mark)) && characters.next().is_none()
}

/// A row that only draws a line across the screen.
fn is_line(row: &str) -> bool {
    !is_blank(row) && row.trim().chars().all(|c| c == '─')
}

#[cfg(test)]
mod tests;
