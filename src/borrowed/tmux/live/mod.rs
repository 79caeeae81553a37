//! A pane followed in control mode: tmux tells each byte as the pane prints it, and what becomes of the pane.

mod asking;
mod hearing;

use std::collections::VecDeque;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::control::Parser;
use super::server::Release;
use super::standing::Standing;
use super::{Course, Pane};
use crate::borrowed::Over;
use crate::borrowed::halves::{Follower, Wish};
use crate::borrowed::strain::Strainer;
use crate::child::Size;

/// How much is read at once.
const READ_BYTES: usize = 64 * 1024;

/// A picture that was torn by output in between is taken again so often at most; the bytes correct it soon.
const LOOKS_MAX: u32 = 5;

/// How often an old tmux, which does not tell when a program ends in a pane that stays, is asked.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// What tmux is to tell when it changes: the end of a program, and who is in front. About all panes of the session, because
/// one whose program has ended is passed over when it is asked about alone (3.3a).
const SUBSCRIPTION: &str = "#{W:#{P:#{pane_id} #{pane_dead} #{pane_pid} #{pane_current_command} }}";

/// Why a pane is not followed any more.
pub enum Left {
    Over(Over),
    /// The connection is gone; the pane may be there.
    Lost(String),
}

/// A command whose answer is awaited.
enum Awaited {
    /// Of no interest.
    Nothing,
    /// What would keep the program from what is to be typed.
    Barrier,
    Written,
    Subscribed,
    /// How the pane stands.
    Standing,
    /// The same, after it was to get another size.
    Sized,
    /// How the window was sized before coop sized it.
    SizedBefore(String),
    Resized,
    /// Of a picture: how the pane stands, its rows, and those beneath.
    Frame,
    Rows,
    Beneath,
}

/// A picture that is being taken.
#[derive(Default)]
struct Looking {
    frame: Option<Standing>,
    rows: Vec<Vec<u8>>,
    /// Something was printed between its parts.
    torn: bool,
    tries: u32,
}

/// Somebody who wants another size.
struct Resizing {
    wanted: Size,
    to: oneshot::Sender<Result<Size, String>>,
    /// Why it could not be had.
    problem: Option<String>,
}

struct Live<'a> {
    pane: &'a mut Pane,
    course: &'a mut Course,
    follower: &'a mut Follower,
    stdin: ChildStdin,
    awaited: VecDeque<Awaited>,
    /// tmux has let the client in. What it is told before that it does at once, and tells nobody what comes of it.
    is_attached: bool,
    strainer: Strainer,
    looking: Option<Looking>,
    /// Nothing is told before the first picture, which has it all.
    began: bool,
    /// What was printed and is not told yet.
    printed: Vec<u8>,
    /// Those who want another size, in order.
    resizing: VecDeque<Resizing>,
    /// When to ask how the pane stands, where tmux does not tell by itself.
    ask_at: Option<Instant>,
}

/// Follows a pane until it is over, or the connection is.
pub async fn follow(pane: &mut Pane, course: &mut Course, follower: &mut Follower) -> Left {
    let (_client, stdin, stdout) = match connect(pane) {
        Ok(connected) => connected,
        Err(error) => return Left::Lost(error.to_string()),
    };
    let live = Live {
        pane,
        course,
        follower,
        stdin,
        awaited: VecDeque::new(),
        is_attached: false,
        strainer: Strainer::default(),
        looking: None,
        began: false,
        printed: Vec::new(),
        resizing: VecDeque::new(),
        ask_at: None,
    };
    live.run(stdout).await
}

/// A client of tmux that ends with what is returned. Its size does not count, and it changes nothing in the session.
fn connect(pane: &Pane) -> io::Result<(Child, ChildStdin, ChildStdout)> {
    let mut words = vec!["-C", "attach-session", "-E", "-t", pane.session.as_str()];
    if pane.release >= Release::SUBSCRIBES {
        words.extend(["-f", "ignore-size"]);
    }
    let mut command = pane.server.command(&words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut client = command.spawn()?;
    let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
    let (stdin, stdout) = (client.stdin.take().ok_or_else(gone)?, client.stdout.take().ok_or_else(gone)?);
    Ok((client, stdin, stdout))
}

impl Live<'_> {
    async fn run(mut self, mut stdout: ChildStdout) -> Left {
        let left = self.follow(&mut stdout).await;
        // Those who wait for another size are told that they wait in vain.
        for resizing in self.resizing.drain(..) {
            let _ = resizing.to.send(Err("the connection to tmux was lost: try again".to_owned()));
        }
        left
    }

    async fn begin(&mut self) -> io::Result<()> {
        self.is_attached = true;
        if self.pane.release >= Release::SUBSCRIBES {
            let subscribe = format!("refresh-client -B 'coop::{SUBSCRIPTION}'");
            self.send(&subscribe, Awaited::Subscribed).await?;
        } else {
            self.ask_at = Some(Instant::now() + ASK_EVERY);
        }
        self.look(Looking::default()).await?;
        if self.course.unwritten.is_some() {
            // tmux answers all it has heard before it lets a client go: what has no answer was not typed.
            self.begin_to_type().await?;
        }
        Ok(())
    }

    async fn follow(&mut self, stdout: &mut ChildStdout) -> Left {
        let mut parser = Parser::default();
        let mut buffer = BytesMut::with_capacity(READ_BYTES);
        let mut said = Vec::new();
        loop {
            let ask_at = self.ask_at;
            let done = tokio::select! {
                read = stdout.read_buf(&mut buffer) => match read {
                    Ok(0) => Err("tmux hung up".to_owned()),
                    Ok(_) => {
                        parser.push(&buffer, &mut said);
                        buffer.clear();
                        self.hear(&mut said).await
                    }
                    Err(error) => Err(error.to_string()),
                },
                wish = self.follower.wishes.recv(), if self.is_attached && self.course.unwritten.is_none() => match wish {
                    Some(Wish::LetGo) | None => return Left::Over(self.let_go()),
                    Some(wish) => self.grant(wish).await.map(|()| None).map_err(|error| error.to_string()),
                },
                () = at(ask_at) => {
                    self.ask_at = Some(Instant::now() + ASK_EVERY);
                    self.ask_standing(Awaited::Standing).await.map(|()| None).map_err(|error| error.to_string())
                }
            };
            match done {
                Ok(None) => {}
                Ok(Some(over)) => return Left::Over(over),
                Err(why) => return Left::Lost(why),
            }
        }
    }

    fn let_go(&self) -> Over {
        let session = &self.course.standing.session_name;
        Over { exit: None, reason: format!("coop let go of the tmux session {session}, which runs on") }
    }

    async fn grant(&mut self, wish: Wish) -> io::Result<()> {
        match wish {
            Wish::Write { bytes, done } => {
                self.course.unwritten = Some((bytes, done));
                self.begin_to_type().await
            }
            Wish::Resize { size, answer } => {
                self.resizing.push_back(Resizing { wanted: size, to: answer, problem: None });
                self.send_resize(size).await
            }
            Wish::LetGo => Ok(()),
        }
    }
}

async fn at(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
