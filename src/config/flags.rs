//! The sidecar's flags, one field for each, as `--help` shows them.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tracing::level_filters::LevelFilter;

use super::choices::{Agent, Groom, LogFormat};
use super::parse;
use crate::session::{RestartPolicy, SizePolicy};

/// What was said on the command line and in the environment, each by itself in order; [`super::settle()`] looks at all
/// of it together.
#[derive(Args, Clone, Debug)]
pub struct Flags {
    #[command(flatten, next_help_heading = "A session that already runs")]
    pub(super) borrowing: Borrowing,
    #[command(flatten, next_help_heading = "Listening")]
    pub(super) listening: Listening,
    #[command(flatten, next_help_heading = "Security")]
    pub(super) security: Security,
    #[command(flatten, next_help_heading = "Terminal")]
    pub(super) terminal: Terminal,
    #[command(flatten, next_help_heading = "Agent")]
    pub(super) agent: AgentFlags,
    #[command(flatten, next_help_heading = "Lifetime")]
    pub(super) lifetime: Lifetime,
    #[command(flatten, next_help_heading = "Logging")]
    pub(super) logging: Logging,
    /// Run the program in the box that this record describes; coop's daemon says it.
    #[arg(long = "box", value_name = "FILE", hide = true, conflicts_with = "attach")]
    pub(super) boxed: Option<PathBuf>,
    /// The program to run and its arguments; no shell looks at them
    #[arg(last = true, value_name = "COMMAND", hide = true)]
    pub(super) command: Vec<OsString>,
}

#[derive(Args, Clone, Debug)]
pub(super) struct Borrowing {
    /// Serve what runs in tmux or GNU screen instead of a command: tmux:NAME or screen:NAME
    ///
    /// tmux:NAME:WINDOW.PANE, tmux:%3 and screen:NAME:WINDOW name one part of it; NAME alone means the pane or window in
    /// front. It goes on when coop leaves. Its size stays as it is, unless --cols and --rows are given.
    /// To look at a session that coop already serves, use the verb: coop attach.
    #[arg(long, env = "COOP_ATTACH", value_name = "TARGET")]
    pub attach: Option<String>,
    /// Socket of the tmux server: a name as for tmux -L, or a path with a slash as for tmux -S
    #[arg(long, env = "COOP_TMUX_SOCKET", value_name = "NAME|PATH", hide_short_help = true)]
    pub tmux_socket: Option<OsString>,
}

#[derive(Args, Clone, Debug)]
pub(super) struct Listening {
    /// TCP port for gRPC, HTTP, WebSocket and the web page; 0 for any free one
    #[arg(long, env = "COOP_PORT", value_name = "PORT", value_parser = parse::port)]
    pub port: Option<u16>,
    /// Address to bind the ports to: an IP address or localhost
    #[arg(long, env = "COOP_HOST", value_name = "ADDR", default_value = "127.0.0.1", value_parser = parse::host)]
    pub host: IpAddr,
    /// Unix socket, open to your user only
    ///
    /// Without this, coop makes one in $XDG_RUNTIME_DIR/coop or /tmp/coop-UID, where verbs find it, and says which.
    #[arg(long, env = "COOP_SOCKET", value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// One more port with everything that --port serves
    #[arg(
        long,
        visible_alias = "port-grpc",
        env = "COOP_GRPC_PORT",
        value_name = "PORT",
        value_parser = parse::port,
        hide_short_help = true
    )]
    pub grpc_port: Option<u16>,
    /// Port that answers health, readiness and metrics only, without a token
    #[arg(
        long,
        visible_alias = "port-health",
        env = "COOP_HEALTH_PORT",
        value_name = "PORT",
        value_parser = parse::port,
        hide_short_help = true
    )]
    pub health_port: Option<u16>,
}

