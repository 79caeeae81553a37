//! Promises about the flags as a whole.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;

use clap::{Args, Command, FromArgMatches};

use super::*;

/// Reads flags and nothing of this process's environment.
fn settled(flags: &str) -> Result<Sidecar, String> {
    let command = Flags::augment_args(Command::new("coop")).mut_args(|arg| arg.env(None::<&str>));
    let argv = std::iter::once("coop").chain(flags.split_whitespace());
    let matches = command.try_get_matches_from(argv).map_err(|error| error.to_string())?;
    let flags = Flags::from_arg_matches(&matches).map_err(|error| error.to_string())?;
    settle(flags, Given::from(&matches)).map_err(|mistake| mistake.to_string())
}

fn mistake(flags: &str) -> String {
    settled(flags).map(|sidecar| format!("{sidecar:?}")).expect_err(flags)
}

#[test]
fn without_flags_everything_has_a_sensible_value() {
    let sidecar = settled("-- /usr/bin/claude --verbose").unwrap();
    assert_eq!((sidecar.port, sidecar.socket, sidecar.grpc_port, sidecar.health_port), (None, None, None, None));
    assert!(sidecar.host.is_loopback() && sidecar.token.is_none());
    assert_eq!((sidecar.size, sidecar.ring_bytes), (Size::new(200, 50).unwrap(), 1_048_576));
    assert_eq!((sidecar.term.as_str(), sidecar.agent, sidecar.groom), ("xterm-256color", Agent::Claude, Groom::Auto));
    assert_eq!((sidecar.idle_grace, sidecar.idle_timeout), (Duration::ZERO, None));
    assert_eq!(sidecar.log_level, LevelFilter::INFO);
    assert_eq!(sidecar.command, ["/usr/bin/claude", "--verbose"]);
    assert!(sidecar.warnings.is_empty() && !sidecar.exit_with_child);
}

#[test]
fn flags_say_otherwise() {
    let flags = "--port 0 --port-grpc 0 --port-health 9091 --host ::1 --agent codex --idle-timeout 1.5 --ring-size 4M \
                 --label a=1 --label b=x=y --env A=1 --env B= --log-level debug --log-format text --groom manual \
                 -- bash";
    let sidecar = settled(flags).unwrap();
    assert_eq!((sidecar.port, sidecar.grpc_port, sidecar.health_port), (Some(0), Some(0), Some(9091)));
    assert_eq!((sidecar.agent, sidecar.groom, sidecar.ring_bytes), (Agent::Codex, Groom::Manual, 4 << 20));
    assert_eq!(sidecar.idle_timeout, Some(Duration::from_millis(1500)));
    assert_eq!(sidecar.labels, [("a".into(), "1".into()), ("b".into(), "x=y".into())].into());
    assert_eq!(sidecar.env, [("A".into(), "1".into()), ("B".into(), "".into())]);
    assert_eq!((sidecar.log_level, sidecar.log_format), (LevelFilter::DEBUG, LogFormat::Text));
}

#[test]
fn every_mistake_is_named_with_the_way_out() {
    let long = format!("--socket /{} -- sh", "x".repeat(107));
    let table = [
        ("", "coop -- bash"),
        ("--attach tmux:a -- bash", "leave out one"),
        ("--attach tmux:", "use tmux:NAME"),
        ("--attach zellij:a", "use tmux:NAME"),
        ("--attach screen:a --tmux-socket x", "leave it out"),
        ("--tmux-socket x -- sh", "leave it out"),
        ("--attach tmux:a --agent claude --resume latest", "leave out one"),
        ("--resume latest -- bash", "needs an agent whose conversations coop knows"),
        ("--port 80 --grpc-port 80 -- sh", "--port and --grpc-port are both 80"),
        ("--grpc-port 81 --health-port 81 -- sh", "--grpc-port and --health-port are both 81"),
        ("--port 65536 -- sh", "--port"),
        (&long, "at most 107 bytes, this one has 108"),
        ("--cols 0 -- sh", "between 1 and 1000"),
        ("--rows 1001 -- sh", "between 1 and 1000"),
        ("--ring-size 1 -- sh", "between 1K and 1G"),
        ("--label red -- sh", "NAME=VALUE"),
        ("--label =red -- sh", "must not be empty"),
        ("--env HOME -- sh", "NAME=VALUE"),
        ("--cwd /no/such/directory -- sh", "--cwd /no/such/directory: No such file"),
        ("--cwd /dev/null -- sh", "is not a directory"),
        ("--agent-config /no/such/file -- sh", "--agent-config /no/such/file: No such file"),
        ("--agent-config /dev/null -- sh", "is not JSON"),
        ("--allow-origin example.org -- sh", "scheme://host"),
        ("--allow-host http://a -- sh", "host name"),
        ("--host example.org -- sh", "IP address"),
        ("--idle-timeout=-1 -- sh", "--idle-timeout"),
        ("--log-level loud -- sh", "trace"),
        ("--agent copilot -- sh", "claude"),
        ("--auth-token= -- sh", "--auth-token is empty"),
        ("--auth-token-file /dev/null -- sh", "--auth-token-file /dev/null is empty"),
        ("--auth-token-file /no/such/file -- sh", "--auth-token-file /no/such/file: No such file"),
        ("--auth-token-file /dev/zero -- sh", "is larger than"),
        ("--auth-token a --auth-token-file b -- sh", "leave out one"),
        ("--auth-token tökén -- sh", "visible ASCII"),
    ];
    for (flags, part) in table {
        let text = mistake(flags);
        assert!(text.contains(part), "{flags}\n{text}");
    }
}

