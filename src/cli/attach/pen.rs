//! Writes to the outer terminal from a thread of its own: a terminal that takes nothing keeps nobody else waiting.

use std::io;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::outer;

/// Frames that wait while one is written. More would only be old by the time they are seen.
const FRAMES_MAX: usize = 1;

/// How long a terminal may take to take the last frame before it is left all the same.
const LAST_FRAME_WITHIN: Duration = Duration::from_secs(1);

enum Stroke {
    Frame(String),
    /// All before it was written.
    Mark(oneshot::Sender<()>),
}

pub struct Pen(mpsc::Sender<Stroke>);

impl Pen {
    pub fn new() -> Self {
        let (strokes, mut waiting) = mpsc::channel(FRAMES_MAX);
        std::thread::spawn(move || -> io::Result<()> {
            while let Some(stroke) = waiting.blocking_recv() {
                match stroke {
                    Stroke::Frame(frame) => outer::write(frame.as_bytes())?,
                    Stroke::Mark(done) => drop(done.send(())),
                }
            }
            Ok(())
        });
        Self(strokes)
    }

    /// Whether a frame would be taken at once.
    pub fn is_free(&self) -> bool {
        self.0.capacity() > 0
    }

    /// Waits until it would; `false` when the terminal is gone.
    pub async fn free(&self) -> bool {
        self.0.reserve().await.is_ok()
    }

    /// Writes a frame; one that finds the pen busy, or the terminal gone, is dropped.
    pub fn write(&self, frame: String) {
        let _ = self.0.try_send(Stroke::Frame(frame));
    }

    /// Waits for the frames that are under way, but not for ever.
    pub async fn rest(&self) {
        let (done, marked) = oneshot::channel();
        let rested = async {
            if self.0.send(Stroke::Mark(done)).await.is_ok() {
                // A pen that breaks has nothing more to write.
                let _ = marked.await;
            }
        };
        let _ = tokio::time::timeout(LAST_FRAME_WITHIN, rested).await;
    }
}
