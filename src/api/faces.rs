//! Who follows the session, and through which face.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt;

use super::extensions::WantsJson;
use super::streams::Messages;
use crate::session::Counted;

/// A way in which a session is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// gRPC and gRPC-Web.
    Grpc,
    /// Lines of JSON, or server-sent events.
    Http,
    /// `/ws`.
    WebSocket,
    /// A terminal that is attached, over gRPC or WebSocket.
    Terminal,
}

/// How many follow through each.
#[derive(Debug, Default)]
pub struct Faces([Arc<AtomicUsize>; Face::ALL.len()]);

impl Face {
    pub const ALL: [Self; 4] = [Self::Grpc, Self::Http, Self::WebSocket, Self::Terminal];

    pub fn word(self) -> &'static str {
        match self {
            Self::Grpc => "grpc",
            Self::Http => "http",
            Self::WebSocket => "websocket",
            Self::Terminal => "terminal",
        }
    }

    /// Through which face a streaming call came.
    pub fn of<T>(request: &tonic::Request<T>) -> Self {
        if request.extensions().get::<WantsJson>().is_some() { Self::Http } else { Self::Grpc }
    }
}

impl Faces {
    /// Counts one more, for as long as what comes back lives.
    pub fn count(&self, face: Face) -> Counted {
        Counted::new(&self.0[face as usize])
    }

    pub fn number(&self, face: Face) -> usize {
        self.0[face as usize].load(Ordering::Relaxed)
    }

    /// The same stream, counted until it ends or is dropped.
    pub fn counted<T: 'static>(&self, face: Face, stream: Messages<T>) -> Messages<T> {
        let counted = self.count(face);
        Box::pin(stream.inspect(move |_| {
            let _ = &counted;
        }))
    }
}
