//! The doctor, without a real agent: what is missing is said, and whatever happens, nothing is left behind.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::support::{Ended, PATIENCE, Scratch, binary, finished, nothing_is_left_in, run_coop};

#[tokio::test]
async fn a_missing_program_is_told_with_the_way_out() {
    let scratch = Scratch::new();
    let temp = [("TMPDIR", scratch.dir().to_str().unwrap())];
    let ended = run_coop(&["doctor", "--agent", "claude", "--", "/no/such/claude"], &temp).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let told = ended.text();
    assert!(told.contains("/no/such/claude is not there") && told.contains("npm install -g @anthropic-ai"), "{told}");
    let nowhere = [("TMPDIR", temp[0].1), ("PATH", "/no/such")];
    let ended = run_coop(&["doctor", "--agent", "claude", "--json"], &nowhere).await;
    let (report, first) = (ended.json(), ended.json()["checks"][0].clone());
    assert_eq!((ended.code, &report["ok"], &report["version"]), (Some(1), &json!(false), &json!(null)));
    assert_eq!((&first["name"], &first["outcome"]), (&json!("program"), &json!("fails")));
    assert_eq!(first["detail"], "claude is not in PATH");
    assert!(report["checks"].as_array().unwrap()[1..].iter().all(|check| check["outcome"] == "not_tried"));
    nothing_is_left_in(&scratch).await;
}

/// The doctor of the machine itself, which leaves no file in a home that is there already.
async fn machine(scratch: &Scratch, words: &[&str], path: &str) -> Ended {
    let (home, run) = (scratch.path("home"), scratch.path("run"));
    let variables = [("COOP_HOME", home.to_str().unwrap()), ("XDG_RUNTIME_DIR", run.to_str().unwrap()), ("PATH", path)];
    run_coop(&[&["doctor"], words].concat(), &variables).await
}

fn names_of(report: &Value, outcome: &str) -> Vec<String> {
    let checks = report["checks"].as_array().unwrap().iter().filter(|check| check["outcome"] == outcome);
    checks.map(|check| check["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn without_an_agent_the_doctor_tries_what_the_machine_can_do_for_boxes() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("run")).unwrap();
    let claude = scratch.file("claude", "");
    std::fs::set_permissions(&claude, PermissionsExt::from_mode(0o755)).unwrap();
    let path = scratch.dir().to_str().unwrap();
    let ended = machine(&scratch, &["--json"], path).await;
    let report = ended.json();
    assert_eq!((ended.code, &report["ok"], ended.err.as_str()), (Some(0), &json!(true), ""), "{report}");
    let works = names_of(&report, "works");
    for name in
        ["files of boxes", "sockets", "user namespaces", "user map", "mounts", "/proc", "confinement", "overlay"]
    {
        assert!(works.iter().any(|known| known == name), "{name}: {report}");
    }
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["outcome"] == "works" || check["hint"].is_string()), "{report}");
    assert_eq!(report["agents"][0], json!({"agent": "claude", "program": claude}));
    assert_eq!(report["agents"][1], json!({"agent": "codex", "program": null}));
    let left = |dir: &str| std::fs::read_dir(scratch.path(dir)).unwrap().flatten().map(|e| e.file_name()).collect();
    let (home, sockets): (Vec<_>, Vec<_>) = (left("home"), left("run/coop"));
    assert_eq!((home, sockets.len()), (vec!["sessions".into()], 0), "nothing that was tried stays");

    let ended = machine(&scratch, &[], path).await;
    let text = ended.ok();
    assert!(text.contains("✓ user namespaces") && text.contains("\nboxes can be made here"), "{text}");
    assert!(text.contains(&format!("claude is {claude}: `coop doctor --agent claude`")), "{text}");
    assert!(text.contains("codex is not in PATH: `npm install -g"), "{text}");
}

