//! coop: parse, dispatch, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    let verb = std::env::args_os().nth(1);
    // Before everything else: the guardian stays as small as a process can be, without threads, logs or signals.
    if verb.as_deref().is_some_and(|word| word == "guardian") {
        coop::child::run_guardian(std::io::stdin());
        return ExitCode::SUCCESS;
    }
    // An agent starts this for every event and waits for it.
    if verb.is_some_and(|word| word == "hook") {
        coop::agent::hook::main(std::env::args_os().skip(2));
        return ExitCode::SUCCESS;
    }
    coop::cli::run(std::env::args_os())
}
