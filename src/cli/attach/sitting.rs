//! One person at one terminal, attached: what is typed goes in, what is shown comes out, until one of them leaves.

use std::future::pending;
use std::io;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, raise};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::about::worth_telling;
use super::canvas::{Canvas, Window};
use super::key::DetachKey;
use super::keyboard::{Act, Keyboard, Manner};
use super::link::{Link, Place, Retry};
use super::manners::Manners;
use super::outer::Outer;
use super::pen::Pen;
use super::push;
use super::signals::{Sign, Signals};
use super::status::Status;
use crate::child::Size;
use crate::client::Failure;
use crate::proto::v1::ExitEvent;
use crate::proto::v1::attach_response::Event as Told;
use crate::terminal::Note;

/// How long after the detach key the same key again still means the key itself.
const TWICE_WITHIN: Duration = Duration::from_millis(500);

/// How long the rest of a key may take to come; then it was Escape and something else.
const HELD_MAX: Duration = Duration::from_millis(30);

/// A picture is shown at least so often while bytes keep coming.
const FRAME_MAX: Duration = Duration::from_millis(30);

/// How long a program may take for a frame that it announced before what there is of it is shown.
const MID_FRAME_MAX: Duration = Duration::from_millis(200);

/// Portions of typed bytes that wait.
const TYPED_MAX: usize = 16;

/// A terminal with fewer rows has none to spare for the status.
const ROWS_FOR_STATUS: u16 = 3;

