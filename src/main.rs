//! coop: parse, dispatch, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Before everything else: the guardian stays as small as a process can be, without threads, logs or signals.
    if std::env::args_os().nth(1).is_some_and(|word| word == "guardian") {
        coop::child::run_guardian(std::io::stdin());
        return ExitCode::SUCCESS;
    }
    coop::cli::run(std::env::args_os())
}
