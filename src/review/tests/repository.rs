//! Agents commit: their commits come over whole, and nothing that git would run comes with them unasked.

use super::super::{ApplyOptions, Options, Selection, Style, Why};
use super::bench::Bench;

const IDENTITY: &str = "export HOME=/nowhere GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null \
    GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@x\n";

fn repository() -> Bench {
    Bench::on(&format!("{IDENTITY} git init -q -b main .; echo 1 >a; git add a; git commit -qm first"))
}

fn committed(more: &str) -> Bench {
    let bench = repository();
    bench.in_box(&format!("{IDENTITY} echo 2 >a; echo n >n; git add a n; git commit -qm second; {more}"));
    bench
}

fn log(bench: &Bench) -> String {
    String::from_utf8(bench.git(&bench.path("lower"), &["log", "--format=%s"])).unwrap()
}

#[test]
fn commits_are_applied_with_the_files() {
    let bench = committed("git switch -qc topic; echo 3 >a; git commit -qam third; git gc -q");
    let report = bench.apply(&[]).unwrap();
    assert_eq!(log(&bench), "third\nsecond\nfirst\n");
    let lower = bench.path("lower");
    bench.git(&lower, &["fsck", "--strict"]);
    assert_eq!(bench.git(&lower, &["status", "--porcelain"]), b"");
    assert_eq!(bench.git(&lower, &["branch", "--show-current"]), b"topic\n");
    // `git gc` writes `info/…` and packs, all of it data.
    assert!(report.withheld.is_empty(), "{report:?}");
    assert!(bench.status().is_empty());
}

#[test]
fn a_diff_has_one_line_for_a_repository_unless_asked_for_more() {
    let bench = committed("");
    let changes = bench.overlay.changes(&Options::default()).unwrap();
    assert_eq!(changes.list.len(), 2);
    let mut text = Vec::new();
    changes.write_diff(&mut text, Style::Plain).unwrap();
    let text = String::from_utf8(text).unwrap();
    let line = text.lines().find(|line| line.starts_with("# .git: ")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("refs/heads/main") && !line.contains("--force"), "{line}");
    assert!(bench.changes().list.iter().any(|change| change.path.starts_with(".git/objects")));
}

#[test]
fn what_git_would_obey_stays_until_forced() {
    let bench = committed(
        "printf '#!/bin/sh\\ntouch owned\\n' >.git/hooks/post-checkout; chmod 755 .git/hooks/post-checkout
         git config core.fsmonitor 'touch owned'; ln -s ../n .git/MERGE_MSG",
    );
    let summary = bench.overlay.changes(&Options::default()).unwrap().git[0].to_string();
    assert!(summary.contains("applied only with --force: 3"), "{summary}");
    let report = bench.apply(&[]).unwrap();
    let told: Vec<_> = report.withheld.iter().map(|each| (each.path.to_str().unwrap(), each.why)).collect();
    let obeyed = [".git/MERGE_MSG", ".git/config", ".git/hooks/post-checkout"];
    assert_eq!(told, obeyed.map(|path| (path, Why::GitObeys)));
    assert_eq!(log(&bench), "second\nfirst\n");
    assert_eq!(bench.git(&bench.path("lower"), &["status", "--porcelain"]), b"");
    bench.git(&bench.path("lower"), &["checkout", "-q", "HEAD~1"]);
    assert!(!bench.path("lower/owned").exists());
    assert_eq!(bench.status().len(), 3, "{:?}", bench.status());
    let forced = ApplyOptions { force: true, ..bench.options() };
    bench.overlay.apply(&Selection::of([".git"]).unwrap(), &forced).unwrap();
    assert!(bench.path("lower/.git/hooks/post-checkout").exists());
}

#[test]
fn a_repository_that_the_box_removed_stays() {
    let bench = repository();
    bench.in_box("rm -rf .git; echo 2 >a");
    let report = bench.apply(&[]).unwrap();
    assert!(report.withheld.iter().all(|each| each.why == Why::RepositoryGone), "{report:?}");
    assert_eq!(report.applied, [std::path::Path::new("a")]);
    assert_eq!(bench.git(&bench.path("lower"), &["status", "--porcelain"]), b" M a\n");
}

#[test]
fn a_look_at_the_project_with_git_is_no_conflict_but_what_was_staged_is() {
    for version in ["2", "4"] {
        let bench = Bench::on(&format!(
            "{IDENTITY} git init -q -b main .; git config index.version {version}
             mkdir dir; echo 1 >a; echo 1 >dir/b; git add .; git commit -qm first"
        ));
        bench.in_box(&format!("{IDENTITY} echo 2 >a; git commit -qam second"));
        let index = bench.path("lower/.git/index");
        let before = std::fs::read(&index).unwrap();
        bench.project("touch -d @1000000000 dir/b; git status >/dev/null");
        assert_ne!(std::fs::read(&index).unwrap(), before, "git has written it anew");
        bench.apply(&[]).unwrap();
        assert_eq!(log(&bench), "second\nfirst\n");
        assert_eq!(bench.git(&bench.path("lower"), &["status", "--porcelain"]), b"");

        bench.in_box(&format!("{IDENTITY} echo 3 >a; git commit -qam third"));
        bench.project(&format!("{IDENTITY} git mv dir/b dir/c"));
        let error = bench.apply(&[]).unwrap_err().to_string();
        assert!(error.contains("\".git/index\"") && !error.contains("refs"), "{error}");
    }
}

#[test]
fn commits_on_both_sides_are_a_conflict() {
    let bench = committed("");
    bench.project(&format!("{IDENTITY} echo m >m; git add m; git commit -qm mine"));
    let error = bench.apply(&[]).unwrap_err().to_string();
    assert!(error.contains(".git/refs/heads/main"), "{error}");
    assert_eq!(log(&bench), "mine\nfirst\n");
    // The files alone can be had.
    bench.apply(&["a", "n"]).unwrap();
}
