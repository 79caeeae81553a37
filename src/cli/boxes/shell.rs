//! `coop shell`: another terminal beside the program, in the same box or on the same machine.

use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

use super::piped;
use crate::cli::attach::{self, Ending, Manner, Side};
use crate::cli::completions;
use crate::cli::reach::Reach;
use crate::cli::words::complain;
use crate::client::{Credentials, Target, connect_lasting};
use crate::proto::v1::{CloseTerminalRequest, CommandStart, OpenTerminalRequest, Terminal};

/// Open a shell beside the program, or run one command there
///
/// In a box it sees what the program sees: the same files, network and limits. Beside a plain session it runs on the
/// machine, where the program was started. Without a command it is the box's shell, or yours. It ends when this verb
/// does; Ctrl-] closes it.
///
/// Without a terminal on stdin and stdout, the command runs by itself, as in a pipe: it reads this verb's stdin to its
/// end, and its stdout and stderr are this verb's, byte for byte. Give it </dev/null where it must leave the stdin of a
/// loop alone; a terminal is not read. With --json each message is a line, what the command writes in base64. Exit
/// codes: the command's own, 128 and the number of the signal that ended it, 1 when it could not be started.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  coop shell\n  coop shell my-box\n  coop shell my-box -- git log --oneline | head\n  tar c \
                        fixtures | coop shell my-box -- tar x"
)]
pub struct Shell {
    /// Which one, when several run: a box, or a session as `coop ls` shows it
    #[arg(value_name = "NAME", value_hint = completions::NAME, conflicts_with_all = ["url", "socket", "named"])]
    name: Option<String>,
    /// The command and its arguments; no shell looks at them
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Where it starts; a relative path counts from where the program did [default: there]
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    #[command(flatten)]
    manner: Manner,
    #[command(flatten)]
    reach: Reach,
}

impl Shell {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let sits = attach::is_at_a_terminal() && !self.reach.json;
        if !sits && self.command.is_empty() {
            bail!("a shell needs a terminal on stdin and stdout: put a command after --, such as `coop shell -- ls`");
        }
        let (target, credentials) = self.reach.place(self.name.as_deref()).await?;
        let client = connect_lasting(target.clone(), credentials.clone()).await?;
        let (command, cwd) = (self.command, self.cwd.unwrap_or_default());
        if !sits {
            let start = CommandStart { command, cwd, ..CommandStart::default() };
            return piped::run(&client, start, self.reach.json).await;
        }
        let size = self.manner.measure();
        let (cols, rows) = (Some(size.cols().into()), Some(size.rows().into()));
        let request = OpenTerminalRequest { command, cwd, cols, rows, ..OpenTerminalRequest::default() };
        let terminal = client.answer(client.calls().open_terminal(request)).await?;
        let id = terminal.id.clone();
        let done = sit(target, credentials, terminal, self.manner).await;
        // However it went, nothing is left behind. One that has ended may be gone already.
        let _ = client.answer(client.calls().close_terminal(CloseTerminalRequest { id })).await;
        done
    }
}

async fn sit(target: Target, credentials: Credentials, terminal: Terminal, manner: Manner) -> anyhow::Result<ExitCode> {
    let program = terminal.command.first().map(String::as_str).unwrap_or_default();
    let program = Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let ending = attach::sit_beside(target, credentials, Side { id: terminal.id, program }, manner).await?;
    match &ending {
        Ending::Detached => complain("the shell was closed"),
        Ending::Left => complain("the session has been closed, and the shell with it"),
        Ending::Lost(failure) => complain(&format!("the shell is lost: {failure}")),
        Ending::Ended(_) | Ending::TerminalGone | Ending::Signal(_) => {}
    }
    Ok(ending.exit_code())
}
