//! The coop that is measured.

use std::path::PathBuf;

/// The one that cargo has built with the bench, or another, named as for the tests: a bench that is built in debug mode,
/// which takes minutes less, can measure the release binary.
pub fn binary() -> PathBuf {
    std::env::var_os("COOP_TEST_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_coop").into()).into()
}
