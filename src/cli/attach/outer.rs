//! The terminal a person sits at: in raw mode while attached, and as it was before on every way out.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::panic;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::termios::{self, FlushArg, SetArg, Termios};

use crate::child::{self, Size};

/// A screen of our own and the title put aside; keyboard flags of our own; lines that do not wrap, because each is cut
/// to the width; pastes marked, so that nothing in them is taken for a key; no margins, nothing on the screen.
pub const ENTER: &str = "\x1b[?1049h\x1b[22;2t\x1b[>0u\x1b[?7l\x1b[?2004h\x1b[?1l\x1b>\x1b[r\x1b[0m\x1b[?25l\x1b[2J";

/// Everything back, whatever the program inside had asked for: frames, colours, margins, mouse, focus, pastes, keys, the
/// cursor's shape, wrapping, the title, the screen, the cursor.
pub const LEAVE: &str = concat!(
    "\x1b[?2026l\x1b[0m\x1b[r",
    "\x1b[?1000;1002;1003;1004;1005;1006;1015;1016;2004l",
    "\x1b[?1l\x1b>\x1b[>4m\x1b[=0;1u\x1b[<1u",
    "\x1b[0 q\x1b[?7h\x1b[23;2t\x1b[?1049l\x1b[?25h",
);

/// How long a terminal may take to take [`LEAVE`] before it is left all the same.
const LEAVE_WITHIN: Duration = Duration::from_secs(1);

/// What a terminal measures that does not say.
const UNMEASURED: (u32, u32) = (80, 24);

/// How the terminal was, as long as it is not so; for every way out, a panic included.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

static PANIC: Once = Once::new();

/// The terminal, in raw mode; leaves it when dropped.
#[derive(Debug)]
pub struct Outer(());

impl Outer {
    /// Whether stdin and stdout are a terminal.
    pub fn is_there() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Takes the terminal over. What was on it is seen again afterwards.
    pub fn enter() -> io::Result<Self> {
        let before = termios::tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        termios::cfmakeraw(&mut raw);
        termios::tcsetattr(io::stdin(), SetArg::TCSADRAIN, &raw)?;
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        PANIC.call_once(|| {
            let report = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                // The report is for the screen that stays.
                restore();
                report(info);
            }));
        });
        let outer = Self(());
        write(ENTER.as_bytes())?;
        Ok(outer)
    }

    pub fn measure() -> Size {
        let measured = child::window_of(io::stdout().as_fd()).ok();
        let (cols, rows) = UNMEASURED;
        measured.or_else(|| Size::new(cols, rows).ok()).expect("80x24 is a size")
    }
}

impl Drop for Outer {
    fn drop(&mut self) {
        restore();
    }
}

/// Makes the terminal what it was; does nothing the second time. A terminal that is gone needs nothing.
fn restore() {
    let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
    // A terminal that takes nothing must not keep us: its settings are what a shell cannot do without.
    let (done, is_done) = sync_channel::<()>(0);
    std::thread::spawn(move || {
        let _ = write(LEAVE.as_bytes());
        drop(done);
    });
    let _ = is_done.recv_timeout(LEAVE_WITHIN);
    // What was typed or reported meanwhile was not meant for the shell.
    let _ = termios::tcflush(io::stdin(), FlushArg::TCIFLUSH);
    let _ = termios::tcsetattr(io::stdin(), SetArg::TCSANOW, &before);
}

/// Writes past std: its line buffer would keep back what has no end of line, and its lock would keep everybody waiting
/// behind one who waits for the terminal.
pub fn write(mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match nix::unistd::write(io::stdout(), bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(taken) => bytes = &bytes[taken..],
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
