//! One person at one terminal, attached: what is typed goes in, what is shown comes out, until one of them leaves.

mod showing;
mod typing;

use std::future::pending;
use std::io;
use std::time::Duration;

use nix::sys::signal::{Signal, raise};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::canvas::Canvas;
use super::key::DetachKey;
use super::keyboard::Keyboard;
use super::link::{Link, Place, Retry};
use super::manners::Manners;
use super::outer::Outer;
use super::pen::Pen;
use super::signals::{Sign, Signals};
use super::status::Status;
use crate::child::Size;
use crate::client::Failure;
use crate::proto::v1::ExitEvent;
use crate::proto::v1::attach_response::Event as Told;
use typing::read_terminal;

/// How long after the detach key the same key again still means the key itself.
const TWICE_WITHIN: Duration = Duration::from_millis(500);

/// How long the rest of a key may take to come; then it was Escape by itself. Short, because Escape is a key too.
const HELD_MAX: Duration = Duration::from_millis(20);

/// A picture is shown at least so often while bytes keep coming.
const FRAME_MAX: Duration = Duration::from_millis(30);

/// How long a program may take for a frame that it announced before what there is of it is shown.
const MID_FRAME_MAX: Duration = Duration::from_millis(200);

/// A terminal with fewer rows has none to spare for the status.
const ROWS_FOR_STATUS: u16 = 3;

/// How a sitting ends.
#[derive(Debug)]
pub enum Ending {
    Detached,
    /// The program inside has ended.
    Ended(ExitEvent),
    /// coop has said goodbye.
    Left,
    /// The connection is lost for good.
    Lost(Failure),
    /// The outer terminal is gone.
    TerminalGone,
    Signal(i32),
}

/// How one sits.
#[derive(Debug)]
pub struct Wishes {
    pub with_status: bool,
    pub key: Option<DetachKey>,
}

enum Line {
    Up(Box<Link>),
    Down(Retry),
}

pub struct Sitting {
    place: Place,
    wishes: Wishes,
    outer: Option<Outer>,
    size: Size,
    line: Line,
    signals: Signals,
    typed: mpsc::Receiver<Vec<u8>>,
    keyboard: Keyboard,
    canvas: Canvas,
    manners: Manners,
    pen: Pen,
    status: Status,
    /// The last row as it stands there.
    status_shown: String,
    /// Since when there is something to paint.
    dirty: Option<Instant>,
    /// Everything must be painted, over whatever is there.
    afresh: bool,
    bell: bool,
    /// When the detach key was pressed.
    asked: Option<Instant>,
    /// When the beginning of a sequence was held back.
    held: Option<Instant>,
}

enum Happening {
    Sign(Sign),
    /// The detach key was not pressed again.
    Alone,
    /// The end of a sequence did not come.
    Released,
    Paint,
    Told(Box<Result<Option<Told>, Failure>>),
    Back(Result<Box<Link>, Failure>),
    Typed(Option<Vec<u8>>),
    /// Something may go on.
    Nothing,
    TerminalGone,
}

/// The size that the session is asked to have in a terminal of this size.
pub fn inner(size: Size, with_status: bool) -> Size {
    let rows = size.rows() - u16::from(with_status && size.rows() >= ROWS_FOR_STATUS);
    Size::new(size.cols().into(), rows.into()).unwrap_or(size)
}

impl Sitting {
    /// Takes the terminal over.
    pub fn new(place: Place, wishes: Wishes, link: Box<Link>, size: Size) -> io::Result<Self> {
        let signals = Signals::new()?;
        let outer = Some(Outer::enter()?);
        let status = Status { view: place.view, is_shell: place.terminal.is_some(), ..Default::default() };
        let mut sitting = Self {
            keyboard: Keyboard::new(wishes.key.clone()),
            canvas: Canvas::new(inner(size, wishes.with_status)),
            line: Line::Down(Retry::new(&place, size)),
            place,
            wishes,
            outer,
            size,
            signals,
            typed: read_terminal(),
            manners: Manners::default(),
            pen: Pen::new(),
            status,
            status_shown: String::new(),
            dirty: Some(Instant::now()),
            afresh: true,
            bell: false,
            asked: None,
            held: None,
        };
        sitting.connected(link);
        Ok(sitting)
    }

    /// Sits until it is over; the terminal is then as it was before.
    pub async fn run(mut self) -> Ending {
        let ending = loop {
            let happening = self.next().await;
            if let Some(ending) = self.take(happening).await {
                break ending;
            }
        };
        self.pen.rest().await;
        ending
    }

