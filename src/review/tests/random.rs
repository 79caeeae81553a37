//! Whatever a box does, the review is right: shown by random work through the real overlay, judged by git and by
//! the box's own eyes.

use std::{collections::BTreeSet, path::PathBuf, process::Stdio};

use proptest::prelude::*;

use super::super::{Change, EntryKind, Kind, Options, ReviewError, Style};
use super::bench::Bench;

/// Names as variables of the shell, which has no other way to write some of them; and what the work is made of.
/// Nothing waits: a write to a pipe without a reader would.
const WORDS: &str = r#"
    n0=a; n1=b; n2='sp ace'; n3="$(printf 'new\nline')"; n4="$(printf '\377x')"
    write() { [ -p "$1" ] || printf "$2" >"$1"; }
    add() { [ -p "$1" ] || printf "$2" >>"$1"; }
    perm() { if [ -d "$1" ]; then chmod $2 "$1"; else chmod $3 "$1"; fi; }
    anew() { rm -rf -- "$1" && mkdir -- "$1"; }
"#;

fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec(0..5u8, 1..4)
        .prop_map(|names| format!("\"{}\"", names.iter().map(|n| format!("$n{n}")).collect::<Vec<_>>().join("/")))
}

fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![Just("one\\n"), Just("two\\n"), Just("three\\r\\n"), Just("\\n"), Just("\\tx y\\n")];
    let end = prop_oneof![3 => Just(""), 1 => Just("no newline"), 1 => Just("cr\\r")];
    (proptest::collection::vec(line, 0..12), end).prop_map(|(lines, end)| format!("{}{end}", lines.concat()))
}

/// What git takes for no text, and too long for one line of a patch.
fn bytes() -> impl Strategy<Value = String> {
    // A shell reads `%` and `\\` as more than they are, even as numbers.
    let byte = any::<u8>().prop_filter("means something to printf", |byte| ![b'%', b'\\'].contains(byte));
    proptest::collection::vec(byte, 0..150)
        .prop_map(|bytes| std::iter::once(&0).chain(&bytes).map(|byte| format!("\\{byte:03o}")).collect())
}

/// Whose work it is, and so how strange it may be.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// The project's owner, who can enter all of its directories.
    Owner,
    Box,
    /// Nothing that git has no word for.
    Git,
}

/// One deed as a line of shell.
fn deed(by: By) -> BoxedStrategy<String> {
    let (dirs, files): (&[&str], &[&str]) = match by {
        By::Owner => (&["500", "555", "700", "711", "755"], &["0", "400", "444", "600", "644", "755"]),
        By::Box => (&["0", "300", "400", "500", "555", "600", "755"], &["0", "200", "400", "444", "600", "711", "755"]),
        By::Git => (&["700", "711", "755"], &["444", "600", "644", "711", "755"]),
    };
    let modes = (proptest::sample::select(dirs.to_vec()), proptest::sample::select(files.to_vec()));
    let plain = prop_oneof![
        4 => (path(), text()).prop_map(|(path, text)| format!("write {path} '{text}'")),
        2 => (path(), text()).prop_map(|(path, text)| format!("add {path} '{text}'")),
        2 => (path(), bytes()).prop_map(|(path, bytes)| format!("write {path} '{bytes}'")),
        1 => (path(), bytes()).prop_map(|(path, bytes)| format!("add {path} '{bytes}'")),
        3 => path().prop_map(|path| format!("mkdir -p {path}")),
        2 => path().prop_map(|path| format!("rm -rf {path}")),
        1 => path().prop_map(|path| format!("anew {path}")),
        2 => (path(), path()).prop_map(|(from, to)| format!("mv -T {from} {to}")),
        1 => (path(), path()).prop_map(|(from, to)| format!("ln -T {from} {to}")),
        1 => (path(), path()).prop_map(|(to, path)| format!("ln -snfT {to} {path}")),
        2 => (path(), modes).prop_map(|(path, (dir, file))| format!("perm {path} {dir} {file}")),
        1 => path().prop_map(|path| format!("touch {path}")),
    ];
    if by == By::Git {
        return plain.boxed();
    }
    let other = path().prop_map(|path| format!("mkfifo {path}"));
    prop_oneof![9 => plain, 1 => other].boxed()
}

fn work(by: By) -> impl Strategy<Value = String> {
    proptest::collection::vec(deed(by), 1..16).prop_map(|deeds| {
        let lines: Vec<String> = deeds.iter().map(|deed| format!("{deed} 2>/dev/null || :\n")).collect();
        format!("{WORDS}{}", lines.concat())
    })
}

/// Each is some sixty processes, and all of it is done once more as another user.
const CASES: u32 = 8;

fn cases(count: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, max_shrink_iters: 60, ..ProptestConfig::with_cases(count) }
}