#[test]
fn a_terminal_is_not_opened_to_the_network_by_accident() {
    for flags in ["--host 0.0.0.0 --port 80 -- sh", "--host :: --grpc-port 0 -- sh", "--host 10.0.0.1 --port 0 -- sh"] {
        let text = mistake(flags);
        for way_out in ["--auth-token-file", "--host 127.0.0.1", "--insecure-no-auth"] {
            assert!(text.contains(way_out), "{text}");
        }
    }
    for flags in [
        "--host 0.0.0.0 --port 0 --auth-token t -- sh",
        "--host 0.0.0.0 --port 0 --insecure-no-auth -- sh",
        "--host 127.0.0.2 --port 0 -- sh",
        "--host 0.0.0.0 --health-port 0 -- sh",
        "--host 0.0.0.0 -- sh",
    ] {
        assert!(settled(flags).is_ok(), "{flags}");
    }
}

#[test]
fn the_token_is_never_shown() {
    let sidecar = settled("--auth-token hush -- sh").unwrap();
    assert_eq!(sidecar.token.as_ref().map(Secret::reveal), Some("hush"));
    assert!(!format!("{sidecar:?}").contains("hush"));
    assert!(!mistake("--auth-token hush --port 1 --grpc-port 1 -- sh").contains("hush"));
}

#[test]
fn a_token_file_that_others_can_read_is_told() {
    let scratch = Scratch::fresh();
    let path = scratch.file("token", "hush\n");
    let flags = format!("--auth-token-file {} -- sh", path.display());
    set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let private = settled(&flags).unwrap();
    assert_eq!((private.token.as_ref().map(Secret::reveal), private.warnings.len()), (Some("hush"), 0));
    set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let warnings = settled(&flags).unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.contains("chmod 600")), "{warnings:?}");
}

#[test]
fn a_flag_for_the_token_wins_over_a_variable() {
    let scratch = Scratch::fresh();
    let file = scratch.file("token", "from-file");
    let flags = |given: Given| {
        let line = format!("coop --auth-token from-text --auth-token-file {} -- sh", file.display());
        let command = Flags::augment_args(Command::new("coop")).mut_args(|arg| arg.env(None::<&str>));
        let matches = command.get_matches_from(line.split_whitespace());
        let settled = settle(Flags::from_arg_matches(&matches).unwrap(), given);
        settled.map(|sidecar| sidecar.token.map(|token| token.reveal().to_owned()))
    };
    let token = |token, token_file| flags(Given { token, token_file, ..Given::default() });
    assert_eq!(token(true, false), Ok(Some("from-text".to_owned())));
    assert_eq!(token(false, true), Ok(Some("from-file".to_owned())));
    assert!(token(true, true).is_err() && token(false, false).is_err());
}

#[test]
fn flags_that_change_nothing_are_told() {
    let warnings = |flags: &str| settled(flags).unwrap().warnings.join(" ");
    assert!(warnings("--anonymous-read -- sh").contains("--anonymous-read"));
    assert!(warnings("--insecure-no-auth --auth-token t -- sh").contains("--insecure-no-auth"));
    assert_eq!(warnings("--anonymous-read --auth-token t -- sh"), "");
}

#[test]
fn an_agents_configuration_is_read() {
    let scratch = Scratch::fresh();
    let path = scratch.file("agent.json", r#"{"screen":{"prompt":["\\$ $"]}}"#);
    let sidecar = settled(&format!("--agent-config {} -- sh", path.display())).unwrap();
    assert_eq!(sidecar.agent_config.unwrap()["screen"]["prompt"][0], "\\$ $");
}

#[test]
fn a_borrowed_session_keeps_its_size_and_its_dialogs_unless_told_otherwise() {
    let borrow = |flags: &str| settled(flags).unwrap().borrow.unwrap();
    let plain = borrow("--attach tmux:a");
    assert_eq!((plain.size_is_chosen, plain.groom_is_chosen, plain.agent), (false, false, None));
    let chosen = borrow("--attach tmux:a:1.0 --cols 100 --groom auto --agent codex");
    assert_eq!((chosen.size_is_chosen, chosen.groom_is_chosen, chosen.agent), (true, true, Some(Agent::Codex)));
    let warnings = settled("--attach screen:a --env A=b").unwrap().warnings.join(" ");
    assert!(warnings.contains("--env"), "{warnings}");
}
