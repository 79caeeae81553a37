//! What the verbs make of answers: with a stand-in for the daemon, so that every answer can be had.

use std::os::unix::fs::DirBuilderExt;
use std::sync::{Arc, Mutex};

use coop::api::{ApiError, Code};
use coop::proto::v1::boxes_server::{Boxes, BoxesServer};
use coop::proto::v1::{self, ChangeKind, WorkspaceMode};
use coop::serve::{Connections, bind_unix, serve};
use futures_util::stream::{self, BoxStream};
use serde_json::json;
use tonic::{Request, Response, Status};

use super::user::User;

type Answer<T> = Result<Response<T>, Status>;

/// Answers as it was told, and keeps what it was asked.
#[derive(Clone, Default)]
struct StandIn {
    boxes: Vec<v1::Box>,
    changes: Vec<v1::WorkspaceChange>,
    text: String,
    progress: Vec<v1::BuildProgress>,
    /// What is said to a wish for a box.
    refusal: Option<String>,
    refused_paths: Vec<String>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl StandIn {
    fn note(&self, asked: String) {
        self.asked.lock().unwrap().push(asked);
    }

    fn was_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    /// Listens where this user's verbs look for a daemon; it ends with the returned value.
    fn serve(&self, user: &User) -> Served {
        let mut private = std::fs::DirBuilder::new();
        private.recursive(true).mode(0o700).create(user.sockets()).unwrap();
        let listener = bind_unix(&user.sockets().join("daemon.sock")).unwrap();
        let router = tonic::service::Routes::new(BoxesServer::new(self.clone())).into_axum_router();
        let connections = Connections::default();
        tokio::spawn(serve(listener, router, connections.clone()));
        Served(connections)
    }
}

struct Served(Connections);

impl Drop for Served {
    fn drop(&mut self) {
        self.0.closing.cancel();
    }
}

fn no<T>() -> Answer<T> {
    Err(Status::internal("nobody asks for this here"))
}

#[tonic::async_trait]
impl Boxes for StandIn {
    type WatchBoxesStream = BoxStream<'static, Result<v1::BoxEvent, Status>>;
    type PullImageStream = BoxStream<'static, Result<v1::BuildProgress, Status>>;
    type BuildBoxStream = BoxStream<'static, Result<v1::BuildProgress, Status>>;

    async fn get_info(&self, _: Request<v1::GetInfoRequest>) -> Answer<v1::GetInfoResponse> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Response::new(v1::GetInfoResponse { version, pid: std::process::id(), ..Default::default() }))
    }

    async fn create_box(&self, request: Request<v1::CreateBoxRequest>) -> Answer<v1::Box> {
        if let Some(refusal) = &self.refusal {
            return Err(ApiError::new(Code::Forbidden, refusal.clone()).into());
        }
        let source = request.into_inner().source.unwrap();
        let json = serde_json::to_value(&source).unwrap();
        self.note(format!("{} {} {}", json["image"], json["network"], json["workspace_mode"]));
        let warnings = vec!["no cgroup: limits are not enforced".to_owned()];
        Ok(Response::new(v1::Box { name: source.name, workspace: source.directory, warnings, ..Default::default() }))
    }

    async fn get_box(&self, _: Request<v1::GetBoxRequest>) -> Answer<v1::Box> {
        no()
    }

    async fn list_boxes(&self, _: Request<v1::ListBoxesRequest>) -> Answer<v1::ListBoxesResponse> {
        Ok(Response::new(v1::ListBoxesResponse { boxes: self.boxes.clone() }))
    }

    async fn stop_box(&self, _: Request<v1::StopBoxRequest>) -> Answer<v1::Box> {
        no()
    }

    async fn restart_box(&self, _: Request<v1::RestartBoxRequest>) -> Answer<v1::Box> {
        no()
    }

    async fn delete_box(&self, _: Request<v1::DeleteBoxRequest>) -> Answer<v1::DeleteBoxResponse> {
        no()
    }

    async fn watch_boxes(&self, _: Request<v1::WatchBoxesRequest>) -> Answer<Self::WatchBoxesStream> {
        no()
    }

    async fn pull_image(&self, _: Request<v1::PullImageRequest>) -> Answer<Self::PullImageStream> {
        no()
    }

    async fn build_box(&self, _: Request<v1::BuildBoxRequest>) -> Answer<Self::BuildBoxStream> {
        Ok(Response::new(Box::pin(stream::iter(self.progress.clone().into_iter().map(Ok)))))
    }

    async fn diff_workspace(&self, request: Request<v1::DiffWorkspaceRequest>) -> Answer<v1::DiffWorkspaceResponse> {
        let v1::DiffWorkspaceRequest { name, paths, names_only } = request.into_inner();
        self.note(format!("diff {name} {}", paths.join(" ")));
        let within = |change: &&v1::WorkspaceChange| {
            paths.is_empty() || paths.iter().any(|path| std::path::Path::new(&change.path).starts_with(path))
        };
        let changes = self.changes.iter().filter(within).cloned().collect();
        let text = if names_only { String::new() } else { self.text.clone() };
        Ok(Response::new(v1::DiffWorkspaceResponse { changes, text, is_cut: false, exact: None }))
    }

    async fn apply_workspace(&self, request: Request<v1::ApplyWorkspaceRequest>) -> Answer<v1::ApplyWorkspaceResponse> {
        let v1::ApplyWorkspaceRequest { name, paths, force } = request.into_inner();
        self.note(format!("apply {name} {} force={force}", paths.join(" ")));
        let refused = self.refused_paths.clone();
        Ok(Response::new(v1::ApplyWorkspaceResponse { applied: vec!["a.txt".into()], refused }))
    }

    async fn discard_workspace(
        &self,
        request: Request<v1::DiscardWorkspaceRequest>,
    ) -> Answer<v1::DiscardWorkspaceResponse> {
        let v1::DiscardWorkspaceRequest { name, paths } = request.into_inner();
        self.note(format!("discard {name} {}", paths.join(" ")));
        Ok(Response::new(v1::DiscardWorkspaceResponse { discarded: vec!["a.txt".into()] }))
    }

    async fn shutdown_daemon(&self, _: Request<v1::ShutdownDaemonRequest>) -> Answer<v1::ShutdownDaemonResponse> {
        no()
    }
}

