//! Flags that every verb has: which session, with which token, for people or for programs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::agent::hook::TOKEN_VARIABLE;
use crate::api::Secret;
use crate::cli::completions;
use crate::client::{
    Client, Credentials, Failure, Kept, Target, Wish, box_of, box_socket, check_private, choose, connect, contains,
    introduce, kept, live_sockets, whole_path,
};
use crate::config;

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Session")]
pub struct Reach {
    /// Session at http://HOST:PORT, or a box at http://HOST:PORT/box/NAME of `coop serve` [env: COOP_URL]
    #[arg(long, value_parser = Target::parse, conflicts_with = "socket")]
    url: Option<Target>,
    /// Session on this Unix socket [env: COOP_SOCKET]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Session of this name or number, as `coop ls` shows them; a box too
    #[arg(long = "session", short = 's', value_name = "NAME", value_hint = completions::NAME, conflicts_with_all = ["url", "socket"])]
    named: Option<String>,
    /// The session's token [env: COOP_AUTH_TOKEN]
    #[arg(long, conflicts_with = "token_file")]
    token: Option<OsString>,
    /// File that holds the token [env: COOP_AUTH_TOKEN_FILE]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Print JSON, as the HTTP API answers it; an error becomes JSON on stderr
    #[arg(long)]
    pub json: bool,
}

/// Whom a verb means that treats boxes in a way of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whom {
    /// The box of this name, which may stand still.
    Box(String),
    Session,
}

/// For verbs that write.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Session")]
pub struct Lock {
    /// The lock that you hold, if you took one
    #[arg(long = "lock", value_name = "ID")]
    id: Option<String>,
}

impl Reach {
    pub async fn connect(&self) -> Result<Client, Failure> {
        self.connect_as(None).await
    }

    pub async fn connect_with(&self, lock: &Lock) -> Result<Client, Failure> {
        self.connect_as(lock.id.clone()).await
    }

    /// Whether a flag says which session is meant.
    pub fn is_named(&self) -> bool {
        self.url.is_some() || self.socket.is_some() || self.named.is_some()
    }

    /// The same with a name that was given without a flag.
    pub fn called(mut self, name: Option<String>) -> Self {
        self.named = name.or(self.named);
        self
    }

    /// Whether a box is meant. From inside of one, its session is: the daemon is out of reach there.
    pub async fn whom(&self) -> Result<Whom, Failure> {
        if let Some(name) = &self.named {
            if kept_box(name).is_some() || box_socket(&config::runtime_dir(), name).exists() {
                return Ok(Whom::Box(name.clone()));
            }
            // One that goes by a label or a socket may be a box all the same.
            let target = self.place(None).await.ok().map(|(target, _)| target);
            return Ok(target.and_then(|target| box_of(&target)).map_or(Whom::Session, Whom::Box));
        }
        let target = match (&self.url, &self.socket) {
            (None, Some(path)) => Target::Socket(path.clone()),
            (Some(_), _) => return Ok(Whom::Session),
            (None, None) if is_said("COOP_URL") || is_said("COOP_SOCKET") => return Ok(Whom::Session),
            (None, None) => match &kept_here()[..] {
                [only] => return Ok(Whom::Box(only.name.clone())),
                _ => self.place(None).await?.0,
            },
        };
        Ok(box_of(&target).map_or(Whom::Session, Whom::Box))
    }

    /// For a call that the program inside may make with the token that it was given for such calls.
    pub async fn connect_from_inside(&self) -> Result<Client, Failure> {
        let own = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let has_token = own("COOP_AUTH_TOKEN").is_some() || own("COOP_AUTH_TOKEN_FILE").is_some();
        let hook_token = || own(TOKEN_VARIABLE).filter(|_| !has_token);
        self.connect_by(None, |name| if name == "COOP_AUTH_TOKEN" { own(name).or_else(hook_token) } else { own(name) })
            .await
    }

    /// Where the session is and what is shown to it, for who connects more than once; `name` is one that a person gave.
    pub async fn place(&self, name: Option<&str>) -> Result<(Target, Credentials), Failure> {
        let (wish, variable) = (self.wish(None), |name: &str| std::env::var_os(name));
        let credentials = wish.credentials(variable)?;
        let target = self.target(&wish, variable, name, &credentials).await?;
        Ok((target, credentials))
    }

    /// The token itself, for who must hand it on.
    pub fn secret(&self) -> Result<Option<Secret>, Failure> {
        self.wish(None).secret(|name| std::env::var_os(name))
    }