proptest! {
    #![proptest_config(cases(CASES))]

    #[test]
    fn what_is_applied_is_what_the_box_saw(project in work(By::Owner), deeds in work(By::Box)) {
        let bench = Bench::on(&project);
        bench.in_box(&deeds);
        let seen = bench.view("seen");
        bench.apply(&[]).unwrap();
        prop_assert_eq!(bench.view("lower"), seen.clone());
        prop_assert!(bench.status().is_empty());
        prop_assert_eq!(bench.seen_again(), seen);
    }

    #[test]
    fn a_part_is_applied_without_a_change_to_what_the_box_sees(
        project in work(By::Owner), deeds in work(By::Box), nth in any::<prop::sample::Index>(),
    ) {
        let bench = Bench::on(&project);
        bench.in_box(&deeds);
        let seen = bench.view("seen");
        // What its owner locked in a running box is not listed there, but it is applied.
        let list = bench.changes().list;
        if list.is_empty() {
            return Ok(());
        }
        let chosen = &list[nth.index(list.len())].path;
        bench.overlay.apply(&super::super::Selection::of([chosen]).unwrap(), &bench.options()).unwrap();
        let left = bench.changes().list;
        prop_assert!(!left.iter().any(|change| change.path.starts_with(chosen)), "{:?} in {:?}", chosen, left);
        prop_assert_eq!(bench.seen_again(), seen.clone());
        bench.apply(&[]).unwrap();
        prop_assert_eq!(bench.view("lower"), seen);
    }

    #[test]
    fn what_is_discarded_is_as_in_the_project_and_all_else_as_it_was(
        project in work(By::Owner), deeds in work(By::Box), nth in any::<prop::sample::Index>(),
    ) {
        let bench = Bench::on(&project);
        let before = bench.view("lower");
        bench.in_box(&deeds);
        let list = bench.changes().list;
        if list.is_empty() {
            return Ok(());
        }
        let chosen = list[nth.index(list.len())].path.clone();
        match bench.overlay.discard(&super::super::Selection::of([&chosen]).unwrap()) {
            Ok(()) => {
                let left: Vec<&Change> = list.iter().filter(|change| !change.path.starts_with(&chosen)).collect();
                let paths = |changes: &[&Change]| -> BTreeSet<PathBuf> {
                    // A directory that was gone is back as soon as something in it is.
                    let above = |path: &PathBuf| !chosen.starts_with(path);
                    changes.iter().map(|change| change.path.clone()).filter(above).collect()
                };
                let now = bench.changes().list;
                prop_assert_eq!(paths(&now.iter().collect::<Vec<_>>()), paths(&left));
            }
            Err(ReviewError::InsideReplaced { .. }) => {}
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
        bench.discard(&[]).unwrap();
        prop_assert_eq!(bench.seen_again(), before.clone());
        prop_assert_eq!(bench.view("lower"), before);
    }

    #[test]
    fn a_start_forgets_no_conflict(project in work(By::Owner), deeds in work(By::Box), meanwhile in work(By::Owner)) {
        let bench = Bench::on(&project);
        bench.in_box(&deeds);
        bench.project(&meanwhile);
        let Err(ReviewError::Conflicts(before)) = bench.apply(&[]) else { return Ok(()) };
        bench.renew();
        match bench.apply(&[]) {
            Err(ReviewError::Conflicts(after)) => prop_assert_eq!(after, before),
            other => return Err(TestCaseError::fail(format!("{other:?}"))),
        }
    }

    #[test]
    fn git_sees_the_same_changes_and_takes_the_diff(project in work(By::Git), deeds in work(By::Git)) {
        let bench = Bench::on(&project);
        bench.in_box(&deeds);
        let changes = bench.overlay.changes(&Options::default()).unwrap();
        bench.copy("lower", "copy");
        let copy = bench.path("copy");
        bench.git(&copy, &["init", "-q"]);
        bench.git(&copy, &["add", "-A"]);
        bench.git(&copy, &["commit", "-q", "--allow-empty", "-m", "base"]);
        let repository = format!("--git-dir={}", bench.path("copy/.git").display());
        let other_index = bench.path("copy/.git").display().to_string();

        // The list is git's list.
        bench.copy("copy/.git", "judge");
        let judge = format!("--git-dir={}", bench.path("judge").display());
        let seen = format!("--work-tree={}", bench.path("seen").display());
        bench.git(&bench.path("seen"), &[&judge, &seen, "add", "-A"]);
        let status = bench.git(&bench.path("seen"), &[&judge, &seen, "status", "--porcelain", "-z", "--no-renames"]);
        let status: BTreeSet<String> =
            status.split(|byte| *byte == 0).filter(|line| !line.is_empty()).map(|line| line.escape_ascii().to_string()).collect();
        let expected: BTreeSet<String> = changes.list.iter().filter_map(as_git_says).collect();
        prop_assert_eq!(&expected, &status);

        // The diff makes the one from the other.
        let mut diff = Vec::new();
        changes.write_diff(&mut diff, Style::Plain).unwrap();
        if !expected.is_empty() {
            // Directories without files are none in a checkout, and where git would write a file they are in its way.
            bench.git(&copy, &["clean", "-qffdx"]);
            std::fs::write(bench.path("diff"), &diff).unwrap();
            let file = std::fs::File::open(bench.path("diff")).unwrap();
            let applied = bench.git_with(&copy, &["apply", "-"], Stdio::from(file));
            let text = diff.escape_ascii().to_string().replace("\\n", "\n");
            prop_assert!(applied.status.success(), "{}\n{}", String::from_utf8_lossy(&applied.stderr), text);
        }
        bench.git(&copy, &[&repository, "add", "-A"]);
        let made = bench.git(&copy, &["write-tree"]);
        let wanted = bench.git(&bench.path("seen"), &[&judge, "write-tree"]);
        prop_assert_eq!(made, wanted, "{}", other_index);
    }
}

/// A change as `git status --porcelain` has it; git knows no directories.
fn as_git_says(change: &Change) -> Option<String> {
    let known = |kind: EntryKind| matches!(kind, EntryKind::File | EntryKind::Symlink);
    let old = change.old.as_ref().filter(|old| known(old.kind));
    let new = change.new.as_ref().filter(|new| known(new.kind));
    let sign = match (old, new) {
        (None, None) => return None,
        (None, Some(_)) => 'A',
        (Some(_), None) => 'D',
        (Some(old), Some(new)) if old.kind != new.kind => 'T',
        (Some(old), Some(new)) if change.kind == Kind::ModeChanged && (old.mode ^ new.mode) & 0o100 == 0 => {
            return None;
        }
        _ => 'M',
    };
    Some(format!("{sign}  {}", change.path.as_os_str().as_encoded_bytes().escape_ascii()))
}
