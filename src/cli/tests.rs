//! Promises about the command line as a whole.

use super::*;

fn task(line: &str) -> Result<Task, clap::Error> {
    // Hermetic as far as clap allows: no test sets a variable, and these are not set by accident.
    parse(line.split_whitespace().map(OsString::from), |_| None)
}

fn error(line: &str) -> String {
    task(line).map(|task| format!("{task:?}")).expect_err(line).to_string()
}

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn a_command_is_served_and_a_verb_is_done() {
    let Ok(Task::Serve(sidecar)) = task("coop --port 0 -- state --json") else { panic!("a sidecar") };
    assert_eq!(sidecar.command, ["state", "--json"]);
    for line in [
        "state --watch",
        "screen --lines 3",
        "input -e a b",
        "keys up",
        "wait --exited",
        "logs -n 1",
        "send {}",
        "send -",
        "doctor --agent claude -- claude --model opus",
        "usage --session red",
        "transcripts",
        "transcripts catchup --follow --since-line 3",
        "transcripts show 1 --json",
        "ready --wait 5",
        "resize 120x40",
        "signal INT",
        "env",
        "env show KEY",
        "env set KEY=value",
        "env unset KEY",
        "restart --env A=1 --env B= --resume",
        "restart my-box",
        "stop --now",
        "stop my-box",
        "logs my-box -f",
        "up",
        "up /tmp --name red -d --image debian:12 --network filtered --allow a.b --publish 80:80 -- bash -l",
        "up --workspace overlay --env A=1 --label team=red --agent claude",
        "shell",
        "shell my-box -- ls -la",
        "rm one two --force",
        "rm",
        "rm --all",
        "diff",
        "diff my-box src --names --color",
        "apply my-box src/a.rs --yes --force",
        "discard --yes",
        "image ls --json",
        "image pull debian:12",
        "image rm debian:12 tar:a.tar",
        "image gc",
        "volume ls",
        "volume rm cache --yes",
        "trust --list",
        "trust /tmp --yes",
        "init /tmp --agent claude",
        "serve --port 0 --host ::1 --auth-token-file t --allow-host a.b --allow-origin https://a.b",
        "daemon status --json",
        "daemon --json stop",
        "ls --label role=worker --label name --cwd /tmp --json",
        "open --print --url localhost:8080",
        "completions zsh",
        "man --dir /tmp/man",
    ] {
        assert!(matches!(task(&format!("coop {line}")), Ok(Task::Do(..))), "{line}");
    }
}

#[test]
fn the_flag_attach_and_the_verb_attach_point_to_each_other() {
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(error("coop --help")).contains("use the verb: coop attach"));
    assert!(words(error("coop attach --help")).contains("use the option: coop --attach tmux:NAME"));
}

#[test]
fn who_forgets_the_dashes_is_told() {
    for line in ["coop bash", "coop --port 0 bash -l"] {
        assert!(error(line).contains("coop [OPTIONS] -- bash"), "{line}: {}", error(line));
    }
    assert!(error("coop").contains("nothing to run"));
    assert!(error("coop --port 80 state").contains("state"));
}

#[test]
fn verbs_refuse_what_makes_no_sense() {
    let lines = "
        coop wait
        coop wait --timeout 5
        coop wait --state nonsense
        coop wait --exited --timeout 601
        coop input
        coop input --stdin text
        coop input --raw --wait-echo a
        coop keys
        coop logs --from 3
        coop logs --output -n 3
        coop screen --watch --lines 3
        coop state --url https://x
        coop state --url a:1 --socket b
        coop state --watch --explain
        coop state --token a --token-file b
        coop send
        coop send {} {}
        coop doctor --agent nobody
        coop transcripts show
        coop transcripts show one
        coop transcripts catchup --since-line -1
        coop resize
        coop resize 120
        coop signal
        coop env set
        coop env set KEY
        coop env set =value
        coop env unset
        coop restart --env KEY
        coop stop --timeout never
        coop ready --wait -1
        coop state --session a --socket b
        coop stop a --session b
        coop restart a --socket b
        coop logs a --url c:1
        coop up --network some
        coop up --workspace rwx
        coop up --env A
        coop up . bash
        coop shell a b
        coop rm a --all
        coop diff --color=sometimes
        coop image
        coop image pull
        coop image rm
        coop volume rm
        coop trust --list --revoke
        coop trust a b
        coop init a b
        coop serve --port x
        coop serve --auth-token a --auth-token-file b
        coop daemon
        coop daemon dance
        coop completions
        coop completions tcsh
        coop doctor --agent claude claude";
    for line in lines.trim().lines() {
        assert_eq!(task(line).map(|_| ()).map_err(|error| error.use_stderr()), Err(true), "{line}");
    }
}

#[test]
fn help_teaches_by_examples_and_every_verb_has_one() {
    let mut command = page::with_groups(Cli::command());
    let page = command.render_long_help().to_string();
    for part in ["coop --port 8080 -- bash", "curl ", "coop wait", "--auth-token-file token", "-- claude", "Listening:"]
    {
        assert!(page.contains(part), "{part}");
    }
    for heading in ["Security:", "Terminal:", "Agent:", "Lifetime:", "Logging:", "Verbs, for a session"] {
        assert!(page.contains(heading), "{heading}");
    }
    assert!(!page.contains("guardian") && !page.contains("hook"));
    assert!(command.render_help().to_string().len() < page.len());
    for verb in whole_command().get_subcommands_mut() {
        teaches(verb);
    }
}

/// Of a verb and all below it.
fn teaches(verb: &mut Command) {
    assert!(verb.render_help().to_string().contains("Example:"), "{}", verb.get_name());
    verb.get_subcommands_mut().for_each(teaches);
}

/// Rows and columns of a terminal that is not small.
const SCREEN: (usize, usize) = (60, 100);

#[test]
fn the_short_help_is_one_screen_and_the_verbs_stand_in_groups() {
    let mut command = page::with_groups(Cli::command()).term_width(SCREEN.1);
    let page = command.render_help().to_string();
    assert!(page.lines().count() <= SCREEN.0, "{} lines", page.lines().count());
    let long = command.render_long_help().to_string();
    for verb in whole_command().get_subcommands() {
        let (name, about) = (verb.get_name(), verb.get_about().unwrap().to_string());
        assert!(page.contains(name), "{name}");
        assert!(long.lines().any(|line| line.trim_start().starts_with(name) && line.ends_with(&about)), "{name}");
    }
}

#[test]
fn every_verb_that_answers_can_answer_in_json() {
    // These print what is no answer of a session.
    let without = ["completions", "man"];
    for verb in whole_command().get_subcommands().filter(|verb| !without.contains(&verb.get_name())) {
        assert!(verb.get_arguments().any(|arg| arg.get_long() == Some("json")), "{}", verb.get_name());
    }
}
