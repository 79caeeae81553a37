//! A window of GNU screen, looked at again and again: screen tells nobody what a window prints.
//!
//! Measured with 4.09: a hardcopy has no colours, and of a character beyond ASCII only its lowest byte.

mod find;
mod hardcopy;
mod others;
mod stuff;

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;

use tokio::process::Command;
use tokio::sync::oneshot;

use self::find::Session;
use super::halves::halves;
use super::picture::Picture;
use super::poll::{self, Looked, Polls, Unseen};
use super::run::run;
use super::target::Place;
use super::{CannotBorrow, Loan, News, Over, process};
use crate::child::{Born, Size, Stat};
use crate::config;

/// The program, as errors name it.
const SCREEN: &str = "screen";

/// What screen says (4.09) when a session, or the window that was named, is not there.
const NO_SESSION: &str = "No screen session found";
const NO_WINDOW: &str = "Could not find pre-select window";

/// A window of a session.
struct Window {
    session: Session,
    /// When the session's process began.
    born: Option<Born>,
    number: String,
    pid: u32,
    copy: Copy,
}

/// The file that hardcopies are written to; it goes with this.
struct Copy(PathBuf);

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Finds a window and begins to follow it.
pub async fn borrow(place: &Place) -> Result<Loan, CannotBorrow> {
    let session = find::find(&place.session).await?;
    let number = session.number_of(place.window.as_deref()).await?;
    let name = format!("screen session {}, window {number}", session.name);
    let failed = |reason: String| CannotBorrow::Failed { program: SCREEN, reason };
    // Beside coop's private sockets, where nobody else can look.
    let beside = config::hook_socket_path(std::process::id()).map_err(|error| failed(error.to_string()))?;
    let copy = Copy(beside.with_extension("hardcopy"));
    let pid = process_of(session.pid, &number);
    let born = Stat::of(session.pid.cast_signed()).map(|stat| stat.born);
    let mut window = Window { session, born, number, pid, copy };
    let first = window.seen().await?;
    let (mut follower, news, wishes) = halves();
    let (ready, is_ready) = oneshot::channel();
    tokio::spawn(async move {
        let over = poll::follow(&mut window, &mut follower, Some(ready)).await;
        follower.tell(News::Over(over)).await;
    });
    is_ready.await.map_err(|_| CannotBorrow::Ended { what: name.clone() })?;
    Ok(Loan { name, backend: SCREEN, pid, size: first.size, agent: None, agent_pid: None, news, wishes })
}

/// The process that was started in a window; the server itself where none tells that it is.
fn process_of(server: u32, window: &str) -> u32 {
    let children = process::children(server);
    let is_there = |pid: &&u32| process::variable(**pid, "WINDOW").is_some_and(|number| number == OsStr::new(window));
    children.iter().find(is_there).or(children.first()).copied().unwrap_or(server)
}

impl Session {
    /// screen with these words, for this session. The session's name may change, its process does not.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(SCREEN);
        command.arg("-S").arg(format!("{}.", self.pid)).args(words);
        command
    }

    async fn ask(&self, words: &[&str]) -> Result<String, CannotBorrow> {
        let output = run(SCREEN, self.command(words), b"").await?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(printed);
        }
        let reason = format!("{printed} {}", String::from_utf8_lossy(&output.stderr)).trim().to_owned();
        Err(match () {
            () if reason.contains(NO_SESSION) => {
                CannotBorrow::Ended { what: format!("the screen session {}", self.name) }
            }
            () if reason.contains(NO_WINDOW) => CannotBorrow::NotFound {
                what: format!("such window in the screen session {}", self.name),
                there: Vec::new(),
            },
            () => CannotBorrow::Failed { program: SCREEN, reason },
        })
    }

    /// The number of a window, which it keeps whatever its title becomes; of the one in front where none is named.
    async fn number_of(&self, window: Option<&str>) -> Result<String, CannotBorrow> {
        let told = match window {
            Some(window) => self.ask(&["-p", window, "-Q", "number"]).await?,
            None => self.ask(&["-Q", "number"]).await?,
        };
        let number: String = told.trim_start().chars().take_while(char::is_ascii_digit).collect();
        Ok(if number.is_empty() { "0".to_owned() } else { number })
    }
}

impl Window {
    async fn ask(&self, words: &[&str]) -> Result<String, CannotBorrow> {
        let words = [&["-p", self.number.as_str()], words].concat();
        self.session.ask(&words).await
    }

    async fn seen(&self) -> Result<Picture, CannotBorrow> {
        let failed = |reason: String| CannotBorrow::Failed { program: SCREEN, reason };
        let path = self.copy.0.to_str().ok_or_else(|| failed("the path of its hardcopy is no text".to_owned()))?;
        // With `hardcopy_append` on, screen would add to the last one.
        match tokio::fs::remove_file(path).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error.to_string())),
            _ => {}
        }
        // `@` keeps it from telling everybody who looks at the session.
        self.ask(&["-X", "@hardcopy", path]).await?;
        // Answered after the hardcopy is written.
        let told = self.ask(&["-Q", "info"]).await?;
        let (size, cursor) = hardcopy::info(&told).ok_or_else(|| failed(told))?;
        let text = tokio::fs::read(path).await.map_err(|error| failed(error.to_string()))?;
        let rows = hardcopy::rows(&text);
        Ok(Picture { size, rows, cursor, modes: String::new(), title: None, alternate: None, history: Vec::new() })
    }

    /// Whether a window that could not be seen has ended.
    fn unseen(&self, error: &CannotBorrow) -> Unseen {
        // A process of the same id that began at another time is another one.
        let is_there =
            Stat::of(self.session.pid.cast_signed()).is_some_and(|stat| stat.alive && Some(stat.born) == self.born);
        let what = match error {
            _ if !is_there => "the screen session has ended",
            CannotBorrow::NotFound { .. } => "the window was closed",
            _ => return Unseen::Failed(error.to_string()),
        };
        Unseen::Over(Over { exit: None, reason: format!("{what}; how its program ended is not known") })
    }
}

impl Polls for Window {
    fn name(&self) -> String {
        format!("screen session {}", self.session.name)
    }

    async fn look(&mut self) -> Result<Looked, Unseen> {
        match self.seen().await {
            Ok(picture) => Ok(Looked { picture, pid: self.pid }),
            Err(error) => Err(self.unseen(&error)),
        }
    }

    async fn type_in(&mut self, bytes: &[u8]) -> io::Result<()> {
        for words in stuff::words(bytes) {
            self.ask(&["-X", "stuff", &words]).await.map_err(|error| io::Error::other(error.to_string()))?;
        }
        Ok(())
    }

    async fn resize(&mut self, size: Size) -> Result<(), String> {
        let (cols, rows) = (size.cols().to_string(), size.rows().to_string());
        self.ask(&["-X", "width", "-w", &cols, &rows]).await.map(drop).map_err(|error| error.to_string())
    }
}