    fn wish(&self, lock: Option<String>) -> Wish {
        Wish {
            url: self.url.clone(),
            socket: self.socket.clone(),
            token: self.token.clone(),
            token_file: self.token_file.clone(),
            lock,
        }
    }

    async fn connect_as(&self, lock: Option<String>) -> Result<Client, Failure> {
        self.connect_by(lock, |name| std::env::var_os(name)).await
    }

    async fn connect_by(
        &self,
        lock: Option<String>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Client, Failure> {
        let wish = self.wish(lock);
        let credentials = wish.credentials(&variable)?;
        let target = self.target(&wish, variable, None, &credentials).await?;
        Ok(connect(target, credentials).await?.among_several(self.is_one_of_several().await))
    }

    /// Whether another session of this machine could have been meant. Who gives an address means that one.
    async fn is_one_of_several(&self) -> bool {
        self.url.is_none() && self.socket.is_none() && live_sockets(&config::runtime_dir()).await.len() > 1
    }

    /// A name that was given counts before all that stands in the environment.
    async fn target(
        &self,
        wish: &Wish,
        variable: impl Fn(&str) -> Option<OsString>,
        name: Option<&str>,
        credentials: &Credentials,
    ) -> Result<Target, Failure> {
        let runtime_dir = config::runtime_dir();
        match name.or(self.named.as_deref()) {
            Some(name) => {
                check_private(&runtime_dir)?;
                match (choose(&runtime_dir, name, credentials).await, kept_box(name)) {
                    (Err(_), Some(kept)) if runs_elsewhere(&kept, &runtime_dir) => {
                        Ok(Target::Socket(kept.socket(&runtime_dir)))
                    }
                    (Err(_), Some(kept)) => Err(stands_still(&kept)),
                    (chosen, _) => chosen,
                }
            }
            None => {
                let here = if wish.names_one(&variable) { Vec::new() } else { kept_here() };
                if !here.is_empty() {
                    check_private(&runtime_dir)?;
                    return running(&here, &live_sockets(&runtime_dir).await, &runtime_dir);
                }
                match wish.target(variable, &runtime_dir).await {
                    Err(Failure::ManySessions { sockets }) => Err(introduce(&sockets, credentials).await),
                    found => found,
                }
            }
        }
    }
}

/// The box of this directory among those that run. Another session is not meant here, also when this one stands still.
fn running(here: &[Kept], live: &[PathBuf], runtime_dir: &Path) -> Result<Target, Failure> {
    let socket = |kept: &Kept| kept.socket(runtime_dir);
    let runs = |kept: &&Kept| live.contains(&socket(kept)) || runs_elsewhere(kept, runtime_dir);
    let mut running = here.iter().filter(runs);
    match (here, running.next(), running.next()) {
        (_, Some(only), None) => Ok(Target::Socket(socket(only))),
        ([only], None, _) => Err(stands_still(only)),
        _ => {
            let there_are = here.iter().map(|kept| kept.name.clone()).collect();
            Err(Failure::Ambiguous { why: "several boxes belong to this directory".to_owned(), there_are })
        }
    }
}

/// Whether the box was started by somebody whose sockets are in another directory, and its session's is there.
fn runs_elsewhere(kept: &Kept, runtime_dir: &Path) -> bool {
    let socket = kept.socket(runtime_dir);
    !socket.starts_with(runtime_dir) && socket.exists()
}

fn is_said(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// The box of this name, running or not.
pub fn kept_box(name: &str) -> Option<Kept> {
    kept(&config::coop_home()?).into_iter().find(|kept| kept.name == name)
}

/// The box whose workspace this directory is, or is in: the nearest, or several of the same workspace.
fn kept_here() -> Vec<Kept> {
    let (Some(home), Ok(dir)) = (config::coop_home(), std::env::current_dir()) else { return Vec::new() };
    let dir = whole_path(&dir);
    let mut here: Vec<Kept> = kept(&home).into_iter().filter(|kept| contains(&kept.workspace(), &dir)).collect();
    let depth = |kept: &Kept| kept.workspace().components().count();
    let deepest = here.iter().map(depth).max();
    here.retain(|kept| Some(depth(kept)) == deepest);
    here
}

fn stands_still(kept: &Kept) -> Failure {
    Failure::StandsStill { name: kept.name.clone(), why: kept.last_error() }
}
