//! `coop signal`: signals the program and its processes.

use std::process::ExitCode;

use clap::Args;

use super::reach::Reach;
use super::words::{plain, print_json, print_line};
use crate::proto::v1::SendSignalRequest;

/// Signal the program and all processes of its group
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop signal INT\n  coop signal SIGTERM")]
pub struct Signal {
    /// A name such as INT or SIGTERM, in any case, or a number
    #[arg(value_name = "SIGNAL")]
    signal: String,
    #[command(flatten)]
    reach: Reach,
}

impl Signal {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let client = self.reach.connect().await?;
        let request = SendSignalRequest { signal: self.signal.clone() };
        let answer = client.answer(client.calls().send_signal(request)).await?;
        if self.reach.json {
            print_json(&answer)?;
        } else {
            print_line(&format!("signalled the process group: {}", plain(&self.signal)))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
