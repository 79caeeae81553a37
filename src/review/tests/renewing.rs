//! A box that is started again goes on from the project as it is by then, and no conflict is forgotten over it.

use std::path::{Path, PathBuf};

use super::super::{Baseline, ReviewError};
use super::bench::Bench;

const PROJECT: &str = "echo a >a; echo b >b; mkdir -p d/sub; echo c >d/c; echo s >d/sub/s";

fn conflicts(bench: &Bench) -> Vec<PathBuf> {
    match bench.apply(&[]) {
        Err(ReviewError::Conflicts(paths)) => paths,
        other => panic!("{other:?}"),
    }
}

#[test]
fn after_each_round_the_next_starts_from_the_project_of_that_moment() {
    let bench = Bench::on(PROJECT);
    for round in 0..3 {
        bench.in_box("echo box >>a; echo box >>d/c; rm -f b; mkdir -p n; echo n >n/box");
        bench.apply(&[]).unwrap();
        bench.project(&format!(
            "echo host >>a; echo host >>d/c; echo {round} >b; echo host >n/host; echo h >new{round}"
        ));
        bench.renew();
    }
    let all = std::fs::read_to_string(bench.path("lower/a")).unwrap();
    assert_eq!(all, "a\nbox\nhost\nbox\nhost\nbox\nhost\n");
}

#[test]
fn a_box_without_changes_sees_no_conflict_in_what_the_project_became() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo wrong >a; rm -r d");
    bench.discard(&[]).unwrap();
    bench.project("echo host >a; rm b; echo host >d/sub/s; mkdir b; echo in >b/in");
    bench.renew();
    bench.in_box("echo box >>a; rm -r b; echo box >>d/sub/s");
    let seen = bench.view("seen");
    bench.apply(&[]).unwrap();
    assert_eq!(bench.view("lower"), seen);
}

#[test]
fn what_the_box_has_not_changed_yet_is_taken_anew_beside_what_it_has() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo box >a; echo box >d/new");
    bench.project("echo host >b; echo host >d/c; echo host >d/sub/s");
    bench.renew();
    bench.in_box("echo box >>b; echo box >>d/c; rm d/sub/s");
    let seen = bench.view("seen");
    bench.apply(&[]).unwrap();
    assert_eq!(bench.view("lower"), seen);
}

#[test]
fn what_changed_on_both_sides_stays_a_conflict_however_often_the_box_is_started() {
    let ways = [
        ("echo box >a", "echo host >a", "a"),
        ("rm a", "echo host >a", "a"),
        ("echo box >a", "rm a", "a"),
        ("echo box >new", "echo host >new", "new"),
        ("rm -r d", "echo host >d/sub/new", "d/sub/new"),
        ("rm -r d; mkdir d; echo box >d/c", "echo host >d/c", "d/c"),
        ("rm -r d; mkdir d", "echo host >d/new", "d/new"),
        ("rm -r d; echo box >d", "echo host >d/c", "d/c"),
        ("echo box >d/c", "rm -r d; echo host >d", "d"),
        // Opened for writing only: the box has the file as it was then.
        (": >>a", "echo host >a", "a"),
    ];
    for (in_box, on_host, path) in ways {
        let bench = Bench::on(PROJECT);
        bench.in_box(in_box);
        bench.project(on_host);
        let before = conflicts(&bench);
        assert!(before.iter().any(|each| each == Path::new(path)), "{in_box}; {on_host}: {before:?}");
        bench.renew();
        bench.renew();
        assert_eq!(conflicts(&bench), before, "{in_box}; {on_host}");
    }
}

#[test]
fn a_lost_record_is_taken_anew_only_if_nothing_depends_on_it() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo box >a");
    std::fs::remove_file(bench.path("baseline")).unwrap();
    bench.renew();
    assert!(matches!(bench.apply(&[]), Err(ReviewError::NoBaseline { .. })));
    // One that cannot be read stays for whoever wants to look.
    std::fs::write(bench.path("baseline"), "nonsense\n").unwrap();
    let baseline = Baseline::at(bench.path("baseline"));
    assert!(matches!(bench.overlay.renew(&baseline), Err(ReviewError::BadBaseline { .. })));
    assert_eq!(std::fs::read_to_string(bench.path("baseline")).unwrap(), "nonsense\n");
    bench.discard(&[]).unwrap();
    bench.renew();
    bench.in_box("echo box >a");
    bench.apply(&[]).unwrap();
}

#[test]
fn a_record_that_cannot_be_written_leaves_the_older_one() {
    let bench = Bench::on(PROJECT);
    std::fs::create_dir(bench.path("baseline.new")).unwrap();
    let before = std::fs::read(bench.path("baseline")).unwrap();
    bench.project("echo host >a");
    bench.overlay.renew(&Baseline::at(bench.path("baseline"))).unwrap_err();
    assert_eq!(std::fs::read(bench.path("baseline")).unwrap(), before);
}

#[test]
fn a_tracked_file_that_was_written_and_is_the_same_again_is_no_conflict() {
    for version in ["2", "4"] {
        let bench = Bench::on(&format!(
            "git init -q .; git config index.version {version}; mkdir dir nested; cd nested; git init -q .; echo 4 >n
             touch -d @1000000000 n; git add n; cd ..; echo 1 >a; echo 2 >dir/ab; echo 3 >dir/ac; echo 5 >loose
             touch -d @1000000000 a dir/*; git add a dir"
        ));
        bench.in_box("for f in a dir/ab dir/ac nested/n; do echo box >>$f; done");
        let again = "for f in a dir/ab dir/ac; do echo x >$f; git checkout -q $f; done
                     cd nested; echo x >n; git checkout -q n";
        bench.project(again);
        bench.project("echo x >dir/ac");
        assert_eq!(conflicts(&bench), [Path::new("dir/ac")], "as long as it had been, and another");
        bench.project("echo 3 >dir/ac");
        bench.apply(&[]).unwrap();
        assert_eq!(std::fs::read_to_string(bench.path("lower/dir/ab")).unwrap(), "2\nbox\n");
    }
}
