//! `coop daemon`: the process that keeps the boxes.

use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use serde_json::json;

use super::{AT_ONCE, Daemon};
use crate::cli::words::ago;
use crate::cli::words::{plain, print_json, print_line};
use crate::proto::v1::{GetInfoRequest, GetInfoResponse, ShutdownDaemonRequest};

/// Ask for the daemon that keeps the boxes, or end it
///
/// There is one for each user. It is started by the first verb that needs it, and leaves by itself after a while without
/// boxes and without callers. Boxes are processes of their own: they run on without it, and the next daemon finds them.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop daemon status\n  coop daemon stop")]
#[command(disable_help_subcommand = true)]
pub struct Daemons {
    #[command(subcommand)]
    act: Act,
    /// Print JSON, as the HTTP API answers it
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Act {
    Status(Status),
    Stop(Stop),
}

/// Tell whether it runs; ends with 1 if it does not
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop daemon status --json")]
struct Status {}

/// End it; boxes run on
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop daemon stop")]
struct Stop {}

impl Daemons {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let daemon = Daemon::running().await;
        match (self.act, daemon) {
            (Act::Status(_), Some(daemon)) => {
                let info = daemon.ask(AT_ONCE, daemon.calls().get_info(GetInfoRequest {})).await?;
                if self.json {
                    print_json(&info)?
                } else {
                    print_line(&told(&info))?
                }
                Ok(ExitCode::SUCCESS)
            }
            (Act::Stop(_), Some(daemon)) => {
                let left = daemon.ask(AT_ONCE, daemon.calls().shutdown_daemon(ShutdownDaemonRequest {})).await?;
                if self.json {
                    print_json(&left)?
                } else {
                    print_line(&leaves(left.running))?
                }
                Ok(ExitCode::SUCCESS)
            }
            (act, None) => {
                if self.json {
                    let absent = if matches!(act, Act::Stop(_)) { "running" } else { "pid" };
                    print_json(&json!({ absent: null }))?;
                } else {
                    print_line("no daemon runs; the first verb that needs one starts it")?;
                }
                // What was to be ended has ended.
                Ok(if matches!(act, Act::Stop(_)) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
            }
        }
    }
}

/// `coop 1.0.0 (pid 12) on /run/user/1000/coop/daemon.sock for 3m: 2 boxes in /home/me/.coop`
fn told(info: &GetInfoResponse) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let since = ago(now.saturating_sub(Duration::from_millis(info.started_at_ms)));
    let (version, socket, home) = (plain(&info.version), plain(&info.socket), plain(&info.home));
    format!("coop {version} (pid {}) on {socket} for {since}: {} in {home}", info.pid, boxes(info.boxes))
}

fn leaves(running: u32) -> String {
    match running {
        0 => "the daemon leaves; no box runs".to_owned(),
        1 => "the daemon leaves; 1 box runs on".to_owned(),
        many => format!("the daemon leaves; {many} boxes run on"),
    }
}

/// `1 box`, `2 boxes`.
fn boxes(count: u32) -> String {
    format!("{count} {}", if count == 1 { "box" } else { "boxes" })
}
