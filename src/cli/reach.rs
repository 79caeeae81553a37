//! Flags that every verb has: which session, with which token, for people or for programs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::agent::hook::TOKEN_VARIABLE;
use crate::client::{Client, Credentials, Failure, Target, Wish, check_private, choose, connect, introduce};
use crate::config;

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Session")]
pub struct Reach {
    /// Session at http://HOST:PORT [env: COOP_URL]
    #[arg(long, value_parser = Target::parse, conflicts_with = "socket")]
    url: Option<Target>,
    /// Session on this Unix socket [env: COOP_SOCKET]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Session of this name, as `coop ls` shows it: its label `name`, or its number
    #[arg(long = "session", short = 's', value_name = "NAME", conflicts_with_all = ["url", "socket"])]
    named: Option<String>,
    /// The session's token [env: COOP_AUTH_TOKEN]
    #[arg(long, conflicts_with = "token_file")]
    token: Option<OsString>,
    /// File that holds the token [env: COOP_AUTH_TOKEN_FILE]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Print JSON, as the HTTP API answers it
    #[arg(long)]
    pub json: bool,
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
        match self.target(&wish, variable, name, &credentials).await {
            Ok(target) => Ok((target, credentials)),
            Err(Failure::ManySessions { sockets }) => Err(introduce(&sockets, &credentials).await),
            Err(failure) => Err(failure),
        }
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
        connect(self.target(&wish, variable, None, &credentials).await?, credentials).await
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
                choose(&runtime_dir, name, credentials).await
            }
            None => wish.target(variable, &runtime_dir).await,
        }
    }
}
