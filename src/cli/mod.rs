//! The command line: the sidecar itself, and one file for each verb.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::ExitCode;

use clap::error::{ContextKind, ErrorKind};
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::config::{self, Flags, Given, Sidecar};

mod agents;
mod attach;
mod boxed;
mod boxes;
mod completions;
mod daemon;
mod dialog;
mod doctor;
mod env;
mod errors;
mod follow;
mod input;
mod itself;
mod keys;
mod lent;
mod lines;
mod logs;
mod ls;
mod man;
mod names;
mod namesakes;
mod nudge;
mod open;
mod page;
mod reach;
mod ready;
mod receipt;
mod resize;
mod respond;
mod restart;
mod screen;
mod send;
pub mod sidecar;
mod signal;
mod state;
mod stop;
mod transcripts;
mod usage;
mod wait;
mod words;

/// What `timeout` of coreutils ends with, so that scripts know it.
const TIMED_OUT: u8 = 124;

#[derive(Parser, Debug)]
#[command(
    name = "coop",
    version,
    about = page::ABOUT,
    long_about = page::LONG_ABOUT,
    after_help = page::AFTER_HELP,
    after_long_help = page::EXAMPLES,
    override_usage = page::USAGE,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    subcommand_value_name = "VERB"
)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    flags: Flags,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Attach(attach::Attach),
    State(state::State),
    Screen(screen::Screen),
    Wait(wait::Wait),
    Logs(logs::Logs),
    Usage(usage::Usage),
    Transcripts(transcripts::Transcripts),
    Ready(ready::Ready),
    Input(input::Input),
    Keys(keys::Keys),
    Nudge(nudge::Nudge),
    Respond(respond::Respond),
    Resize(resize::Resize),
    Signal(signal::Signal),
    Env(env::Env),
    Restart(restart::Restart),
    Stop(stop::Stop),
    Ls(ls::Ls),
    Up(boxes::Up),
    Shell(boxes::Shell),
    Rm(boxes::Rm),
    Diff(boxes::Diff),
    Apply(boxes::Apply),
    Discard(boxes::Discard),
    #[cfg(target_os = "linux")]
    Image(boxes::Images),
    #[cfg(target_os = "linux")]
    Volume(boxes::Volumes),
    Trust(boxes::Trust),
    Init(boxes::Init),
    Serve(boxes::Serve),
    Daemon(boxes::Daemons),
    Open(open::Open),
    Send(send::Send),
    Doctor(doctor::Doctor),
    Completions(completions::Completions),
    Man(man::Man),
    /// Names of sessions and boxes, for completions.
    #[command(hide = true)]
    Names,
    /// Hands what an agent tells its hook to the coop around it; started by agents, before any of this is read.
    #[command(hide = true)]
    Hook,
    /// Ends what a killed coop leaves behind; started by coop itself, before any of this is read.
    #[command(hide = true)]
    Guardian,
}

/// What is to be done.
#[derive(Debug)]
enum Task {
    Serve(Box<Sidecar>),
    /// A verb, and whether it shall speak JSON.
    Do(Box<Verb>, bool),
    Daemon(daemon::Act),
}

/// Does what the arguments say, and returns what the process shall end with.
pub fn run(argv: impl IntoIterator<Item = OsString>) -> ExitCode {
    let argv: Vec<OsString> = argv.into_iter().collect();
    let asks_for_json = errors::ask_for_json(&argv);
    // Called by coop itself; people have `coop daemon status` and `stop`.
    let task = match daemon::act_of(&argv) {
        Some(act) => Ok(Task::Daemon(act)),
        None => parse(argv, |name| std::env::var_os(name)),
    };
    let (done, as_json) = match task {
        Ok(Task::Serve(sidecar)) => (sidecar::run(*sidecar), false),
        Ok(Task::Do(verb, as_json)) => (carry_out(*verb), as_json),
        Ok(Task::Daemon(act)) => (act.carry_out(), false),
        Err(error) => {
            errors::report_usage(&error, asks_for_json && error.use_stderr());
            return if error.use_stderr() { ExitCode::from(errors::WRONG_USAGE) } else { ExitCode::SUCCESS };
        }
    };
    done.unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        errors::report(&error, as_json);
        errors::exit_code(&error)
    })
}

fn parse(
    argv: impl IntoIterator<Item = OsString>,
    variable: impl Fn(&OsStr) -> Option<OsString>,
) -> Result<Task, clap::Error> {
    let mut argv: Vec<OsString> = argv.into_iter().collect();
    if argv.get(1).is_some_and(|word| word == "help") {
        // `coop help wait` is `coop wait --help`.
        argv.remove(1);
        argv.push("--help".into());
    }
    let mut command = page::with_groups(Cli::command());
    let is_verb = argv.get(1).is_some_and(|word| command.get_subcommands().any(|verb| verb.get_name() == word));
    command = if is_verb {
        // Variables of a sidecar do not concern a verb, not even when they are wrong.
        command.mut_args(|arg| arg.env(None::<&str>))
    } else {
        config::read_from(command, variable)
    };
    let tipped = |error| if is_verb { error } else { with_tip(error, &command.clone()) };
    let matches = command.clone().try_get_matches_from_mut(argv).map_err(tipped)?;
    let cli = Cli::from_arg_matches(&matches)?;
    if let Some(verb) = cli.verb {
        return Ok(Task::Do(Box::new(verb), speaks_json(&matches)));
    }
    let settled = config::settle(cli.flags, Given::from(&matches));
    let sidecar = settled.map_err(|mistake| command.error(ErrorKind::ValueValidation, mistake))?;
    Ok(Task::Serve(Box::new(sidecar)))
}

