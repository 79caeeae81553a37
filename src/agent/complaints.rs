//! What an agent shows about a command that it does not know.

/// Rows that say that a command is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Complaints {
    count: usize,
    /// The lowest of them, counted from 1.
    last_row: usize,
}

impl Complaints {
    pub fn read(rows: &[String], complaint: &str) -> Self {
        let rows = rows.iter().enumerate().filter(|(_, row)| says(row, complaint)).map(|(index, _)| index + 1);
        rows.fold(Self::default(), |all, row| Self { count: all.count + 1, last_row: row })
    }

    /// Whether there is one more. What was there goes up or away, never down.
    pub fn are_newer_than(self, before: Self) -> bool {
        self.count > before.count || self.last_row > before.last_row
    }
}

/// Whether a row says this, and not the same about a longer name.
fn says(row: &str, complaint: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':');
    row.match_indices(complaint).any(|(at, _)| !row[at + complaint.len()..].starts_with(goes_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_new_complaint_about_the_very_command_counts() {
        let read = |rows: &[&str]| {
            let rows: Vec<String> = rows.iter().map(|row| (*row).to_owned()).collect();
            Complaints::read(&rows, "Unknown command: /co")
        };
        let old = read(&["", "Unknown command: /co", "> /co"]);
        assert!(!old.are_newer_than(old));
        assert!(
            !read(&["Unknown command: /co", "Unknown command: /cost", "Unknown command: /co-op"]).are_newer_than(old)
        );
        assert!(read(&["Unknown command: /co", "> /co", "Unknown command: /co"]).are_newer_than(old));
        assert!(read(&["> /co", "", "  Unknown command: /co."]).are_newer_than(old), "the old one was scrolled away");
    }
}
