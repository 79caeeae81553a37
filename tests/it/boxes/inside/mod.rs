//! What a coop.toml promises, kept by the box that `coop up` makes of it, as it is seen from inside.

pub(super) mod image;
mod images;
mod mistakes;
mod network;
mod powers;
mod review;
mod workspace;

use serde_json::Value;

use super::user::User;
use crate::support::Ended;

/// The box of these tests.
const NAME: &str = "red";

impl User {
    /// Writes the project's coop.toml, and trusts it.
    async fn says(&self, toml: &str) {
        self.scratch.file("project/coop.toml", toml);
        let trusted = self.run(&["trust", &self.project(), "--yes"]).await;
        assert_eq!(trusted.code, Some(0), "{trusted:?}");
    }

    /// `coop up` in the project, for a box that runs on.
    async fn tries(&self, words: &[&str]) -> Ended {
        self.run(&[&["up", &self.project(), "--name", NAME], words].concat()).await
    }

    /// The box of this coop.toml, as it is told. It runs `cat`, unless the file says otherwise.
    async fn has(&self, toml: &str) -> Value {
        self.says(toml).await;
        let made = self.tries(&["--json", "--", "cat"]).await;
        assert_eq!(made.code, Some(0), "{made:?}");
        made.json()
    }

    /// A script in the box.
    async fn inside(&self, script: &str) -> Ended {
        self.run(&["shell", NAME, "--", "/bin/sh", "-c", script]).await
    }

    /// What a script in the box prints that must succeed.
    async fn told(&self, script: &str) -> String {
        let ended = self.inside(script).await;
        assert_eq!(ended.code, Some(0), "{script}: {ended:?}");
        ended.text().replace("\r\n", "\n").trim_end().to_owned()
    }

    /// What a script in the box prints that must fail.
    async fn fails(&self, script: &str) -> String {
        let ended = self.inside(script).await;
        assert!(ended.code.is_some_and(|code| code != 0), "{script}: {ended:?}");
        format!("{}{}", ended.text(), ended.err)
    }

    async fn restarts(&self) {
        let again = self.run(&["restart", NAME]).await;
        assert_eq!(again.code, Some(0), "{again:?}");
    }

    fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.scratch.path("project").join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}
