//! Which variables coop reads as flags, and which of them its child must not see.

use std::ffi::{OsStr, OsString};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};

use super::Flags;

/// What a sidecar tells its child about itself; one from outside would speak of another session.
const TOLD_TO_CHILDREN: [&str; 5] =
    ["COOP_URL", "COOP_SOCKET", "COOP_HOOK_TOKEN", "COOP_HOOK_SOCKET", "COOP_HOOK_PIPE"];

/// Which of the flags were given, and for a token whether on the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given {
    pub token: bool,
    pub token_file: bool,
    /// A size was chosen, anywhere.
    pub size: bool,
    /// What coop may answer by itself was chosen, anywhere.
    pub groom: bool,
}

impl From<&ArgMatches> for Given {
    fn from(matches: &ArgMatches) -> Self {
        let said = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
        let chosen = |id| matches.value_source(id).is_some_and(|source| source != ValueSource::DefaultValue);
        Self {
            token: said("auth_token"),
            token_file: said("auth_token_file"),
            size: chosen("cols") || chosen("rows"),
            groom: chosen("groom"),
        }
    }
}

/// A command that takes its variables from this environment as far as they are meant for a sidecar.
///
/// An empty variable counts as unset, as compose files and shells write it. The token is the exception: a `$TOKEN`
/// that was never set must not open the terminal to everybody.
///
/// In a child of coop, `COOP_SOCKET` names the session around it. A sidecar started there would take that socket for
/// its own and collide with the one that lives.
pub fn read_from(command: Command, variable: impl Fn(&OsStr) -> Option<OsString>) -> Command {
    let nested = variable(OsStr::new("COOP")).is_some_and(|value| value == "1");
    command.mut_args(|arg| {
        let Some(name) = arg.get_env() else { return arg };
        let empty = name != "COOP_AUTH_TOKEN" && variable(name).is_some_and(|value| value.is_empty());
        let arg = if empty || (nested && name == "COOP_SOCKET") { arg.env(None::<&str>) } else { arg };
        arg.hide_env_values(true)
    })
}

/// Variables by which coop tells a child about itself; nobody else may.
pub fn told_to_children() -> impl Iterator<Item = OsString> {
    TOLD_TO_CHILDREN.iter().chain(&["COOP"]).map(OsString::from)
}

/// Variables that a child must not inherit from coop's own environment.
pub fn own_variables() -> Vec<OsString> {
    let command = Flags::augment_args(Command::new("coop"));
    let flags = command.get_arguments().filter_map(Arg::get_env).map(OsStr::to_owned);
    let mut names: Vec<OsString> = flags.chain(TOLD_TO_CHILDREN.map(OsString::from)).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The variables that are read in this environment.
    fn read(environment: &[(&str, &str)]) -> Vec<String> {
        let environment: Vec<_> = environment.to_vec();
        let lookup = |name: &OsStr| environment.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into());
        let command = read_from(Flags::augment_args(Command::new("coop")), lookup);
        command.get_arguments().filter_map(Arg::get_env).map(|name| name.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_sidecar_inside_a_session_does_not_take_that_sessions_socket() {
        assert!(read(&[("COOP_SOCKET", "/run/outer.sock")]).contains(&"COOP_SOCKET".to_owned()));
        let nested = read(&[("COOP", "1"), ("COOP_SOCKET", "/run/outer.sock")]);
        assert!(!nested.contains(&"COOP_SOCKET".to_owned()));
        assert!(nested.contains(&"COOP_PORT".to_owned()));
    }

    #[test]
    fn an_empty_variable_is_unset_but_an_empty_token_is_not() {
        let names = read(&[("COOP_PORT", ""), ("COOP_AUTH_TOKEN", "")]);
        assert!(!names.contains(&"COOP_PORT".to_owned()) && names.contains(&"COOP_AUTH_TOKEN".to_owned()));
    }

    #[test]
    fn a_child_sees_none_of_coops_own_variables() {
        let names = own_variables();
        let all = "PORT HOST SOCKET GRPC_PORT HEALTH_PORT AUTH_TOKEN AUTH_TOKEN_FILE AGENT AGENT_CONFIG IDLE_GRACE \
                   ATTACH ATTACH_SIZE COLS ROWS RING_SIZE TERM IDLE_TIMEOUT LOG_FORMAT LOG_LEVEL GROOM URL HOOK_TOKEN HOOK_PIPE \
                   HOOK_SOCKET";
        for name in all.split_whitespace() {
            assert!(names.contains(&OsString::from(format!("COOP_{name}"))), "{name}");
        }
        assert!(!names.contains(&OsString::from("PATH")));
    }

    #[test]
    fn help_never_shows_a_variables_value() {
        let command = read_from(Flags::augment_args(Command::new("coop")), |_| None);
        assert!(command.get_arguments().filter(|arg| arg.get_env().is_some()).all(Arg::is_hide_env_values_set));
    }
}
