//! Promises about what is read and how mistakes are told.

use std::path::Path;

use super::super::*;

fn parsed(text: &str) -> Result<BoxFile, String> {
    parse(Path::new("coop.toml"), text, Whose::Project).map_err(|mistakes| mistakes.to_string())
}

fn mistakes(text: &str) -> String {
    parsed(text).map(|file| format!("{file:?}")).expect_err(text)
}

/// Every key once, none of them as it is by default.
pub const EVERYTHING: &str = r#"
[box]
image = "debian:12"
agent = "codex"
command = ["codex", "--full-auto"]
shell = "/bin/bash"
setup = ["apt-get update", "apt-get install -y git"]
user = "1000"
uidmap = "root"
nested = true
mounts = ["~/data:/data:ro", { from = "tools", to = "/opt/tools" }, { volume = "cache", to = "~/.cache", mode = "rw" }]
hide = [".env", "~/.ssh"]
login = "copy"
git_identity = false

[workspace]
path = "app"
mode = "overlay"
protect = ["Makefile"]
protect_git = false

[network]
mode = "host"
allow = ["crates.io", "*.npmjs.org:443"]
publish = ["8080:80"]

[limits]
memory = "1.5G"
processes = 512
cpus = 2
open_files = 0x1000

[security]
seccomp = false
landlock = false

[session]
name = "my-app"
restart = "on-failure"
persist = [".cache/pip"]
cols = 120
rows = 40
attach_size = "smallest"
labels = { team = "red" }

[input_filter]
ctrl_c_ms = 500
block_keys = ["ctrl-z"]
block_sequences = ["\u001b[I"]

[env]
export = ["GITHUB_TOKEN"]
EDITOR = "vi"
EMPTY = ""
"#;

#[test]
fn every_key_is_read() {
    let file = parsed(EVERYTHING).unwrap();
    let value = serde_json::to_value(&file).unwrap();
    assert_eq!(value["boxed"]["image"], "debian:12");
    assert_eq!(value["boxed"]["mounts"][0], serde_json::json!({"from": "~/data", "to": "/data", "mode": "ro"}));
    assert_eq!(value["boxed"]["mounts"][1], serde_json::json!({"from": "tools", "to": "/opt/tools", "mode": "rw"}));
    assert_eq!(value["boxed"]["mounts"][2]["volume"], "cache");
    assert_eq!(
        value["limits"],
        serde_json::json!({"memory": 3_u64 << 29, "processes": 512, "cpus": 2.0, "open_files": 4096})
    );
    assert_eq!(value["env"], serde_json::json!({"set": {"EDITOR": "vi", "EMPTY": ""}, "export": ["GITHUB_TOKEN"]}));
    assert_eq!(value["session"]["labels"]["team"], "red");
    assert_eq!(value["input_filter"]["block_sequences"][0], "\u{1b}[I");
    let unsaid: Vec<_> = value.as_object().unwrap().values().flat_map(|section| section.as_object().unwrap()).collect();
    assert!(unsaid.iter().all(|(_, value)| !value.is_null() && **value != serde_json::json!([])), "{unsaid:?}");
}

#[test]
fn a_value_knows_its_line_and_column() {
    let file = parsed("[box]\n  image = \"x\"\n[env]\nA = \"1\"").unwrap();
    let Some(Said { origin: Origin::Project(spot), .. }) = file.boxed.image else { panic!("no image") };
    assert_eq!((spot.line, spot.column, &*spot.file), (2, 11, Path::new("coop.toml")));
    assert_eq!(file.env.set["A"].origin.to_string(), "coop.toml:4:1");
    let file = parsed("box = { setup = [\"é\"], hide = [\"é\", \"b\", \"c\"], image = \"x\" }").unwrap();
    let columns: Vec<_> = file.boxed.hide.iter().map(|said| said.origin.spot().unwrap().column).collect();
    assert_eq!((columns, file.boxed.image.unwrap().origin.spot().unwrap().column), (vec![32, 37, 42], 56));
}

