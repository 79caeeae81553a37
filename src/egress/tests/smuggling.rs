//! No request hides in another one.

use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::support::{Far, PUBLIC, Proxy, World, soon};

/// Requests on whose length two readers could disagree. Behind each one follows another that must not be believed.
const AMBIGUOUS: [&str; 12] = [
    "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n",
    "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "Content-Length: 5, 6\r\n\r\nhello",
    "Content-Length: +5\r\n\r\nhello",
    "Content-Length: 0x5\r\n\r\nhello",
    "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n5;\u{b}\nx\r\nhello\r\n0\r\n\r\n",
    "Connection: Content-Length\r\nContent-Length: 5\r\n\r\nhello",
];

/// What hides. Its host is not listed, and it must not arrive as a part of what is.
const HIDDEN: &str = "GET http://evil.org/hidden HTTP/1.1\r\nHost: x.org\r\n\r\n";

#[tokio::test]
async fn the_far_side_reads_one_request_with_one_length_or_none_at_all() {
    let far = Far::listen().await;
    let (mut taken, mut whole) = (0, 0);
    let proxy = Proxy::start(&["x.org"], World::around(&far).name("x.org", &[PUBLIC])).await;
    let (sender, mut brought) = mpsc::channel(AMBIGUOUS.len());
    let serving = AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            let mut line = far.accept().await;
            let head = line.head_or_end().await;
            // One that was found to be bad has left.
            let _ = line.0.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
            sender.send(head + &line.ending().await.unwrap_or_default()).await.unwrap();
        }
    }));
    for request in AMBIGUOUS {
        let text = format!("POST http://x.org/seen HTTP/1.1\r\nHost: x.org\r\n{request}{HIDDEN}");
        // How the program's connection ends does not matter here; when it has, all is done that will be.
        let answers = proxy.say(&text).await.until_quiet().await;
        assert!(answers.starts_with("HTTP/1.1 200 ") || answers.starts_with("HTTP/1.1 400 "), "{request:?}: {answers}");
        let dialled = proxy.world.dialled().len();
        assert!(dialled - taken <= 1, "{request:?} became several: {:?}", proxy.world.dialled());
        if dialled > taken {
            let seen = soon("what arrived", brought.recv()).await.unwrap();
            let lower = seen.to_ascii_lowercase();
            let lengths =
                lower.matches("\r\ncontent-length:").count() + lower.matches("\r\ntransfer-encoding:").count();
            let requests = seen.matches(" HTTP/1.1\r\n").count();
            assert!(requests <= 1 && lengths == requests, "{request:?} became {seen:?}");
            whole += requests;
            assert!(!seen.contains("hidden"), "{request:?} became {seen:?}");
        }
        taken = dialled;
    }
    assert!(whole >= 3, "some can be read in one way, and are");
    drop(serving);
}
