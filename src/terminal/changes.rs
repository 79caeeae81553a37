//! Which rows may look different since when.

use super::Seq;
use avt::{Observation, Observer};
use std::ops::Range;

/// Stamps each row with the last change that touched it, as avt reports them.
#[derive(Debug)]
pub struct Changes {
    /// The change that is being made now.
    now: Seq,
    rows: Vec<Seq>,
    /// The last change of all rows at once; kept apart so that a flood of scrolling costs nothing per row.
    all_rows: Seq,
    /// The first change after which the stamps are complete: the first one ever, or the last resize.
    complete_from: Option<Seq>,
    /// Whether the current change has touched any row.
    touched: bool,
}

impl Changes {
    pub fn new(rows: usize) -> Changes {
        Changes {
            now: Seq::default(),
            rows: vec![Seq::default(); rows],
            all_rows: Seq::default(),
            complete_from: None,
            touched: false,
        }
    }

    pub fn begin(&mut self, now: Seq) {
        self.now = now;
        self.touched = false;
        self.complete_from.get_or_insert(now);
    }

    pub fn touched(&self) -> bool {
        self.touched
    }

    /// The rows touched after `since`, or `None` if that is too long ago to know.
    pub fn since(&self, since: Seq) -> Option<Vec<usize>> {
        if self.complete_from.is_some_and(|from| since < from) {
            return None;
        }
        let changed = |&row: &usize| self.rows[row].max(self.all_rows) > since;
        Some((0..self.rows.len()).filter(changed).collect())
    }
}

impl Observer for Changes {
    type Output = ();

    fn resized(&mut self, _cols: usize, rows: usize) {
        self.rows.clear();
        self.rows.resize(rows, self.now);
        self.complete_from = Some(self.now);
        self.touched = true;
    }

    fn dirty(&mut self, rows: Range<usize>) {
        self.touched = true;
        if rows.len() == 1
            && let Some(row) = self.rows.get_mut(rows.start)
        {
            *row = self.now;
        } else if rows.start > 0 || rows.end < self.rows.len() {
            match self.rows.get_mut(rows) {
                Some(rows) => rows.fill(self.now),
                None => self.all_rows = self.now,
            }
        } else {
            self.all_rows = self.now;
        }
    }

    fn end(&mut self, _: &mut Observation<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_touched_later_are_named() {
        let mut changes = Changes::new(4);
        changes.begin(Seq(5));
        changes.dirty(0..4);
        changes.begin(Seq(6));
        changes.dirty(1..3);
        changes.begin(Seq(7));
        assert!(!changes.touched());
        changes.dirty(3..4);
        assert!(changes.touched());
        assert_eq!(changes.since(Seq(5)), Some(vec![1, 2, 3]));
        assert_eq!(changes.since(Seq(6)), Some(vec![3]));
        assert_eq!(changes.since(Seq(7)), Some(vec![]));
    }

    #[test]
    fn what_was_before_the_first_change_or_a_resize_is_not_known() {
        let mut changes = Changes::new(2);
        assert_eq!(changes.since(Seq(0)), Some(vec![]));
        changes.begin(Seq(300));
        assert_eq!(changes.since(Seq(299)), None);
        changes.begin(Seq(301));
        changes.resized(80, 3);
        assert_eq!(changes.since(Seq(300)), None);
        assert_eq!(changes.since(Seq(301)), Some(vec![]));
    }
}
