//! Keys at an agent's dialog: none is pressed on top of one that nobody has read, and a receipt says no more than is known.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::compatibility::stand_in::{TAKES_MESSAGES, at_rest_with, prompts};
use crate::support::{Claude, PATIENCE_MS, Scratch};

/// An agent that asks whether it may run a command. It does what `$WAITS` says before it reads any key, and `$TAKES` when
/// it has read one; then it shows all that it has read in its input box.
const ASKS: &str = r#"stty -echo -icanon -icrnl -isig
bar=$(printf '─%.0s' {1..80})
asks() { printf '\033[H\033[2Jready\r\n\r\n%s\r\n Bash command\r\n\r\n   %s\r\n\r\n Do you want to proceed?\r\n ❯ 1. Yes%s\r\n   2. Yes, and always allow access to proj/ from this project\r\n   3. No\r\n\r\n Esc to cancel · Tab to amend · ctrl+e to explain\033[9;%dH' "$bar" "$1" "$2" "$3"; }
asks ls "" 2
eval "$WAITS"
read -rn1 -d '' keys
eval "$TAKES"
while read -rn1 -t 0.5 -d '' key; do keys+=$key; done
printf '\033[H\033[2Jready\r\n\r\n%s\r\n❯\302\240read %s.\r\n%s\r\n  ? for shortcuts\033[4;3H' "$bar" "$keys" "$bar"
cat > /dev/null; exit"#;

/// Such an agent, whose dialog is open.
async fn asks(waits: &str, takes: &str) -> Claude {
    let (waits, takes) = (format!("WAITS={waits}"), format!("TAKES={takes}"));
    let home = Arc::new(Scratch::new());
    let claude = Claude::start_in(&home, &["--groom", "manual", "--env", &waits, "--env", &takes], ASKS).await;
    claude.is("prompt").await;
    claude
}

async fn respond(claude: &Claude, mut answer: Value) -> Value {
    answer["timeout_ms"] = PATIENCE_MS.into();
    claude.post("/api/v1/agent/respond", answer).await.ok()
}

#[tokio::test]
async fn a_key_that_is_read_late_is_pressed_once() {
    let claude = asks("sleep 6", "").await;
    let answer = respond(&claude, json!({"option": 1})).await;
    assert_eq!(answer["delivered"], true, "{answer}");
    claude.shows("read 1.").await;
}

#[tokio::test]
async fn an_answer_that_nobody_reads_is_unconfirmed_and_accepted_when_it_is_taken() {
    let claude = asks("kill -STOP $$", "").await;
    let mut ws = claude.place.ws("/ws?mode=state").await;
    let answer = respond(&claude, json!({"option": 1})).await;
    assert_eq!(json!([answer["delivered"], answer["reason"]]), json!([false, "unconfirmed"]), "{answer}");
    claude.post("/api/v1/signal", json!({"signal": "CONT"})).await.ok();
    claude.shows("read 1.").await;
    loop {
        let late = ws.next_event("receipt").await;
        assert_eq!(late["id"], answer["receipt"]["id"], "{late}");
        if late["phase"] == "accepted" {
            break;
        }
    }
}

