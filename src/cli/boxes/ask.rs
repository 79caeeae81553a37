//! Asking the person before something is done that cannot be undone.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::bail;

/// Whether it may be done: it was said beforehand, or is said now. Where nobody can be asked, it may not.
pub fn may(question: &str, yes: bool) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        bail!("{question} Nobody can be asked here: add --yes");
    }
    let mut stderr = io::stderr();
    write!(stderr, "coop: {question} [y/N] ")?;
    stderr.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(is_yes(&line))
}

fn is_yes(line: &str) -> bool {
    ["y", "yes"].contains(&line.trim().to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        assert!(is_yes("y\n") && is_yes(" Yes \n"));
        assert!(!is_yes("\n") && !is_yes("") && !is_yes("yep\n") && !is_yes("n\n"));
    }
}
