//! `coop shell`: another terminal beside the program, in the same box or on the same machine.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use crate::cli::attach::{self, Ending, Manner, SIGNAL_BASE, Side, shell_code};
use crate::cli::follow::stdout_closed;
use crate::cli::reach::Reach;
use crate::cli::words::{complain, plain, print_bytes, print_json};
use crate::client::{Client, Credentials, Failure, Target, connect_lasting};
use crate::proto::v1::attach_response::Event as Told;
use crate::proto::v1::{
    AttachHello, AttachRequest, AttachResponse, CloseTerminalRequest, ExitEvent, OpenTerminalRequest, Terminal,
    attach_request,
};

/// Open a shell beside the program, or run one command there
///
/// In a box it sees what the program sees: the same files, network and limits. Beside a plain session it runs on the
/// machine, where the program was started. Without a command it is the box's shell, or yours. It ends when this verb
/// does; Ctrl-] closes it.
///
/// Without a terminal on stdin and stdout, the command runs by itself: what it prints is printed as it is, stdout and
/// stderr together. It reads nothing: its stdin ends at once, whatever this verb's own is, and pagers print. With --json
/// each message of the terminal is a line, what the command prints in base64. Exit codes: the command's own, 128 and the
/// number of the signal that ended it, 1 when it could not be started or a part of its output was lost.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop shell\n  coop shell my-box\n  coop shell my-box -- git log --oneline | head")]
pub struct Shell {
    /// Which one, when several run: a box, or a session as `coop ls` shows it
    #[arg(value_name = "NAME", conflicts_with_all = ["url", "socket", "named"])]
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
        let size = sits.then(|| self.manner.measure());
        let request = OpenTerminalRequest {
            command: self.command,
            cwd: self.cwd.unwrap_or_default(),
            cols: size.map(|size| size.cols().into()),
            rows: size.map(|size| size.rows().into()),
            no_input: !sits,
            ..OpenTerminalRequest::default()
        };
        let terminal = client.answer(client.calls().open_terminal(request)).await?;
        let id = terminal.id.clone();
        let done = if sits {
            sit(target, credentials, terminal, self.manner).await
        } else {
            run(&client, terminal, self.reach.json).await
        };
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

/// Prints what it prints, until it ends or nobody wants it any more.
async fn run(client: &Client, terminal: Terminal, json: bool) -> anyhow::Result<ExitCode> {
    let (_say, mut told) = listen(client, terminal.id).await?;
    let mut printer = Printer { json, ..Printer::default() };
    let mut signals = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    let [hangup, interrupt, terminate] = &mut signals;
    let (hangup, interrupt, terminate) = (hangup.as_mut(), interrupt.as_mut(), terminate.as_mut());
    let (Ok(hangup), Ok(interrupt), Ok(terminate)) = (hangup, interrupt, terminate) else {
        bail!("signals cannot be listened for on this system");
    };
    let closed = stdout_closed();
    tokio::pin!(closed);
    let number = loop {
        let message = tokio::select! {
            message = told.message() => message.map_err(|status| client.failure(&status))?,
            () = &mut closed => return Ok(ExitCode::SUCCESS),
            _ = hangup.recv() => break SignalKind::hangup().as_raw_value(),
            _ = interrupt.recv() => break SignalKind::interrupt().as_raw_value(),
            _ = terminate.recv() => break SignalKind::terminate().as_raw_value(),
        };
        let Some(message) = message else { bail!("the session has been closed, and the command with it") };
        match &message.event {
            Some(Told::Output(bytes)) if json => print_json(&Printed::of(bytes))?,
            _ if json => print_json(&message)?,
            _ => {}
        }
        match message.event {
            Some(Told::Exit(exit)) => return printer.finish(&exit),
            Some(event) => printer.hear(event)?,
            None => {}
        }
    };
    Ok(ExitCode::from(u8::try_from(SIGNAL_BASE + number).unwrap_or(1)))
}

/// Everything that it prints, from the first byte. Who lets go of the sender is taken to have left.
async fn listen(
    client: &Client,
    terminal: String,
) -> Result<(mpsc::Sender<AttachRequest>, Streaming<AttachResponse>), Failure> {
    let (say, said) = mpsc::channel(1);
    let hello = AttachHello { view: true, terminal, from_offset: Some(0), ..AttachHello::default() };
    // The channel is empty, so that there is room.
    let _ = say.try_send(AttachRequest { event: Some(attach_request::Event::Hello(hello)) });
    let told = client.answer(client.calls().attach(ReceiverStream::new(said))).await?;
    Ok((say, told))
}

/// What a command writes, as a line of JSON: an attached terminal is given the bytes themselves, which are no JSON.
#[derive(Serialize)]
struct Printed {
    event: &'static str,
    /// In base64, as all bytes of the API.
    data: String,
}

impl Printed {
    fn of(bytes: &[u8]) -> Self {
        Self { event: "output", data: STANDARD.encode(bytes) }
    }
}

/// What a command writes, as it wrote it: its terminal puts a carriage return before every line feed.
#[derive(Default)]
struct Printer {
    /// A program reads the messages themselves.
    json: bool,
    /// A carriage return whose line feed may be on its way.
    held: bool,
    /// A redraw stands in the place of what was lost.
    skips: bool,
    lost: bool,
}

impl Printer {
    fn hear(&mut self, event: Told) -> io::Result<()> {
        match event {
            Told::Output(_) if std::mem::take(&mut self.skips) => Ok(()),
            Told::Output(_) if self.json => Ok(()),
            Told::Output(bytes) => print_bytes(&self.bytes(&bytes)),
            // Nobody gives this terminal another size: it is told because output came faster than it was read.
            Told::Resize(_) => {
                (self.skips, self.lost) = (true, true);
                Ok(())
            }
            Told::Error(error) => {
                complain(&plain(&error.message));
                Ok(())
            }
            Told::Ready(_) | Told::Transition(_) | Told::Exit(_) => Ok(()),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len() + 1);
        for byte in bytes {
            if std::mem::take(&mut self.held) && *byte != b'\n' {
                out.push(b'\r');
            }
            match byte {
                b'\r' => self.held = true,
                byte => out.push(*byte),
            }
        }
        out
    }

    fn finish(&mut self, exit: &ExitEvent) -> anyhow::Result<ExitCode> {
        if std::mem::take(&mut self.held) {
            print_bytes(b"\r")?;
        }
        if let Some(error) = &exit.error {
            complain(&plain(error));
        }
        let code = u8::try_from(shell_code(exit)).unwrap_or(1);
        if self.lost {
            complain(
                "a part of the output was lost: it came faster than it was read; write it to a file there instead",
            );
            return Ok(ExitCode::from(code.max(1)));
        }
        Ok(ExitCode::from(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_terminal_adds_to_a_line_is_taken_away_wherever_it_is_cut() {
        let mut printer = Printer::default();
        let whole: Vec<u8> =
            [&b"one\r"[..], b"\ntwo\r\r", b"\nba\rr\r", b"x"].iter().flat_map(|b| printer.bytes(b)).collect();
        assert_eq!(whole, b"one\ntwo\r\nba\rr\rx");
    }
}
