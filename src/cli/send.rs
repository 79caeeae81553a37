//! `coop send`: the signal with which an agent says that it may stop.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};

use super::reach::Reach;
use super::words::{complain, plain, print_json, print_line};
use crate::agent::hook::{Resolved, SOCKET_VARIABLE, TOKEN_VARIABLE, resolve_stop};
use crate::proto::v1::ResolveStopRequest;

/// As much as a call takes.
const SIGNAL_BYTES_MAX: usize = 1024 * 1024;

/// Say that the work is done, so that the agent may stop
///
/// For the agent inside, where a gate holds it until it has said how its work ended. Exit codes: 0 what it said was taken,
/// 1 it was not, and the reasons are printed.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop send '{\"status\":\"done\"}'\n  make-report | coop send -")]
pub struct Send {
    /// A JSON object, or - to read it from stdin
    #[arg(value_name = "JSON")]
    signal: String,
    #[command(flatten)]
    reach: Reach,
}

impl Send {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let text = if self.signal == "-" { read_stdin()? } else { self.signal.clone() };
        // Checked here, where a mistake of quoting is best explained.
        let signal: Value = serde_json::from_str(&text).with_context(|| {
            let got: String = plain(&text).chars().take(200).collect();
            format!("this is not JSON, as the shell has handed it over: {got}; put it between single quotes")
        })?;
        let resolved = match private_socket(&self.reach, |name| std::env::var_os(name)) {
            Some((socket, token)) => {
                let answer = resolve_stop(socket, token, signal.to_string().into_bytes());
                answer.context("the session around this does not answer; has it ended?")?
            }
            None => self.call(&signal).await?,
        };
        report(&resolved, self.reach.json)
    }

    async fn call(&self, signal: &Value) -> anyhow::Result<Resolved> {
        let client = self.reach.connect_from_inside().await?;
        let request = ResolveStopRequest { signal: signal.to_string() };
        let answer = client.answer(client.calls().resolve_stop(request)).await?;
        Ok(if answer.accepted { Resolved::Accepted(String::new()) } else { Resolved::Refused(Vec::new()) })
    }
}

/// Coop's private socket for the program inside: it is there whatever else coop serves, and needs no token of a caller.
fn private_socket(reach: &Reach, variable: impl Fn(&str) -> Option<OsString>) -> Option<(PathBuf, String)> {
    let socket = variable(SOCKET_VARIABLE).filter(|path| !path.is_empty() && !reach.is_named())?;
    let token = variable(TOKEN_VARIABLE).and_then(|token| token.into_string().ok()).unwrap_or_default();
    Some((socket.into(), token))
}

fn report(resolved: &Resolved, json: bool) -> anyhow::Result<ExitCode> {
    match resolved {
        Resolved::Accepted(_) if json => print_json(&json!({"accepted": true}))?,
        Resolved::Accepted(words) if words.trim().is_empty() => print_line("taken: you may stop now")?,
        Resolved::Accepted(words) => print_line(words.trim())?,
        Resolved::Refused(reasons) => {
            if json {
                print_json(&json!({"accepted": false, "reasons": reasons}))?;
            } else {
                complain("the signal was not taken");
                reasons.iter().for_each(|reason| complain(&plain(reason)));
            }
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Nothing else waits meanwhile, so the plain blocking read will do.
fn read_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().take(SIGNAL_BYTES_MAX as u64 + 1).read_to_string(&mut text).context("stdin")?;
    if text.len() > SIGNAL_BYTES_MAX {
        bail!("stdin holds more than the {SIGNAL_BYTES_MAX} bytes that a signal may have");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        send: Send,
    }

    fn socket(line: &str, environment: &[(&str, &str)]) -> Option<(PathBuf, String)> {
        let Line { send } = Line::try_parse_from(line.split(' ')).unwrap();
        let variable = |name: &str| environment.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into());
        private_socket(&send.reach, variable)
    }

    #[test]
    fn inside_a_session_the_private_socket_is_used_unless_another_session_is_named() {
        let inside = [(SOCKET_VARIABLE, "/run/hook.sock"), (TOKEN_VARIABLE, "t"), ("COOP_URL", "http://x:1")];
        assert_eq!(socket("send {}", &inside), Some(("/run/hook.sock".into(), "t".into())));
        assert_eq!(socket("send {} --url y:2", &inside), None);
        assert_eq!(socket("send {} --socket /s", &inside), None);
        assert_eq!(socket("send {}", &[(SOCKET_VARIABLE, "")]), None);
    }
}
