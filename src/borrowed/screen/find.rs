//! Finds the session that is meant among those that `screen -ls` lists.

use tokio::process::Command;

use super::SCREEN;
use super::others::{Others, others};
use crate::borrowed::CannotBorrow;
use crate::borrowed::run::run;

/// What screen says (4.09) when the directory of sockets is not for us.
const COMPLAINTS: [&str; 3] = ["Cannot", "Permission denied", "You are not the owner"];

/// Ends what is told of a session that was looked for among our own only.
const OF_YOURS: &str = " of your user";

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
    let listed = list().await?;
    let sessions: Vec<Session> = listed.lines().filter_map(Session::parse).collect();
    choose(&sessions, name).map_err(|error| explain(error, &others(&listed, name)))
}

/// What is not there may be somebody else's.
fn explain(error: CannotBorrow, others: &Others) -> CannotBorrow {
    match error {
        CannotBorrow::NotFound { what, .. } if !others.has_it.is_empty() => {
            let what = what.trim_end_matches(OF_YOURS).to_owned();
            CannotBorrow::Denied {
                what: format!("the {what}"),
                why: format!("it belongs to {}", others.has_it.join(", ")),
            }
        }
        CannotBorrow::NotFound { what, there } if !others.hidden.is_empty() => {
            let hidden = others.hidden.join(", ");
            let what =
                format!("{what}, and those of {hidden} are not for you: run coop as the user whose session it is");
            CannotBorrow::NotFound { what, there }
        }
        error => error,
    }
}

/// What `screen -ls` says.
async fn list() -> Result<String, CannotBorrow> {
    let mut command = Command::new(SCREEN);
    command.arg("-ls");
    // Its exit code says how many there are, in a way that changed with its versions.
    let output = run(SCREEN, command, b"").await?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if let Some(why) = complaint(&text) {
        return Err(CannotBorrow::Denied {
            what: "the directory of screen's sessions".to_owned(),
            why: why.to_owned(),
        });
    }
    Ok(text)
}

/// What screen complains of. A session may be called anything, and complains of nothing.
fn complaint(listed: &str) -> Option<&str> {
    let mut said = listed.lines().filter(|line| Session::parse(line).is_none());
    said.find(|line| COMPLAINTS.iter().any(|complaint| line.contains(complaint)))
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
    // Not what only begins so, as with screen itself: what is meant for a session that has ended would go to another.
    let found: Vec<&Session> = living.iter().copied().filter(|session| session.is_called(name)).collect();
    let listed = |sessions: &[&Session]| {
        sessions.iter().map(|session| format!("{}.{}", session.pid, session.name)).collect::<Vec<_>>()
    };
    let what = format!("screen session {name:?}");
    match found.as_slice() {
        [session] => Ok((*session).clone()),
        [] => {
            let what = format!("{what}{OF_YOURS}");
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
        assert_eq!(found("300"), Ok(300));
        assert_eq!(found("301.foo"), Ok(301));
        assert_eq!(found("28608"), Ok(28608));
    }

    #[test]
    fn what_is_somebody_elses_is_told_with_their_name() {
        let sessions: Vec<Session> = LIST.lines().filter_map(Session::parse).collect();
        let told = |others: Others| explain(choose(&sessions, "work").unwrap_err(), &others).to_string();
        let alice = || vec!["alice".to_owned()];
        let seen = told(Others { has_it: alice(), hidden: Vec::new() });
        assert_eq!(
            seen,
            "the screen session \"work\" may not be used by you (it belongs to alice): run coop as the user whose session it is"
        );
        let unseen = told(Others { has_it: Vec::new(), hidden: alice() });
        assert!(unseen.contains("those of alice are not for you") && unseen.contains("300.my.work"), "{unseen}");
    }

    #[test]
    fn a_session_with_the_name_of_a_complaint_is_none() {
        let named = LIST.replace("my.work", "Cannot wait, Permission denied");
        assert_eq!(complaint(&named), None);
        let denied = "Cannot open /run/screen/S-root: Permission denied\n";
        assert_eq!(complaint(&format!("{named}{denied}")), Some(denied.trim_end()));
    }

    #[test]
    fn what_is_not_there_is_told_with_what_is() {
        let two = found("foo").unwrap_err();
        assert!(two.contains("several") && two.contains("28608.foo, 301.foo"), "{two}");
        assert!(found("my").unwrap_err().contains("300.my.work"), "a beginning is not the name");
        let none = found("gone").unwrap_err();
        assert!(none.contains("\"gone\" of your user") && none.contains("300.my.work"), "{none}");
    }
}
