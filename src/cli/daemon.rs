//! `coop daemon run` and `coop daemon start`: what coop itself calls, before any flag is read.

use std::ffi::OsString;
use std::process::ExitCode;

use super::words::print_json;
use crate::boxes::daemon;
use crate::client::daemon::{Start, reach};

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Be the daemon.
    Run,
    /// Start it if there is none, and tell of it as JSON.
    Start,
}

/// What the arguments ask for, if it is one of these.
pub fn act_of(argv: &[OsString]) -> Option<Act> {
    let words: Vec<_> = argv.iter().skip(1).map(|word| word.to_str()).collect();
    match words[..] {
        [Some("daemon"), Some("run")] => Some(Act::Run),
        [Some("daemon"), Some("start")] => Some(Act::Start),
        _ => None,
    }
}

impl Act {
    pub fn carry_out(self) -> anyhow::Result<ExitCode> {
        if self == Self::Run {
            return daemon::run();
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        print_json(&runtime.block_on(reach(Start::IfNeeded))?.info)?;
        Ok(ExitCode::SUCCESS)
    }
}
