//! What is discarded is gone from the box, the rest stays, and the box can go on.

use std::path::Path;

use super::super::{ApplyOptions, Options, ReviewError, Selection};
use super::bench::{Bench, short};

const PROJECT: &str = "echo a >a; mkdir -p d/sub e; echo b >d/b; echo c >d/sub/c; echo f >e/f";

#[test]
fn everything_goes_and_the_box_sees_the_project_again() {
    let bench = Bench::on(PROJECT);
    let project = bench.view("lower");
    bench
        .in_box("rm -r d; mkdir d; echo x >d/x; rm a; mkdir -p a/b; echo f >>e/f; mkdir l; echo x >l/x; chmod 0 l/x l");
    bench.discard(&[]).unwrap();
    assert!(bench.status().is_empty());
    assert_eq!(std::fs::read_dir(bench.path("upper")).unwrap().count(), 0);
    assert_eq!(bench.view("lower"), project);
    assert_eq!(bench.seen_again(), project);
    bench.in_box("echo again >a");
    assert_eq!(bench.status(), ["M a"]);
    assert!(!bench.path(".upper.discarded").exists());
}

#[test]
fn one_path_goes_and_the_others_stay() {
    let left = |script: &str, discarded: &str| {
        let bench = Bench::on(PROJECT);
        bench.in_box(script);
        bench.discard(&[discarded]).unwrap();
        bench.status()
    };
    assert_eq!(left("echo 1 >a; echo 2 >n", "a"), ["A n"]);
    assert_eq!(left("rm -r d; rm a", "d"), ["D a"]);
    assert_eq!(left("rm -r d; rm a", "d/sub/c"), ["D a", "D d/b"]);
    assert_eq!(left("rm -r d; mkdir d; echo x >d/x", "d/b"), ["D d/sub/", "D d/sub/c", "A d/x"]);
    assert_eq!(left("rm -r d; mkdir -p d/sub; echo x >d/sub/x", "d/b"), ["D d/sub/c", "A d/sub/x"]);
    assert_eq!(left("rm -r d; mkdir -p d/sub; echo x >d/sub/x", "d/sub/c"), ["D d/b", "A d/sub/x"]);
    assert_eq!(left("rm a; mkdir a; echo x >a/x; echo 2 >n", "a"), ["A n"]);
    assert_eq!(left("mkdir -p n/m; echo x >n/m/x; echo y >n/y", "n/m"), ["A n/", "A n/y"]);
}

#[test]
fn a_path_inside_a_replaced_directory_cannot_come_back_alone() {
    let bench = Bench::on(PROJECT);
    bench.in_box("rm -r d; echo file >d");
    let error = bench.discard(&["d/b"]).unwrap_err();
    assert!(matches!(error, ReviewError::InsideReplaced { .. }), "{error}");
    assert_eq!(bench.status()[0], "T d");
    bench.discard(&["d"]).unwrap();
    assert!(bench.status().is_empty());
}

#[test]
fn a_path_without_changes_is_an_error() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo 1 >a");
    assert!(matches!(bench.discard(&["e"]), Err(ReviewError::NothingThere(_))));
    assert_eq!(bench.status(), ["M a"]);
}

#[test]
fn a_tree_deeper_than_any_path_is_removed() {
    let bench = Bench::on(PROJECT);
    // Grown from its top, since no path can name its end, and no process has so many open files.
    let (tree, bed) = (bench.path("upper/tree"), bench.path("upper/bed"));
    std::fs::create_dir(&tree).unwrap();
    for _ in 0..5000 {
        std::fs::create_dir(&bed).unwrap();
        std::fs::rename(&tree, bed.join("tree")).unwrap();
        std::fs::rename(&bed, &tree).unwrap();
    }
    let error = bench.overlay.changes(&super::super::Options::default()).err().unwrap().to_string();
    assert!(error.contains("too long") && error.len() < 10_000, "{error}");
    bench.discard(&[]).unwrap();
    assert!(bench.status().is_empty());
}

#[test]
fn what_an_interrupted_discard_left_is_removed_by_the_next() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo 1 >a");
    std::fs::create_dir_all(bench.path(".upper.discarded/0/in")).unwrap();
    std::fs::write(bench.path(".upper.discarded/0/in/f"), "").unwrap();
    bench.discard(&["a"]).unwrap();
    assert!(!bench.path(".upper.discarded").exists());
}

#[test]
fn what_is_too_much_to_be_told_can_be_discarded_and_a_chosen_path_is_all_that_is_looked_at() {
    let bench = Bench::on(PROJECT);
    bench.in_box("rm -r d; mkdir d many; echo x >d/x; echo 1 >a; for n in 1 2 3 4; do echo $n >many/$n; done");
    let told = |paths: &[&str]| {
        let options = Options { only: Selection::of(paths).unwrap(), changes_max: 2, ..Options::default() };
        bench.overlay.changes(&options).map(|changes| changes.list.iter().map(short).collect::<Vec<_>>())
    };
    assert!(matches!(told(&[]), Err(ReviewError::TooMany { max: 2, .. })));
    assert!(matches!(told(&["many"]), Err(ReviewError::TooMany { max: 2, .. })));
    assert_eq!(told(&["a", "many/3"]).unwrap(), ["M a", "A many/3"]);
    assert_eq!(told(&["d/b"]).unwrap(), ["D d/b"], "what a directory made anew hides");
    assert_eq!(told(&["d/sub/c"]).unwrap(), ["D d/sub/c"]);
    assert!(matches!(told(&["d/none"]), Err(ReviewError::NothingThere(_))));
    let few = ApplyOptions { changes_max: 2, ..bench.options() };
    assert!(matches!(bench.overlay.apply(&Selection::All, &few), Err(ReviewError::TooMany { .. })));
    let applied = bench.overlay.apply(&Selection::of(["many/3"]).unwrap(), &few).unwrap().applied;
    assert_eq!(applied, [Path::new("many"), Path::new("many/3")], "with the directory that it stands in");
    bench.discard(&["many"]).unwrap();
    bench.discard(&["a"]).unwrap();
    assert!(matches!(bench.discard(&["e"]), Err(ReviewError::NothingThere(_))));
    assert_eq!(told(&["d/x"]).unwrap(), ["A d/x"]);
    bench.discard(&[]).unwrap();
    assert!(bench.status().is_empty());
}
