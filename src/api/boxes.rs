//! coop.v1.Boxes: what each call does with the boxes of this user.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::stream;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use super::error::{ApiError, Code};
use super::extensions::ExactText;
use super::streams::Messages;
use crate::boxes::{BoxError, Boxes, Known, Name, Told, is_live};
use crate::proto::v1::{self, boxes_server};
use crate::review::ReviewError;

type Answer<T> = Result<Response<T>, Status>;

/// The calls of the daemon. Cheap to clone.
#[derive(Clone)]
pub struct BoxesApi(Arc<Inner>);

struct Inner {
    boxes: Boxes,
    about: DaemonAbout,
    /// Tells the daemon to leave.
    leave: CancellationToken,
}

/// What the daemon says of itself.
#[derive(Clone, Debug)]
pub struct DaemonAbout {
    pub socket: PathBuf,
    pub started_at_ms: u64,
}

impl BoxesApi {
    pub fn new(boxes: Boxes, about: DaemonAbout, leave: CancellationToken) -> Self {
        Self(Arc::new(Inner { boxes, about, leave }))
    }

    pub fn boxes(&self) -> &Boxes {
        &self.0.boxes
    }

    fn known(&self) -> Known {
        self.0.boxes.index().known()
    }
}

#[tonic::async_trait]
impl boxes_server::Boxes for BoxesApi {
    type WatchBoxesStream = Messages<v1::BoxEvent>;
    type PullImageStream = Messages<v1::BuildProgress>;
    type BuildBoxStream = Messages<v1::BuildProgress>;

    async fn get_info(&self, _: Request<v1::GetInfoRequest>) -> Answer<v1::GetInfoResponse> {
        Ok(Response::new(v1::GetInfoResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            socket: self.0.about.socket.display().to_string(),
            home: self.0.boxes.home().path().display().to_string(),
            boxes: u32::try_from(self.known().len()).unwrap_or(u32::MAX),
            started_at_ms: self.0.about.started_at_ms,
        }))
    }

    async fn create_box(&self, request: Request<v1::CreateBoxRequest>) -> Answer<v1::Box> {
        let source = request.into_inner().source;
        let source = source.ok_or_else(|| ApiError::bad_request("source is missing: say at least its directory"))?;
        answer(self.0.boxes.create(source).await)
    }

    async fn get_box(&self, request: Request<v1::GetBoxRequest>) -> Answer<v1::Box> {
        answer(self.0.boxes.get(&request.get_ref().name))
    }

    async fn list_boxes(&self, _: Request<v1::ListBoxesRequest>) -> Answer<v1::ListBoxesResponse> {
        let boxes = self.known().values().map(|told| (**told).clone()).collect();
        Ok(Response::new(v1::ListBoxesResponse { boxes }))
    }

    async fn stop_box(&self, request: Request<v1::StopBoxRequest>) -> Answer<v1::Box> {
        let v1::StopBoxRequest { name, now } = request.into_inner();
        answer(self.0.boxes.stop(&name, now).await)
    }

    async fn restart_box(&self, request: Request<v1::RestartBoxRequest>) -> Answer<v1::Box> {
        answer(self.0.boxes.restart(&request.get_ref().name).await)
    }

    async fn delete_box(&self, request: Request<v1::DeleteBoxRequest>) -> Answer<v1::DeleteBoxResponse> {
        let v1::DeleteBoxRequest { name, force } = request.into_inner();
        answer(self.0.boxes.delete(&name, force).await.map(|()| v1::DeleteBoxResponse {}))
    }

    async fn watch_boxes(&self, _: Request<v1::WatchBoxesRequest>) -> Answer<Self::WatchBoxesStream> {
        Ok(Response::new(news(self.0.boxes.index().subscribe())))
    }

    async fn pull_image(&self, request: Request<v1::PullImageRequest>) -> Answer<Self::PullImageStream> {
        let (boxes, image) = (self.0.boxes.clone(), request.into_inner().image);
        Ok(Response::new(progress(move |told| async move { boxes.pull(image, told).await })))
    }

    async fn build_box(&self, request: Request<v1::BuildBoxRequest>) -> Answer<Self::BuildBoxStream> {
        let source = request.into_inner().source;
        let source = source.ok_or_else(|| ApiError::bad_request("source is missing: say at least its directory"))?;
        let boxes = self.0.boxes.clone();
        Ok(Response::new(progress(move |told| async move { boxes.build(source, told).await })))
    }

    async fn diff_workspace(&self, request: Request<v1::DiffWorkspaceRequest>) -> Answer<v1::DiffWorkspaceResponse> {
        let mut told = answer(self.0.boxes.diff(request.into_inner()).await)?;
        if let Some(exact) = told.get_ref().exact.clone() {
            told.extensions_mut().insert(ExactText(exact));
        }
        Ok(told)
    }

    async fn apply_workspace(&self, request: Request<v1::ApplyWorkspaceRequest>) -> Answer<v1::ApplyWorkspaceResponse> {
        answer(self.0.boxes.apply(request.into_inner()).await)
    }

    async fn discard_workspace(
        &self,
        request: Request<v1::DiscardWorkspaceRequest>,
    ) -> Answer<v1::DiscardWorkspaceResponse> {
        answer(self.0.boxes.discard(request.into_inner()).await)
    }

    async fn shutdown_daemon(&self, _: Request<v1::ShutdownDaemonRequest>) -> Answer<v1::ShutdownDaemonResponse> {
        let running = self.known().values().filter(|told| is_live(told)).count();
        self.0.leave.cancel();
        Ok(Response::new(v1::ShutdownDaemonResponse { running: u32::try_from(running).unwrap_or(u32::MAX) }))
    }
}

