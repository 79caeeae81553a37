//! One command beside the program where there is no terminal: this verb's own stdin, stdout and stderr are the
//! command's.

use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;

use anyhow::bail;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::api::Code;
use crate::cli::attach::SIGNAL_BASE;
use crate::cli::follow::stdout_closed;
use crate::cli::words::{complain, print_bytes, print_json};
use crate::client::Client;
use crate::proto::v1::run_command_request::Event as Asked;
use crate::proto::v1::run_command_response::Event as Told;
use crate::proto::v1::{CommandEnded, CommandStart, RunCommandRequest, RunCommandResponse};

/// What is read at once: as much as a pipe holds.
const CHUNK_BYTES: usize = 64 * 1024;

/// Chunks between stdin and the network.
const WAITING_MAX: usize = 2;

/// Runs it until it ends or nobody wants it any more. Who leaves ends it.
pub async fn run(client: &Client, start: CommandStart, json: bool) -> anyhow::Result<ExitCode> {
    let (say, said) = mpsc::channel(WAITING_MAX);
    // The channel is empty, so that there is room.
    let _ = say.try_send(RunCommandRequest { event: Some(Asked::Start(start)) });
    // A terminal is not read: it belongs to whoever types there, and a command in the background would be stopped for it.
    if !io::stdin().is_terminal() {
        // A thread, and none of the runtime's, which would wait for it: nothing may ever come.
        std::thread::Builder::new().name("stdin".into()).spawn(move || pass_on(&say))?;
    }
    let asked = client.answer(client.calls().run_command(ReceiverStream::new(said))).await;
    let mut told = match asked {
        // Nobody else answers so: a session goes on with the coop that started it.
        Err(failure) if failure.code() == Some(Code::NoDriver) => {
            bail!("the coop of this session is older, and cannot run a command by itself: stop it and start it anew")
        }
        asked => asked?,
    };
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
        if json {
            print_as_json(&message)?;
        }
        match message.event {
            Some(Told::Ended(ended)) => return Ok(code(&ended)),
            Some(Told::Stdout(bytes)) if !json => print_bytes(&bytes)?,
            Some(Told::Stderr(bytes)) if !json => print_error(&bytes),
            Some(Told::Started(_) | Told::Stdout(_) | Told::Stderr(_)) | None => {}
        }
    };
    Ok(code(&CommandEnded { code: None, signal: Some(number) }))
}

/// Hands on what there is to read, until its end or until nobody takes it.
fn pass_on(say: &mpsc::Sender<RunCommandRequest>) {
    let mut stdin = io::stdin().lock();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = match stdin.read(&mut chunk) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return complain(&format!("stdin cannot be read: {error}")),
        };
        let bytes = Bytes::copy_from_slice(&chunk[..read]);
        if say.blocking_send(RunCommandRequest { event: Some(Asked::Stdin(bytes)) }).is_err() {
            return;
        }
    }
}

/// Nobody may be there to read it, which is no reason to fail.
fn print_error(bytes: &[u8]) {
    let _ = io::stderr().write_all(bytes);
}

fn code(ended: &CommandEnded) -> ExitCode {
    let number = ended.code.or_else(|| ended.signal.map(|signal| SIGNAL_BASE + signal));
    ExitCode::from(number.and_then(|number| u8::try_from(number).ok()).unwrap_or(1))
}

/// What a command writes, as a line of JSON: bytes themselves are none.
#[derive(Serialize)]
struct Written {
    event: &'static str,
    /// In base64, as all bytes of the API.
    data: String,
}

fn print_as_json(message: &RunCommandResponse) -> io::Result<()> {
    match &message.event {
        Some(Told::Stdout(bytes)) => print_json(&Written { event: "stdout", data: STANDARD.encode(bytes) }),
        Some(Told::Stderr(bytes)) => print_json(&Written { event: "stderr", data: STANDARD.encode(bytes) }),
        _ => print_json(message),
    }
}
