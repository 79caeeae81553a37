//! A daemon of an older version, as a newer client meets it.

use std::convert::Infallible;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bytes::{BufMut, Bytes, BytesMut};
use coop::proto::v1::{GetInfoResponse, ShutdownDaemonResponse};
use http_body_util::StreamBody;
use hyper::body::{Frame, Incoming};
use hyper::header::{HeaderMap, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use nix::sys::signal::Signal;
use prost::Message;
use tokio::net::UnixListener;
use tokio::sync::mpsc;

use super::user::User;
use crate::support::PATIENCE;

type Body = StreamBody<futures_util::stream::Iter<std::vec::IntoIter<Result<Frame<Bytes>, Infallible>>>>;

/// One message of gRPC, and the status that all went well.
fn answer(message: &impl Message) -> Response<Body> {
    let mut frame = BytesMut::new();
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.encoded_len()).unwrap());
    message.encode(&mut frame).unwrap();
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let frames = vec![Ok(Frame::data(frame.freeze())), Ok(Frame::trailers(trailers))];
    let body = StreamBody::new(futures_util::stream::iter(frames));
    Response::builder().header("content-type", "application/grpc").body(body).unwrap()
}

/// Serves until it is asked to leave; then its socket is gone. Tells each call that it got.
async fn older_daemon(listener: UnixListener, socket: &Path, version: &str, calls: mpsc::Sender<String>) {
    let (leave, mut leaves) = mpsc::channel(1);
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted.unwrap(),
            _ = leaves.recv() => break,
        };
        let (version, calls, leave) = (version.to_owned(), calls.clone(), leave.clone());
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let (version, calls, leave) = (version.clone(), calls.clone(), leave.clone());
            async move {
                let path = request.uri().path().to_owned();
                calls.send(path.clone()).await.unwrap();
                Ok::<_, Infallible>(if path.ends_with("/GetInfo") {
                    answer(&GetInfoResponse { version, pid: 1, ..Default::default() })
                } else {
                    leave.send(()).await.unwrap();
                    answer(&ShutdownDaemonResponse { running: 0 })
                })
            }
        });
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
    }
    std::fs::remove_file(socket).unwrap();
}

/// Meets a daemon of this version; which calls it got, and the version of the daemon that is there afterwards.
async fn meet(user: &User, version: &str) -> (Vec<String>, String) {
    std::fs::create_dir_all(user.sockets()).unwrap();
    std::fs::set_permissions(user.sockets(), PermissionsExt::from_mode(0o700)).unwrap();
    let socket = user.sockets().join("daemon.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let (calls, mut called) = mpsc::channel(16);
    let older = older_daemon(listener, &socket, version, calls);
    let client = async { user.daemon().await.info["version"].as_str().unwrap().to_owned() };
    let met = tokio::time::timeout(PATIENCE, async {
        tokio::pin!(older);
        tokio::pin!(client);
        tokio::select! {
            found = &mut client => found,
            () = &mut older => client.await,
        }
    });
    let found = met.await.expect("no daemon was reached");
    let mut all = Vec::new();
    while let Ok(call) = called.try_recv() {
        all.push(call.rsplit('/').next().unwrap().to_owned());
    }
    (all, found)
}

#[tokio::test]
async fn a_newer_client_asks_an_older_daemon_to_step_aside_and_starts_its_own() {
    let user = User::new();
    let first = user.daemon().await;
    let told = first.create(user.source("a", &["cat"])).await.ok();
    first.kill(Signal::SIGTERM);
    first.left().await;
    let (calls, found) = meet(&user, "0.0.1").await;
    assert_eq!(calls, ["GetInfo", "ShutdownDaemon"]);
    assert_eq!(found, env!("CARGO_PKG_VERSION"));
    let after = user.daemon().await.get_box("a").await;
    assert_eq!((&after["state"], &after["pid"]), (&told["state"], &told["pid"]), "its session has not noticed");
}

#[tokio::test]
async fn a_newer_daemon_stays() {
    let (calls, found) = meet(&User::new(), "99.0.0").await;
    assert_eq!((calls, found.as_str()), (vec!["GetInfo".to_owned()], "99.0.0"));
}
