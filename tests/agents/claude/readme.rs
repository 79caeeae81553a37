//! The README's session with Claude Code, played with the real one: what the page shows is what is printed.

use regex::Regex;
use serde_json::{Value, json};

use super::Claude;
use crate::LIMIT;
use crate::model::Script;
use crate::promises::which_database;

const README: &str = include_str!("../../../README.md");

/// Where the session begins in it.
const HEADING: &str = "## A session with Claude Code\n";

/// What is different each time, and what stands for it here: numbers, ages, and who was the first to see a dialog leave.
const CHANGING: [(&str, &str); 5] = [
    (r"\(seq \d+, after [^)]+\)", "(seq, after)"),
    (r"\(pid \d+\)", "(pid)"),
    (r"since seq \d+", "since seq"),
    (r", \d\S*( \S+)? ago", ", ago"),
    (r"answered, seen by .+", "answered, seen by"),
];

/// Stands for lines that the README leaves out.
const AND_SO_ON: &str = "…";

/// A command of the session, and what the README shows that it prints.
struct Shown {
    command: &'static str,
    printed: String,
}

fn session() -> Vec<Shown> {
    let (_, behind) = README.split_once(HEADING).expect("the README has the session");
    let (_, block) = behind.split_once("```console\n").expect("it begins");
    let (block, _) = block.split_once("```").expect("it ends");
    let commands = block.split("$ ").skip(1);
    commands
        .map(|shown| {
            let (command, printed) = shown.split_once('\n').expect("a command is a line");
            Shown { command, printed: printed.to_owned() }
        })
        .collect()
}

/// The words of a command, as a shell takes them; quotes stand around whole words.
fn words(command: &str) -> Vec<&str> {
    let parts = command.split('\'').enumerate();
    parts.flat_map(|(at, part)| if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }).collect()
}

/// The lines without what is different each time.
fn fixed(text: &str) -> Vec<String> {
    let masked = CHANGING.iter().fold(text.to_owned(), |text, (changing, fixed)| {
        Regex::new(changing).expect("an expression").replace_all(&text, *fixed).into_owned()
    });
    masked.lines().map(str::to_owned).collect()
}

fn is_as_shown(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (fixed(shown), fixed(printed));
    match shown.split_last() {
        Some((last, before)) if last.trim() == AND_SO_ON => printed.starts_with(before),
        _ => shown == printed,
    }
}

/// What the model of the README says.
fn script() -> Script {
    let test = json!({"command": "make test", "description": "Run the tests"});
    Script::new()
        .says_and_uses("I will run the tests.", "Bash", test)
        .text("Understood: I will use the staging directory.")
        .question(vec![which_database()])
        .text("SQLite it is.")
}

/// Runs a command of the session. What it looks at may come a moment after what the command before has waited for.
async fn prints(claude: &Claude, shown: &Shown) {
    let is_look = shown.command.starts_with("coop state");
    let mut printed = String::new();
    let run = async {
        loop {
            let ended = claude.coop.verb(&words(shown.command)[1..]).await;
            printed = ended.text();
            if is_as_shown(&shown.printed, &printed) || !is_look {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(LIMIT, run).await;
    assert!(
        is_as_shown(&shown.printed, &printed),
        "$ {}\n{printed}--- the README has\n{}",
        shown.command,
        shown.printed
    );
}

#[tokio::test]
async fn the_session_of_the_readme_goes_as_it_is_shown() {
    let mut session = session().into_iter();
    let start = session.next().expect("a first command");
    assert!(start.command.ends_with("-- claude &") && start.printed.is_empty(), "{}", start.command);
    let claude = Claude::start(script()).await;
    let mut verbs = 0;
    for shown in session {
        if let Some(path) = shown.command.strip_prefix("curl -s localhost:8080") {
            let wanted: Value = serde_json::from_str(&shown.printed).expect("JSON");
            claude.eventually(path, |found| *found == wanted).await;
            continue;
        }
        prints(&claude, &shown).await;
        verbs += 1;
    }
    assert!(verbs > 10, "it is a whole session: {verbs}");
    assert_eq!(claude.model.heard(), ["run the tests", "which database?"]);
}
