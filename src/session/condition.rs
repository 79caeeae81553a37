//! What can be waited for, as pure questions about one moment.

use std::time::Duration;

use regex::Regex;

use super::state::StateKind;
use crate::terminal::{Offset, Seq};

/// One thing that can become true.
#[derive(Clone, Debug)]
pub enum Condition {
    State(Vec<StateKind>),
    Text(String),
    Regex(Regex),
    Quiet(Duration),
    Offset(Offset),
    Exited,
}

/// Several of them.
#[derive(Clone, Debug)]
pub struct Conditions {
    pub list: Vec<Condition>,
    /// All at once instead of any.
    pub all: bool,
}

/// What came true.
#[derive(Clone, Debug, PartialEq)]
pub struct Met {
    /// The name of the condition, or `all`.
    pub condition: &'static str,
    pub seq: Seq,
    pub state: StateKind,
    pub offset: Offset,
    /// The row that shows the text.
    pub line: Option<String>,
}

/// One moment of a session.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    pub seq: Seq,
    pub state: StateKind,
    pub offset: Offset,
    /// The rows of the screen, blanks at their ends cut off.
    pub rows: &'a [String],
    /// The row of the cursor with the blanks before it, such as the one that ends most prompts.
    pub cursor_row: &'a str,
    /// How long the child has printed nothing.
    pub quiet_for: Duration,
}

impl Condition {
    pub fn name(&self) -> &'static str {
        match self {
            Self::State(_) => "state",
            Self::Text(_) => "text",
            Self::Regex(_) => "regex",
            Self::Quiet(_) => "quiet",
            Self::Offset(_) => "offset",
            Self::Exited => "exited",
        }
    }

    /// Whether it is true now, and the row that shows it.
    fn holds(&self, now: &Moment<'_>) -> Option<Option<String>> {
        let row = |found: &dyn Fn(&str) -> bool| {
            let mut rows = now.rows.iter().map(String::as_str).chain([now.cursor_row]);
            rows.find(|row| found(row)).map(|row| Some(row.trim_end().to_owned()))
        };
        let plain = |holds: bool| holds.then_some(None);
        match self {
            Self::State(states) => plain(states.contains(&now.state)),
            Self::Text(text) => row(&|row| row.contains(text.as_str())),
            Self::Regex(regex) => row(&|row| regex.is_match(row)),
            Self::Quiet(quiet) => plain(now.quiet_for >= *quiet),
            Self::Offset(offset) => plain(now.offset >= *offset),
            Self::Exited => plain(now.state == StateKind::Exited),
        }
    }
}

impl Conditions {
    /// What is true now, if it is enough.
    pub fn met(&self, now: &Moment<'_>) -> Option<Met> {
        let mut held = self.list.iter().filter_map(|c| c.holds(now).map(|line| (c.name(), line)));
        let (condition, line) = if self.all {
            let held: Vec<_> = held.collect();
            if held.len() < self.list.len() || held.is_empty() {
                return None;
            }
            ("all", held.into_iter().find_map(|(_, line)| line))
        } else {
            held.next()?
        };
        Some(Met { condition, seq: now.seq, state: now.state, offset: now.offset, line })
    }

    /// Whether silence alone could still make it true.
    pub fn can_hold_without_output(&self, now: &Moment<'_>) -> bool {
        self.met(&Moment { quiet_for: Duration::MAX, ..*now }).is_some()
    }

    /// Whether the rows of the screen matter.
    pub fn need_rows(&self) -> bool {
        self.list.iter().any(|c| matches!(c, Condition::Text(_) | Condition::Regex(_)))
    }

    /// After which time without output something may come true by itself.
    pub fn quiet(&self) -> Option<Duration> {
        self.list.iter().filter_map(|c| if let Condition::Quiet(quiet) = c { Some(*quiet) } else { None }).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(rows: &[String]) -> Moment<'_> {
        Moment {
            seq: Seq(7),
            state: StateKind::Unknown,
            offset: Offset(100),
            rows,
            cursor_row: "# ",
            quiet_for: Duration::from_millis(50),
        }
    }

    fn met(list: Vec<Condition>, all: bool, rows: &[&str]) -> Option<&'static str> {
        let rows: Vec<String> = rows.iter().map(|r| (*r).to_owned()).collect();
        Conditions { list, all }.met(&moment(&rows)).map(|met| met.condition)
    }

    #[test]
    fn any_condition_is_enough_and_the_first_is_named() {
        let list = vec![Condition::Exited, Condition::Text("$ ".into()), Condition::Offset(Offset(100))];
        assert_eq!(met(list.clone(), false, &["bash$ x"]), Some("text"));
        assert_eq!(met(list.clone(), false, &[""]), Some("offset"));
        assert_eq!(met(list, true, &["bash$ x"]), None, "the child has not exited");
    }

    #[test]
    fn all_means_at_once() {
        let list = vec![Condition::Quiet(Duration::from_millis(50)), Condition::Offset(Offset(100))];
        assert_eq!(met(list, true, &[]), Some("all"));
        assert_eq!(met(vec![], true, &[]), None, "nothing is not everything");
    }

    #[test]
    fn a_prompt_is_found_with_and_without_the_blank_before_the_cursor() {
        let regex = |text: &str| vec![Condition::Regex(Regex::new(text).unwrap())];
        assert_eq!(met(vec![Condition::Text("# ".into())], false, &["#"]), Some("text"));
        assert_eq!(met(regex("# $"), false, &["#"]), Some("regex"));
        assert_eq!(met(regex("#$"), false, &["#"]), Some("regex"));
    }

    #[test]
    fn what_needs_output_cannot_come_true_in_silence() {
        let text = Condition::Text("x".into());
        let quiet = Condition::Quiet(Duration::from_secs(60));
        let can = |list: Vec<Condition>, all| Conditions { list, all }.can_hold_without_output(&moment(&[]));
        assert!(!can(vec![text.clone()], false));
        assert!(can(vec![text.clone(), quiet.clone()], false));
        assert!(!can(vec![text, quiet], true));
    }

    #[test]
    fn a_regular_expression_sees_one_row_at_a_time() {
        let regex = |text: &str| vec![Condition::Regex(Regex::new(text).unwrap())];
        assert_eq!(met(regex("^b.*d$"), false, &["abc", "bcd"]), Some("regex"));
        assert_eq!(met(regex("c.*b"), false, &["abc", "bcd"]), None);
    }
}
