//! Runs one command of tmux or screen to its end, within a bound.

use std::io;
use std::process::Output;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::CannotBorrow;

/// How long a command may take. They take milliseconds; only a server that hangs takes longer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// Runs it, with these bytes as its input.
pub async fn run(program: &'static str, mut command: Command, input: &[u8]) -> Result<Output, CannotBorrow> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => CannotBorrow::NoProgram { program },
        _ => CannotBorrow::Failed { program, reason: error.to_string() },
    };
    let pipe = std::process::Stdio::piped;
    command.stdin(pipe()).stdout(pipe()).stderr(pipe()).kill_on_drop(true);
    let done = async {
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // One that does not read its input ends all the same, and says why.
            let _ = stdin.write_all(input).await;
        }
        child.wait_with_output().await
    };
    let within = ANSWERS_WITHIN;
    let done = tokio::time::timeout(within, done).await.map_err(|_| CannotBorrow::Silent { program, within })?;
    done.map_err(failed)
}
