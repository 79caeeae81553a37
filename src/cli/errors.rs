//! How a verb's failure is told: a line for people, with --json one object for programs; both on stderr.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;

use super::words::complain;
use crate::api::Code;
use crate::client::Failure;

/// The word for what failed on this side, without a session having said no.
const FAILED: &str = "FAILED";

/// What a verb ends with that was called in a wrong way.
pub const WRONG_USAGE: u8 = 2;

/// Tells why a verb failed.
pub fn report(error: &anyhow::Error, as_json: bool) {
    if !as_json {
        return complain(&format!("{error:#}"));
    }
    match error.downcast_ref::<Failure>() {
        // As the HTTP API tells it, with the facts.
        Some(Failure::Refused { error, .. }) => write_line(&error.to_json()),
        Some(failure) => write(failure.word(), &failure.to_string()),
        None => write(FAILED, &format!("{error:#}")),
    }
}

/// What a verb ends with that failed: words that only the session could judge are as wrong as those that were judged here.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref::<Failure>().and_then(Failure::code) {
        Some(Code::BadRequest) => ExitCode::from(WRONG_USAGE),
        _ => ExitCode::FAILURE,
    }
}

/// Tells what is wrong with the words of a verb: for programs in the same shape, without the usage.
pub fn report_usage(error: &clap::Error, as_json: bool) {
    if !as_json {
        // A closed stdout or stderr is no reason for another error.
        let _ = error.print();
        return;
    }
    let whole = error.render().to_string();
    let first = whole.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.strip_prefix("error: ").unwrap_or(first).split_whitespace().collect();
    write(Code::BadRequest.word(), &words.join(" "));
}

/// Whether these words are a verb's and ask for JSON; for when they could not be read.
pub fn ask_for_json(argv: &[OsString]) -> bool {
    let is_verb = argv.get(1).is_some_and(|word| !word.to_string_lossy().starts_with('-'));
    is_verb && argv.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

fn write(code: &str, message: &str) {
    write_line(&json!({ "error": { "code": code, "message": message } }).to_string());
}

/// Nobody may be there to read it, which is no reason to fail.
fn write_line(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
