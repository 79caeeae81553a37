//! The contract names every kind of dialog that coop tells, and no other.

use std::collections::BTreeSet;

use serde_json::Value;

/// The contract, whose comment is what callers go by.
const CONTRACT: &str = include_str!("../../../proto/coop/v1/agent.proto");

/// The field that the comment belongs to.
const FIELD: &str = "optional string subtype = 3;";

const RULES: [&str; 3] =
    [include_str!("../claude/rules.json"), include_str!("../codex/rules.json"), include_str!("../gemini/rules.json")];

/// How the comment begins what it says of each type of prompt, and the type's name in the rules.
const TYPES: [(&str, &str); 4] = [
    ("For a permission: ", "permission"),
    ("For a plan: ", "plan"),
    ("For a question: ", "question"),
    ("For setup: ", "setup"),
];

/// What has a dialog's looks, in the screens of all agents.
const UNKNOWN: (&str, &str) = ("setup", "dialog");

type Subtypes = BTreeSet<(String, String)>;

/// Type and subtype, as the contract's comment has them.
fn promised() -> Subtypes {
    let (before, _) = CONTRACT.split_once(FIELD).expect("the field of the contract");
    let comment: Vec<&str> = before.lines().rev().skip(1).map_while(|line| line.trim().strip_prefix("// ")).collect();
    let mut promised = Subtypes::new();
    let mut kind = None;
    for line in comment.into_iter().rev() {
        kind = TYPES.iter().find(|(beginning, _)| line.starts_with(beginning)).map(|(_, kind)| *kind).or(kind);
        let Some(kind) = kind else { continue };
        promised.extend(line.split('`').skip(1).step_by(2).map(|word| (kind.to_owned(), word.to_owned())));
    }
    promised
}

/// Type and subtype, as the rules of all agents have them.
fn made() -> Subtypes {
    let mut made: Subtypes = [(UNKNOWN.0.to_owned(), UNKNOWN.1.to_owned())].into();
    for rules in RULES {
        let file: Value = serde_json::from_str(rules).expect("rules");
        let prompts = file["rules"].as_array().into_iter().flatten().map(|rule| &rule["means"]["prompt"]);
        made.extend(
            prompts.filter_map(|prompt| {
                Some((prompt["kind"].as_str()?.to_owned(), prompt["subtype"].as_str()?.to_owned()))
            }),
        );
    }
    made
}

#[test]
fn the_contract_names_every_subtype_and_no_other() {
    assert_eq!(promised(), made());
}