#[tokio::test]
async fn a_dialog_that_stays_open_after_an_answer_can_be_answered_again() {
    // The first key changes something, but does not close it.
    let claude = asks("", r#"asks ls "  (sure?)" 2; read -rn1 -d '' key; keys+=$key"#).await;
    let first = respond(&claude, json!({"option": 1})).await;
    assert_eq!(json!([first["delivered"], first["reason"]]), json!([false, "unconfirmed"]), "{first}");
    let second = respond(&claude, json!({"option": 3})).await;
    assert_eq!(second["delivered"], true, "{second}");
    claude.shows("read 13.").await;
}

#[tokio::test]
async fn a_dialog_that_somebody_else_closes_confirms_no_earlier_answer() {
    let claude = asks("", r#"asks ls "  (sure?)" 2; read -rn1 -d '' key; keys+=$key"#).await;
    let mut ws = claude.place.ws("/ws?mode=state").await;
    let answer = respond(&claude, json!({"option": 1})).await;
    assert_eq!(json!([answer["delivered"], answer["reason"]]), json!([false, "unconfirmed"]), "{answer}");
    let typed = claude.post("/api/v1/input", json!({"text": "3", "enter": false})).await.ok();
    claude.shows("read 13.").await;
    claude.is("idle").await;
    // Events come in order: a receipt for the end of the dialog would be told before whatever happens next.
    claude.hook("UserPromptSubmit", json!({"prompt": "on"})).await;
    loop {
        let told = ws.hear().await.event();
        assert!(told["event"] != "receipt" || told["phase"] != "accepted", "after {typed}: {told}");
        if told["event"] == "transition" && told["next"] == "working" {
            break;
        }
    }
}

#[tokio::test]
async fn no_key_is_pressed_before_the_agent_listens() {
    // It draws first, and throws away what was typed before it asked for keys.
    let late = ASKS.replacen("stty -echo -icanon -icrnl -isig\n", "", 1);
    let listens = "eval \"$WAITS\"; read -rn100 -t 0.1 -d '' lost; stty -echo -icanon -icrnl -isig\n";
    let late = late.replacen("eval \"$WAITS\"\n", listens, 1);
    let home = Arc::new(Scratch::new());
    let claude =
        Claude::start_in(&home, &["--groom", "manual", "--env", "WAITS=sleep 2", "--env", "TAKES="], &late).await;
    claude.is("prompt").await;
    let answer = respond(&claude, json!({"option": 1})).await;
    assert_eq!(answer["delivered"], true, "{answer}");
    claude.shows("read 1.").await;
}

#[tokio::test]
async fn a_choice_that_shows_its_effect_late_is_not_made_twice() {
    // The next dialog would look the same, and stand where this one did.
    let claude = asks("", "sleep 3").await;
    let answer = respond(&claude, json!({"option": 1})).await;
    assert_eq!(answer["delivered"], true, "{answer}");
    claude.shows("read 1.").await;
}

#[tokio::test]
async fn an_answer_is_not_confirmed_by_an_end_that_somebody_elses_keys_may_have_brought() {
    let claude = asks("", r#"asks ls "  (sure?)" 2; read -rn1 -d '' key; keys+=$key"#).await;
    let types = async {
        claude.shows("(sure?)").await;
        // It is written behind the answer, whose turn it still may be.
        claude.post("/api/v1/input", json!({"text": "3", "enter": false})).await.ok();
    };
    let (answer, ()) = tokio::join!(respond(&claude, json!({"option": 1})), types);
    claude.shows("read 13.").await;
    assert_eq!(json!([answer["delivered"], answer["reason"]]), json!([false, "unconfirmed"]), "{answer}");
}

#[tokio::test]
async fn a_terminal_that_says_it_is_in_front_again_takes_no_answer_for_its_own() {
    let claude = asks("", r#"asks ls "  (sure?)" 2; read -rn1 -d '' key; keys+=I; read -rn2 -d '' key"#).await;
    let mut seat = claude.place.ws("/api/v1/attach").await;
    seat.say(json!({"event": "hello", "cols": 100, "rows": 30})).await;
    let says = async {
        claude.shows("(sure?)").await;
        seat.say_bytes(&b"\x1b[I"[..]).await;
    };
    let (answer, ()) = tokio::join!(respond(&claude, json!({"option": 1})), says);
    assert_eq!(answer["delivered"], true, "{answer}");
}

#[tokio::test]
async fn no_digit_is_typed_into_a_text() {
    // Somebody pressed Tab, and the cursor stands in what is to be amended.
    let claude = asks(r#"asks ls ", and tell Claude what to do next" 11"#, "").await;
    claude.shows("tell Claude").await;
    let answer = respond(&claude, json!({"option": 3})).await;
    assert_eq!(answer["delivered"], false, "{answer}");
    assert!(answer["reason"].as_str().unwrap().contains("text"), "{answer}");
    assert_eq!(claude.status().await["bytes_written"], 0);
}

#[tokio::test]
async fn an_enter_that_is_read_late_is_pressed_once() {
    // What comes while no character is read stays as it is.
    let stalls = TAKES_MESSAGES.replace("$'\\n')", "$'\\n' | $'\\r')");
    let stalls = stalls.replace("*) text+=$c; draw;;", "*) text+=$c; draw; [ \"$text\" != go ] || sleep 7;;");
    let claude = at_rest_with(&stalls).await;
    let mut ws = claude.place.ws("/ws?mode=state").await;
    claude.post("/api/v1/agent/nudge", json!({"message": "go"})).await.ok();
    while ws.next_event("receipt").await["phase"] != "accepted" {}
    claude.hook("Stop", json!({"stop_hook_active": false})).await;
    claude.is("idle").await;
    claude.post("/api/v1/agent/nudge", json!({"message": "on", "timeout_ms": PATIENCE_MS})).await.ok();
    assert_eq!(prompts(&claude.home), ["go", "on"], "no empty message between them");
}

/// An agent whose mark goes down with the arrow, and which takes Tab for its first row whatever is marked: as if the mark had
/// gone on a moment after it was seen. What is typed is shown.
const AMENDS_ANOTHER_ROW: &str = r#"stty -echo -icanon -icrnl -isig
bar=$(printf '─%.0s' {1..80}) at=1 more= words=
row() { [ "$at" = "$1" ] && printf ' ❯ ' || printf '   '; printf '%s. %s\r\n' "$1" "$2"; }
asks() { printf '\033[H\033[2Jready\r\n\r\n%s\r\n Bash command\r\n\r\n   ls\r\n\r\n Do you want to proceed?\r\n' "$bar"
  row 1 "Yes$more$words"; row 2 'Yes, and always allow access to proj/ from this project'; row 3 No
  printf '\r\n Esc to cancel · Tab to amend · ctrl+e to explain\033[%d;%dH' $((8 + at)) $((10 + ${#more} + ${#words})); }
asks
while IFS= read -rn1 -d '' c; do case $c in
  $'\033') IFS= read -rn2 -d '' c; at=$((at % 3 + 1)); asks;;
  $'\t') at=1 more=', and tell Claude what to do next'; asks;;
  *) words+=$c; asks;;
esac; done; exit"#;

#[tokio::test]
async fn words_for_a_refusal_are_not_typed_where_the_mark_is_on_a_yes() {
    let claude = Claude::start_in(&Arc::new(Scratch::new()), &["--groom", "manual"], AMENDS_ANOTHER_ROW).await;
    claude.is("prompt").await;
    let answer = respond(&claude, json!({"accept": false, "text": "use another"})).await;
    assert_eq!(
        json!([answer["delivered"], answer["reason"]]),
        json!([false, "the mark is on another row"]),
        "{answer}"
    );
    claude.shows("tell Claude what to do next").await;
    assert!(!claude.screen().await.contains("use another"), "nothing was typed there");
}

/// An agent with more options than there are digits. Digits choose at once, as in the real one.
const ASKS_MUCH: &str = r#"stty -echo -icanon -icrnl -isig
bar=$(printf '─%.0s' {1..80})
draw() {
    printf '\033[H\033[2Jready\r\n\r\n%s\r\n Bash command\r\n\r\n   ls\r\n\r\n Do you want to proceed?\r\n' "$bar"
    for n in {1..12}; do
        case $n in 1) label=Yes ;; 12) label=No ;; *) label="Yes, way $n" ;; esac
        if [ "$n" = "$mark" ]; then cursor='❯'; else cursor=' '; fi
        printf ' %s %d. %s\r\n' "$cursor" "$n" "$label"
    done
    printf '\r\n Esc to cancel · Tab to amend · ctrl+e to explain\033[%d;2H' "$((8 + mark))"
}
mark=1; draw
while read -rn1 -d '' key; do
    case $key in
    $'\033') read -rn2 -d '' arrow; if [ "$arrow" = '[B' ]; then mark=$((mark + 1)); else mark=$((mark - 1)); fi; draw ;;
    $'\r' | '') break ;;
    *) mark=$key; break ;;
    esac