    async fn next(&mut self) -> Happening {
        let free = self.pen.is_free();
        let patience = if self.canvas.is_mid_frame() { MID_FRAME_MAX } else { FRAME_MAX };
        let dirty = self.dirty.filter(|_| free);
        let at_once = dirty.is_some() && !self.canvas.is_mid_frame();
        let has_room = match &self.line {
            Line::Up(link) => link.mouth.has_room(),
            Line::Down(_) => true,
        };
        tokio::select! {
            biased;
            sign = self.signals.next() => Happening::Sign(sign),
            () = due(self.asked.map(|at| at + TWICE_WITHIN)) => Happening::Alone,
            () = due(self.held.map(|at| at + HELD_MAX)) => Happening::Released,
            () = due(dirty.map(|at| at + patience)) => Happening::Paint,
            typed = self.typed.recv(), if has_room => Happening::Typed(typed),
            happening = self.line.next(has_room) => happening,
            // Only when nothing more has come: what comes together is shown together.
            () = std::future::ready(()), if at_once => Happening::Paint,
            alive = self.pen.free(), if !free => if alive { Happening::Nothing } else { Happening::TerminalGone },
        }
    }

    async fn take(&mut self, happening: Happening) -> Option<Ending> {
        match happening {
            Happening::Sign(sign) => return self.obey(sign).await,
            Happening::Alone => return Some(Ending::Detached),
            Happening::Released => {
                self.held = None;
                let acts = self.keyboard.release();
                return self.act(acts);
            }
            Happening::Paint => self.paint(),
            Happening::Told(told) => {
                return match *told {
                    Ok(Some(told)) => self.hear(told),
                    Ok(None) => Some(Ending::Left),
                    Err(failure) => self.lost(failure),
                };
            }
            Happening::Back(Ok(link)) => match link.about.exit.clone() {
                Some(exit) => return Some(Ending::Ended(exit)),
                None => {
                    self.connected(link);
                    // The hello was made up when the connection was lost.
                    self.measure();
                }
            },
            Happening::Back(Err(failure)) => return self.lost(failure),
            Happening::Typed(Some(bytes)) => return self.read(&bytes),
            Happening::Typed(None) | Happening::TerminalGone => return Some(Ending::TerminalGone),
            Happening::Nothing => {
                if let Line::Up(link) = &mut self.line {
                    link.mouth.catch_up();
                }
            }
        }
        None
    }

    async fn obey(&mut self, sign: Sign) -> Option<Ending> {
        match sign {
            Sign::End(number) => return Some(Ending::Signal(number)),
            Sign::Resized => self.measure(),
            Sign::Suspend => {
                self.pen.rest().await;
                self.outer = None;
                // The shell has the terminal until it lets us go on, which is told by a signal.
                let _ = raise(Signal::SIGSTOP);
            }
            Sign::Resume => {
                self.outer = None;
                match Outer::enter() {
                    Ok(outer) => self.outer = Some(outer),
                    Err(_) => return Some(Ending::TerminalGone),
                }
                self.manners = Manners::default();
                self.measure();
            }
        }
        None
    }

    fn measure(&mut self) {
        self.size = Outer::measure();
        if let (Line::Up(link), false) = (&mut self.line, self.place.view) {
            link.mouth.measured(inner(self.size, self.wishes.with_status));
        }
        self.paint_afresh();
    }

    fn connected(&mut self, link: Box<Link>) {
        let about = &link.about;
        self.status.name.clone_from(&about.name);
        self.status.program.clone_from(&about.program);
        self.status.state.clone_from(&about.state);
        self.status.lost = None;
        self.line = Line::Up(link);
        self.paint_afresh();
    }

    /// The connection broke, or could not be made again.
    fn lost(&mut self, failure: Failure) -> Option<Ending> {
        let size = inner(self.size, self.wishes.with_status);
        let retry = match &mut self.line {
            Line::Down(retry) => {
                if let Err(failure) = retry.again(failure, &self.place, size) {
                    return Some(Ending::Lost(failure));
                }
                retry
            }
            line @ Line::Up(_) => {
                *line = Line::Down(Retry::new(&self.place, size));
                // What was typed for the session that was there is not for the one that comes back.
                self.keyboard = Keyboard::new(self.wishes.key.clone());
                (self.asked, self.held, self.status.asked) = (None, None, false);
                let Line::Down(retry) = line else { return None };
                retry
            }
        };
        self.status.lost = Some(retry.told());
        self.dirty();
        None
    }
}

impl Line {
    async fn next(&mut self, has_room: bool) -> Happening {
        match self {
            Self::Down(retry) => Happening::Back(retry.next().await),
            Self::Up(link) if has_room => Happening::Told(Box::new(link.next().await)),
            Self::Up(link) => {
                link.next_or_room().await.map_or(Happening::Nothing, |told| Happening::Told(Box::new(told)))
            }
        }
    }
}

async fn due(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}
