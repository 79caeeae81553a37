//! Gives an error of the kernel its place.

use std::io;

use super::super::{error::Step, wire::Failure};

pub(super) trait At<T> {
    /// Says at which step it failed, and at what.
    fn at(self, step: Step, detail: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, step: Step, detail: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|error| {
            let error = error.into();
            let errno = error.raw_os_error();
            // What is no errno says itself what it is.
            let detail = if errno.is_some() { detail() } else { format!("{}: {error}", detail()) };
            Failure { step, detail, errno }
        })
    }
}
