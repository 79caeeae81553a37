//! `coop logs` and what follows: the child's bytes as they are, ends that come, readers that go.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, BufReader};

use crate::support::{Coop, PATIENCE, run_coop, sh};

/// Far less than our patience: a verb notices at once that nobody reads.
const PROMPTLY: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_verb_whose_reader_has_gone_ends_promptly_and_well() {
    let coop = Coop::start(&["--port", "0", "--ring-size", "4M"], &sh("seq 1 200000; exec sleep 1000"));
    coop.shows("200000").await;
    for (words, first) in [
        ("logs", "\"the child runs\""),
        ("logs -f", "\"the child runs\""),
        ("logs --output", "1\r\n"),
        ("logs --output --json", "{\"data\":"),
        ("state --watch", "(running)"),
        ("state --watch --json", "\"next\":\"unknown\""),
        ("screen --watch", "--- screen at seq"),
        ("screen --watch --json", "{\"lines\":"),
    ] {
        let begun = Instant::now();
        // Nothing happens in this session meanwhile that would make them write, and notice by that.
        let ended = coop.first_line(&words.split(' ').collect::<Vec<_>>()).await;
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{words}");
        assert!(ended.text().contains(first) && ended.text().lines().count() == 1, "{words}: {ended:?}");
        assert!(begun.elapsed() < PROMPTLY, "{words}: {:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn logs_give_exactly_the_childs_bytes() {
    let coop = Coop::run(&sh("stty -opost; printf 'a\\nb\\377\\000\\303\\033[31mred\\r\\n'"));
    coop.exited().await;
    let printed = b"a\nb\xff\0\xc3\x1b[31mred\r\n";
    let all = coop.verb(&["logs", "--output"]).await;
    assert_eq!((all.code, all.out.as_slice(), all.err.as_str()), (Some(0), &printed[..], ""));
    assert_eq!(coop.verb(&["logs", "--output", "--from", "3"]).await.out, printed[3..]);
    let none = coop.verb(&["logs", "--output", "--from", "999999"]).await;
    assert_eq!((none.code, none.out.as_slice()), (Some(0), &b""[..]), "{none:?}");
}

#[tokio::test]
async fn logs_larger_than_one_answer_are_whole() {
    let coop = Coop::start(&["--port", "0", "--ring-size", "8M"], &sh("stty -opost; seq 1 500000"));
    coop.exited().await;
    let all = coop.verb(&["logs", "--output"]).await.ok();
    let printed: String = (1..=500_000).map(|n| format!("{n}\n")).collect();
    assert!(printed.len() > 3 << 20);
    // Not assert_eq, which would show both.
    assert!(all == printed, "{} of {} bytes", all.len(), printed.len());
}

#[tokio::test]
async fn bytes_that_are_gone_are_told_on_stderr_only() {
    let coop = Coop::start(&["--port", "0", "--ring-size", "4K"], &sh("stty -opost; seq 1 5000"));
    coop.exited().await;
    let printed: String = (1..=5000).map(|n| format!("{n}\n")).collect();
    let ended = coop.verb(&["logs", "--output", "--from", "0"]).await;
    let oldest = printed.len() - ended.out.len();
    assert!(ended.code == Some(0) && oldest > 0, "{ended:?}");
    assert!(printed.ends_with(&ended.text()), "{}", ended.text());
    assert_eq!(ended.err, format!("coop: bytes 0 to {oldest} are not held any more\n"));
    let held = coop.verb(&["logs", "--output"]).await;
    assert_eq!((held.ok(), held.out), (ended.text(), ended.out), "who asks for what is held misses nothing");
}

#[tokio::test]
async fn logs_end_while_the_child_goes_on_printing() {
    let coop = Coop::run(&["yes"]);
    coop.wait(json!({"offset": 2_000_000})).await;
    let ended = coop.verb(&["logs", "--output"]).await;
    assert!(ended.code == Some(0) && ended.out.len() > 1000, "{}", ended.err);
    assert!(ended.text().trim().split("\r\n").all(|line| line == "y"), "nothing between");
    assert_eq!(coop.status().await["state"], "running");
}

#[tokio::test]
async fn who_follows_gets_every_byte_until_the_session_ends() {
    let script = "stty -opost -echo; echo ready; read line; seq 1 100000; exit 3";
    let coop = Coop::start(&["--port", "0", "--exit-with-child"], &sh(script));
    coop.shows("ready").await;
    let mut verb = tokio::process::Command::from(coop.verb_command(&["logs", "--output", "-f"]));
    let mut verb = verb.kill_on_drop(true).spawn().unwrap();
    let mut stdout = BufReader::new(verb.stdout.take().unwrap());
    let mut out = vec![0; b"ready\n".len()];
    coop.place.within("the first line", stdout.read_exact(&mut out)).await.unwrap();
    assert_eq!(out, b"ready\n");
    coop.types("").await;
    let mut rest = String::new();
    coop.place.within("the end", stdout.read_to_string(&mut rest)).await.unwrap();
    let printed: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    assert!(rest == printed, "{} of {} bytes, last {:?}", rest.len(), printed.len(), rest.lines().last());
    let status = tokio::time::timeout(PATIENCE, verb.wait()).await.unwrap().unwrap();
    assert_eq!((status.code(), coop.left().await.code()), (Some(0), Some(3)));
}

#[tokio::test]
async fn the_log_has_as_many_lines_as_are_wanted() {
    let coop = Coop::run(&["cat"]);
    coop.log_says("the child runs").await;
    coop.post("/api/v1/session/restart", json!({})).await.ok();
    let all = coop.verb(&["logs"]).await.ok();
    assert!(all.lines().count() >= 2, "{all}");
    assert_eq!(coop.verb(&["logs", "-n", "1"]).await.ok().lines().collect::<Vec<_>>(), [all.lines().last().unwrap()]);
    assert_eq!(coop.verb(&["logs", "-n", "0"]).await.ok(), "");
    let url = coop.listening["url"].as_str().unwrap();
    assert_eq!(run_coop(&["logs"], &[("COOP_URL", url)]).await.ok(), all);
}
