//! Follows a terminal that can only be looked at: what changed since the last look is drawn anew.
//!
//! Its byte stream is a way to the same picture, not what the program printed; what was shown for less than the time
//! between two looks was never seen.

use std::io;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::halves::{Follower, Wish};
use super::picture::Picture;
use super::{Answer, News, Over};
use crate::child::Size;

/// How soon to look again while things change, or after something was typed.
const BUSY_EVERY: Duration = Duration::from_millis(100);

/// How often to look while nothing changes. Each look takes two or three short processes.
const QUIET_EVERY: Duration = Duration::from_secs(2);

/// How often it is looked which processes are there, at most.
const STIRS_EVERY: Duration = Duration::from_secs(1);

/// A terminal, looked at from outside.
pub trait Polls {
    /// As people call it.
    fn name(&self) -> String;
    /// The picture as it is now.
    async fn look(&mut self) -> Result<Looked, Unseen>;
    async fn type_in(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Asks for another size; whether it was had is seen at the next look.
    async fn resize(&mut self, size: Size) -> Result<(), String>;
}

/// What a look showed.
pub struct Looked {
    pub picture: Picture,
    pub pid: u32,
}

/// Why a look showed nothing.
pub enum Unseen {
    /// It has ended.
    Over(Over),
    /// It may be there all the same: a machine was busy, a command failed. The next look tells more.
    Failed(String),
}

/// Follows it to its end.
pub async fn follow(terminal: &mut impl Polls, follower: &mut Follower, ready: Option<oneshot::Sender<()>>) -> Over {
    let mut sight = Sight { shown: None, ready, asked: None, stirred_at: Instant::now() };
    let (mut every, mut is_failing) = (BUSY_EVERY, false);
    loop {
        let changed = match terminal.look().await {
            Ok(looked) => {
                is_failing = false;
                sight.take_in(looked, follower).await
            }
            Err(Unseen::Over(over)) => return over,
            Err(Unseen::Failed(why)) => {
                if !std::mem::replace(&mut is_failing, true) {
                    tracing::warn!(%why, "the {} cannot be seen: it is looked at again", terminal.name());
                }
                false
            }
        };
        every = if changed { BUSY_EVERY } else { (every * 2).min(QUIET_EVERY) };
        let due = Instant::now() + every;
        loop {
            let wish = tokio::select! {
                () = tokio::time::sleep_until(due) => break,
                wish = follower.wishes.recv() => wish,
            };
            match wish {
                Some(Wish::Write { bytes, done }) => {
                    let _ = done.send(terminal.type_in(&bytes).await);
                    every = BUSY_EVERY / 2;
                    if due > Instant::now() + BUSY_EVERY {
                        break;
                    }
                }
                Some(Wish::Resize { size, answer }) => match terminal.resize(size).await {
                    Ok(()) => {
                        sight.asked = Some((size, answer));
                        break;
                    }
                    Err(why) => drop(answer.send(Err(why))),
                },
                Some(Wish::LetGo) | None => {
                    let reason = format!("coop let go of the {}, which runs on", terminal.name());
                    return Over { exit: None, reason };
                }
            }
        }
    }
}

/// What the session has been told.
struct Sight {
    shown: Option<Picture>,
    /// Told when the first picture is.
    ready: Option<oneshot::Sender<()>>,
    /// Who wants another size, which the next picture may have.
    asked: Option<(Size, oneshot::Sender<Result<Size, String>>)>,
    stirred_at: Instant,
}

impl Sight {
    /// Tells the session what is new; whether anything is.
    async fn take_in(&mut self, Looked { picture, pid }: Looked, follower: &Follower) -> bool {
        let answer = self.asked.take().map(|(wanted, to)| {
            let (cols, rows) = (picture.size.cols(), picture.size.rows());
            let stays = format!("it stays {cols}x{rows}: the terminal that shows it, or its server, decides");
            Answer { to, result: if picture.size == wanted { Ok(wanted) } else { Err(stays) } }
        });
        let resized = self.shown.as_ref().is_some_and(|shown| shown.size != picture.size);
        match answer {
            answer if resized => drop(follower.tell(News::Resized(picture.size, answer)).await),
            Some(answer) => answer.give(),
            None => {}
        }
        let bytes = match &self.shown {
            None => picture.whole(),
            before => picture.over(before.as_ref()),
        };
        let changed = !bytes.is_empty();
        if changed {
            follower.tell(News::Printed(bytes)).await;
            self.shown = Some(picture);
        }
        if self.stirred_at.elapsed() >= STIRS_EVERY {
            follower.tell(News::Stirred { pid }).await;
            self.stirred_at = Instant::now();
        }
        if let Some(ready) = self.ready.take() {
            let _ = ready.send(());
        }
        changed
    }
}
