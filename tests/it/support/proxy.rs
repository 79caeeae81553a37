//! A network that breaks when a test wants it to.

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::Coop;

/// Stands between, and can be cut.
pub struct Proxy {
    pub url: String,
    open: watch::Sender<bool>,
}

impl Proxy {
    pub async fn to(coop: &Coop) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let target = coop.place.host();
        let (open, is_open) = watch::channel(true);
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let (target, mut is_open) = (target.clone(), is_open.clone());
                tokio::spawn(async move {
                    if !*is_open.borrow() {
                        return;
                    }
                    let mut far = TcpStream::connect(target).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                        _ = is_open.wait_for(|open| !open) => {}
                    }
                });
            }
        });
        Self { url, open }
    }

    /// Ends every connection, and each that is made.
    pub fn cut(&self) {
        self.open.send_replace(false);
    }

    /// Lets connections pass again.
    pub fn mend(&self) {
        self.open.send_replace(true);
    }
}
