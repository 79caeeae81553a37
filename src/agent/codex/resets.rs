//! When a usage limit ends, in Codex's words (0.166.0): "try again at 5:00 AM." on the same day, or
//! "try again at Nov 16th, 2026 4:52 AM.", both by the clock of the machine.

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};

use crate::agent::EpochMs;

const BEFORE: &str = "try again at ";

/// The moment that a text names, if it names one.
pub fn reset_time(text: &str, now: EpochMs, zone: TimeZone) -> Option<EpochMs> {
    let named = text.rsplit_once(BEFORE)?.1.trim_end().trim_end_matches('.');
    let now = now.timestamp()?.to_zoned(zone.clone());
    let named = plain(named);
    let moment = match Time::strptime("%I:%M %p", &named) {
        Ok(time) => next(&now, time)?,
        Err(_) => DateTime::strptime("%b %d, %Y %I:%M %p", &named).ok()?.to_zoned(zone).ok()?,
    };
    EpochMs::from_timestamp(moment.timestamp())
}

/// The next time that the clock shows this.
fn next(now: &Zoned, time: Time) -> Option<Zoned> {
    let at = now.date().to_datetime(time).to_zoned(now.time_zone().clone()).ok()?;
    // The text has no seconds: a limit that ends in this minute has not ended a day ago.
    if at.checked_add(1.minute()).ok()? > *now { Some(at) } else { at.checked_add(1.day()).ok() }
}

/// A date without the ending of its day's number: "Nov 16th" is "Nov 16".
fn plain(date: &str) -> String {
    let words = date.split(' ').map(|word| {
        let (bare, comma) = word.strip_suffix(',').map_or((word, ""), |bare| (bare, ","));
        let number = ["st", "nd", "rd", "th"].iter().find_map(|ending| bare.strip_suffix(ending));
        let number = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        format!("{}{comma}", number.unwrap_or(bare))
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reset(text: &str, now: &str, zone: TimeZone) -> Option<String> {
        reset_time(text, EpochMs::from_iso8601(now).unwrap(), zone).map(EpochMs::iso8601)
    }

    #[test]
    fn a_time_of_day_is_the_next_one() {
        let text = "You’ve hit your usage limit. Visit https://x or try again at 5:00 AM.";
        let told = |now| reset(text, now, TimeZone::UTC);
        assert_eq!(told("2026-11-16T00:05:46.184Z").as_deref(), Some("2026-11-16T05:00:00.000Z"));
        assert_eq!(told("2026-11-16T05:00:30.000Z").as_deref(), Some("2026-11-16T05:00:00.000Z"));
        assert_eq!(told("2026-11-16T23:05:46.184Z").as_deref(), Some("2026-11-17T05:00:00.000Z"));
    }

    #[test]
    fn a_date_is_read_in_the_zone_of_the_machine() {
        let text = "Upgrade, or try again at Nov 16th, 2026 4:52 AM.";
        let now = "2026-11-15T23:05:46.184Z";
        assert_eq!(reset(text, now, TimeZone::UTC).as_deref(), Some("2026-11-16T04:52:00.000Z"));
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(reset(text, now, zone).as_deref(), Some("2026-11-16T02:52:00.000Z"));
    }

    #[test]
    fn a_text_without_a_time_names_none() {
        for text in ["", "try again later", "try again at dawn.", "try again at Nov 99th, 2026 4:52 AM."] {
            assert_eq!(reset(text, "2026-11-15T23:05:46.184Z", TimeZone::UTC), None, "{text}");
        }
    }
}
