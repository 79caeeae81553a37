//! `coop keys`: presses keys.

use std::process::ExitCode;

use clap::Args;

use super::reach::{Lock, Reach};
use super::receipt;
use crate::proto::v1::{ReceiptPhase, SendKeysRequest};

/// Press keys, one after the other
///
/// Names such as enter, escape, tab, up, f5, ctrl-c, alt-x, shift-tab, or single characters; case does not matter.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop keys ctrl-c\n  coop keys down down enter")]
pub struct Keys {
    /// Keys to press
    #[arg(value_name = "KEY", required = true)]
    keys: Vec<String>,
    #[command(flatten)]
    lock: Lock,
    #[command(flatten)]
    reach: Reach,
}

impl Keys {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let client = self.reach.connect_with(&self.lock).await?;
        let request = SendKeysRequest { keys: self.keys, ..Default::default() };
        let answer = client.answer(client.calls().send_keys(request)).await?;
        receipt::report(&answer, ReceiptPhase::Written, self.reach.json)
    }
}