/// Whether `--json` was given to the verb, or to the verb within it.
fn speaks_json(matches: &ArgMatches) -> bool {
    let Some((_, inner)) = matches.subcommand() else { return false };
    // A verb may not have the flag at all.
    inner.try_get_one::<bool>("json").ok().flatten() == Some(&true) || speaks_json(inner)
}

/// The command line without what only coop itself calls, for completions and the manual.
fn whole_command() -> Command {
    let whole = Cli::command();
    let verbs: Vec<Command> = whole.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned().collect();
    Command::new("coop")
        .version(env!("CARGO_PKG_VERSION"))
        .about(page::ABOUT)
        .long_about(page::LONG_ABOUT)
        .after_long_help(page::EXAMPLES)
        .override_usage(page::USAGE)
        .subcommand_help_heading("Verbs")
        .subcommand_value_name("VERB")
        .disable_help_subcommand(true)
        // What is left out of the short help is told here. The program's own words are not ours to complete; in zsh they
        // would also take the place of the verb.
        .args(
            whole
                .get_arguments()
                .filter(|arg| !arg.is_positional() && !arg.is_hide_set())
                .map(|arg| arg.clone().hide_short_help(false)),
        )
        .subcommands(verbs)
}

/// Who forgets the `--` before a program is told so.
fn with_tip(error: clap::Error, command: &Command) -> clap::Error {
    let word = match error.kind() {
        ErrorKind::InvalidSubcommand => error.get(ContextKind::InvalidSubcommand),
        ErrorKind::UnknownArgument => error.get(ContextKind::InvalidArg),
        _ => None,
    };
    match word.map(ToString::to_string).filter(|word| !word.starts_with('-')) {
        Some(word) if command.get_subcommands().any(|verb| verb.get_name() == word) => {
            let tip = format!("a verb comes first: coop {word} [OPTIONS]");
            command.clone().error(error.kind(), tip)
        }
        Some(word) => {
            let tip =
                format!("{word:?} is no verb; to run it as a program, put -- before it: coop [OPTIONS] -- {word}");
            command.clone().error(error.kind(), tip)
        }
        None => error,
    }
}

/// Verbs wait for one thing at a time; one thread will do.
fn carry_out(verb: Verb) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        match verb {
            Verb::Attach(attach) => attach.run().await,
            Verb::State(state) => state.run().await,
            Verb::Screen(screen) => screen.run().await,
            Verb::Wait(wait) => wait.run().await,
            Verb::Logs(logs) => logs.run().await,
            Verb::Usage(usage) => usage.run().await,
            Verb::Transcripts(transcripts) => transcripts.run().await,
            Verb::Ready(ready) => ready.run().await,
            Verb::Input(input) => input.run().await,
            Verb::Keys(keys) => keys.run().await,
            Verb::Nudge(nudge) => nudge.run().await,
            Verb::Respond(respond) => respond.run().await,
            Verb::Resize(resize) => resize.run().await,
            Verb::Signal(signal) => signal.run().await,
            Verb::Env(env) => env.run().await,
            Verb::Restart(restart) => restart.run().await,
            Verb::Stop(stop) => stop.run().await,
            Verb::Ls(ls) => ls.run().await,
            Verb::Up(up) => up.run().await,
            Verb::Shell(shell) => shell.run().await,
            Verb::Rm(rm) => rm.run().await,
            Verb::Diff(diff) => diff.run().await,
            Verb::Apply(apply) => apply.run().await,
            Verb::Discard(discard) => discard.run().await,
            #[cfg(target_os = "linux")]
            Verb::Image(image) => image.run().await,
            #[cfg(target_os = "linux")]
            Verb::Volume(volume) => volume.run(),
            Verb::Trust(trust) => trust.run(),
            Verb::Init(init) => init.run(),
            Verb::Serve(serve) => serve.run().await,
            Verb::Daemon(daemon) => daemon.run().await,
            Verb::Open(open) => open.run().await,
            Verb::Send(send) => send.run().await,
            Verb::Doctor(doctor) => doctor.run().await,
            Verb::Completions(completions) => completions.run(),
            Verb::Man(man) => man.run(),
            Verb::Names => names::run().await,
            Verb::Hook | Verb::Guardian => Ok(ExitCode::SUCCESS),
        }
    });
    // A read of stdin that still waits must not keep the process.
    runtime.shutdown_background();
    done
}

/// Whoever read our output has had enough, as `head` has.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests;
