//! Sessions of GNU screen that are not ours: each user's sockets are in a directory `S-USER` beside those of the others.

use std::path::Path;

/// Begins the name of a user's directory.
const OF_USER: &str = "S-";

/// Other users who may be meant.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// They have a session of that name.
    pub has_it: Vec<String>,
    /// Which sessions they have cannot be seen.
    pub hidden: Vec<String>,
}

/// Looks beside our own directory, which `screen -ls` names in its last words.
pub fn others(listed: &str, name: &str) -> Others {
    let Some(own) = listed.lines().find_map(directory) else { return Others::default() };
    let own = Path::new(own);
    let beside = own.parent().and_then(|all| std::fs::read_dir(all).ok()).into_iter().flatten().flatten();
    let mut others = Others::default();
    for entry in beside.filter(|entry| entry.path() != own) {
        let directory = entry.file_name();
        let Some(user) = directory.to_str().and_then(|name| name.strip_prefix(OF_USER)) else { continue };
        match std::fs::read_dir(entry.path()) {
            Err(_) => others.hidden.push(user.to_owned()),
            Ok(mut sockets) => {
                let is_it =
                    |socket: &str| socket == name || socket.split_once('.').is_some_and(|(_, called)| called == name);
                let has_it =
                    sockets.any(|socket| socket.is_ok_and(|socket| socket.file_name().to_str().is_some_and(is_it)));
                others.has_it.extend(has_it.then(|| user.to_owned()));
            }
        }
    }
    others.has_it.sort();
    others.hidden.sort();
    others
}

/// Reads `1 Socket in /run/screen/S-root.` and `No Sockets found in /run/screen/S-root.`.
fn directory(line: &str) -> Option<&str> {
    let (words, path) = line.trim_end().split_once(" in /")?;
    let path = &line[words.len() + " in ".len()..][..path.trim_end_matches('.').len() + 1];
    words.contains("Socket").then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scratch;

    #[test]
    fn who_has_a_session_of_that_name_is_seen_where_it_may_be() {
        let scratch = Scratch::fresh();
        for (user, session) in [("me", "1.mine"), ("alice", "2.work"), ("bob", "3.other")] {
            let directory = scratch.path(&format!("S-{user}"));
            std::fs::create_dir(&directory).unwrap();
            std::fs::write(directory.join(session), "").unwrap();
        }
        std::fs::write(scratch.path("S-file"), "").unwrap();
        let own = scratch.path("S-me");
        let expected = |has_it: &[&str]| Others {
            has_it: has_it.iter().map(|user| (*user).to_owned()).collect(),
            hidden: vec!["file".to_owned()],
        };
        for listed in
            [format!("No Sockets found in {}.\n\n", own.display()), format!("1 Socket in {}.\n", own.display())]
        {
            assert_eq!(others(&listed, "work"), expected(&["alice"]));
            assert_eq!(others(&listed, "2.work"), expected(&["alice"]));
            assert_eq!(others(&listed, "mine"), expected(&[]));
        }
        assert_eq!(others("nothing of the kind", "work"), Others::default());
    }
}
