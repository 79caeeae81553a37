//! Transcripts are whole, immutable and numbered.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::config::Scratch;

const NOW: EpochMs = EpochMs(1_794_787_546_184);

fn open(scratch: &Scratch) -> Transcripts {
    Transcripts::open(&scratch.path("state"), "some-session").unwrap()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_transcript_holds_the_whole_lines_and_is_private() {
    let scratch = Scratch::fresh();
    let log = scratch.file("log.jsonl", "one\ntwo\nhalf");
    let mut transcripts = open(&scratch);
    assert_eq!(transcripts.take(&log, NOW).unwrap(), Taken { number: 1, at: NOW, line_count: 2, byte_size: 8 });
    assert_eq!(transcripts.read(1).unwrap(), "one\ntwo\n");
    assert_eq!(mode(&transcripts.dir), 0o700);
    assert_eq!(mode(&transcripts.path(1)), 0o600);
    assert!(!transcripts.dir.join(UNFINISHED).exists());
}

#[test]
fn numbers_go_on_over_a_restart() {
    let scratch = Scratch::fresh();
    let log = scratch.file("log.jsonl", "one\n");
    open(&scratch).take(&log, NOW).unwrap();
    let mut again = open(&scratch);
    assert_eq!(again.list(), [Taken { number: 1, at: NOW, line_count: 1, byte_size: 4 }]);
    assert_eq!(again.take(&log, NOW).unwrap().number, 2);
    assert_eq!(again.list().len(), 2);
}

#[test]
fn a_failure_leaves_nothing_and_takes_no_number() {
    let scratch = Scratch::fresh();
    let mut transcripts = open(&scratch);
    let error = transcripts.take(&scratch.path("missing.jsonl"), NOW).unwrap_err();
    assert!(error.to_string().contains("missing.jsonl"), "{error}");
    // Something in the way of the copy fails it as a full disk would.
    std::fs::create_dir(transcripts.dir.join(UNFINISHED)).unwrap();
    let log = scratch.file("log.jsonl", "one\n");
    assert!(transcripts.take(&log, NOW).is_err());
    assert!(transcripts.list().is_empty());
    std::fs::remove_dir(transcripts.dir.join(UNFINISHED)).unwrap();
    assert_eq!(transcripts.take(&log, NOW).unwrap().number, 1);
}

#[test]
fn what_another_coop_took_is_not_overwritten() {
    let scratch = Scratch::fresh();
    let log = scratch.file("log.jsonl", "one\n");
    let mut transcripts = open(&scratch);
    open(&scratch).take(&log, NOW).unwrap();
    let error = transcripts.take(&scratch.file("other.jsonl", "two\n"), NOW).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(open(&scratch).read(1).unwrap(), "one\n");
}

#[test]
fn a_session_id_cannot_lead_elsewhere() {
    let scratch = Scratch::fresh();
    for id in ["", "..", "../x", "a/b", ".hidden", "a\0b", &"x".repeat(200)] {
        assert!(Transcripts::open(&scratch.path("state"), id).is_err(), "{id:?}");
    }
}

#[test]
fn an_unknown_or_too_large_transcript_is_told_with_a_way_out() {
    let scratch = Scratch::fresh();
    let mut transcripts = open(&scratch);
    assert!(matches!(transcripts.read(1), Err(Missing::Unknown(1))));
    let log = scratch.file("log.jsonl", &"0123456789abcde\n".repeat(1024 * 1024 + 1));
    transcripts.take(&log, NOW).unwrap();
    let error = transcripts.catchup(0, 0, None).unwrap_err().to_string();
    assert!(error.contains("1.jsonl") && error.contains("since_transcript=1"), "{error}");
    assert_eq!(transcripts.catchup(1, 0, None).unwrap().current_transcript, 1);
}