#[test]
fn a_mistake_is_shown_with_its_line_and_a_caret() {
    let text = mistakes("[box]\nimgae = \"debian\"\n");
    let expected =
        "coop.toml:2:1: there is no key `imgae` in [box]; did you mean `image`?\n  2 | imgae = \"debian\"\n    | ^^^^^";
    assert_eq!(text, expected);
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once_in_order() {
    let text = mistakes(
        "[box]\nimage = 3\nagent = \"cluade\"\n[netwrk]\n[limits]\nmemory = \"lots\"\ncpus = \"two\"\n[workspace]\nmode = \"rx\"",
    );
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("coop.toml:")).collect();
    let expected = [
        "coop.toml:2:9: expected a string, found a whole number; such as image = \"host\"",
        "coop.toml:3:9: `agent` is \"claude\", \"codex\", \"gemini\" or \"unknown\", not `cluade`; did you mean \"claude\"?",
        "coop.toml:4:2: there is no section `netwrk`; did you mean [network]?",
        "coop.toml:6:10: expected a size, as a string or in bytes, found `lots`; such as memory = \"4G\"",
        "coop.toml:7:8: expected a number, found a string; such as cpus = 2.0",
        "coop.toml:9:8: `mode` is \"ro\", \"overlay\" or \"rw\", not `rx`; did you mean \"ro\"?",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn every_wrong_value_says_what_would_be_right() {
    let table = [
        ("box = 3", "`box` is a section, not a whole number"),
        ("[[box]]", "`box` is a section, not a list"),
        ("image = \"x\"", "write it below [box]"),
        ("docker = 1", "there are box, workspace"),
        ("[box]\nmemory = \"4G\"", "it belongs to [limits]"),
        ("[box]\nxyzzy = 1", "there are image, agent"),
        ("[box]\nimage = \"\"", "must not be empty"),
        ("[box]\nimage = \"a\\u0000\"", "NUL"),
        ("[box]\nnested = \"yes\"", "expected true or false, found a string; such as nested = false"),
        ("[box]\nsetup = \"apt\"", "expected a list of strings, found a string; such as setup = ["),
        ("[box]\nsetup = [1]", "expected a string, found a whole number"),
        ("[box]\ncommand = [[\"a\"]]", "expected a string, found a list"),
        ("[box]\nmounts = [\"/a\"]", "use \"from:to\""),
        ("[box]\nmounts = [\"/a:/b:rx\"]", "use \"from:to\""),
        ("[box]\nmounts = [3]", "expected a list of \"from:to[:ro]\""),
        ("[box]\nmounts = [{ form = \"/a\", to = \"/b\" }]", "did you mean `from`?"),
        ("[box]\nmounts = [{ from = \"/a\" }]", "needs `to"),
        ("[box]\nmounts = [{ to = \"/a\" }]", "needs `from"),
        ("[box]\nmounts = [{ from = \"/a\", volume = \"b\", to = \"/c\" }]", "not both"),
        ("[box]\nmounts = [{ volume = \"../b\", to = \"/c\" }]", "no name for a volume"),
        ("[box]\nmounts = [{ from = \"/a\", to = \"/c\", mode = \"w\" }]", "`mode` is \"ro\" or \"rw\""),
        ("[box]\nmounts = [\"/a:/c\", \"/b:/c\"]", "is mounted on in line 2 already"),
        ("[limits]\nmemory = \"1K\"", "between 16M and 1024T"),
        ("[limits]\nmemory = -1", "between 16M"),
        ("[limits]\nmemory = 99999999999999999999999", "between 16M"),
        ("[limits]\nmemory = 1.5", "found a number with a fraction"),
        ("[limits]\ncpus = nan", "between 0.01 and 4096"),
        ("[limits]\ncpus = 0", "between 0.01 and 4096"),
        ("[limits]\nprocesses = 1", "between 16 and"),
        ("[session]\ncols = 70000", "between 1 and 1000"),
        ("[session]\nname = \"My App\"", "is no name for a box"),
        ("[session]\nlabels = [\"a\"]", "expected a table of strings"),
        ("[session.labels]\n\"a=b\" = \"c\"", "is no name here"),
        ("[session.labels]\na = 1", "expected a string, found a whole number; such as a = \"1\""),
        ("[session]\nrestart = true", "not true or false"),
        ("[input_filter]\nblock_keys = [\"\"]", "must not be empty"),
        (
            "[input_filter]\nblock_keys = [\"ctrl-z\", \"hyper-x\"]",
            "coop.toml:2:25: unknown key \"hyper-x\": try enter",
        ),
        (
            "[input_filter]\nblock_sequences = [\"12345678901234567890123456789012345678901234567890123456789012345\"]",
            "at most 64",
        ),
        (
            "[network]\nallow = [\"crates.io\", \"https://x.example/a\"]",
            "coop.toml:2:23: write the host without https://",
        ),
        ("[network]\nallow = [\"*\"]", "that would be everybody"),
        (
            "[network]\npublish = [\n  \"80:x\",\n]",
            "coop.toml:3:3: the port inside the box is a number from 1 to 65535",
        ),
        (
            "[network]\npublish = [\"80\", \"80:81\"]",
            "coop.toml:2:18: 127.0.0.1:80 is published already, by an entry before it",
        ),
        ("[env]\nPORT = 8080", "expected a string, found a whole number; such as PORT = \"1\""),
        ("[env]\n\"A-B\" = \"1\"", "is no name here"),
        ("[env]\nHOME = \"/x\"", "is set by coop itself"),
        ("[env]\nexport = [\"COOP_X\"]", "is set by coop itself"),
        ("[env]\nexport = [\"A=B\"]", "is no variable's name"),
        ("[env]\nexport = \"A\"", "expected a list of strings"),
        ("[env]\nA = \"\\u0000\"", "NUL"),
        ("[box]\nimage = \"a\"\nimage = \"b\"", "coop.toml:3:1: it is said twice"),
        ("[box]\n[box]", "said twice"),
        ("[box]\nimage = debian", "not TOML"),
        ("[box\nimage = \"a\"", "not TOML"),
        ("[box]\nimage", "not TOML"),
    ];
    for (text, part) in table {
        let told = mistakes(text);
        assert!(told.contains(part), "{text}\n---\n{told}\n---\n{part}");
    }
}

#[test]
fn a_broken_line_does_not_hide_the_mistakes_of_others() {
    let text = mistakes("[box]\nimage = \nimgae = 1\n[limits]\nmemroy = 1\n");
    assert!(text.contains("coop.toml:2:") && text.contains("`image`?") && text.contains("`memory`?"), "{text}");
}

#[test]
fn a_file_full_of_mistakes_is_told_in_a_page() {
    let many: String = (0..5000).map(|number| format!("x{number} = 1\n")).collect();
    let text = mistakes(&format!("[box]\n{many}"));
    assert!(text.len() < 8000 && text.ends_with("and 4980 more"), "{text}");
}

#[test]
fn what_a_repository_writes_cannot_steer_the_terminal() {
    let text = mistakes("[box]\n\"\\u001b[2J\" = 1\nagent = \"\\u001b]0;x\\u0007\"\n\"a\u{202e}b\" = 2");
    assert!(text.chars().all(|character| character == '\n' || !character.is_control()), "{text:?}");
    assert!(!text.contains('\u{202e}'), "{text:?}");
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_are_fine() {
    let file = parsed("\u{feff}[box]\r\nimage = \"x\"\r\n").unwrap();
    assert_eq!(file.boxed.image.unwrap().origin.to_string(), "coop.toml:2:9");
    let text = mistakes("\u{feff}boks = 1\r\n");
    assert!(text.starts_with("coop.toml:1:1: ") && text.contains("  1 | boks = 1\n    | ^^^^"), "{text}");
}

#[test]
fn depth_does_not_end_the_process() {
    for unit in ["[", "a.", "{a=", "[[a."] {
        let deep = unit.repeat(FILE_BYTES_MAX / unit.len());
        assert!(parsed(&deep).is_err());
        assert!(parsed(&format!("x = {deep}")).is_err());
        assert!(parsed(&format!("[{deep}a]")).is_err());
        assert!(parsed(&format!("{deep}a = 1")).is_err());
    }
}

/// Lines and lists that would take minutes if anything were counted or compared again and again.
#[test]
fn the_largest_file_is_read_without_delay() {
    let items = |count: usize| (0..count).map(|number| format!("\"{number:x}\"")).collect::<Vec<_>>().join(",");
    assert!(mistakes(&format!("box={{hide=[{}]}}", items(30_000))).contains("at most 1000"));
    assert!(parsed(&format!("box={{hide=[{}],setup=[{}]}}", items(1000), items(1000))).is_ok());
    assert!(mistakes(&"=".repeat(FILE_BYTES_MAX)).contains("more"));
    assert!(mistakes(&"x=\n".repeat(FILE_BYTES_MAX / 3)).contains("more"));
}