/// Ctrl-C, which leaves where nothing can be typed.
const INTERRUPT: u8 = 0x03;

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
    Told(Result<Option<Told>, Failure>),
    Back(Result<Link, Failure>),
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
    pub fn new(place: Place, wishes: Wishes, link: Link, size: Size) -> io::Result<Self> {
        let signals = Signals::new()?;
        let outer = Some(Outer::enter()?);
        let status = Status { view: place.view, ..Default::default() };
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
            Line::Up(link) => link.has_room(),
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
            Happening::Told(Ok(Some(told))) => return self.hear(told),
            Happening::Told(Ok(None)) => return Some(Ending::Left),
            Happening::Told(Err(failure)) => return self.lost(failure),
            Happening::Back(Ok(link)) => match link.about.exit.clone() {
                Some(exit) => return Some(Ending::Ended(exit)),
                None => self.connected(link),
            },
            Happening::Back(Err(failure)) => return self.lost(failure),
            Happening::Typed(Some(bytes)) => return self.read(&bytes),
            Happening::Typed(None) | Happening::TerminalGone => return Some(Ending::TerminalGone),
            Happening::Nothing => {}
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
        if let (Line::Up(link), false) = (&self.line, self.place.view) {
            link.measured(inner(self.size, self.wishes.with_status));
        }
        self.paint_afresh();
    }

    fn connected(&mut self, link: Link) {
        let about = &link.about;
        self.status.name.clone_from(&about.name);
        self.status.program.clone_from(&about.program);
        self.status.state.clone_from(&about.state);
        self.status.lost = None;
        self.line = Line::Up(Box::new(link));
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

    fn hear(&mut self, told: Told) -> Option<Ending> {
        match told {
            Told::Ready(ready) => self.restart(ready.cols, ready.rows),
            Told::Resize(resize) => self.restart(resize.cols, resize.rows),
            Told::Output(bytes) => {
                let was_whole = self.canvas.is_whole();
                let fed = self.canvas.feed(&bytes);
                self.bell |= was_whole && fed.notes.contains(&Note::Bell);
            }
            Told::Transition(state) => self.status.state = worth_telling(state),
            Told::Exit(exit) => return Some(Ending::Ended(exit)),
            Told::Error(error) => self.status.trouble = Some(error.message),
        }
        self.dirty();
        None
    }

    fn restart(&mut self, cols: u32, rows: u32) {
        if let Ok(size) = Size::new(cols, rows) {
            self.canvas.restart(size);
        }
    }

    fn read(&mut self, bytes: &[u8]) -> Option<Ending> {
        let window = self.window();
        let (row, col) = self.canvas.corner();
        let bracketed_paste = self.canvas.modes().bracketed_paste;
        let manner = Manner { bracketed_paste, rows: window.rows, cols: window.cols, row, col };
        let acts = self.keyboard.read(bytes, manner);
        self.held = self.keyboard.holds().then(Instant::now);
        self.act(acts)
    }

    fn act(&mut self, acts: Vec<Act>) -> Option<Ending> {
        for act in acts {
            match (act, &self.line) {
                (Act::Leave, _) => return Some(Ending::Detached),
                (Act::Send(bytes), Line::Up(link)) if !self.place.view => {
                    self.status.trouble = None;
                    link.type_in(bytes);
                }
                // Nothing can be typed here.
                (Act::Send(bytes), _) if bytes.contains(&INTERRUPT) => return Some(Ending::Detached),
                (Act::Send(_), _) => {}
                (Act::Asked, Line::Up(_)) if !self.place.view => {}
                (Act::Asked, _) => return Some(Ending::Detached),
            }
        }
        let asked = self.keyboard.is_asked();
        if asked != self.status.asked {
            self.status.asked = asked;
            self.asked = asked.then(Instant::now);
            self.dirty();
        }
        None
    }

    fn dirty(&mut self) {
        self.dirty.get_or_insert_with(Instant::now);
    }

    fn paint_afresh(&mut self) {
        self.afresh = true;
        self.dirty();
    }

    /// What the session has of the outer terminal.
    fn window(&self) -> Window {
        let size = inner(self.size, self.wishes.with_status);
        Window { cols: size.cols().into(), rows: size.rows().into() }
    }

    fn paint(&mut self) {
        self.dirty = None;
        let window = self.window();
        let mut out = String::from("\x1b[?2026h\x1b[?25l");
        if std::mem::take(&mut self.afresh) {
            out.push_str("\x1b[0m\x1b[2J");
            self.canvas.forget();
            self.status_shown.clear();
        }
        if self.canvas.is_whole() {
            self.canvas.draw(window, &mut out);
            self.manners.tell(self.canvas.modes(), self.canvas.title(), self.place.view, &mut out);
        }
        self.paint_status(window, &mut out);
        if std::mem::take(&mut self.bell) {
            out.push('\x07');
        }
        self.canvas.place_cursor(window, &mut out);
        out.push_str("\x1b[?2026l");
        self.pen.write(out);
    }

    /// A lost connection is told even where no status is wanted, over the last row; coming back paints it again.
    fn paint_status(&mut self, window: Window, out: &mut String) {
        let has_row = usize::from(self.size.rows()) > window.rows;
        if !has_row && self.status.lost.is_none() {
            return;
        }
        let shown = (window.cols, window.rows);
        let row = self.status.row(window.cols, shown, self.canvas.size(), self.wishes.key.as_ref());
        if row != self.status_shown {
            push(out, format_args!("\x1b[{};1H{row}", self.size.rows()));
            self.status_shown = row;
        }
    }
}

impl Line {
    async fn next(&mut self, has_room: bool) -> Happening {
        match self {
            Self::Down(retry) => Happening::Back(retry.next().await),
            Self::Up(link) if has_room => Happening::Told(link.next().await),
            Self::Up(link) => link.next_or_room().await.map_or(Happening::Nothing, Happening::Told),
        }
    }
}

async fn due(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

/// Bytes from the terminal as they come, read on a thread: a terminal that is shared with the shell must stay blocking.
fn read_terminal() -> mpsc::Receiver<Vec<u8>> {
    let (tell, typed) = mpsc::channel(TYPED_MAX);
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            match nix::unistd::read(io::stdin(), &mut buffer) {
                Err(Errno::EINTR) => {}
                Ok(0) | Err(_) => return,
                Ok(len) => {
                    if tell.blocking_send(buffer[..len].to_vec()).is_err() {
                        return;
                    }
                }
            }
        }
    });
    typed
}
