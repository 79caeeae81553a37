//! coop: parse, dispatch, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    let verb = std::env::args_os().nth(1);
    // Before everything else: the guardian stays as small as a process can be, without threads, logs or signals.
    if verb.as_deref().is_some_and(|word| word == "guardian") {
        coop::child::run_guardian(std::io::stdin());
        return ExitCode::SUCCESS;
    }
    // Everything else, where coop is a container's first process, is done by a coop below it.
    #[cfg(target_os = "linux")]
    if std::process::id() == 1 && verb.as_deref().is_none_or(|word| word != "box-init") {
        return coop::child::run_first();
    }
    // The first process of a box, who covers in it what was replaced outside, one program in a box of its own, and what clears up after the users of a box.
    #[cfg(target_os = "linux")]
    match verb.as_deref().and_then(std::ffi::OsStr::to_str) {
        Some("box-init") => return coop::sandbox::init_main(),
        Some(coop::sandbox::COVER_VERB) => return coop::sandbox::cover_main(),
        Some("box-run") => return coop::sandbox::run_main(std::env::args_os().skip(2)),
        Some(coop::images::CLEAR_VERB) => return coop::images::clear_main(std::env::args_os().skip(2)),
        _ => {}
    }
    // An agent starts this for every event and waits for it.
    if verb.is_some_and(|word| word == "hook") {
        coop::agent::hook::main(std::env::args_os().skip(2));
        return ExitCode::SUCCESS;
    }
    coop::cli::run(std::env::args_os())
}