#[tokio::test]
async fn a_machine_that_makes_no_boxes_is_told_with_what_to_mend() {
    let scratch = Scratch::new();
    scratch.file("home", "in the way");
    // Others could put a socket there.
    std::fs::create_dir_all(scratch.path("run/coop")).unwrap();
    std::fs::set_permissions(scratch.path("run/coop"), PermissionsExt::from_mode(0o755)).unwrap();
    let ended = machine(&scratch, &[], "/usr/bin").await;
    let text = ended.text();
    assert!(ended.code == Some(1) && text.contains("no box can be made here"), "{ended:?}");
    let way_out = |name: &str| {
        let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("✗ {name}")));
        lines.nth(1).unwrap_or_else(|| panic!("{name} does not fail: {text}")).to_owned()
    };
    assert!(way_out("files of boxes").contains("COOP_HOME"), "{text}");
    assert!(way_out("sockets").contains("XDG_RUNTIME_DIR"), "{text}");
    let ended = machine(&scratch, &["--json"], "/usr/bin").await;
    assert_eq!((ended.code, &ended.json()["ok"]), (Some(1), &json!(false)));
    assert_eq!(names_of(&ended.json(), "fails")[..2], ["files of boxes", "sockets"]);
}

/// As in a container that forbids namespaces: there the limit of namespaces is nothing.
#[tokio::test]
async fn a_kernel_that_forbids_namespaces_is_told_with_its_setting() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("run")).unwrap();
    let mut command = tokio::process::Command::new("unshare");
    let script = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$0\" doctor --json";
    command.args(["--user", "--map-root-user", "sh", "-c", script]).arg(binary());
    command.env("COOP_HOME", scratch.path("home")).env("XDG_RUNTIME_DIR", scratch.path("run"));
    let ended = finished(command).await;
    let report = ended.json();
    assert_eq!((ended.code, &report["ok"]), (Some(1), &json!(false)), "{report}");
    let of = |name: &str| report["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap();
    for name in ["user namespaces", "kernel settings"] {
        let hint = of(name)["hint"].as_str().unwrap();
        assert!(hint.contains("sysctl -w user.max_user_namespaces"), "{report}");
    }
    assert_eq!(of("kernel settings")["detail"], "user.max_user_namespaces is 0");
    assert_eq!(of("overlay")["outcome"], "not_tried");
}

#[tokio::test]
async fn a_command_without_its_agent_is_wrong_usage() {
    let ended = run_coop(&["doctor", "--", "claude"], &[]).await;
    assert!(ended.code == Some(2) && ended.err.contains("--agent"), "{ended:?}");
}

#[tokio::test]
async fn an_agent_that_ends_at_once_is_told_with_its_last_words() {
    let scratch = Scratch::new();
    let temp = [("TMPDIR", scratch.dir().to_str().unwrap())];
    let ended = run_coop(&["doctor", "--agent", "claude", "--", "sh", "-c", "echo no licence; exit 3"], &temp).await;
    let told = ended.text();
    assert!(ended.code == Some(1) && told.contains("exit code 3") && told.contains("│ no licence"), "{told}");
    nothing_is_left_in(&scratch).await;
}

#[tokio::test]
async fn an_interrupted_doctor_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let mut command = tokio::process::Command::new(binary());
    command.args(["doctor", "--agent", "claude", "--", "sh", "-c", "touch begun; sleep 1000"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut doctor = command.env("TMPDIR", scratch.dir()).kill_on_drop(true).spawn().unwrap();
    let begun = async {
        let has_begun =
            || std::fs::read_dir(scratch.dir()).unwrap().flatten().any(|d| d.path().join("work/begun").exists());
        while !has_begun() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, begun).await.expect("the agent starts");
    kill(Pid::from_raw(doctor.id().unwrap().cast_signed()), Signal::SIGINT).unwrap();
    let status = tokio::time::timeout(PATIENCE, doctor.wait()).await.expect("the doctor ends").unwrap();
    assert_eq!(status.code(), Some(1));
    nothing_is_left_in(&scratch).await;
}
