//! The screen: what a person would see, however the bytes came.

use serde_json::{Value, json};

use crate::support::{Coop, sh};

#[tokio::test]
async fn the_screen_tells_rows_cursor_size_title_and_where_it_stands() {
    let coop = Coop::run(&sh("printf '\\033]0;my title\\007one\\r\\n  two  '; sleep 1000"));
    coop.shows("two").await;
    let screen = coop.get("/api/v1/screen").await.ok();
    assert_eq!(json!([screen["lines"][0], screen["lines"][1], screen["lines"][2]]), json!(["one", "  two", ""]));
    assert_eq!(screen["lines"].as_array().unwrap().len(), 24);
    assert_eq!(screen["cursor"], json!({"row": 1, "col": 7, "visible": true}));
    assert_eq!((&screen["cols"], &screen["rows"], &screen["alt_screen"]), (&json!(80), &json!(24), &json!(false)));
    assert_eq!((&screen["title"], &screen["changed"]), (&json!("my title"), &json!([])));
    let status = coop.status().await;
    assert_eq!((&screen["seq"], &screen["offset"]), (&status["screen_seq"], &status["bytes_read"]));
    assert_eq!(coop.get("/api/v1/screen?cursor=false").await.ok()["cursor"], Value::Null);
}

#[tokio::test]
async fn a_known_sequence_number_gives_only_the_rows_that_changed() {
    let script = "stty -echo; printf 'a\\r\\nb\\r\\nc'; read line; printf '\\033[2;1HB'; read line; sleep 1000";
    let coop = Coop::run(&sh(script));
    coop.shows("c").await;
    let seq = coop.get("/api/v1/screen").await.ok()["seq"].as_u64().unwrap();
    let same = coop.get(&format!("/api/v1/screen?since_seq={seq}")).await.ok();
    assert_eq!((&same["lines"], &same["changed"], &same["seq"]), (&json!([]), &json!([]), &json!(seq)));
    coop.types("").await;
    coop.shows("B").await;
    let changed = coop.get(&format!("/api/v1/screen?since_seq={seq}")).await.ok();
    assert_eq!(changed["lines"], json!([]));
    assert!(changed["changed"].as_array().unwrap().contains(&json!({"row": 1, "text": "B"})), "{changed}");
    assert!(!changed["changed"].to_string().contains("\"a\""), "{changed}");
    assert!(changed["seq"].as_u64().unwrap() > seq);
    let ahead = coop.get("/api/v1/screen?since_seq=99999999").await.ok();
    assert_eq!((ahead["lines"].as_array().unwrap().len(), &ahead["changed"]), (24, &json!([])), "unknown: all of it");
}

#[tokio::test]
async fn ansi_rows_keep_their_colours_and_text_rows_do_not() {
    let coop = Coop::run(&sh("printf 'plain \\033[1;31mred\\033[0m'; sleep 1000"));
    coop.shows("plain red").await;
    let line = coop.get("/api/v1/screen?format=ansi").await.ok()["lines"][0].as_str().unwrap().to_owned();
    assert!(line.starts_with("plain \x1b[") && line.contains("red") && line.contains("31"), "{line:?}");
    assert_eq!(coop.get("/api/v1/screen?format=text").await.ok()["lines"][0], "plain red");
}

#[tokio::test]
async fn plain_text_comes_whole_or_its_last_lines_with_what_scrolled_off() {
    let coop = Coop::run(&sh("seq 1 100; printf end; sleep 1000"));
    coop.shows("end").await;
    let text = async |query: &str| {
        let answer = coop.get(&format!("/api/v1/screen/text{query}")).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, "text/plain; charset=utf-8"));
        answer.text()
    };
    let whole = text("").await;
    assert!(whole.starts_with("78\n79\n") && whole.ends_with("100\nend\n"), "{whole}");
    assert_eq!(text("?lines=2").await, "100\nend\n");
    assert_eq!(text("?lines=3&scrollback=10").await, "99\n100\nend\n");
    let scrolled = text("?scrollback=10").await;
    assert!(scrolled.starts_with("68\n69\n"), "{scrolled}");
    assert_eq!(text("?scrollback=100000").await.lines().count(), 101);
    assert_eq!(text("?lines=0").await, "");
}

#[tokio::test]
async fn the_alternate_screen_is_told_and_what_was_before_comes_back() {
    let script = "stty -echo; echo before; printf '\\033[?1049h\\033[Hinside'; read line; printf '\\033[?1049l'; echo after; sleep 1000";
    let coop = Coop::run(&sh(script));
    coop.shows("inside").await;
    assert_eq!(coop.get("/api/v1/screen").await.ok()["alt_screen"], true);
    assert_eq!(coop.screen().await, "inside");
    coop.types("").await;
    coop.shows("after").await;
    assert_eq!(coop.get("/api/v1/screen").await.ok()["alt_screen"], false);
    assert_eq!(coop.screen().await, "before\nafter");
}

#[tokio::test]
async fn wide_characters_take_two_cells() {
    let coop = Coop::run(&sh("printf '日本語x é 👍'; sleep 1000"));
    let line = coop.shows("日本語x").await;
    assert_eq!(line, "日本語x é 👍");
    assert_eq!(coop.get("/api/v1/screen").await.ok()["cursor"]["col"], 12);
}

#[tokio::test]
async fn a_character_cut_in_two_arrives_whole() {
    let coop = Coop::run(&sh("stty -echo; printf 'x\\343\\201'; read line; printf '\\202y'; sleep 1000"));
    coop.wait(json!({"offset": 3})).await;
    assert_eq!(coop.screen().await, "x", "half a character shows nothing");
    coop.types("").await;
    assert_eq!(coop.shows("y").await, "xあy");
}

#[tokio::test]
async fn bytes_that_are_no_text_become_marks_and_end_nothing() {
    let coop = Coop::run(&sh("printf 'a\\377b\\300\\200c\\355\\240\\200d'; sleep 1000"));
    let line = coop.shows("d").await;
    assert!(line.starts_with("a\u{fffd}b") && line.ends_with('d'), "{line}");
}

#[tokio::test]
async fn a_stream_of_screens_begins_with_the_current_and_ends_with_the_latest() {
    let coop = Coop::run(&sh("stty -echo; echo begin; read line; seq 1 5000; echo final; sleep 1000"));
    coop.shows("begin").await;
    let mut screens = coop.call("GET", "/api/v1/stream/screen").stream().await;
    let first = screens.value().await;
    assert_eq!(first["lines"][0], "begin");
    coop.types("").await;
    let mut seq = first["seq"].as_u64().unwrap();
    let mut count = 0;
    loop {
        let screen = screens.value().await;
        assert!(screen["seq"].as_u64().unwrap() > seq, "each is newer than the one before");
        seq = screen["seq"].as_u64().unwrap();
        count += 1;
        if screen["lines"].to_string().contains("final") {
            break;
        }
    }
    assert!(count < 1000, "a change is not a message: {count}");
    let mut styled = coop.call("GET", "/api/v1/stream/screen?format=ansi&cursor=false").stream().await;
    assert_eq!(styled.value().await["cursor"], Value::Null);
}
