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
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use serde::Serialize;

use super::lines::exit_ending;
use super::reach::Reach;
use super::words::{complain, plain, print_json};
use crate::borrowed::process;
use crate::child::Size;
use crate::cli::completions;
use crate::client::{Credentials, Failure, Target, box_of, connect, words_for};
use crate::proto::v1::ExitEvent;
use about::About;
use key::DetachKey;
pub use link::Side;
use link::{Link, Place};
use outer::Outer;
pub use sitting::Ending;
use sitting::{Sitting, Wishes, inner};

/// A coop that was told to stop leaves so soon after its program.
const LEAVES_WITHIN: Duration = Duration::from_millis(300);

/// A session that is still there says so within this time.
const TELLS_WITHIN: Duration = Duration::from_secs(2);

/// What a shell adds to the number of a signal.
pub const SIGNAL_BASE: i32 = 128;

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
///
/// This verb looks at a session that coop serves. To let coop serve a program that runs in tmux or GNU screen, use the
/// option: coop --attach tmux:NAME.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop attach\n  coop attach red\n  coop attach 4711 --view\n  \
                        coop attach --url http://build:8080 --token-file token --detach-key ctrl-b")]
#[command(mut_arg("json", |json| json.help("Print how it ended as JSON; an error becomes JSON on stderr")))]
pub struct Attach {
    /// Which session, when several run: a box, its name or number, as `coop ls` shows them, or a label in full, as team=red
    #[arg(value_name = "SESSION", value_hint = completions::NAME, conflicts_with_all = ["url", "socket", "named"])]
    session: Option<String>,
    /// Only look: nothing is typed, the size stays as it is; Ctrl-C leaves
    #[arg(long)]
    view: bool,
    #[command(flatten)]
    manner: Manner,
    #[command(flatten)]
    reach: Reach,
}

/// How one sits there.
#[derive(Args, Clone, Debug)]
pub struct Manner {
    /// The key that detaches, such as ctrl-], ctrl-b or f12; none for no key
    #[arg(long, value_name = "KEY", default_value = "ctrl-]", value_parser = detach_key)]
    detach_key: KeyChoice,
    /// Leave the last row to the program
    #[arg(long)]
    no_status: bool,
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
        if !is_at_a_terminal() {
            bail!(
                "attach needs a terminal on stdin and stdout: `coop screen` prints the screen, `coop logs --output \
                 --follow` what the program prints"
            );
        }
        let (target, credentials) = self.reach.place(self.session.as_deref()).await?;
        sit(target, credentials, self.view, self.manner, self.reach.json).await
    }
}

/// Whether there is somebody to sit down.
pub fn is_at_a_terminal() -> bool {
    Outer::is_there()
}

impl Manner {
    /// The size that a program has in this terminal.
    pub fn measure(&self) -> Size {
        inner(Outer::measure(), !self.no_status)
    }
}

/// Attaches to a session, and tells how it ended.
pub async fn sit(
    target: Target,
    credentials: Credentials,
    view: bool,
    manner: Manner,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let boxed = box_of(&target);
    let place = Place { target, credentials, view, terminal: None };
    // Before anything is joined: the session would take another size for it.
    if let Ok(about) = about(&place).await
        && is_inside(&place.target, about.pid)
    {
        bail!("this terminal is inside {}, which would be shown in itself: use another one", plain(&about.name));
    }
    let seated = sit_down(place.clone(), manner).await?;
    let Seated { ending, name, program } = &seated;
    let (word, exit) = match ending {
        Ending::Detached => ("detached", None),
        Ending::Ended(exit) => ("exited", Some(exit)),
        Ending::Left => ("closed", None),
        Ending::Lost(_) => ("lost", None),
        Ending::TerminalGone => ("terminal_gone", None),
        Ending::Signal(_) => ("signal", None),
    };
    if json {
        print_json(&Told { ending: word, session: name, exit })?;
    } else {
        let left = if matches!(ending, Ending::Ended(_)) { what_is_left(&place).await } else { WhatIsLeft::Nothing };
        let which = words_for(&place.target);
        tell(ending, &plain(name), &plain(program), (boxed.as_deref(), &which), left);
    }
    Ok(ending.exit_code())
}

