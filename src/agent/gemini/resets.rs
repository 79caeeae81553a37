//! When a limit ends, in Gemini CLI's words (0.61.0): "Suggested retry after 400s." is its own, and a server may say that
//! a quota "will reset after 1h2m3s.".

use std::sync::LazyLock;

use regex::Regex;

use crate::agent::EpochMs;

/// What the wait stands behind, and the wait.
static WAIT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b(?:Suggested retry|reset) after (?<wait>[0-9][0-9dhms.]*)").ok());

/// The units of a wait in milliseconds; thousandths of a second before minutes, which begin with the same letter.
const UNITS: [(&str, f64); 5] = [("d", 86_400_000.0), ("h", 3_600_000.0), ("ms", 1.0), ("m", 60_000.0), ("s", 1000.0)];

/// No limit lasts longer; what says so is a mistake.
const WAIT_MS_MAX: f64 = 366.0 * 86_400_000.0;

/// The moment that a text names, if it names one: so long after `now`, when it was said.
pub fn reset_time(text: &str, now: EpochMs) -> Option<EpochMs> {
    let found = WAIT.as_ref()?.captures(text)?;
    Some(now.plus(wait_ms(found.name("wait")?.as_str().trim_end_matches('.'))?))
}

/// Whether a text says how long a limit lasts.
pub fn tells_of_wait(text: &str) -> bool {
    WAIT.as_ref().is_some_and(|wait| wait.is_match(text))
}

/// A length of time such as `2.5s`, `400s` or `1h2m3s`.
pub fn wait_ms(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut ms = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let (unit, unit_ms) = UNITS.iter().find(|(unit, _)| tail.starts_with(unit))?;
        ms += number.parse::<f64>().ok()? * unit_ms;
        rest = &tail[unit.len()..];
    }
    (!text.is_empty() && ms <= WAIT_MS_MAX).then_some(ms as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: EpochMs = EpochMs(1_000_000);

    #[test]
    fn a_wait_is_read_in_all_its_units() {
        for (text, ms) in [
            ("2s", 2000),
            ("2.5s", 2500),
            ("400s", 400_000),
            ("250ms", 250),
            ("1h2m3s", 3_723_000),
            ("1m250ms", 60_250),
            ("2d", 172_800_000),
            ("0s", 0),
        ] {
            assert_eq!(wait_ms(text), Some(ms), "{text}");
        }
        for text in ["", "s", "5", "-1s", "1.2.3s", "5x", "5s3", "1e9s", "99999999999999999999s", "9999999d"] {
            assert_eq!(wait_ms(text), None, "{text}");
        }
    }

    #[test]
    fn the_moment_is_so_long_after_the_words() {
        for (text, expected) in [
            ("[API Error: Slow down.\nSuggested retry after 400s.]\nPlease wait.", Some(1_400_000)),
            ("You have exhausted your capacity on this model. Your quota will reset after 1h2m3s.", Some(4_723_000)),
            ("Suggested retry after 60s.", Some(1_060_000)),
            ("You have exhausted your daily quota on this model.", None),
            ("Suggested retry after a while.", None),
            ("Suggested retry after 5 apples.", None),
        ] {
            assert_eq!(reset_time(text, NOW), expected.map(EpochMs), "{text}");
            assert!(expected.is_none() || tells_of_wait(text), "{text}");
        }
    }
}
