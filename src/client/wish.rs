//! What a caller said about the session it means: flags first, then the environment, then the only one that runs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Failure;
use super::credentials::Credentials;
use super::discover::live_sockets;
use super::target::Target;
use crate::api::Secret;
use crate::config::{check_private_to_us, check_token, token_in_file};

/// Flags of a caller; what is absent is looked up in the environment.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    pub url: Option<Target>,
    pub socket: Option<PathBuf>,
    pub token: Option<OsString>,
    pub token_file: Option<PathBuf>,
    /// The lock that the caller holds.
    pub lock: Option<String>,
}

impl Wish {
    /// The session that is meant. `variable` reads the environment; `runtime_dir` is where unnamed sessions listen.
    pub async fn target(
        &self,
        variable: impl Fn(&str) -> Option<OsString>,
        runtime_dir: &Path,
    ) -> Result<Target, Failure> {
        if let Some(target) = self.named(variable)? {
            return Ok(target);
        }
        if runtime_dir.exists()
            && let Err(why) = check_private_to_us(runtime_dir)
        {
            let dir = runtime_dir.display();
            return Err(Failure::Choice(format!(
                "no session is looked for in {dir}: {why}; name one by --url or --socket"
            )));
        }
        let mut live = live_sockets(runtime_dir).await;
        match live.len() {
            1 => Ok(Target::Socket(live.remove(0))),
            0 => Err(Failure::NoSession { runtime_dir: runtime_dir.to_owned() }),
            _ => Err(Failure::ManySessions { sockets: live }),
        }
    }

    /// Whether a flag or a variable says which one.
    pub fn names_one(&self, variable: impl Fn(&str) -> Option<OsString>) -> bool {
        // One that cannot be read was said all the same.
        !matches!(self.named(variable), Ok(None))
    }

    /// The one that a flag or a variable names. An empty variable counts as unset, here and below.
    pub fn named(&self, variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Target>, Failure> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let flag = self.url.clone().or_else(|| self.socket.clone().map(Target::Socket));
        if flag.is_some() {
            return Ok(flag);
        }
        if let Some(url) = variable("COOP_URL") {
            let wrong = |why| Failure::Choice(format!("COOP_URL: {why}"));
            return Target::parse(&url.to_string_lossy()).map(Some).map_err(wrong);
        }
        Ok(variable("COOP_SOCKET").map(|path| Target::Socket(path.into())))
    }

    /// What is shown with every call.
    pub fn credentials(&self, variable: impl Fn(&str) -> Option<OsString>) -> Result<Credentials, Failure> {
        Credentials::new(self.secret(variable)?.as_ref(), self.lock.as_deref())
    }

    /// The session's token, if one was given.
    pub fn secret(&self, variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Secret>, Failure> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let token = if let Some(token) = &self.token {
            Some(check_token("--token", token))
        } else if let Some(file) = &self.token_file {
            Some(token_in_file("--token-file", file))
        } else if let Some(token) = variable("COOP_AUTH_TOKEN") {
            Some(check_token("COOP_AUTH_TOKEN", &token))
        } else {
            variable("COOP_AUTH_TOKEN_FILE").map(|file| token_in_file("COOP_AUTH_TOKEN_FILE", Path::new(&file)))
        };
        token.transpose().map_err(|mistake| Failure::Choice(mistake.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::config::Scratch;

    fn lookup<'a>(environment: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |name| environment.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into())
    }

    async fn found(wish: &Wish, environment: &[(&str, &str)]) -> String {
        match wish.target(lookup(environment), Path::new("/no/such/directory")).await {
            Ok(target) => target.to_string(),
            Err(failure) => format!("error: {failure}"),
        }
    }

    #[tokio::test]
    async fn a_flag_wins_over_the_environment() {
        let environment = [("COOP_URL", "http://env:1"), ("COOP_SOCKET", "/env.sock")];
        let by_socket = Wish { socket: Some("/flag.sock".into()), ..Default::default() };
        assert_eq!(found(&by_socket, &environment).await, "/flag.sock");
        let by_url = Wish { url: Some(Target::parse("flag:2").unwrap()), ..Default::default() };
        assert_eq!(found(&by_url, &environment).await, "http://flag:2");
        assert_eq!(found(&Wish::default(), &environment).await, "http://env:1");
        assert_eq!(found(&Wish::default(), &[("COOP_URL", ""), environment[1]]).await, "/env.sock");
        assert!(found(&Wish::default(), &[("COOP_URL", "https://x")]).await.contains("COOP_URL: coop speaks plain"));
    }

    #[tokio::test]
    async fn the_only_session_needs_no_name_and_several_are_listed() {
        let scratch = Scratch::fresh();
        let dir = scratch.path("");
        let target = async || Wish::default().target(lookup(&[]), &dir).await;
        assert!(target().await.unwrap_err().to_string().contains("no session runs"));
        let first = scratch.path("coop-1.sock");
        let _first = UnixListener::bind(&first).unwrap();
        assert_eq!(target().await.unwrap(), Target::Socket(first.clone()));
        let _second = UnixListener::bind(scratch.path("coop-2.sock")).unwrap();
        let several = target().await.unwrap_err().to_string();
        assert!(several.contains("--socket") && several.contains(first.to_str().unwrap()), "{several}");
    }

    #[test]
    fn a_token_that_cannot_be_read_is_not_left_out_silently() {
        let wish = Wish { token_file: Some("/no/such/token".into()), ..Default::default() };
        let failure = wish.credentials(lookup(&[("COOP_AUTH_TOKEN", "t")])).unwrap_err().to_string();
        assert!(failure.contains("--token-file /no/such/token: No such file"), "{failure}");
        assert!(Wish { token: Some("".into()), ..Default::default() }.credentials(lookup(&[])).is_err());
        assert!(Wish::default().credentials(lookup(&[("COOP_AUTH_TOKEN", "")])).is_ok());
    }
}
