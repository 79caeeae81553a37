//! A place at which the model waits until the test lets it go on.

use std::sync::Arc;

use tokio::sync::watch;

use crate::LIMIT;

/// Cheap to clone: the script holds one end, the test the other.
#[derive(Clone)]
pub struct Gate(Arc<Ends>);

struct Ends {
    reached: watch::Sender<bool>,
    open: watch::Sender<bool>,
}

impl Gate {
    pub fn new() -> Self {
        Self(Arc::new(Ends { reached: watch::Sender::new(false), open: watch::Sender::new(false) }))
    }

    /// Waits until the model stands here.
    pub async fn reached(&self) {
        let mut reached = self.0.reached.subscribe();
        let came = tokio::time::timeout(LIMIT, reached.wait_for(|reached| *reached)).await;
        assert!(came.is_ok(), "the model never came to its gate");
    }

    /// Lets the model go on, now or when it comes.
    pub fn open(&self) {
        self.0.open.send_replace(true);
    }

    /// The model's side.
    pub(super) async fn pass(&self) {
        self.0.reached.send_replace(true);
        let _ = self.0.open.subscribe().wait_for(|open| *open).await;
    }
}
