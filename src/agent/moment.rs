//! Moments as agents write them: ISO 8601 in UTC.

use jiff::Timestamp;

use super::EpochMs;

impl EpochMs {
    /// Reads a moment such as `2026-11-16T00:05:46.184Z`; `None` when it is none, or lies before 1970.
    pub fn from_iso8601(text: &str) -> Option<Self> {
        Self::from_timestamp(text.parse().ok()?)
    }

    /// Writes the moment as `2026-11-16T00:05:46.184Z`; one too far away to have a date becomes 1970.
    pub fn iso8601(self) -> String {
        format!("{:.3}", self.timestamp().unwrap_or(Timestamp::UNIX_EPOCH))
    }

    pub(super) fn timestamp(self) -> Option<Timestamp> {
        Timestamp::from_millisecond(i64::try_from(self.0).ok()?).ok()
    }

    pub(super) fn from_timestamp(timestamp: Timestamp) -> Option<Self> {
        u64::try_from(timestamp.as_millisecond()).ok().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_and_written_alike() {
        let moment = EpochMs::from_iso8601("2026-11-16T00:05:46.184Z").unwrap();
        assert_eq!(moment, EpochMs(1_794_787_546_184));
        assert_eq!(moment.iso8601(), "2026-11-16T00:05:46.184Z");
        assert_eq!(EpochMs(0).iso8601(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn what_is_no_moment_gives_none() {
        for text in ["", "yesterday", "2026-13-40T00:00:00Z", "1969-12-31T00:00:00Z"] {
            assert_eq!(EpochMs::from_iso8601(text), None, "{text}");
        }
        assert_eq!(EpochMs(u64::MAX).iso8601(), "1970-01-01T00:00:00.000Z");
    }
}