#[derive(Args, Clone, Debug)]
pub(super) struct Security {
    /// Token that callers must send as `Authorization: Bearer TOKEN`
    ///
    /// Other users of the machine can read flags in the process list: prefer the file or the variable.
    #[arg(long, env = "COOP_AUTH_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub auth_token: Option<OsString>,
    /// File that holds the token
    #[arg(long, env = "COOP_AUTH_TOKEN_FILE", value_name = "FILE")]
    pub auth_token_file: Option<PathBuf>,
    /// Let everybody who reaches coop read, without a token
    #[arg(long, hide_short_help = true)]
    pub anonymous_read: bool,
    /// Allow a public address without any token: whoever reaches the port owns the terminal
    #[arg(long, hide_short_help = true)]
    pub insecure_no_auth: bool,
    /// Let web pages of this origin call coop, such as https://example.org (repeatable)
    #[arg(long, value_name = "ORIGIN", value_parser = parse::origin, hide_short_help = true)]
    pub allow_origin: Vec<String>,
    /// Host name that coop may be called by, besides addresses and localhost (repeatable)
    #[arg(long, value_name = "HOST", value_parser = parse::host_name, hide_short_help = true)]
    pub allow_host: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub(super) struct Terminal {
    /// Columns
    #[arg(long, env = "COOP_COLS", value_name = "N", default_value_t = 200)]
    pub cols: u32,
    /// Rows
    #[arg(long, env = "COOP_ROWS", value_name = "N", default_value_t = 50)]
    pub rows: u32,
    /// Whose size the program sees when terminals are attached [default: latest, with --attach fixed]
    #[arg(long, env = "COOP_ATTACH_SIZE", value_name = "WHOSE", value_enum, hide_short_help = true)]
    pub attach_size: Option<SizePolicy>,
    /// How much output to keep for late readers: bytes, or a size such as 512K or 4M
    #[arg(
        long, env = "COOP_RING_SIZE", value_name = "BYTES", default_value = "1048576",
        value_parser = parse::ring_bytes, hide_short_help = true
    )]
    pub ring_size: usize,
    /// TERM for the program
    #[arg(
        long, env = "COOP_TERM", default_value = "xterm-256color",
        value_parser = parse::term, hide_short_help = true
    )]
    pub term: String,
    /// Directory to start the program in
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Variable for the program (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse::variable())]
    pub env: Vec<(OsString, OsString)>,
}

#[derive(Args, Clone, Debug)]
pub(super) struct AgentFlags {
    /// What runs inside [default: what the command's name says, else unknown]
    #[arg(long, env = "COOP_AGENT", value_enum)]
    pub agent: Option<Agent>,
    /// JSON file: the agent's settings, MCP servers, gates (stop, start) and screen rules
    #[arg(long, env = "COOP_AGENT_CONFIG", value_name = "FILE", hide_short_help = true)]
    pub agent_config: Option<PathBuf>,
    /// How long an agent must rest before it is called idle, in seconds
    #[arg(
        long, env = "COOP_IDLE_GRACE", value_name = "SECS", default_value = "0",
        value_parser = parse::seconds, hide_short_help = true
    )]
    pub idle_grace: Duration,
    /// What coop may answer by itself while an agent starts
    #[arg(long, env = "COOP_GROOM", value_enum, default_value = "auto", hide_short_help = true)]
    pub groom: Groom,
    /// Write down what the agent's sources bring, for a report of a wrong state (holds the conversation)
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub agent_record: Option<PathBuf>,
    /// How long a message or an answer waits for a witness unless its caller says otherwise, as coop's verbs do by
    /// --timeout: in milliseconds, from 1000 [default: 2500]
    #[arg(long, env = "COOP_NUDGE_TIMEOUT_MS", value_name = "MS", hide_short_help = true)]
    pub nudge_timeout_ms: Option<u32>,
    /// Go on with an earlier conversation: its id, its log, its directory, or latest
    #[arg(long, value_name = "HINT", hide_short_help = true)]
    pub resume: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub(super) struct Lifetime {
    /// Leave when the program ends, with its exit code
    #[arg(long)]
    pub exit_with_child: bool,
    /// When a program that has ended is started again: soon at first, then later; not after 5 ends within a minute
    #[arg(
        long,
        env = "COOP_RESTART",
        value_name = "WHEN",
        value_enum,
        default_value = "no",
        conflicts_with = "exit_with_child",
        hide_short_help = true
    )]
    pub restart: RestartPolicy,
    /// Leave after so many seconds without output, input or a call; 0 for never
    #[arg(long, env = "COOP_IDLE_TIMEOUT", value_name = "SECS", default_value = "0", value_parser = parse::seconds)]
    pub idle_timeout: Duration,
    /// A note about the session, such as team=red; name=NAME gives it a name for verbs (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse::label)]
    pub label: Vec<(String, String)>,
}

#[derive(Args, Clone, Debug)]
pub(super) struct Logging {
    /// How coop's own log is written to stderr [default: text on a terminal, else json]
    #[arg(long, env = "COOP_LOG_FORMAT", value_enum, hide_short_help = true)]
    pub log_format: Option<LogFormat>,
    /// How much is logged
    #[arg(long, env = "COOP_LOG_LEVEL", value_name = "LEVEL", default_value = "info", value_parser = log_level())]
    pub log_level: LevelFilter,
}

fn log_level() -> impl TypedValueParser<Value = LevelFilter> {
    PossibleValuesParser::new(["off", "error", "warn", "info", "debug", "trace"])
        .try_map(|word| word.parse::<LevelFilter>())
}