done
printf '\033[H\033[2Jready\r\n\r\n%s\r\n❯\302\240took %s.\r\n%s\r\n  ? for shortcuts\033[4;3H' "$bar" "$mark" "$bar"
cat > /dev/null; exit"#;

#[tokio::test]
async fn an_option_without_a_digit_of_its_own_is_reached_row_by_row() {
    let claude = Claude::start_in(&Arc::new(Scratch::new()), &["--groom", "manual"], ASKS_MUCH).await;
    claude.is("prompt").await;
    let answer = respond(&claude, json!({"option": 11})).await;
    claude.shows("took 11.").await;
    assert_eq!(answer["delivered"], true, "{answer}");
}

#[tokio::test]
async fn a_message_that_was_taken_and_stays_in_the_box_is_not_sent_again() {
    let keeps = TAKES_MESSAGES.replace("hook UserPromptSubmit; text=; draw;;", "hook UserPromptSubmit; draw;;");
    assert_ne!(keeps, TAKES_MESSAGES);
    let claude = at_rest_with(&keeps).await;
    let answer = claude.post("/api/v1/agent/nudge", json!({"message": "go", "timeout_ms": PATIENCE_MS})).await.ok();
    assert_eq!(answer["delivered"], true, "{answer}");
    claude.wait(json!({"regex": "^❯\\s*$"})).await;
    assert_eq!(prompts(&claude.home), ["go"], "it was taken once");
}
