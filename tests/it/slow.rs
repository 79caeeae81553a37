//! Readers that are slow, many or absent: none of them costs the child, the others, or memory.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::output::{data, numbers};
use crate::support::{Coop, file_bytes, rss_bytes, sh, wakeups};

#[tokio::test]
async fn a_reader_that_stops_reading_slows_nobody_and_gets_a_gap_when_it_comes_back() {
    let script = "stty -echo; read go; yes 0123456789012345678901234567890123456789 | head -c 30000000; echo THE END";
    let coop = Coop::run(&sh(script));
    let mut wire = coop.place.connect().await;
    let request = "GET /api/v1/stream/output HTTP/1.1\r\nhost: localhost\r\n\r\n";
    wire.write_all(request.as_bytes()).await.unwrap();
    let mut sleepy = coop.place.ws("/ws?mode=raw").await;
    coop.types("").await;
    assert_eq!(coop.exited().await["code"], 0, "the child went on to its end");
    let rss = rss_bytes(coop.pid);
    assert!(rss < 120 << 20, "{} MB", rss >> 20);

    let mut heard = Vec::new();
    coop.place
        .within("the gap and the end", async {
            while !String::from_utf8_lossy(&heard).contains("\"redraw\":\"") {
                assert_ne!(wire.read_buf(&mut heard).await.unwrap(), 0);
            }
        })
        .await;
    let mut gaps = 0;
    let mut end = 0;
    let total = coop.status().await["bytes_read"].as_u64().unwrap();
    while end < total {
        let event = sleepy.hear().await.event();
        match event["event"].as_str().unwrap() {
            "output" => {
                assert_eq!(event["offset"], end, "what is not in a gap is not missing");
                end += data(&event).len() as u64;
            }
            "gap" => {
                assert_eq!(event["from_offset"], end);
                end = event["to_offset"].as_u64().unwrap();
                gaps += 1;
            }
            _ => {}
        }
    }
    assert!(gaps >= 1);
    assert_eq!(sleepy.next_event("exit").await["code"], 0, "and the connection is as good as before");
}

#[tokio::test]
async fn screens_never_push_out_bytes() {
    let coop = Coop::start(&["--port", "0", "--ring-size", "8M"], &sh("stty -echo; echo ready; read go; seq 1 60000"));
    coop.shows("ready").await;
    let mut viewer = coop.place.ws("/ws?mode=all").await;
    viewer.next_event("screen").await;
    coop.types("").await;
    let (mut bytes, mut screens) = (Vec::new(), 0);
    loop {
        let event = viewer.hear().await.event();
        match event["event"].as_str().unwrap() {
            "output" => {
                assert_eq!(event["offset"], bytes.len());
                bytes.extend(data(&event));
            }
            "screen" => screens += 1,
            "gap" => panic!("{event}"),
            "exit" => break,
            _ => {}
        }
    }
    assert!(bytes == [b"ready\r\n", numbers(60_000).as_slice()].concat());
    assert!(screens > 0);
}

#[tokio::test]
async fn many_viewers_cost_little() {
    let coop = Coop::run(&sh("stty -echo; read go; seq 1 100000; echo END; sleep 1000"));
    let mut viewers = Vec::new();
    for _ in 0..30 {
        viewers.push(coop.place.ws("/ws").await);
    }
    coop.types("").await;
    coop.shows("END").await;
    assert_eq!(coop.status().await["ws_clients"], 30);
    let rss = rss_bytes(coop.pid);
    assert!(rss < 120 << 20, "{} MB", rss >> 20);
    drop(viewers);
    coop.place
        .within("all are gone", async {
            while coop.status().await["ws_clients"] != 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
}

#[tokio::test]
async fn an_idle_coop_sleeps() {
    let coop = Coop::run(&["sleep", "1000"]);
    let mut viewer = coop.place.ws("/ws").await;
    viewer.next_event("screen").await;
    viewer.until_pong().await;
    let before = wakeups(coop.pid);
    // The promise is about time that passes.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let woken = wakeups(coop.pid) - before;
    assert!(woken < 15, "{woken} times in a second");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_session_lets_go_of_what_ran_only_at_its_start() {
    let coop = Coop::run(&["sleep", "1000"]);
    let keeps_most = || {
        let (now, most) = file_bytes(coop.pid);
        now > most / 2
    };
    coop.place
        .within("more than half of its code is gone", async {
            while keeps_most() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
    assert_eq!(coop.status().await["ws_clients"], 0, "what is needed again comes back");
}
