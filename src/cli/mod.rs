//! The command line: the sidecar itself, and one file for each verb.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};

use crate::config::{self, Flags, Given};

pub mod sidecar;

/// Runs a terminal program and serves it over gRPC, HTTP and WebSocket.
#[derive(Parser, Debug)]
#[command(name = "coop", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(flatten)]
    flags: Flags,
}

/// Does what the arguments say, and returns what the process shall end with.
pub fn run(argv: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut command = config::read_from(Cli::command(), |name: &OsStr| std::env::var_os(name));
    let parsed = command.try_get_matches_from_mut(argv).and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        Ok((cli, Given::from(&matches)))
    });
    let (cli, given) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => error.exit(),
    };
    let sidecar = match config::settle(cli.flags, given) {
        Ok(sidecar) => sidecar,
        Err(mistake) => command.error(ErrorKind::ValueValidation, mistake).exit(),
    };
    sidecar::run(sidecar).unwrap_or_else(|error| {
        eprintln!("coop: {error:#}");
        ExitCode::FAILURE
    })
}
