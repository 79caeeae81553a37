//! What the tests of this room share: real programs, and waiting for what they say.

use std::{ffi::OsString, future::Future, time::Duration};

use bytes::BytesMut;
use tokio_util::sync::CancellationToken;

use super::{
    Child, Exit, Group, Input, Launch, Output, Size, Supervised, Tty,
    kin::{self, Kin},
    spawn,
    stat::Stat,
};

/// After this a wait has failed. Long, because it only matters when something is broken.
const HANGS_AFTER: Duration = Duration::from_secs(30);

/// A grace that no test lives to see end.
pub(super) const ENDLESS: Duration = Duration::from_secs(3600);

/// Fails instead of hanging.
pub(super) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANGS_AFTER, future).await.expect("this never happens")
}

pub(super) fn launch<const N: usize>(argv: [&str; N]) -> Launch {
    let argv = argv.map(OsString::from).into();
    let (env, env_remove, size) = (Vec::new(), Vec::new(), Size::new(80, 24).unwrap());
    Launch { argv, cwd: None, env, env_remove, bare: false, size }
}

pub(super) fn sh(script: &str) -> Launch {
    launch(["sh", "-c", script])
}

/// A child under supervision; what is left of it is killed with the test.
pub(super) struct Running {
    pub(super) pid: i32,
    pub(super) output: Output,
    pub(super) input: Input,
    pub(super) tty: Tty,
    pub(super) group: Group,
    pub(super) end: CancellationToken,
    pub(super) supervised: Supervised,
    kin: Kin,
    seen: BytesMut,
}

pub(super) fn start(launch: &Launch) -> Running {
    supervise(spawn(launch).unwrap(), ENDLESS)
}

pub(super) fn supervise(child: Child, grace: Duration) -> Running {
    let end = CancellationToken::new();
    let kin = child.process.kin();
    Running {
        pid: child.pid.cast_signed(),
        output: child.output,
        input: child.input,
        tty: child.tty,
        group: child.process.group(),
        supervised: child.process.with_grace(grace).supervise(None, end.clone()),
        end,
        kin,
        seen: BytesMut::new(),
    }
}

impl Running {
    /// Reads until the child has printed this, and returns what came before.
    pub(super) async fn until(&mut self, text: &str) -> String {
        loop {
            let seen = String::from_utf8_lossy(&self.seen).into_owned();
            if let Some((before, _)) = seen.split_once(text) {
                let _ = self.seen.split_to(before.len() + text.len());
                return before.to_owned();
            }
            let n = within(self.output.read(&mut self.seen, 65_536)).await.unwrap();
            assert!(n > 0, "the child ended before it printed {text:?}, after {seen:?}");
        }
    }

    /// Reads to the end, with plain line ends.
    pub(super) async fn rest(&mut self) -> String {
        while within(self.output.read(&mut self.seen, 65_536)).await.unwrap() > 0 {}
        String::from_utf8(self.seen.split().to_vec()).unwrap().replace("\r\n", "\n")
    }

    pub(super) async fn exit(&mut self) -> Exit {
        within(&mut self.supervised.exit).await.unwrap()
    }

    pub(super) async fn cleared(&mut self) {
        within(&mut self.supervised.cleared).await.unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Not by the supervision: its runtime ends with the test.
        kin::kill(&self.kin.groups());
    }
}

/// Runs to the end and returns what was printed.
pub(super) async fn printed(launch: &Launch) -> String {
    start(launch).rest().await
}

pub(super) fn alive(pid: i32) -> bool {
    Stat::of(pid).is_some_and(|stat| stat.alive)
}
