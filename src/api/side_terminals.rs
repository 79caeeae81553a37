//! Terminals beside the session's own: shells in the same box, or on the same machine. Each is a session of its own,
//! which ends with its program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::error::{ApiError, Code};
use crate::child::{Ground, Launch, Size};
use crate::proto::v1;
use crate::session::{
    self, Event, Given, InputFilter, Item, Life, Plan, Program, RestartPolicy, Resume, Session, SizePolicy, Wants,
    epoch_ms,
};
use crate::terminal::Seq;

/// Each has a terminal and a history of its own.
const TERMINALS_MAX: usize = 16;

/// How much output of each is kept.
const RING_BYTES: usize = 256 * 1024;

/// What a terminal measures until somebody attaches.
const SIZE: (u32, u32) = (80, 24);

/// How long a terminal whose program has ended is kept for who comes late: its last words and its exit code.
const KEPT_AFTER_END: Duration = Duration::from_secs(10);

/// What every such terminal begins with.
#[derive(Clone, Debug)]
pub struct Side {
    /// As for the session's own program; its words and size are each terminal's own.
    pub launch: Launch,
    pub ground: Ground,
    /// Run when nobody names a program.
    pub shell: Vec<OsString>,
}

/// Those that are open.
#[derive(Clone)]
pub struct SideTerminals {
    /// None where the session's program is not ours: a shell beside it would stand elsewhere.
    side: Option<Arc<Side>>,
    open: Arc<Mutex<Open>>,
}

#[derive(Default)]
struct Open {
    last: u64,
    /// By number, and so in the order in which they were opened.
    terminals: BTreeMap<u64, Opened>,
}

struct Opened {
    session: Session,
    command: Vec<String>,
    opened_at_ms: u64,
}

impl SideTerminals {
    pub fn new(side: Option<Side>) -> Self {
        Self { side: side.map(Arc::new), open: Arc::default() }
    }

    /// What every command beside the program begins with, too.
    pub(super) fn side(&self) -> Option<Arc<Side>> {
        self.side.clone()
    }

    pub fn open(&self, request: &v1::OpenTerminalRequest) -> Result<v1::Terminal, ApiError> {
        let Some(side) = &self.side else {
            let message = "the terminal is borrowed, and coop cannot open another beside it";
            return Err(ApiError::new(Code::Borrowed, message));
        };
        self.make_room()?;
        let mut launch = side.launch(&request.command, &request.cwd, &request.env)?;
        let (cols, rows) = (request.cols.unwrap_or(SIZE.0), request.rows.unwrap_or(SIZE.1));
        launch.size = Size::new(cols, rows).map_err(|error| ApiError::bad_request(error.to_string()))?;
        let command = launch.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let (session, outcome) = session::start(Plan {
            program: Program::Own { launch, given: Given::new([], []), ground: side.ground.clone() },
            ring_bytes_max: RING_BYTES,
            attach_size: SizePolicy::Latest,
            idle_timeout: None,
            exit_with_child: false,
            restart: RestartPolicy::No,
            is_watched: false,
            input_filter: InputFilter::default(),
            called: "a terminal beside the program",
        });
        if let Life::Exited(session::Ended::NotStarted { reason, .. }) = &session.vitals().life {
            return Err(ApiError::bad_request(reason.clone()));
        }
        let opened = Opened { session: session.clone(), command, opened_at_ms: epoch_ms() };
        let id = {
            let mut open = self.locked();
            open.last += 1;
            let id = open.last;
            open.terminals.insert(id, opened);
            id
        };
        let terminals = self.clone();
        tokio::spawn(async move {
            let leaving = async {
                ended(&session).await;
                tokio::time::sleep(KEPT_AFTER_END).await;
                session.shutdown().await;
                std::future::pending::<()>().await
            };
            tokio::select! {
                // However it ended, it is no longer there.
                _ = outcome => {}
                () = leaving => {}
            }
            terminals.locked().terminals.remove(&id);
        });
        self.locked().terminals.get(&id).map(|opened| opened.told(id)).ok_or_else(|| gone(&id.to_string()))
    }

