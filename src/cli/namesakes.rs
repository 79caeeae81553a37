//! Sessions of one name: whoever starts the second is told, because verbs will not know which one is meant.

use std::path::PathBuf;

use crate::api::Secret;
use crate::client::{Credentials, Found, sessions};
use crate::config;

/// Warns in the log when another session is called as this one, which listens on `socket`. One with a token of its own
/// does not tell its name.
pub async fn warn(name: Option<String>, socket: PathBuf, token: Option<Secret>) {
    let dir = config::runtime_dir();
    // By its name it is only found there.
    let Some(name) = name.filter(|_| socket.parent() == Some(&*dir)) else { return };
    let Ok(credentials) = Credentials::new(token.as_ref(), None) else { return };
    let Ok(found) = sessions(&dir, &credentials).await else { return };
    let others = found.iter().filter(|other| other.socket != socket && other.label() == Some(&name));
    let others: Vec<String> = others.map(Found::number).collect();
    if !others.is_empty() {
        let own = std::process::id();
        tracing::warn!(
            "another session is called {name:?}, too: {}; verbs tell them apart by number only, such as --session {own} \
             for this one: give each its own --label name=NAME",
            others.join(", ")
        );
    }
}
