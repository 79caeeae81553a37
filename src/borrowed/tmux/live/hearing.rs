//! What tmux says: what the pane prints, answers, and notices of what changed.

use std::io;

use tokio::time::Instant;

use super::{ASK_EVERY, Awaited, LOOKS_MAX, Live, Looking, Resizing};
use crate::borrowed::tmux::barrier;
use crate::borrowed::tmux::closed;
use crate::borrowed::tmux::control::Said;
use crate::borrowed::tmux::standing::Standing;
use crate::borrowed::{Answer, CannotBorrow, News, Over};
use crate::child::Size;

impl Live<'_> {
    /// Takes in what tmux said.
    pub(super) async fn hear(&mut self, said: &mut Vec<Said>) -> Result<Option<Over>, String> {
        let mut ask = false;
        for said in said.drain(..) {
            match said {
                Said::Output { pane, bytes } if pane == self.pane.id => self.print(&bytes),
                Said::Output { .. } => {}
                Said::Answer { ours: true, good, lines } => {
                    self.tell_printed().await;
                    if let Some(over) = self.answered(good, lines).await.map_err(|error| error.to_string())? {
                        return Ok(Some(over));
                    }
                }
                // The first is that of the attaching itself.
                Said::Answer { good: true, .. } if !self.is_attached => {
                    self.begin().await.map_err(|error| error.to_string())?;
                }
                Said::Answer { good: true, .. } => {}
                Said::Answer { lines, .. } => return Err(joined(&lines)),
                Said::Notice { word, rest } => ask |= self.matters(&word, &rest),
                Said::Exit(why) => {
                    self.tell_printed().await;
                    return Err(if why.is_empty() { "tmux let coop go".to_owned() } else { why });
                }
            }
        }
        self.tell_printed().await;
        if ask {
            self.ask_standing(Awaited::Standing).await.map_err(|error| error.to_string())?;
        }
        Ok(None)
    }

    pub(super) fn print(&mut self, bytes: &[u8]) {
        if let Some(looking) = &mut self.looking {
            looking.torn |= looking.frame.is_some();
        }
        let passed = self.strainer.pass(bytes);
        if self.began {
            self.printed.extend(passed);
        }
    }

    pub(super) async fn tell_printed(&mut self) {
        if !self.printed.is_empty() {
            let printed = std::mem::take(&mut self.printed);
            self.follower.tell(News::Printed(printed.into())).await;
        }
    }

    /// Whether a notice may concern the pane.
    pub(super) fn matters(&self, word: &str, rest: &str) -> bool {
        match word {
            "layout-change" => rest.split(' ').next() == Some(&self.course.standing.window),
            "subscription-changed" => rest.starts_with("coop "),
            "window-close"
            | "unlinked-window-close"
            | "window-add"
            | "unlinked-window-add"
            | "session-window-changed"
            | "window-pane-changed"
            | "session-changed"
            | "session-renamed"
            | "sessions-changed" => true,
            _ => false,
        }
    }

    pub(super) async fn answered(&mut self, good: bool, lines: Vec<Vec<u8>>) -> io::Result<Option<Over>> {
        let Some(awaited) = self.awaited.pop_front() else { return Ok(None) };
        match awaited {
            Awaited::Nothing => {}
            Awaited::Barrier => match barrier::before_keys(&joined(&lines), self.pane.release) {
                Some(why) => self.wrote(Err(io::Error::other(why))),
                None => {
                    if let Some((bytes, _)) = &self.course.unwritten {
                        let bytes = bytes.clone();
                        self.type_in(&bytes).await?;
                    }
                }
            },
            Awaited::Written => self.wrote(if good { Ok(()) } else { Err(io::Error::other(joined(&lines))) }),
            Awaited::Subscribed if good => {}
            Awaited::Subscribed => self.ask_at = Some(Instant::now() + ASK_EVERY),
            Awaited::Standing => return self.stands(good.then(|| joined(&lines)), None).await,
            Awaited::Sized => {
                let resizing = self.resizing.pop_front();
                return self.stands(good.then(|| joined(&lines)), resizing).await;
            }
            Awaited::SizedBefore(window) => {
                let before = Some(joined(&lines)).filter(|value| good && !value.is_empty());
                self.course.resized.get_or_insert((window, before));
            }
            Awaited::Resized if good => {}
            Awaited::Resized => {
                // They are answered in order.
                if let Some(resizing) = self.resizing.front_mut() {
                    resizing.problem = Some(joined(&lines));
                }
            }
            Awaited::Frame => {
                let standing = Standing::parse(&joined(&lines)).filter(|standing| standing.pane == self.pane.id);
                let Some(looking) = &mut self.looking else { return Ok(None) };
                match standing {
                    Some(standing) => looking.frame = Some(standing),
                    None => return Ok(Some(self.gone())),
                }
            }
            // What stands there is a complaint, and not the picture: tried again from the start.
            Awaited::Rows if !good => return Err(io::Error::other(joined(&lines))),
            Awaited::Rows => {
                if let Some(looking) = &mut self.looking {
                    looking.rows = lines;
                }
            }
            Awaited::Beneath => self.looked(if good { lines } else { Vec::new() }).await?,
        }
        Ok(None)
    }

    /// Tells whoever waits for it what came of the typing.
    fn wrote(&mut self, written: io::Result<()>) {
        if let Some((_, done)) = self.course.unwritten.take() {
            let _ = done.send(written);
        }
    }

    pub(super) fn gone(&self) -> Over {
        let what = format!("tmux pane {}", self.pane.id);
        closed(&CannotBorrow::NotFound { what, there: Vec::new() })
    }

    /// The pane told how it stands.
    pub(super) async fn stands(
        &mut self,
        answer: Option<String>,
        resizing: Option<Resizing>,
    ) -> io::Result<Option<Over>> {
        let standing = answer.and_then(|line| Standing::parse(&line)).filter(|standing| standing.pane == self.pane.id);
        let Some(standing) = standing else { return Ok(Some(self.gone())) };
        if let Some(over) = standing.dead {
            return Ok(Some(over));
        }
        let answer = resizing.map(|Resizing { wanted, to, problem }| {
            let result = match problem {
                Some(problem) => Err(format!("tmux: {problem}")),
                None if standing.size == wanted => Ok(wanted),
                None => Err(kept_from(wanted, standing.size)),
            };
            Answer { to, result }
        });
        let before = std::mem::replace(&mut self.course.standing, standing.clone());
        let has_moved = self.pane.session != standing.session;
        if has_moved {
            self.pane.session = standing.session.clone();
            let follow = format!("switch-client -t '{}'", standing.session);
            self.send(&follow, Awaited::Nothing).await?;
        }
        let is_resized = before.size != standing.size;
        if is_resized {
            self.follower.tell(News::Resized(standing.size, answer)).await;
        } else if let Some(answer) = answer {
            answer.give();
        }
        if has_moved || is_resized {
            // tmux wraps lines in its own way, and tells a client that changes its session nothing of what it had not told yet.
            self.look(Looking::default()).await?;
        }
        self.follower.tell(News::Stirred { pid: standing.pid }).await;
        Ok(None)
    }

    /// All parts of a picture are there.
    pub(super) async fn looked(&mut self, beneath: Vec<Vec<u8>>) -> io::Result<()> {
        // A later picture may be on its way already.
        if self.awaited.iter().any(|awaited| matches!(awaited, Awaited::Frame)) {
            return Ok(());
        }
        let Some(looking) = self.looking.take() else { return Ok(()) };
        let Some(standing) = looking.frame else { return Ok(()) };
        if looking.torn && looking.tries < LOOKS_MAX {
            return self.look(Looking { tries: looking.tries + 1, ..Looking::default() }).await;
        }
        if standing.size != self.course.standing.size {
            // It was sized between the two; the change is told first.
            self.course.standing = standing.clone();
            self.follower.tell(News::Resized(standing.size, None)).await;
        }
        let picture = standing.picture(looking.rows, beneath);
        let bytes = if self.began { picture.over(None) } else { picture.whole() };
        self.began = true;
        self.follower.tell(News::Printed(bytes)).await;
        if let Some(ready) = self.course.ready.take() {
            let _ = ready.send(());
        }
        Ok(())
    }
}

/// Why a size could not be had.
fn kept_from(wanted: Size, found: Size) -> String {
    let (cols, rows) = (found.cols(), found.rows());
    let wanted = format!("{}x{}", wanted.cols(), wanted.rows());
    format!("the pane is {cols}x{rows} and not {wanted}: other panes of its window, or a border, take their part")
}

fn joined(lines: &[Vec<u8>]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| String::from_utf8_lossy(line)).collect();
    lines.join("; ")
}