    /// One that has ended makes room for another, one that runs does not.
    fn make_room(&self) -> Result<(), ApiError> {
        let mut open = self.locked();
        if open.terminals.len() < TERMINALS_MAX {
            return Ok(());
        }
        let over = open.terminals.iter().find(|(_, opened)| opened.is_over()).map(|(id, _)| *id);
        let Some(over) = over.and_then(|id| open.terminals.remove(&id)) else {
            let message = format!("{TERMINALS_MAX} terminals are open already: close one first");
            return Err(ApiError::new(Code::NotReady, message));
        };
        tokio::spawn(async move { over.session.shutdown().await });
        Ok(())
    }

    pub fn list(&self) -> v1::ListTerminalsResponse {
        let open = self.locked();
        let running = open.terminals.iter().filter(|(_, opened)| !opened.is_over());
        v1::ListTerminalsResponse { terminals: running.map(|(id, opened)| opened.told(*id)).collect() }
    }

    pub async fn close(&self, id: &str) -> Result<(), ApiError> {
        let session = self.session(id)?;
        session.shutdown().await;
        Ok(())
    }

    /// The session behind a terminal.
    pub fn session(&self, id: &str) -> Result<Session, ApiError> {
        let number: u64 = id.parse().map_err(|_| gone(id))?;
        self.locked().terminals.get(&number).map(|opened| opened.session.clone()).ok_or_else(|| gone(id))
    }

    /// Ends all of them.
    pub async fn close_all(&self) {
        let sessions: Vec<Session> = self.locked().terminals.values().map(|opened| opened.session.clone()).collect();
        for session in sessions {
            session.shutdown().await;
        }
    }

    fn locked(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Opened {
    fn is_over(&self) -> bool {
        matches!(self.session.vitals().life, Life::Exited(_))
    }

    fn told(&self, id: u64) -> v1::Terminal {
        let vitals = self.session.vitals();
        let pid = if let Life::Running { pid } = vitals.life { Some(pid) } else { None };
        let size = v1::TerminalSize { cols: vitals.size.cols().into(), rows: vitals.size.rows().into() };
        v1::Terminal {
            id: id.to_string(),
            command: self.command.clone(),
            pid,
            size: Some(size),
            opened_at_ms: self.opened_at_ms,
        }
    }
}

/// Waits for the end of the program.
async fn ended(session: &Session) {
    let from_the_first = Resume { after_seq: Some(Seq(0)), from_offset: None };
    let Ok(mut events) = session.subscribe_uncounted(Wants::default(), from_the_first) else { return };
    while let Some(item) = events.next().await {
        if matches!(&item, Item::Event(entry) if matches!(entry.event, Event::Ended { .. })) {
            return;
        }
    }
}

impl Side {
    /// As for the session's own program, but for what a caller says: the shell when that is no command.
    pub(super) fn launch(
        &self,
        command: &[String],
        cwd: &str,
        env: &BTreeMap<String, String>,
    ) -> Result<Launch, ApiError> {
        let mut launch = self.launch.clone();
        launch.argv = match command.is_empty() {
            true => self.shell.clone(),
            false => command.iter().map(OsString::from).collect(),
        };
        if !cwd.is_empty() {
            let start = launch.cwd.unwrap_or_default();
            launch.cwd = Some(start.join(cwd));
        }
        for (name, value) in env {
            let is_name = !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0');
            if !is_name {
                return Err(ApiError::bad_request(format!("{name:?} is no variable that can be set")));
            }
            launch.env.push((name.into(), value.into()));
        }
        Ok(launch)
    }
}

fn gone(id: &str) -> ApiError {
    ApiError::new(
        Code::NotFound,
        format!("there is no terminal {id:?}; it may have ended: ListTerminals has those that run"),
    )
}
