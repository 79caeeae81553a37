//! Signals by name or number, as people write them.

use nix::sys::signal::Signal;

/// How much of an unknown value is repeated in the error; no signal's name is that long.
const SHOWN_CHARS_MAX: usize = 32;

/// Not a signal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown signal {0:?}: use a name such as SIGINT, TERM or hup, or a number such as 2")]
pub struct UnknownSignal(String);

/// Reads `SIGINT`, `int`, `2` and the like. 0 asks the kernel whether a process exists and is no signal.
pub fn parse_signal(name_or_number: &str) -> Result<Signal, UnknownSignal> {
    let given = name_or_number.trim();
    let unknown = || UnknownSignal(given.chars().take(SHOWN_CHARS_MAX).collect());
    if let Ok(number) = given.parse::<i32>() {
        return Signal::try_from(number).map_err(|_| unknown());
    }
    let upper = given.to_ascii_uppercase();
    let name = if upper.starts_with("SIG") { upper } else { format!("SIG{upper}") };
    name.parse().map_err(|_| unknown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_known_by_name_or_number_in_any_case() {
        for text in ["SIGINT", "sigint", "INT", "int", "Int", "2", " 2 "] {
            assert_eq!(parse_signal(text), Ok(Signal::SIGINT), "{text}");
        }
        assert_eq!(parse_signal("winch"), Ok(Signal::SIGWINCH));
        assert_eq!(parse_signal("9"), Ok(Signal::SIGKILL));
    }

    #[test]
    fn what_is_no_signal_is_refused_with_the_value_and_a_way_out() {
        for text in ["", "0", "-1", "-9", "65", "99999999999", "SIG", "SIGSIGINT", "stop it", "INT\0"] {
            let error = parse_signal(text).unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")) && error.contains("SIGINT"), "{error}");
        }
        assert!(parse_signal(&"x".repeat(10_000)).unwrap_err().to_string().len() < 200);
    }
}
