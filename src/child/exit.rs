//! How a child ended.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself with this code.
    Code(i32),
    /// A signal of this number ended it.
    Signal(i32),
}

impl Exit {
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) => None,
        }
    }

    pub fn signal(self) -> Option<i32> {
        match self {
            Self::Code(_) => None,
            Self::Signal(number) => Some(number),
        }
    }

    /// The code a shell would report: its own, or 128 and the signal's number.
    pub fn shell_code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(number) => 128 + number,
        }
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match status.signal() {
            Some(number) => Self::Signal(number),
            // Without a signal there is a code; -1 stands for a stopped child, which nobody asks to be told of.
            None => Self::Code(status.code().unwrap_or(-1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_code_tells_signals_from_codes() {
        assert_eq!(Exit::from(ExitStatus::from_raw(3 << 8)), Exit::Code(3));
        assert_eq!(Exit::from(ExitStatus::from_raw(9)), Exit::Signal(9));
        assert_eq!((Exit::Code(3).shell_code(), Exit::Signal(9).shell_code()), (3, 137));
        assert_eq!((Exit::Code(3).code(), Exit::Code(3).signal()), (Some(3), None));
        assert_eq!((Exit::Signal(9).code(), Exit::Signal(9).signal()), (None, Some(9)));
    }
}
