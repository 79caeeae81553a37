//! When a limit of Claude Code ends, out of the words that tell it (2.1.197).

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use regex::{Captures, Regex};

use crate::agent::EpochMs;

/// Such as `resets 3:33am (UTC)`; a date when it is over a day away, its year when that is another one.
static RESETS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let date = r"(?<month>[A-Z][a-z]{2}) (?<day>\d{1,2}), (?:(?<year>\d{4}), )?";
    let time = r"(?<hour>\d{1,2})(?::(?<minute>\d{2}))?\s?(?<half>[aApP])[mM]";
    Regex::new(&format!(r"\bresets (?:{date})?{time} \((?<zone>[A-Za-z0-9_+/-]+)\)")).ok()
});

/// Such as `You will regain access on 2026-12-01 at 00:00 UTC`.
static REGAIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let date = r"(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})";
    Regex::new(&format!(r"regain access on {date} at (?<hour>\d{{2}}):(?<minute>\d{{2}}) UTC")).ok()
});

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The moment after `now` that a text says a limit ends at, when it says one.
pub fn reset_time(text: &str, now: EpochMs) -> Option<EpochMs> {
    let moment = match RESETS.as_ref()?.captures(text) {
        Some(found) => next_reset(&found, now.timestamp()?)?,
        None => regain(&REGAIN.as_ref()?.captures(text)?)?,
    };
    EpochMs::from_timestamp(moment)
}

/// Whether a text tells of a usage limit that ends by itself.
pub fn tells_of_usage_limit(text: &str) -> bool {
    REGAIN.as_ref().is_some_and(|regain| regain.is_match(text))
}

fn next_reset(found: &Captures<'_>, now: Timestamp) -> Option<Timestamp> {
    let zone = TimeZone::get(found.name("zone")?.as_str()).ok()?;
    let today = now.to_zoned(zone.clone()).date();
    let hour = number(found, "hour").filter(|hour| (1..=12).contains(hour))? % 12;
    let afternoon = found.name("half")?.as_str().eq_ignore_ascii_case("p");
    let hour = i8::try_from(if afternoon { hour + 12 } else { hour }).ok()?;
    let minute = i8::try_from(number(found, "minute").unwrap_or(0)).ok()?;
    let on = |date: Date| {
        let time = DateTime::new(date.year(), date.month(), date.day(), hour, minute, 0, 0).ok()?;
        Some(time.to_zoned(zone.clone()).ok()?.timestamp())
    };
    let Some(month) = found.name("month") else {
        return on(today).filter(|moment| *moment > now).or_else(|| on(today.tomorrow().ok()?));
    };
    let month = i8::try_from(MONTHS.iter().position(|name| *name == month.as_str())? + 1).ok()?;
    let day = i8::try_from(number(found, "day")?).ok()?;
    if let Some(year) = number(found, "year") {
        return on(Date::new(year, month, day).ok()?);
    }
    let in_year = |year| on(Date::new(year, month, day).ok()?);
    in_year(today.year()).filter(|moment| *moment > now).or_else(|| in_year(today.year() + 1))
}

fn regain(found: &Captures<'_>) -> Option<Timestamp> {
    let small = |name| i8::try_from(number(found, name)?).ok();
    let date =
        DateTime::new(number(found, "year")?, small("month")?, small("day")?, small("hour")?, small("minute")?, 0, 0);
    Some(date.ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

fn number(found: &Captures<'_>, name: &str) -> Option<i16> {
    found.name(name)?.as_str().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reset(text: &str, now: &str) -> Option<String> {
        reset_time(text, EpochMs::from_iso8601(now).unwrap()).map(EpochMs::iso8601)
    }

    #[test]
    fn the_words_become_the_next_such_moment() {
        let now = "2026-11-16T00:06:46Z";
        for (text, expected) in [
            ("You've hit your session limit · resets 3:33am (UTC)", "2026-11-16T03:33:00.000Z"),
            ("resets 12am (UTC)", "2026-11-17T00:00:00.000Z"),
            ("resets 12pm (UTC)", "2026-11-16T12:00:00.000Z"),
            // Berlin is one hour ahead in winter, and its 16th has begun.
            ("resets 11pm (Europe/Berlin)", "2026-11-16T22:00:00.000Z"),
            // In New York it is still the evening of the 15th.
            ("resets 9pm (America/New_York)", "2026-11-16T02:00:00.000Z"),
            ("resets Nov 20, 3am (America/New_York)", "2026-11-20T08:00:00.000Z"),
            ("resets Nov 20, 3:30am (UTC)", "2026-11-20T03:30:00.000Z"),
            ("resets Jan 2, 2027, 3am (UTC)", "2027-01-02T03:00:00.000Z"),
            ("resets Jan 2, 3am (UTC)", "2027-01-02T03:00:00.000Z"),
            ("You will regain access on 2026-12-01 at 00:00 UTC.", "2026-12-01T00:00:00.000Z"),
        ] {
            assert_eq!(reset(text, now).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_time_that_has_just_passed_is_tomorrow() {
        assert_eq!(reset("resets 3:33am (UTC)", "2026-11-16T03:33:00Z").unwrap(), "2026-11-17T03:33:00.000Z");
    }

    #[test]
    fn words_that_tell_no_moment_give_none() {
        for text in [
            "",
            "resets soon",
            "resets 3am",
            "resets 13pm (UTC)",
            "resets 3:99am (UTC)",
            "resets Foo 3, 3am (UTC)",
            "resets Feb 31, 3am (UTC)",
            "resets 3am (Middle/Earth)",
            "regain access on 2026-99-01 at 00:00 UTC",
        ] {
            assert_eq!(reset(text, "2026-11-16T00:00:00Z"), None, "{text}");
        }
        assert_eq!(reset_time("resets 3am (UTC)", EpochMs(u64::MAX)), None);
    }
}