/// Attaches to a terminal beside a session's own program.
pub async fn sit_beside(
    target: Target,
    credentials: Credentials,
    side: Side,
    manner: Manner,
) -> anyhow::Result<Ending> {
    let place = Place { target, credentials, view: false, terminal: Some(side) };
    Ok(sit_down(place, manner).await?.ending)
}

/// How a sitting ended, and whose it was.
struct Seated {
    ending: Ending,
    name: String,
    program: String,
}

async fn sit_down(place: Place, manner: Manner) -> anyhow::Result<Seated> {
    let (wishes, size) = (Wishes { with_status: !manner.no_status, key: manner.detach_key.0 }, Outer::measure());
    let link = Link::open(place.clone(), inner(size, wishes.with_status)).await?;
    let (name, program) = (link.about.name.clone(), link.about.program.clone());
    let ending = match link.about.exit.clone() {
        Some(exit) => Ending::Ended(exit),
        None => Sitting::new(place, wishes, link, size)?.run().await,
    };
    Ok(Seated { ending, name, program })
}

impl Ending {
    /// What a shell would end with.
    pub fn exit_code(&self) -> ExitCode {
        let code = match self {
            Self::Detached | Self::TerminalGone => 0,
            Self::Ended(exit) => shell_code(exit),
            Self::Left | Self::Lost(_) => 1,
            Self::Signal(number) => SIGNAL_BASE + number,
        };
        ExitCode::from(u8::try_from(code).unwrap_or(1))
    }
}

/// Whether this very terminal is a session's, which would draw itself for ever.
fn is_inside(target: &Target, pid: Option<u32>) -> bool {
    target.is_here() && pid.is_some_and(|pid| process::is_below(std::process::id(), pid))
}

/// What can still be done about a program that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WhatIsLeft {
    /// Its coop has left, too.
    Nothing,
    /// Its screen, in a session that somebody else started.
    Screen,
    /// Its screen, and another start.
    Everything,
    /// Nothing need be done: coop starts it again, or has.
    Itself,
}

/// Asks for it a moment after the end: a coop that was told to stop ends its program first.
async fn what_is_left(place: &Place) -> WhatIsLeft {
    tokio::time::sleep(LEAVES_WITHIN).await;
    match tokio::time::timeout(TELLS_WITHIN, about(place)).await {
        Ok(Ok(about)) if about.is_borrowed => WhatIsLeft::Screen,
        Ok(Ok(about)) if about.restarts || about.pid.is_some() => WhatIsLeft::Itself,
        Ok(Ok(_)) => WhatIsLeft::Everything,
        Ok(Err(_)) | Err(_) => WhatIsLeft::Nothing,
    }
}

async fn about(place: &Place) -> Result<About, Failure> {
    let client = connect(place.target.clone(), place.credentials.clone()).await?;
    About::ask(&client, &place.target).await
}

/// One line for the person, on the screen that was there before.
fn tell(ending: &Ending, name: &str, program: &str, (boxed, which): (Option<&str>, &str), left: WhatIsLeft) {
    match ending {
        Ending::Detached => {
            let back = boxed.map(|name| format!(": `coop attach {name}` comes back")).unwrap_or_default();
            complain(&format!("detached from {name}; it goes on{back}"));
        }
        Ending::Ended(exit) => {
            let how = exit_ending(exit).unwrap_or_else(|| "it has ended".to_owned());
            let whole = if boxed.is_some() { "box" } else { "session" };
            let then = match left {
                WhatIsLeft::Nothing => "the session has ended with it".to_owned(),
                WhatIsLeft::Screen => {
                    format!("`coop screen {which}` shows its last screen, `coop stop {which}` ends the session")
                }
                WhatIsLeft::Everything => format!(
                    "`coop restart {which}` starts it again, `coop screen {which}` shows its last screen, `coop stop \
                     {which}` ends the {whole}"
                ),
                WhatIsLeft::Itself => {
                    format!(
                        "coop starts it again by itself, `coop attach {which}` comes back, `coop stop {which}` ends the {whole}"
                    )
                }
            };
            complain(&format!("{program} in {name}: {how}; {then}"));
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
