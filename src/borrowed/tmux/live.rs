//! A pane followed in control mode: tmux tells each byte as the pane prints it, and what becomes of the pane.

use std::collections::VecDeque;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::control::{Parser, Said};
use super::server::Release;
use super::standing::{FORMAT, Standing};
use super::{Course, HISTORY_LINES_MAX, Pane, closed};
use crate::borrowed::halves::{Follower, Wish};
use crate::borrowed::strain::Strainer;
use crate::borrowed::{Answer, News, Over};
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
        let begun = self.begin().await;
        let left = match begun {
            Ok(()) => self.follow(&mut stdout).await,
            Err(error) => Left::Lost(error.to_string()),
        };
        // Those who wait for another size are told that they wait in vain.
        for resizing in self.resizing.drain(..) {
            let _ = resizing.to.send(Err("the connection to tmux was lost: try again".to_owned()));
        }
        left
    }

    async fn begin(&mut self) -> io::Result<()> {
        if self.pane.release >= Release::SUBSCRIBES {
            let subscribe = format!("refresh-client -B 'coop::{SUBSCRIPTION}'");
            self.send(&subscribe, Awaited::Subscribed).await?;
        } else {
            self.ask_at = Some(Instant::now() + ASK_EVERY);
        }
        self.look(Looking::default()).await?;
        if let Some((bytes, _)) = &self.course.unwritten {
            // tmux answers all it has heard before it lets a client go: what has no answer was not typed.
            let bytes = bytes.clone();
            self.type_in(&bytes).await?;
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
                wish = self.follower.wishes.recv(), if self.course.unwritten.is_none() => match wish {
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
                self.course.unwritten = Some((bytes.clone(), done));
                self.type_in(&bytes).await
            }
            Wish::Resize { size, answer } => {
                self.resizing.push_back(Resizing { wanted: size, to: answer, problem: None });
                self.send_resize(size).await
            }
            Wish::LetGo => Ok(()),
        }
    }

    async fn type_in(&mut self, bytes: &Bytes) -> io::Result<()> {
        let pane = self.pane.id.clone();
        // Keys would go to tmux's own copy mode instead, if somebody scrolls there. It fails if nobody does.
        self.send(&format!("send-keys -t {pane} -X cancel"), Awaited::Nothing).await?;
        let hex: String = bytes.iter().map(|byte| format!(" {byte:02x}")).collect();
        self.send(&format!("send-keys -t {pane} -H{hex}"), Awaited::Written).await
    }

    async fn send_resize(&mut self, size: Size) -> io::Result<()> {
        let Standing { window, pane, is_alone, .. } = self.course.standing.clone();
        let (cols, rows) = (size.cols(), size.rows());
        if is_alone {
            if self.course.resized.is_none() {
                let before = format!("show-options -wqv -t {window} window-size");
                self.send(&before, Awaited::SizedBefore(window.clone())).await?;
            }
            self.send(&format!("resize-window -t {window} -x {cols} -y {rows}"), Awaited::Resized).await?;
        } else {
            self.send(&format!("resize-pane -t {pane} -x {cols} -y {rows}"), Awaited::Resized).await?;
        }
        self.ask_standing(Awaited::Sized).await
    }

    async fn ask_standing(&mut self, awaited: Awaited) -> io::Result<()> {
        let ask = format!("display-message -p -t {} '{FORMAT}'", self.pane.id);
        self.send(&ask, awaited).await
    }

    /// Takes a picture. The commands go out together, so that nothing comes between them.
    async fn look(&mut self, looking: Looking) -> io::Result<()> {
        let pane = &self.pane.id;
        // Only at the very first: later the session has seen it scroll by.
        let is_first = self.course.ready.is_some();
        let history = if is_first { format!("-S -{HISTORY_LINES_MAX} ") } else { String::new() };
        let lines = format!(
            "display-message -p -t {pane} '{FORMAT}'\ncapture-pane -p -e -N {history}-t {pane}\n\
             capture-pane -p -e -N -a -q -t {pane}\n"
        );
        self.looking = Some(looking);
        self.awaited.extend([Awaited::Frame, Awaited::Rows, Awaited::Beneath]);
        self.stdin.write_all(lines.as_bytes()).await
    }

    async fn send(&mut self, line: &str, awaited: Awaited) -> io::Result<()> {
        self.awaited.push_back(awaited);
        self.stdin.write_all(format!("{line}\n").as_bytes()).await
    }

    /// Takes in what tmux said.
    async fn hear(&mut self, said: &mut Vec<Said>) -> Result<Option<Over>, String> {
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

    fn print(&mut self, bytes: &[u8]) {
        if let Some(looking) = &mut self.looking {
            looking.torn |= looking.frame.is_some();
        }
        let passed = self.strainer.pass(bytes);
        if self.began {
            self.printed.extend(passed);
        }
    }

    async fn tell_printed(&mut self) {
        if !self.printed.is_empty() {
            let printed = std::mem::take(&mut self.printed);
            self.follower.tell(News::Printed(printed.into())).await;
        }
    }

    /// Whether a notice may concern the pane.
    fn matters(&self, word: &str, rest: &str) -> bool {
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

    async fn answered(&mut self, good: bool, lines: Vec<Vec<u8>>) -> io::Result<Option<Over>> {
        let Some(awaited) = self.awaited.pop_front() else { return Ok(None) };
        match awaited {
            Awaited::Nothing => {}
            Awaited::Written => {
                if let Some((_, done)) = self.course.unwritten.take() {
                    let written = if good { Ok(()) } else { Err(io::Error::other(joined(&lines))) };
                    let _ = done.send(written);
                }
            }
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
            Awaited::Rows => {
                if let Some(looking) = &mut self.looking {
                    looking.rows = lines;
                }
            }
            Awaited::Beneath => self.looked(if good { lines } else { Vec::new() }).await?,
        }
        Ok(None)
    }

    fn gone(&self) -> Over {
        let what = format!("tmux pane {}", self.pane.id);
        closed(&crate::borrowed::CannotBorrow::NotFound { what, there: Vec::new() })
    }

    /// The pane told how it stands.
    async fn stands(&mut self, answer: Option<String>, resizing: Option<Resizing>) -> io::Result<Option<Over>> {
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
        if before.session != standing.session {
            self.pane.session = standing.session.clone();
            let follow = format!("switch-client -t '{}'", standing.session);
            self.send(&follow, Awaited::Nothing).await?;
        }
        if before.size != standing.size {
            self.follower.tell(News::Resized(standing.size, answer)).await;
            // tmux wraps lines in its own way.
            self.look(Looking::default()).await?;
        } else if let Some(answer) = answer {
            answer.give();
        }
        self.follower.tell(News::Stirred { pid: standing.pid }).await;
        Ok(None)
    }

    /// All parts of a picture are there.
    async fn looked(&mut self, beneath: Vec<Vec<u8>>) -> io::Result<()> {
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

async fn at(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
