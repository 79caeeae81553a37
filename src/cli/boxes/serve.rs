//! `coop serve`: all boxes on a port.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio::net::UnixStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::task::TaskTracker;

use crate::api::{Gate, Secret};
use crate::cli::sidecar::random_token;
use crate::client::daemon::{Start, reach};
use crate::config::{self, check_token, token_in_file};
use crate::serve::{self, Connections, Daemon, Policy};

/// How long open connections may take to finish.
const FAREWELL: Duration = Duration::from_secs(2);

/// Serve all boxes on a port: a web page, the API, and each box at /box/NAME/
///
/// The page shows what every box does and asks, and opens shells, changes and new boxes. gRPC, HTTP/JSON and WebSocket
/// are on the same port, as a session has them; whoever may call may run programs as you. An address
/// other than this machine's own needs a token. Runs in the foreground until it is told to leave (Ctrl-C); boxes and the
/// daemon go on. Prints one line when it listens: JSON where no terminal reads it.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop serve\n  coop serve --host 0.0.0.0 --port 8080 --auth-token-file token")]
pub struct Serve {
    /// TCP port; 0 for any free one
    #[arg(long, value_name = "PORT", default_value = "8080", value_parser = config::port)]
    port: u16,
    /// Address to bind it to: an IP address or localhost
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1", value_parser = config::host)]
    host: IpAddr,
    /// Token that callers must send as `Authorization: Bearer TOKEN` [env: COOP_AUTH_TOKEN]
    #[arg(long, value_name = "TOKEN", conflicts_with = "auth_token_file")]
    auth_token: Option<OsString>,
    /// File that holds the token [env: COOP_AUTH_TOKEN_FILE]
    #[arg(long, value_name = "FILE")]
    auth_token_file: Option<PathBuf>,
    /// Let everybody who reaches it read, without a token
    #[arg(long)]
    anonymous_read: bool,
    /// Allow a public address without any token: whoever reaches the port may run programs as you
    #[arg(long)]
    insecure_no_auth: bool,
    /// Let web pages of this origin call, such as https://example.org (repeatable)
    #[arg(long, value_name = "ORIGIN", value_parser = config::origin)]
    allow_origin: Vec<String>,
    /// Host name that it may be called by, besides addresses and localhost (repeatable)
    #[arg(long, value_name = "HOST", value_parser = config::host_name)]
    allow_host: Vec<String>,
    /// Print the line about where it listens as JSON, on a terminal too
    #[arg(long)]
    json: bool,
}

impl Serve {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let token = self.token()?;
        config::check_guarded(self.host, token.is_some(), self.insecure_no_auth)?;
        // A daemon that cannot be started is told now, and not to the first caller. The connection keeps it from leaving.
        let _held = reach(Start::IfNeeded).await?;
        let (listener, address) = serve::bind_tcp(self.host, self.port).await?;
        let gate = Gate { token, hook_token: random_token()?, anonymous_read: self.anonymous_read };
        let policy = Policy { allow_origins: self.allow_origin.clone(), allow_hosts: self.allow_host.clone() };
        let connections = Connections::default();
        let app = serve::outward_application(daemon(), gate, policy, &connections);
        let mut signals = [SignalKind::terminate(), SignalKind::hangup()].map(signal);
        self.announce(address)?;
        let serving = TaskTracker::new();
        serving.spawn(serve::serve(listener, app, connections.clone()));
        serving.close();
        let [terminate, hangup] = &mut signals;
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            () = told(terminate) => {}
            () = told(hangup) => {}
        }
        connections.closing.cancel();
        // Whoever is still there has had its time.
        let _ = tokio::time::timeout(FAREWELL, serving.wait()).await;
        Ok(ExitCode::SUCCESS)
    }

    /// A flag goes before a variable.
    fn token(&self) -> anyhow::Result<Option<Secret>> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let token = if let Some(token) = &self.auth_token {
            Some(check_token("--auth-token", token))
        } else if let Some(file) = &self.auth_token_file {
            Some(token_in_file("--auth-token-file", file))
        } else if let Some(token) = variable("COOP_AUTH_TOKEN") {
            Some(check_token("COOP_AUTH_TOKEN", &token))
        } else {
            variable("COOP_AUTH_TOKEN_FILE").map(|file| token_in_file("COOP_AUTH_TOKEN_FILE", Path::new(&file)))
        };
        Ok(token.transpose()?)
    }

    /// One line to stdout, the only one ever: JSON for programs, a sentence for people.
    fn announce(&self, address: SocketAddr) -> anyhow::Result<()> {
        let mut stdout = std::io::stdout();
        let url = serve::url_of(address);
        if stdout.is_terminal() && !self.json {
            writeln!(stdout, "coop {} serves all boxes on {url}, each at {url}/box/NAME/", env!("CARGO_PKG_VERSION"))?;
        } else {
            writeln!(stdout, "{}", json!({ "event": "listening", "url": url, "pid": std::process::id() }))?;
        }
        stdout.flush()?;
        Ok(())
    }
}

async fn told(signal: &mut std::io::Result<tokio::signal::unix::Signal>) {
    match signal {
        Ok(signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

/// The daemon that runs now. One that was killed or replaced meanwhile is started again.
fn daemon() -> Daemon {
    Arc::new(|| {
        std::boxed::Box::pin(async {
            let socket = config::runtime_dir().join(crate::boxes::DAEMON_SOCKET);
            if let Ok(stream) = UnixStream::connect(&socket).await {
                return Ok(stream);
            }
            reach(Start::IfNeeded).await.map_err(|failure| failure.to_string())?;
            UnixStream::connect(&socket).await.map_err(|error| format!("the daemon does not answer: {error}"))
        })
    })
}