/// One box with an overlay over the project, in which two files were changed.
fn changed(user: &User) -> StandIn {
    let one = v1::Box {
        name: "red".into(),
        workspace: user.project(),
        workspace_mode: WorkspaceMode::Overlay.into(),
        ..Default::default()
    };
    let change = |path: &str, kind: ChangeKind| v1::WorkspaceChange { path: path.into(), kind: kind.into() };
    StandIn {
        boxes: vec![one],
        changes: vec![change("a.txt", ChangeKind::Modified), change("src/new.rs", ChangeKind::Added)],
        text: "diff --git a/a.txt b/a.txt\n-old\x1b[2J\n+new\n".into(),
        ..Default::default()
    }
}

#[tokio::test]
async fn a_diff_is_printed_as_it_is_in_names_or_as_json() {
    let user = User::new();
    let daemon = changed(&user);
    let _served = daemon.serve(&user);
    assert_eq!(user.run(&["diff", "red"]).await.ok(), daemon.text, "a program has every byte of it");
    assert_eq!(user.run(&["diff", "--names"]).await.ok(), "M a.txt\nA src/new.rs\n");
    assert_eq!(user.run(&["diff", "red", "src", "--json", "--names"]).await.json()["changes"][0]["path"], "src/new.rs");
    let colored = user.run(&["diff", "--color"]).await.ok();
    assert!(colored.contains("\x1b[32m+new\x1b[0m"), "{colored:?}");
}

#[tokio::test]
async fn nothing_is_written_or_thrown_away_unasked() {
    let user = User::new();
    let daemon = changed(&user);
    let _served = daemon.serve(&user);
    for verb in ["apply", "discard"] {
        let ended = user.run(&[verb, "red"]).await;
        assert_eq!((ended.code, ended.out.len()), (Some(1), 0), "{ended:?}");
        assert!(ended.err.contains("M a.txt") && ended.err.ends_with("add --yes\n"), "{ended:?}");
        let ended = user.run(&[verb, "red", "no/such", "--yes"]).await;
        assert!(ended.complaint().contains("nothing was changed at \"no/such\""), "{ended:?}");
        let ended = user.run(&[verb, "red", "/etc/passwd", "--yes"]).await;
        assert!(ended.complaint().contains("not in the workspace"), "{ended:?}");
    }
    assert!(daemon.was_asked().iter().all(|asked| asked.starts_with("diff")), "only looked at");

    assert_eq!(user.run(&["apply", "red", "a.txt", "--yes"]).await.ok(), "applied a.txt\n");
    assert_eq!(daemon.was_asked().last().unwrap(), "apply red a.txt force=false");
    assert_eq!(user.run(&["discard", "--yes", "src"]).await.ok(), "discarded a.txt\n");
    assert_eq!(daemon.was_asked().last().unwrap(), "discard red src");
}