/// Progress that waits for its reader; who is slower than this misses steps in between, never the end.
const PROGRESS_MAX: usize = 256;

/// Does something that takes its time, and tells how far it is; the stream ends with it, or with its error. The work is
/// dropped when nobody reads any more.
fn progress<F, W>(work: F) -> Messages<v1::BuildProgress>
where
    F: FnOnce(Told) -> W,
    W: Future<Output = Result<(), BoxError>> + Send + 'static,
{
    let (tell, told) = mpsc::channel(PROGRESS_MAX);
    let steps = tell.clone();
    let work = work(Arc::new(move |step| drop(steps.try_send(Ok(step)))));
    tokio::spawn(async move {
        tokio::select! {
            done = work => if let Err(error) = done {
                // Whoever asked may have gone.
                let _ = tell.send(Err(ApiError::from(error).into())).await;
            },
            () = tell.closed() => {}
        }
    });
    Box::pin(ReceiverStream::new(told))
}

fn answer<T>(done: Result<T, BoxError>) -> Answer<T> {
    done.map(Response::new).map_err(|error| ApiError::from(error).into())
}

impl From<BoxError> for ApiError {
    fn from(error: BoxError) -> Self {
        let code = match &error {
            BoxError::Review(ReviewError::TooMany { .. }) => Code::TooLarge,
            BoxError::BadName(_)
            | BoxError::Unprepared(_)
            | BoxError::Unplaced(_)
            | BoxError::NotStarted { .. }
            | BoxError::NeverStarted { .. }
            | BoxError::NoOverlay { .. }
            | BoxError::Review(_) => Code::BadRequest,
            BoxError::NoSuchBox(_) => Code::NotFound,
            BoxError::Taken { .. }
            | BoxError::Running(_)
            | BoxError::Moving(_)
            | BoxError::Lingering { .. }
            | BoxError::Unapplied(_)
            | BoxError::Unseen(_)
            | BoxError::OtherGround(_) => Code::StateChanged,
            BoxError::Leaving => Code::NotReady,
            BoxError::Undying { .. }
            | BoxError::Unended { .. }
            | BoxError::Record(_)
            | BoxError::File { .. }
            | BoxError::Broken(_) => Code::Internal,
        };
        Self::new(code, error.to_string())
    }
}

/// What a follower has been told, and what it is about to be told.
struct Follower {
    changes: watch::Receiver<Known>,
    told: Known,
    next: VecDeque<v1::BoxEvent>,
}

/// All boxes, then each that changes. Who is slow is told how a box stands, not how it came there.
fn news(mut changes: watch::Receiver<Known>) -> Messages<v1::BoxEvent> {
    let told = changes.borrow_and_update().clone();
    let mut next: VecDeque<v1::BoxEvent> = told.values().map(|told| changed(told)).collect();
    next.push_back(v1::BoxEvent { all_told: true, ..Default::default() });
    Box::pin(stream::unfold(Follower { changes, told, next }, |mut follower| async move {
        loop {
            if let Some(event) = follower.next.pop_front() {
                return Some((Ok(event), follower));
            }
            follower.changes.changed().await.ok()?;
            let now = follower.changes.borrow_and_update().clone();
            follower.next.extend(difference(&follower.told, &now));
            follower.told = now;
        }
    }))
}

fn difference(before: &BTreeMap<Name, Arc<v1::Box>>, now: &BTreeMap<Name, Arc<v1::Box>>) -> Vec<v1::BoxEvent> {
    let gone = before.keys().filter(|name| !now.contains_key(name));
    let gone = gone.map(|name| v1::BoxEvent { removed: Some(name.to_string()), ..Default::default() });
    let news = now.iter().filter(|(name, told)| before.get(name) != Some(told));
    gone.chain(news.map(|(_, told)| changed(told))).collect()
}

fn changed(told: &v1::Box) -> v1::BoxEvent {
    v1::BoxEvent { changed: Some(told.clone()), ..Default::default() }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    fn known(boxes: &[(&str, u64)]) -> Known {
        let told = |name: &str, at| v1::Box { name: name.to_owned(), created_at_ms: at, ..Default::default() };
        Arc::new(boxes.iter().map(|(name, at)| (Name::parse(name).unwrap(), Arc::new(told(name, *at)))).collect())
    }

    fn short(event: &v1::BoxEvent) -> String {
        let changed = event.changed.as_ref().map(|told| format!("{}{}", told.name, told.created_at_ms));
        let removed = event.removed.as_ref().map(|name| format!("-{name}"));
        changed.or(removed).unwrap_or_else(|| "all".to_owned())
    }

    #[tokio::test]
    async fn a_follower_is_told_all_then_what_changes_comes_and_goes() {
        let boxes = watch::Sender::new(known(&[("a", 1), ("b", 1)]));
        let mut news = news(boxes.subscribe());
        let mut heard = Vec::new();
        for _ in 0..3 {
            heard.push(short(&news.next().await.unwrap().unwrap()));
        }
        boxes.send_replace(known(&[("a", 1), ("b", 2), ("c", 1)]));
        // What was between is not told to one who did not look.
        boxes.send_replace(known(&[("b", 3), ("c", 1)]));
        for _ in 0..3 {
            heard.push(short(&news.next().await.unwrap().unwrap()));
        }
        assert_eq!(heard, ["a1", "b1", "all", "-a", "b3", "c1"]);
        drop(boxes);
        assert!(news.next().await.is_none());
    }
}
