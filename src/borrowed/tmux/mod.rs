//! A pane of tmux, followed live where tmux can do that, and looked at again and again where it cannot.

mod barrier;
mod control;
mod find;
mod live;
mod polled;
mod rows;
mod server;
mod standing;

use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::oneshot;

use self::live::Left;
use self::polled::Polled;
use self::server::{Release, Server, TMUX};
use self::standing::{FORMAT, Standing};
use super::halves::{Follower, halves};
use super::target::{Place, Socket};
use super::{CannotBorrow, Loan, News, Over, poll};

/// How much of a pane's history is taken over at the start; coop keeps no more.
const HISTORY_LINES_MAX: usize = 2000;

/// A connection that is lost so often, each time within [`STEADY`], is given up for looking.
const LOSSES_MAX: u32 = 5;

/// A connection that held for so long was a good one.
const STEADY: Duration = Duration::from_secs(10);

/// How long to wait before the next try, times how many there were.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// A pane, by names that stay when it is renamed or moved.
#[derive(Clone, Debug)]
struct Pane {
    server: Server,
    release: Release,
    id: String,
    session: String,
}

impl Pane {
    async fn standing(&self) -> Result<Standing, CannotBorrow> {
        let text = self.server.ask(&["display-message", "-p", "-t", &self.id, FORMAT]).await?;
        let text = String::from_utf8_lossy(&text);
        let gone = || CannotBorrow::NotFound { what: format!("tmux pane {}", self.id), there: Vec::new() };
        Standing::parse(text.trim_end_matches('\n')).filter(|standing| standing.pane == self.id).ok_or_else(gone)
    }

    /// How it ended, if it did.
    async fn over(&self) -> Option<Over> {
        match self.standing().await {
            Ok(standing) => standing.dead,
            Err(error) if error.is_gone() => Some(closed(&error)),
            // It may be there all the same.
            Err(_) => None,
        }
    }
}

/// A pane, or all of tmux, that is not there any more.
fn closed(error: &CannotBorrow) -> Over {
    let what =
        if error.to_string().contains("tmux server") { "the tmux server has ended" } else { "the pane was closed" };
    Over { exit: None, reason: format!("{what}; how its program ended is not known") }
}

/// Finds a pane and begins to follow it.
pub async fn borrow(socket: Option<&Socket>, place: &Place) -> Result<Loan, CannotBorrow> {
    let server = Server::new(socket);
    let release = server.release().await?;
    let id = find::find(&server, place).await?;
    let mut pane = Pane { server, release, id, session: String::new() };
    let standing = pane.standing().await?;
    pane.session = standing.session.clone();
    let name = format!("tmux session {}, pane {}", standing.session_name, pane.id);
    if standing.dead.is_some() {
        return Err(CannotBorrow::Ended { what: format!("the program in {name}") });
    }
    let (follower, news, wishes) = halves();
    let (ready, is_ready) = oneshot::channel();
    tokio::spawn(keep(pane, standing.clone(), follower, ready));
    // Whoever comes first finds the picture.
    is_ready.await.map_err(|_| CannotBorrow::Ended { what: name.clone() })?;
    Ok(Loan { name, backend: TMUX, pid: standing.pid, size: standing.size, agent: None, agent_pid: None, news, wishes })
}

/// What is kept from one connection to the next.
struct Course {
    standing: Standing,
    /// Told when the first picture is.
    ready: Option<oneshot::Sender<()>>,
    /// What was to be typed when the connection was lost.
    unwritten: Option<(Bytes, oneshot::Sender<std::io::Result<()>>)>,
    resized: Option<Resized>,
}

/// The window whose size was set, and the option as it was before.
type Resized = (String, Option<String>);

/// Follows a pane to its end. Others may detach coop's client, as `tmux attach -d` does: it comes back.
async fn keep(mut pane: Pane, standing: Standing, mut follower: Follower, ready: oneshot::Sender<()>) {
    let mut course = Course { standing, ready: Some(ready), unwritten: None, resized: None };
    let mut losses = 0;
    let can_follow = pane.release >= Release::TAKES_BYTES;
    let over = loop {
        if !can_follow || losses >= LOSSES_MAX {
            let why = if can_follow { "its connections do not hold" } else { "it is older than 3.0" };
            tracing::warn!("tmux cannot be followed ({why}): the pane is looked at again and again");
            let ready = course.ready.take();
            if let Some((bytes, done)) = course.unwritten.take() {
                let _ = done.send(polled::type_in(&pane, &bytes).await);
            }
            let mut polled = Polled::new(pane.clone(), course.standing, course.resized.take());
            let over = poll::follow(&mut polled, &mut follower, ready).await;
            course.resized = polled.into_resized();
            break over;
        }
        let began = Instant::now();
        match live::follow(&mut pane, &mut course, &mut follower).await {
            Left::Over(over) => break over,
            Left::Lost(why) => {
                tracing::info!(%why, "the connection to tmux was lost");
                if let Some(over) = pane.over().await {
                    break over;
                }
                losses = if began.elapsed() < STEADY { losses + 1 } else { 1 };
                tokio::time::sleep(BETWEEN_TRIES * losses).await;
                if let Ok(standing) = pane.standing().await {
                    pane.session = standing.session.clone();
                }
            }
        }
    };
    give_back_size(&pane, course.resized).await;
    follower.tell(News::Over(over)).await;
}

/// Lets tmux size the window again as it did before.
async fn give_back_size(pane: &Pane, resized: Option<Resized>) {
    let Some((window, before)) = resized else { return };
    let given_back = match &before {
        Some(value) => pane.server.ask(&["set-option", "-w", "-t", &window, "window-size", value]).await,
        None => pane.server.ask(&["set-option", "-w", "-u", "-t", &window, "window-size"]).await,
    };
    if let Err(error) = given_back {
        tracing::debug!(%error, program = TMUX, "the window's size stays as it is");
    }
}
