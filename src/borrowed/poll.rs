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
    /// The picture as it is now, or how it ended.
    async fn look(&mut self) -> Result<Looked, Over>;
    async fn type_in(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Asks for another size; whether it was had is seen at the next look.
    async fn resize(&mut self, size: Size) -> Result<(), String>;
}

/// What a look showed.
pub struct Looked {
    pub picture: Picture,
    pub pid: u32,
}

/// Follows it to its end.
pub async fn follow(mut terminal: impl Polls, follower: &mut Follower, ready: Option<oneshot::Sender<()>>) -> Over {
    let mut shown: Option<Picture> = None;
    let mut ready = ready;
    let mut every = BUSY_EVERY;
    let mut stirred_at = Instant::now();
    let mut asked: Option<(Size, oneshot::Sender<Result<Size, String>>)> = None;
    loop {
        let Looked { picture, pid } = match terminal.look().await {
            Ok(looked) => looked,
            Err(over) => return over,
        };
        let answer = asked.take().map(|(wanted, to)| {
            let (cols, rows) = (picture.size.cols(), picture.size.rows());
            let stays = format!("it stays {cols}x{rows}: the terminal that shows it, or its server, decides");
            Answer { to, result: if picture.size == wanted { Ok(wanted) } else { Err(stays) } }
        });
        let resized = shown.as_ref().is_some_and(|shown| shown.size != picture.size);
        match answer {
            answer if resized => drop(follower.tell(News::Resized(picture.size, answer)).await),
            Some(answer) => answer.give(),
            None => {}
        }
        let bytes = match &shown {
            None => picture.whole(),
            before => picture.over(before.as_ref()),
        };
        let changed = !bytes.is_empty();
        if changed {
            follower.tell(News::Printed(bytes)).await;
            shown = Some(picture);
        }
        if stirred_at.elapsed() >= STIRS_EVERY {
            follower.tell(News::Stirred { pid }).await;
            stirred_at = Instant::now();
        }
        if let Some(ready) = ready.take() {
            let _ = ready.send(());
        }
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
                        asked = Some((size, answer));
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