#[tokio::test]
async fn what_was_left_alone_is_told_and_fails() {
    let user = User::new();
    let daemon = StandIn { refused_paths: vec!["b.txt".into()], ..changed(&user) };
    let _served = daemon.serve(&user);
    let ended = user.run(&["apply", "red", "--yes"]).await;
    assert_eq!((ended.code, ended.text().as_str()), (Some(1), "applied a.txt\n"));
    assert!(ended.err.contains("b.txt") && ended.err.contains("--force"), "{ended:?}");
    let json = user.run(&["apply", "red", "--yes", "--json"]).await.json();
    assert_eq!(json, json!({"applied": ["a.txt"], "refused": ["b.txt"]}));
}

#[tokio::test]
async fn up_tells_how_far_it_is_what_is_not_enforced_and_what_was_made() {
    let user = User::new();
    let step = |step: &str, what: &str, line: Option<&str>| v1::BuildProgress {
        step: step.into(),
        what: what.into(),
        line: line.map(str::to_owned),
        ..Default::default()
    };
    let progress = vec![
        step("resolve", "debian:12", None),
        step("setup", "make tools", None),
        step("setup", "make tools", Some("built \x1b[2J")),
        step("done", "", None),
    ];
    let daemon = StandIn { progress, ..Default::default() };
    let _served = daemon.serve(&user);
    let project = user.project();
    let flags = ["--image", "debian:12", "--network", "none", "--workspace", "overlay"];
    let ended = user.run(&[&["up", &project, "--name", "red", "-d"], &flags[..]].concat()).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let told = "resolve debian:12\nsetup   make tools\n  built \\u{1b}[2J\n\
                coop: warning: no cgroup: limits are not enforced\n";
    assert_eq!(ended.err, told);
    assert!(ended.text().starts_with("box red runs"), "{ended:?}");
    assert_eq!(daemon.was_asked(), [r#""debian:12" "none" "overlay""#]);
    let ended = user.run(&["up", &project, "--name", "red", "--json"]).await;
    assert_eq!(ended.err, "", "nothing but the result");
    assert_eq!(ended.json()["warnings"][0], "no cgroup: limits are not enforced");
}

#[tokio::test]
async fn what_a_file_asks_for_is_listed_line_by_line() {
    let user = User::new();
    let refusal =
        "coop.toml asks for more than a box gets by itself:\n  line 3: it mounts /etc\x1b[2J\nsay `coop trust`";
    let daemon = StandIn { refusal: Some(refusal.into()), ..Default::default() };
    let _served = daemon.serve(&user);
    let ended = user.run(&["up", &user.project(), "-d"]).await;
    assert_eq!((ended.code, ended.out.len()), (Some(1), 0));
    let lines: Vec<&str> = ended.err.lines().collect();
    assert_eq!(
        lines,
        [
            "coop: coop.toml asks for more than a box gets by itself:",
            "  line 3: it mounts /etc\\u{1b}[2J",
            "say `coop trust`"
        ]
    );
}

#[tokio::test]
async fn a_file_is_written_once_trusted_by_its_bytes_and_the_trust_taken_back() {
    let user = User::new();
    let project = user.project();
    assert!(user.run(&["trust", &project]).await.complaint().contains("no coop.toml"));
    let text = user.run(&["init", &project, "--agent", "codex"]).await.ok();
    assert!(text.contains("coop.toml: read it"), "{text}");
    assert!(user.run(&["init", &project]).await.complaint().contains("is there already"));
    assert!(user.run(&["trust", &project]).await.ok().contains("asks for nothing"));

    std::fs::write(user.scratch.path("project/coop.toml"), "[box]\nsetup = [\"make tools\"]\n").unwrap();
    let ended = user.run(&["trust", &project]).await;
    assert!(
        ended.code == Some(1) && ended.err.contains("line 2: it ") && ended.err.ends_with("add --yes\n"),
        "{ended:?}"
    );
    let ended = user.run(&["trust", &project, "--yes"]).await;
    assert!(ended.text().contains("is trusted, as it is now"), "{ended:?}");
    assert!(user.run(&["trust", &project]).await.ok().contains("trusted already"));
    assert!(user.run(&["trust", "--list"]).await.ok().contains("project/coop.toml"));
    assert!(user.run(&["trust", &project, "--revoke"]).await.ok().contains("not trusted any more"));
    assert_eq!(user.run(&["trust", "--list", "--json"]).await.json(), json!({"files": []}));
}
