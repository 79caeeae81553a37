//! `coop input`: types text.

use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;

use super::reach::{Lock, Reach};
use super::receipt;
use crate::client::Client;
use crate::config;
use crate::proto::v1::{ReceiptPhase, SendInputRawRequest, SendInputRequest, SendInputResponse};

/// As much as a session takes at once.
const STDIN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Type text into the program
///
/// Words are joined by a space. The text goes in as it is; --enter presses Enter after it. Prints how far it got. Exit
/// codes: 0 it was taken, 1 it was refused, 124 the program did not take it in time.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop input --enter 'make test'\n  git diff | coop input --stdin --raw")]
pub struct Input {
    /// What to type
    #[arg(value_name = "TEXT", required_unless_present_any = ["stdin", "enter"], conflicts_with = "stdin")]
    words: Vec<String>,
    /// Press Enter after it
    #[arg(long, short)]
    enter: bool,
    /// Type what comes from stdin
    #[arg(long)]
    stdin: bool,
    /// Write bytes, which need not be text
    #[arg(long)]
    raw: bool,
    /// Wait until the text is seen in what the program prints
    #[arg(long, conflicts_with = "raw")]
    wait_echo: bool,
    /// How long to wait for it to get that far
    #[arg(long, value_name = "SECS", default_value = "2.5", value_parser = config::seconds)]
    timeout: Duration,
    #[command(flatten)]
    lock: Lock,
    #[command(flatten)]
    reach: Reach,
}

impl Input {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let data = if self.stdin { read_stdin()? } else { self.words.join(" ").into_bytes() };
        let client = self.reach.connect_with(&self.lock).await?;
        let wanted = if self.wait_echo { ReceiptPhase::Echoed } else { ReceiptPhase::Written };
        let answer =
            if self.raw { self.send_raw(&client, data).await? } else { self.send(&client, data, wanted).await? };
        receipt::report(&answer, wanted, self.reach.json)
    }

    async fn send(&self, client: &Client, data: Vec<u8>, wanted: ReceiptPhase) -> anyhow::Result<SendInputResponse> {
        let text = String::from_utf8(data).context("what comes from stdin is not text: use --raw for bytes")?;
        let request = SendInputRequest {
            text,
            enter: self.enter,
            wait_for: wanted.into(),
            timeout_ms: Some(millis(self.timeout)),
            ..Default::default()
        };
        Ok(client.answer_after(self.timeout, client.calls().send_input(request)).await?)
    }

    async fn send_raw(&self, client: &Client, mut data: Vec<u8>) -> anyhow::Result<SendInputResponse> {
        if self.enter {
            data.push(b'\r');
        }
        let request =
            SendInputRawRequest { data: data.into(), timeout_ms: Some(millis(self.timeout)), ..Default::default() };
        Ok(client.answer_after(self.timeout, client.calls().send_input_raw(request)).await?)
    }
}

/// Nothing else waits meanwhile, so the plain blocking read will do.
fn read_stdin() -> anyhow::Result<Vec<u8>> {
    let mut data = Vec::new();
    let limit = STDIN_BYTES_MAX as u64 + 1;
    std::io::stdin().lock().take(limit).read_to_end(&mut data).context("stdin")?;
    if data.len() > STDIN_BYTES_MAX {
        bail!("stdin holds more than the {STDIN_BYTES_MAX} bytes that a session takes at once: send it in parts");
    }
    Ok(data)
}

/// Milliseconds as the contract counts them.
pub fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}
