//! Finds the session that is meant among those that `screen -ls` lists.

use tokio::process::Command;

use super::SCREEN;
use crate::borrowed::CannotBorrow;
use crate::borrowed::run::run;

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub pid: u32,
    pub name: String,
    /// It left its socket behind.
    is_dead: bool,
}

/// The session that is meant.
pub async fn find(name: &str) -> Result<Session, CannotBorrow> {
    choose(&sessions().await?, name)
}

/// Whether a session is still there.
pub async fn is_there(pid: u32) -> bool {
    sessions().await.is_ok_and(|sessions| sessions.iter().any(|session| session.pid == pid && !session.is_dead))
}

async fn sessions() -> Result<Vec<Session>, CannotBorrow> {
    let mut command = Command::new(SCREEN);
    command.arg("-ls");
    // Its exit code says how many there are, in a way that changed with its versions.
    let output = run(SCREEN, command, b"").await?;
    let text = String::from_utf8_lossy(&output.stdout);
    let complaint = text.lines().find(|line| line.contains("Cannot") || line.contains("Permission denied"));
    if let Some(why) = complaint {
        return Err(CannotBorrow::Denied {
            what: "the directory of screen's sessions".to_owned(),
            why: why.to_owned(),
        });
    }
    Ok(text.lines().filter_map(Session::parse).collect())
}

impl Session {
    /// Reads `\t4711.name\t(date)\t(Detached)`.
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.strip_prefix('\t')?.split('\t');
        let (pid, name) = parts.next()?.split_once('.')?;
        let is_dead = parts.any(|part| part.to_ascii_lowercase().contains("dead"));
        Some(Self { pid: pid.parse().ok()?, name: name.to_owned(), is_dead })
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.pid.to_string() == name || format!("{}.{}", self.pid, self.name) == name
    }
}

fn choose(sessions: &[Session], name: &str) -> Result<Session, CannotBorrow> {
    let living: Vec<&Session> = sessions.iter().filter(|session| !session.is_dead).collect();
    let exact: Vec<&Session> = living.iter().copied().filter(|session| session.is_called(name)).collect();
    let begin = || living.iter().copied().filter(|session| session.name.starts_with(name)).collect::<Vec<_>>();
    let found = if exact.is_empty() { begin() } else { exact };
    let listed = |sessions: &[&Session]| {
        sessions.iter().map(|session| format!("{}.{}", session.pid, session.name)).collect::<Vec<_>>()
    };
    let what = format!("screen session {name:?}");
    match found.as_slice() {
        [session] => Ok((*session).clone()),
        [] => {
            let what = format!("{what} of your user");
            Err(CannotBorrow::NotFound { what, there: listed(&living) })
        }
        several => Err(CannotBorrow::Ambiguous { what, there: listed(several) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // As screen 4.09.00 lists them.
    const LIST: &str = "There are screens on:\n\t28608.foo\t(11/16/26 14:41:04)\t(Detached)\n\
        \t300.my.work\t(11/16/26 14:41:04)\t(Attached)\n\t301.foo\t(11/16/26 14:41:04)\t(Multi, detached)\n\
        \t9.gone\t(11/16/26 14:41:04)\t(Dead ???)\n4 Sockets in /run/screen/S-root.\n";

    fn found(name: &str) -> Result<u32, String> {
        let sessions: Vec<Session> = LIST.lines().filter_map(Session::parse).collect();
        choose(&sessions, name).map(|session| session.pid).map_err(|error| error.to_string())
    }

    #[test]
    fn a_session_is_found_by_every_name_it_has() {
        assert_eq!(found("my.work"), Ok(300));
        assert_eq!(found("my"), Ok(300));
        assert_eq!(found("301.foo"), Ok(301));
        assert_eq!(found("28608"), Ok(28608));
    }

    #[test]
    fn what_is_not_there_is_told_with_what_is() {
        let two = found("foo").unwrap_err();
        assert!(two.contains("several") && two.contains("28608.foo, 301.foo"), "{two}");
        let none = found("gone").unwrap_err();
        assert!(none.contains("\"gone\" of your user") && none.contains("300.my.work"), "{none}");
    }
}
