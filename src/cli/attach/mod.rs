//! `coop attach`: this terminal becomes the session's.
//!
//! ```text
//! typed ── keyboard ──> link ══ Attach ══> session
//!                         │
//!          canvas <───────┘      the same emulator as in the session, fed with a redraw and then live bytes
//!            ╰─ rows that differ, manners, status ─ pen ─> the outer terminal
//! ```
//! `sitting` ties them together; `outer` takes the terminal over and gives it back.

mod about;
mod canvas;
mod key;
mod keyboard;
mod link;
mod manners;
mod outer;
mod pen;
mod signals;
mod sitting;
mod status;

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use serde::Serialize;

use super::lines::exit_ending;
use super::reach::Reach;
use super::words::{complain, plain, print_json};
use crate::proto::v1::ExitEvent;
use key::DetachKey;
use link::{Link, Place};
use outer::Outer;
use sitting::{Ending, Sitting, Wishes, inner};

/// What a shell adds to the number of a signal.
const SIGNAL_BASE: i32 = 128;

/// Use the program in this terminal, as if it ran here
///
/// What the program shows is shown, what you type is typed; Ctrl-C and Ctrl-Z are the program's. Press Ctrl-] to detach:
/// the program goes on. Pressed twice, one Ctrl-] goes to the program.
///
/// The last row shows the session, what its agent does and how to leave. Several terminals may be attached at once;
/// --attach-size of the session says whose size the program sees. Where the session is larger than this terminal,
/// the part around the cursor is shown, and the last row says so.
///
/// A connection that breaks is made again, for two minutes; keys typed meanwhile are not sent. Exit codes: 0 detached, the
/// program's own when it has ended (128 and the number of the signal that ended it), 1 when the session is lost.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop attach\n  coop attach coop-4711 --view\n  \
                        coop attach --url http://build:8080 --token-file token --detach-key ctrl-b")]
pub struct Attach {
    /// Which session, when several run: its socket's name, its process id, or a label
    #[arg(value_name = "SESSION", conflicts_with_all = ["url", "socket", "named"])]
    session: Option<String>,
    /// Only look: nothing is typed, the size stays as it is; Ctrl-C leaves
    #[arg(long)]
    view: bool,
    /// The key that detaches, such as ctrl-], ctrl-b or f12; none for no key
    #[arg(long, value_name = "KEY", default_value = "ctrl-]", value_parser = detach_key)]
    detach_key: KeyChoice,
    /// Leave the last row to the program
    #[arg(long)]
    no_status: bool,
    #[command(flatten)]
    reach: Reach,
}

/// clap takes an `Option` for a flag that may be left out; this one may be chosen to be none.
#[derive(Clone, Debug)]
struct KeyChoice(Option<DetachKey>);

fn detach_key(name: &str) -> Result<KeyChoice, String> {
    DetachKey::parse(name).map(KeyChoice)
}

/// How it ended, for programs.
#[derive(Serialize)]
struct Told<'a> {
    ending: &'static str,
    session: &'a str,
    exit: Option<&'a ExitEvent>,
}

impl Attach {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        if !Outer::is_there() {
            bail!(
                "attach needs a terminal on stdin and stdout: `coop screen` prints the screen, `coop logs --output \
                 --follow` what the program prints"
            );
        }
        let (target, credentials) = self.reach.place(self.session.as_deref()).await?;
        let place = Place { target, credentials, view: self.view };
        let (wishes, size) = (Wishes { with_status: !self.no_status, key: self.detach_key.0 }, Outer::measure());
        let link = Link::open(place.clone(), inner(size, wishes.with_status)).await?;
        let (name, program) = (link.about.name.clone(), link.about.program.clone());
        let ending = match link.about.exit.clone() {
            Some(exit) => Ending::Ended(exit),
            None => Sitting::new(place, wishes, link, size)?.run().await,
        };
        let (word, exit, code) = match &ending {
            Ending::Detached => ("detached", None, 0),
            Ending::Ended(exit) => ("exited", Some(exit), shell_code(exit)),
            Ending::Left => ("closed", None, 1),
            Ending::Lost(_) => ("lost", None, 1),
            Ending::TerminalGone => ("terminal_gone", None, 0),
            Ending::Signal(number) => ("signal", None, SIGNAL_BASE + number),
        };
        if self.reach.json {
            print_json(&Told { ending: word, session: &name, exit })?;
        } else {
            tell(&ending, &plain(&name), &plain(&program));
        }
        Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
    }
}

/// One line for the person, on the screen that was there before.
fn tell(ending: &Ending, name: &str, program: &str) {
    match ending {
        Ending::Detached => complain(&format!("detached from {name}; it goes on")),
        Ending::Ended(exit) => {
            let how = exit_ending(exit).unwrap_or_else(|| "it has ended".to_owned());
            complain(&format!(
                "{program} in {name}: {how}; `coop restart` starts it again, `coop stop` ends the session"
            ));
        }
        Ending::Left => complain(&format!("{name} has been closed: its coop has left")),
        Ending::Lost(failure) => complain(&format!("{name} is lost: {failure}")),
        Ending::TerminalGone | Ending::Signal(_) => {}
    }
}

/// What `coop --exit-with-child` would end with.
fn shell_code(exit: &ExitEvent) -> i32 {
    exit.code.or_else(|| exit.signal.map(|signal| SIGNAL_BASE + signal)).unwrap_or(1)
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a String cannot fail.
    let _ = out.write_fmt(text);
}
