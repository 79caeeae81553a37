//! Answers of bounded size make the whole.

use super::*;
use crate::agent::EpochMs;
use crate::config::Scratch;

const NOW: EpochMs = EpochMs(1_794_787_546_184);

fn open(scratch: &Scratch) -> Transcripts {
    Transcripts::open(&scratch.path("state"), "some-session").unwrap()
}

#[test]
fn catching_up_gives_what_the_cursor_does_not_know() {
    let scratch = Scratch::fresh();
    let log = scratch.file("log.jsonl", "one\n");
    let mut transcripts = open(&scratch);
    let first = transcripts.take(&log, NOW).unwrap();
    scratch.file("log.jsonl", "one\ntwo\n");
    let second = transcripts.take(&log, NOW).unwrap();
    scratch.file("log.jsonl", "one\ntwo\nthree\nhalf");
    let lines = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();

    let all = transcripts.catchup(0, 0, Some(&log)).unwrap();
    let expected = [
        Transcript { taken: first, lines: lines(&["one"]) },
        Transcript { taken: second.clone(), lines: lines(&["one", "two"]) },
    ];
    assert_eq!(all.transcripts, expected);
    assert_eq!(all.live_lines, ["one", "two", "three"]);
    assert_eq!((all.current_transcript, all.current_line), (2, 3));

    let some = transcripts.catchup(1, 2, Some(&log)).unwrap();
    assert_eq!(some.transcripts, [Transcript { taken: second, lines: lines(&["one", "two"]) }]);
    assert_eq!(some.live_lines, ["three"]);

    let none = transcripts.catchup(2, 3, Some(&log)).unwrap();
    assert_eq!(none, Catchup { current_transcript: 2, current_line: 3, ..Catchup::default() });
}

#[test]
fn a_cursor_of_an_earlier_log_begins_again() {
    let scratch = Scratch::fresh();
    let log = scratch.file("log.jsonl", "one\ntwo\n");
    let mut transcripts = open(&scratch);
    transcripts.take(&log, NOW).unwrap();
    let caught = transcripts.catchup(9, 500, Some(&log)).unwrap();
    assert_eq!((caught.transcripts.len(), caught.current_transcript), (1, 1));
    assert_eq!((caught.live_lines.len(), caught.current_line), (2, 2));
    let none = transcripts.catchup(0, 500, Some(&scratch.path("not-yet.jsonl"))).unwrap();
    assert_eq!((none.live_lines.len(), none.current_line), (0, 0));
}

#[test]
fn a_long_live_log_comes_in_several_answers_that_make_the_whole() {
    let scratch = Scratch::fresh();
    let line = "x".repeat(5 * 1024 * 1024);
    let log = scratch.file("log.jsonl", &format!("{line}1\n{line}2\n{line}3\n{line}4\nlast\n"));
    let transcripts = open(&scratch);
    let (mut cursor, mut lines, mut answers) = (0, Vec::new(), 0);
    loop {
        let caught = transcripts.catchup(0, cursor, Some(&log)).unwrap();
        if caught.live_lines.is_empty() {
            break;
        }
        assert!(caught.live_lines.iter().map(|line| line.len() as u64).sum::<u64>() <= ANSWER_BYTES_MAX);
        cursor = caught.current_line;
        lines.extend(caught.live_lines);
        answers += 1;
    }
    assert_eq!((answers, cursor, lines.len()), (2, 5, 5));
    assert_eq!(lines.iter().map(|line| &line[line.len() - 1..]).collect::<String>(), "1234t");
}

#[test]
fn transcripts_that_do_not_fit_one_answer_come_in_the_next() {
    let scratch = Scratch::fresh();
    let log = scratch.file("log.jsonl", &format!("{}\n", "x".repeat(10 * 1024 * 1024)));
    let mut transcripts = open(&scratch);
    transcripts.take(&log, NOW).unwrap();
    transcripts.take(&log, NOW).unwrap();
    let first = transcripts.catchup(0, 7, Some(&log)).unwrap();
    assert_eq!((first.transcripts.len(), first.current_transcript), (1, 1));
    assert_eq!((first.live_lines.len(), first.current_line), (0, 7), "the live log waits for its turn");
    let second = transcripts.catchup(1, 0, Some(&log)).unwrap();
    assert_eq!((second.transcripts.len(), second.current_transcript), (1, 2));
    assert_eq!((second.live_lines.len(), second.current_line), (0, 0), "ten more do not fit");
    let third = transcripts.catchup(2, 0, Some(&log)).unwrap();
    assert_eq!((third.live_lines.len(), third.current_line), (1, 1));
}
