//! coop as the first process of a container, which adopts what nobody waits for.

use tokio::process::Command;

use crate::support::{Ended, binary, finished};

/// A container as far as this is about: processes of its own.
const ALONE: [&str; 6] = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];

/// Ends with 0 once there are orphans' ends that were taken, and with 1 if they stay.
const LEAVES_ORPHANS: &str = r#"
zombies() { grep -hE '^State:\s+Z' /proc/[0-9]*/status 2>/dev/null | wc -l; }
# Over when the last of them has let go of the pipe.
for n in 1 2 3; do (sleep 0.1 & sleep 0.1 &); done | cat
for look in $(seq 100); do [ "$(zombies)" = 0 ] && exit 0; sleep 0.1; done
ps -ef; exit 1"#;

async fn contained(flags: &[&str], script: &str) -> Option<Ended> {
    let may = Command::new("unshare").args(ALONE).arg("true").output().await;
    if !may.is_ok_and(|may| may.status.success()) {
        eprintln!("skipped: this machine makes no namespaces for us");
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(ALONE).arg(binary()).args(flags).args(["--", "bash", "--norc", "-c", script]);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COOP")) {
        command.env_remove(name);
    }
    Some(finished(command).await)
}

#[tokio::test]
async fn orphans_that_end_do_not_stay_as_zombies() {
    let Some(ended) = contained(&["--port", "0", "--exit-with-child"], LEAVES_ORPHANS).await else { return };
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[tokio::test]
async fn the_exit_code_is_the_childs_and_a_signal_reaches_coop() {
    let Some(ended) = contained(&["--port", "0", "--exit-with-child"], "exit 7").await else { return };
    assert_eq!(ended.code, Some(7), "{ended:?}");
    let asked = contained(&["--port", "0"], "kill -TERM 1; sleep 1000").await.unwrap();
    assert!(asked.code == Some(0) && asked.err.contains("asked to leave"), "{asked:?}");
}
