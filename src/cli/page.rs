//! What `coop --help` teaches.

use clap::Command;

pub const ABOUT: &str = "Runs a terminal program and serves it over gRPC, HTTP/JSON and WebSocket";

pub const LONG_ABOUT: &str = "\
coop runs a terminal program, such as a shell or an AI coding agent, on a pseudo-terminal and serves it over gRPC, \
HTTP/JSON and WebSocket. Others read its screen and output, type into it and wait for things to happen, from any \
language or with curl.";

pub const USAGE: &str = "coop [OPTIONS] -- COMMAND [ARGS…]\n       coop up [OPTIONS] [DIR] [-- COMMAND [ARGS…]]\n       coop --attach tmux:NAME|screen:NAME [OPTIONS]\n       coop VERB [OPTIONS]";

/// The verbs in the order in which people look for them.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Look", &["state", "screen", "wait", "logs", "usage", "transcripts", "ready"]),
    ("Write", &["input", "keys", "nudge", "respond"]),
    ("Change", &["resize", "signal", "env", "restart", "stop"]),
    ("Find", &["ls", "attach", "shell", "open"]),
    ("Boxes", &["up", "rm", "diff", "apply", "discard", "init", "trust", "image", "volume", "serve", "daemon"]),
    ("Agents", &["send", "doctor"]),
    ("Shells", &["completions", "man"]),
];

const VERBS_HEADING: &str = "Verbs, for a session that runs and for boxes:";

/// Our own list of verbs in the place of clap's, which knows no groups: in short by name, at length with what each does.
pub const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// The command as help shows it.
pub fn with_groups(command: Command) -> Command {
    let about = |name: &str| {
        let verb = command.get_subcommands().find(|verb| verb.get_name() == name && !verb.is_hide_set())?;
        Some(verb.get_about().map(ToString::to_string).unwrap_or_default())
    };
    let (mut short, mut long) = (VERBS_HEADING.to_owned(), VERBS_HEADING.to_owned());
    for (group, verbs) in GROUPS {
        let known: Vec<&str> = verbs.iter().copied().filter(|verb| about(verb).is_some()).collect();
        short += &format!("\n  {group:<7} {}", known.join(", "));
        long += &format!("\n  {group}");
        for verb in known {
            long += &format!("\n    {verb:<11}  {}", about(verb).unwrap_or_default());
        }
    }
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let hide = |command: Command, verb: String| command.mut_subcommand(verb, |verb| verb.hide(true));
    verbs.into_iter().fold(command, hide).help_template(TEMPLATE).before_help(short).before_long_help(long)
}

pub const AFTER_HELP: &str = "`coop --help` has all options and examples; `coop VERB --help` explains a verb.";

pub const EXAMPLES: &str = "\
Examples:
  Serve a shell on a port, and read its screen with curl:
    coop --port 8080 -- bash
    curl localhost:8080/api/v1/screen/text

  The same on a private socket, and type into it from another terminal:
    coop -- bash
    coop input --enter 'make test'

  Use it from another terminal; Ctrl-] detaches:
    coop attach

  Wait until something is shown, or give up after a minute with exit code 124:
    coop wait --text 'tests passed' --timeout 60 && coop screen --lines 5

  Serve to the network, behind a token:
    openssl rand -hex 32 > token && chmod 600 token
    coop --host 0.0.0.0 --port 8080 --auth-token-file token -- bash
    curl -H \"Authorization: Bearer $(cat token)\" http://HOST:8080/api/v1/status

  Run an agent where it may work, end with it, and keep its state in view:
    coop --cwd ~/project --label task=42 --exit-with-child -- claude
    coop state --watch

  Serve what already runs in tmux, and leave it running:
    coop --port 8080 --attach tmux:work
    coop --attach tmux:work:1.0 --tmux-socket /tmp/tmux-1000/other

  Which sessions run here, one of them by its name, and its end:
    coop --label name=red --cwd ~/project -- claude
    coop ls --cwd ~/project
    coop stop --session red

  The same in a sandbox that sees only this project, and review what was done before it touches it:
    coop up ~/project --name red --workspace overlay -- claude
    coop diff red && coop apply red

Verbs find the session by --session, --url or --socket, then by COOP_URL or COOP_SOCKET. Without these they \
mean the box of the directory they are called in, else the only session that runs. With --json they print what the HTTP API answers. Errors go to stderr: one line that says the way out, or with \
--json one object {\"error\": {\"code\": …, \"message\": …}}.

With --port, coop prints its URL when it starts: open it in a browser to watch, answer and type. The whole API is \
described there, at /api and /openapi.json, and gRPC reflection is on: grpcurl -plaintext HOST:PORT list

Exit codes: 0 done, 1 failed, 2 wrong usage, 124 timed out. With --exit-with-child: the program's own code, 128 \
and the number of the signal that ended it, or 127 and 126 where there is no such program and where it cannot be run.";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_verb_stands_in_one_group() {
        let command = super::super::Cli::command();
        for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
            let groups = GROUPS.iter().filter(|(_, verbs)| verbs.contains(&verb.get_name()));
            assert_eq!(groups.count(), 1, "{}: name it in GROUPS", verb.get_name());
        }
    }
}
