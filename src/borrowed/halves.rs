//! What the session gets of something borrowed: news from it, a way to type into it, and wishes to whoever follows it.

use std::io;

use bytes::Bytes;
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::sync::{mpsc, oneshot};

use super::process::{self, Found};
use crate::child::{Born, Exit, SignalError, Size, Stat};
use crate::config::Agent;

/// Pieces of news that may wait for the session; the follower waits behind them, and tmux behind it.
const NEWS_MAX: usize = 32;

/// Wishes that may wait: one write at a time, and a few who want another size.
const WISHES_MAX: usize = 64;

/// How much is typed at once. It becomes three or four characters for each byte in a line of a command.
const WRITE_BYTES_MAX: usize = 512;

/// Something borrowed, followed by a task that ends when it does or when it is let go of.
#[derive(Debug)]
pub struct Loan {
    /// As people call it, such as `tmux session main, pane %3`.
    pub name: String,
    /// Whose it is: `tmux` or `screen`.
    pub backend: &'static str,
    /// The process that was started on that terminal, often a shell.
    pub pid: u32,
    pub size: Size,
    /// The agent that is looked for among the processes there, and where it was found.
    pub agent: Option<Agent>,
    pub agent_pid: Option<u32>,
    pub news: mpsc::Receiver<News>,
    pub wishes: Wishes,
}

impl Loan {
    /// Looks for this agent, or for any where none is named, and looks again whenever processes come and go.
    pub fn look_for(&mut self, agent: Option<Agent>) -> Option<Found> {
        let found = process::agent_below(self.pid, agent);
        self.agent = agent.or(found.as_ref().map(|found| found.agent));
        self.agent_pid = found.as_ref().map(|found| found.pid);
        found
    }
}

/// What happens to what was borrowed.
#[derive(Debug)]
pub enum News {
    Printed(Bytes),
    /// Its size is another now; who wished for it is answered when the picture has it.
    Resized(Size, Option<Answer>),
    /// Another program is in front; processes may have come or gone.
    Stirred {
        pid: u32,
    },
    /// The last news.
    Over(Over),
}

/// How it ended, as far as that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Over {
    pub exit: Option<Exit>,
    /// In words.
    pub reason: String,
}

/// An answer that is due, and to whom.
#[derive(Debug)]
pub struct Answer {
    pub to: oneshot::Sender<Result<Size, String>>,
    pub result: Result<Size, String>,
}

impl Answer {
    /// Whoever asked may have gone.
    pub fn give(self) {
        let _ = self.to.send(self.result);
    }
}

/// What is wished of a follower.
#[derive(Debug)]
pub(super) enum Wish {
    Write { bytes: Bytes, done: oneshot::Sender<io::Result<()>> },
    Resize { size: Size, answer: oneshot::Sender<Result<Size, String>> },
    LetGo,
}

/// The follower's ends.
pub(super) struct Follower {
    pub news: mpsc::Sender<News>,
    pub wishes: mpsc::Receiver<Wish>,
}

/// The way to a follower.
#[derive(Clone, Debug)]
pub struct Wishes(mpsc::Sender<Wish>);

/// What is typed.
#[derive(Debug)]
pub struct Input(mpsc::Sender<Wish>);

pub(super) fn halves() -> (Follower, mpsc::Receiver<News>, Wishes) {
    let (tell, news) = mpsc::channel(NEWS_MAX);
    let (wish, wishes) = mpsc::channel(WISHES_MAX);
    (Follower { news: tell, wishes }, news, Wishes(wish))
}

impl Wishes {
    pub fn input(&self) -> Input {
        Input(self.0.clone())
    }

    /// Asks for another size; the answer comes when it is had, or why not.
    pub fn resize(&self, size: Size) -> oneshot::Receiver<Result<Size, String>> {
        let (answer, answered) = oneshot::channel();
        if let Err(error) = self.0.try_send(Wish::Resize { size, answer })
            && let Wish::Resize { answer, .. } = error.into_inner()
        {
            let _ = answer.send(Err("too many wait for another size already: try again".to_owned()));
        }
        answered
    }

    /// Lets go of it: it runs on.
    pub fn let_go(&self) {
        let wishes = self.0.clone();
        // A follower that is gone has let go.
        tokio::spawn(async move { wishes.send(Wish::LetGo).await });
    }
}

impl Input {
    /// Types some of the bytes and says how many; an error once nobody takes them any more.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(WRITE_BYTES_MAX);
        let (done, written) = oneshot::channel();
        let bytes = Bytes::copy_from_slice(&bytes[..taken]);
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.0.send(Wish::Write { bytes, done }).await.map_err(|_| gone())?;
        written.await.map_err(|_| gone())??;
        Ok(taken)
    }
}

impl Follower {
    /// Tells the session; `false` when nobody listens any more.
    pub async fn tell(&self, news: News) -> bool {
        self.news.send(news).await.is_ok()
    }
}

/// Who gets signals: what is in front on the terminal, as with keys.
#[derive(Clone, Copy, Debug)]
pub struct Signals {
    pid: i32,
    born: Option<Born>,
}

impl Signals {
    /// To what runs on the terminal of this process.
    pub fn to(pid: u32) -> Self {
        let pid = pid.cast_signed();
        Self { pid, born: Stat::of(pid).map(|stat| stat.born) }
    }

    pub fn send(&self, signal: Signal) -> Result<(), SignalError> {
        // A process of the same id that began at another time is a stranger.
        let stat = Stat::of(self.pid).filter(|stat| Some(stat.born) == self.born && stat.alive);
        let group = stat.and_then(|stat| process::front(&stat)).ok_or(SignalError::Gone)?;
        match killpg(Pid::from_raw(group), signal) {
            Ok(()) => Ok(()),
            Err(Errno::EPERM) => Err(SignalError::Denied),
            Err(_) => Err(SignalError::Gone),
        }
    }
}
