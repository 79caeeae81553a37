//! How many columns and rows a terminal has, within bounds that a child and the emulator can bear.

/// The largest number of columns or rows that is accepted.
/// A screen of 1000×1000 cells takes some 20 MB; without a bound one request could take gigabytes.
pub const SIDE_MAX: u16 = 1000;

/// A terminal's size in character cells; always within `1..=SIDE_MAX` on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    cols: u16,
    rows: u16,
}

/// A size that no terminal can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a terminal of {cols}x{rows} is not possible: give both cols and rows, each between 1 and {SIDE_MAX}")]
pub struct BadSize {
    cols: u32,
    rows: u32,
}

impl Size {
    /// Checks both sides; takes wider integers than it keeps so that nothing is cut off before the check.
    pub fn new(cols: u32, rows: u32) -> Result<Self, BadSize> {
        let side = |n: u32| u16::try_from(n).ok().filter(|n| (1..=SIDE_MAX).contains(n));
        match (side(cols), side(rows)) {
            (Some(cols), Some(rows)) => Ok(Self { cols, rows }),
            _ => Err(BadSize { cols, rows }),
        }
    }

    pub fn cols(self) -> u16 {
        self.cols
    }

    pub fn rows(self) -> u16 {
        self.rows
    }

    /// The largest size that fits into both.
    pub fn common(self, other: Size) -> Size {
        Self { cols: self.cols.min(other.cols), rows: self.rows.min(other.rows) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sizes_a_terminal_can_have_are_accepted() {
        assert!(Size::new(1, 1).is_ok());
        assert!(Size::new(1000, 1000).is_ok());
        for (cols, rows) in [(0, 24), (80, 0), (1001, 24), (80, 1001), (65_537, 24), (u32::MAX, u32::MAX)] {
            let error = Size::new(cols, rows).unwrap_err();
            assert!(error.to_string().contains(&format!("{cols}x{rows}")), "{error}");
        }
    }
}
