//! What is applied is what the box saw; nothing is lost on either side.

use std::{
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    process::Command,
};

use super::super::{ApplyOptions, Baseline, CHANGES_MAX, Overlay, ReviewError, Selection, Why};
use super::bench::Bench;
use super::ordinary::{NOBODY_ELSE, this_program_in_a_namespace, this_program_in_a_namespace_with};

const PROJECT: &str = "
    echo a >a; echo b >b; echo run >tool; chmod 755 tool; ln -s a link
    mkdir -p d/sub e; echo b >d/b; echo c >d/sub/c; echo f >e/f
";

const EVERYTHING: &str = r#"
    echo A >>a; chmod 750 tool; ln -sf /etc/passwd link
    mv d moved; rm -r e; echo file >e
    rm b; mkdir b; echo in >b/in
    n="$(printf 'new\nline')"; echo x >"$n"; n="$(printf '\377')"; mkdir "$n"; echo y >"$n/$n"
    : >void; mkfifo pipe; mkdir -p deep/er; echo z >deep/er/z; chmod 555 deep/er deep; ln a twin
    echo secret >locked; chmod 0 locked
"#;

#[test]
fn everything_that_the_box_saw_is_in_the_project() {
    let bench = Bench::on(PROJECT);
    bench.in_box(EVERYTHING);
    let seen = bench.view("seen");
    let report = bench.apply(&[]).unwrap();
    assert_eq!(bench.view("lower"), seen);
    assert!(report.withheld.is_empty() && report.applied.contains(&"b/in".into()), "{report:?}");
    assert!(bench.status().is_empty());
    assert_eq!(bench.seen_again(), seen);
}

#[test]
fn the_layer_stays_as_it_is_unless_it_shall_be_cleared() {
    let bench = Bench::on(PROJECT);
    bench.in_box(EVERYTHING);
    let layer = bench.view("upper");
    let options = ApplyOptions { and_clear: false, ..bench.options() };
    bench.overlay.apply(&Selection::All, &options).unwrap();
    assert_eq!(bench.view("upper"), layer);
    assert!(bench.status().is_empty(), "{:?}", bench.status());
}

#[test]
fn a_part_of_a_deleted_directory_can_go_and_the_directory_stays_deleted_for_the_box() {
    let ways = ["rm -r top/gone", "rm -r top && mkdir top", "rm -r top && mkdir top && echo new >top/new"];
    for way in ways {
        let bench = Bench::on("mkdir -p top/gone/empty; echo f >top/gone/f");
        bench.in_box(way);
        let seen = bench.view("seen");
        for part in ["top/gone/empty", "top/gone/f"] {
            bench.apply(&[part]).unwrap();
            assert!(!bench.path("lower").join(part).exists());
            assert_eq!(bench.seen_again(), seen, "{way}: after {part}");
        }
        bench.apply(&[]).unwrap();
        assert_eq!(bench.view("lower"), seen, "{way}");
    }
}

#[test]
fn a_file_keeps_its_time() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo x >a; touch -d @1000000000 a");
    bench.apply(&[]).unwrap();
    assert_eq!(bench.path("lower/a").metadata().unwrap().mtime(), 1_000_000_000);
}

#[test]
fn links_are_applied_as_links_and_never_followed() {
    let bench = Bench::on(PROJECT);
    std::fs::create_dir(bench.path("outside")).unwrap();
    std::fs::write(bench.path("outside/f"), "untouched").unwrap();
    // The box has a directory `e` with a file in it; the project's `e` leads outside by the time it is applied.
    bench.in_box("echo mine >e/f; echo new >e/new");
    bench.project("rm -r e; ln -s ../outside e");
    let error = bench.apply(&[]).unwrap_err();
    assert!(
        matches!(&error, ReviewError::Conflicts(paths) if paths.iter().any(|path| path == Path::new("e"))),
        "{error}"
    );
    let forced = ApplyOptions { force: true, ..bench.options() };
    bench.overlay.apply(&Selection::All, &forced).unwrap();
    assert_eq!(std::fs::read_to_string(bench.path("outside/f")).unwrap(), "untouched");
    assert!(!bench.path("outside/new").exists());
    assert_eq!(std::fs::read_to_string(bench.path("lower/e/new")).unwrap(), "new\n");
}

#[test]
fn chosen_paths_are_applied_and_the_others_wait() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo A >a; mkdir -p x/y; echo 1 >x/y/1; echo 2 >x/y/2; rm -r d; mkdir d; echo n >d/n");
    let seen = bench.view("seen");
    bench.apply(&["x/y/1", "d/b"]).unwrap();
    let left = ["M a", "A d/n", "D d/sub/", "D d/sub/c", "A x/y/2"];
    assert_eq!(bench.status(), left);
    assert_eq!(bench.seen_again(), seen);
    bench.apply(&[]).unwrap();
    assert_eq!(bench.view("lower"), seen);
    assert!(bench.status().is_empty());
}

#[test]
fn a_path_without_changes_is_an_error_and_nothing_is_applied() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo A >a");
    let error = bench.apply(&["a", "nope"]).unwrap_err();
    assert!(matches!(&error, ReviewError::NothingThere(paths) if paths == &[Path::new("nope")]), "{error}");
    assert_eq!(bench.status(), ["M a"]);
}

#[test]
fn what_changed_in_the_project_meanwhile_is_not_overwritten() {
    let changed = |meanwhile: &str, conflicts: &[&str]| {
        let bench = Bench::on(PROJECT);
        bench.in_box("echo box >a; rm -r d; echo box >new; echo box >b");
        bench.project(meanwhile);
        let before = bench.view("lower");
        let error = bench.apply(&[]).unwrap_err();
        let ReviewError::Conflicts(paths) = &error else { panic!("{error}") };
        assert_eq!(paths.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>(), conflicts);
        assert!(error.to_string().contains(conflicts[0]) && error.to_string().contains("--force"), "{error}");
        assert_eq!(bench.view("lower"), before);
        bench.apply(&["b"]).unwrap();
        bench.overlay.apply(&Selection::All, &ApplyOptions { force: true, ..bench.options() }).unwrap();
        assert_eq!(bench.view("lower"), bench.seen_again());
        assert_eq!(std::fs::read_to_string(bench.path("lower/a")).unwrap(), "box\n");
    };
    changed("echo mine >>a", &["a"]);
    changed("rm a", &["a"]);
    changed("echo mine >new", &["new"]);
    changed("echo mine >d/mine", &["d/mine"]);
    changed("echo mine >d/sub/c", &["d/sub/c"]);
    changed("rm a; mkdir a", &["a"]);
}

#[test]
fn the_same_change_on_both_sides_is_no_conflict() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo same >a; rm b; echo other >tool");
    bench.project("echo same >a; rm b; echo mine >e/f");
    assert_eq!(bench.status(), ["M tool"]);
    bench.apply(&[]).unwrap();
    assert_eq!(std::fs::read_to_string(bench.path("lower/e/f")).unwrap(), "mine\n");
}

#[test]
fn what_was_applied_before_is_no_conflict_later() {
    let bench = Bench::on(PROJECT);
    for round in
        ["echo 1 >a; mkdir n; echo 1 >n/1", "echo 2 >a; rm -r n", "rm a; mkdir a; echo x >a/x", "rm -r a; echo y >a"]
    {
        bench.in_box(round);
        let seen = bench.view("seen");
        bench.apply(&[]).unwrap();
        assert_eq!(bench.view("lower"), seen);
    }
}

#[test]
fn without_a_record_of_the_project_only_force_applies() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo A >a");
    let lost = ApplyOptions { baseline: Baseline::at(bench.path("lost")), ..bench.options() };
    let error = bench.overlay.apply(&Selection::All, &lost).unwrap_err();
    assert!(matches!(error, ReviewError::NoBaseline { .. }), "{error}");
    std::fs::write(bench.path("lost"), "{\"path\":\"a\"\n").unwrap();
    let error = bench.overlay.apply(&Selection::All, &lost).unwrap_err();
    assert!(matches!(error, ReviewError::BadBaseline { line: 1, .. }), "{error}");
    std::fs::remove_file(bench.path("lost")).unwrap();
    bench.overlay.apply(&Selection::All, &ApplyOptions { force: true, ..lost }).unwrap();
    assert!(bench.status().is_empty());
}

#[test]
fn an_interrupted_line_of_the_record_loses_only_itself() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo A >a");
    let mut text = std::fs::read(bench.path("baseline")).unwrap();
    text.extend_from_slice(b"{\"path\":\"a\",\"wa");
    std::fs::write(bench.path("baseline"), text).unwrap();
    bench.apply(&[]).unwrap();
    bench.in_box("echo B >a");
    bench.apply(&[]).unwrap();
}

#[test]
fn protected_paths_stay_until_forced_and_that_is_told() {
    let bench = Bench::on("mkdir -p keep/in other; echo k >keep/in/k; echo c >coop.toml; echo o >other/o");
    bench.in_box("echo K >keep/in/k; rm -r other; echo evil >coop.toml; echo fine >fine; rm -r keep; echo K >keep");
    let options = ApplyOptions { protect: vec!["keep/in".into(), "other/o".into()], ..bench.options() };
    let before = bench.view("lower");
    let report = bench.overlay.apply(&Selection::All, &options).unwrap();
    assert_eq!(report.applied, [Path::new("fine")]);
    let told: Vec<_> = report.withheld.iter().map(|each| (each.path.to_str().unwrap(), each.why)).collect();
    let expected = [
        ("coop.toml", Why::Protected),
        ("keep", Why::HoldsWithheld),
        ("keep/in", Why::Protected),
        ("keep/in/k", Why::Protected),
        ("other", Why::HoldsWithheld),
        ("other/o", Why::Protected),
    ];
    assert_eq!(told, expected);
    std::fs::remove_file(bench.path("lower/fine")).unwrap();
    assert_eq!(bench.view("lower"), before);
    bench.overlay.apply(&Selection::All, &ApplyOptions { force: true, ..options }).unwrap();
    assert!(bench.path("lower/keep").is_file() && !bench.path("lower/other").exists());
    assert!(bench.status().is_empty());
}

#[test]
fn a_socket_stays_and_is_told() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo A >a");
    drop(std::os::unix::net::UnixListener::bind(bench.path("upper/s")).unwrap());
    let report = bench.apply(&[]).unwrap();
    assert_eq!(report.withheld[0].why, Why::NotCarried(super::super::EntryKind::Socket));
    assert_eq!(bench.status(), ["A s"]);
}

#[test]
fn bits_that_lend_rights_are_never_carried_over() {
    let bench = Bench::on(PROJECT);
    bench.in_box("cp /bin/sh shell; chmod 6755 shell; chmod u+s tool");
    bench.apply(&[]).unwrap();
    for file in ["lower/shell", "lower/tool"] {
        assert_eq!(bench.path(file).metadata().unwrap().mode() & 0o7777, 0o755, "{file}");
    }
}

#[test]
fn a_project_with_locked_directories_keeps_their_modes() {
    let bench = Bench::on("mkdir -p ro/in; echo x >ro/in/x; echo y >ro/y; chmod 555 ro/in ro");
    bench.in_box("echo X >ro/in/x; rm ro/y; echo n >ro/in/n");
    let seen = bench.view("seen");
    bench.apply(&[]).unwrap();
    assert_eq!(bench.view("lower"), seen);
}

#[test]
fn what_the_box_locked_is_locked_in_the_project_also_when_only_a_part_is_applied() {
    let bench = Bench::on("echo a >a");
    bench.in_box("echo A >a; mkdir -p new/in/deep; chmod 600 new/in");
    let seen = bench.view("seen");
    bench.apply(&["new"]).unwrap();
    assert_eq!(bench.seen_again(), seen);
    bench.apply(&[]).unwrap();
    assert_eq!(bench.view("lower"), seen);
}

#[test]
fn what_cannot_be_read_is_not_lost_with_the_rest() {
    const AT: &str = "COOP_TEST_AT";
    let test = "applying::what_cannot_be_read_is_not_lost_with_the_rest";
    let at = std::env::var_os(AT).map(PathBuf::from);
    if at.is_none() && !nix::unistd::geteuid().is_root() {
        // Only root can make a directory that is somebody else's.
        return;
    }
    let bench = at.is_none().then(|| {
        let bench = Bench::on(PROJECT);
        bench.in_box("echo A >a; echo B >b");
        std::fs::DirBuilder::new().mode(0o700).create(bench.path("upper/theirs")).unwrap();
        std::os::unix::fs::chown(bench.path("upper/theirs"), Some(NOBODY_ELSE), Some(NOBODY_ELSE)).unwrap();
        bench
    });
    let place = bench.as_ref().map_or_else(|| at.unwrap(), |bench| bench.path(""));
    this_program_in_a_namespace_with(test, &[(AT, place.as_os_str())], || {
        let overlay = Overlay { lower: place.join("lower"), upper: place.join("upper") };
        let baseline = Baseline::at(place.join("baseline"));
        let options =
            ApplyOptions { baseline, protect: Vec::new(), force: false, and_clear: true, changes_max: CHANGES_MAX };
        let error = overlay.apply(&Selection::All, &options).unwrap_err();
        assert!(matches!(&error, ReviewError::Unreadable(paths) if paths == &[Path::new("theirs")]), "{error}");
        overlay.apply(&Selection::of(["a"]).unwrap(), &options).unwrap();
    });
    if let Some(bench) = bench {
        assert_eq!(bench.status(), ["M b", "A theirs/"]);
        std::fs::remove_dir(bench.path("upper/theirs")).unwrap();
    }
}

#[test]
fn two_at_once_are_refused() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo A >a");
    let lock = bench.overlay.lock().unwrap();
    assert!(matches!(bench.apply(&[]), Err(ReviewError::Busy { .. })));
    assert!(matches!(bench.discard(&[]), Err(ReviewError::Busy { .. })));
    drop(lock);
    bench.apply(&[]).unwrap();
}

#[test]
fn a_full_disk_stops_it_with_a_true_account_and_a_second_run_finishes() {
    this_program_in_a_namespace("applying::a_full_disk_stops_it_with_a_true_account_and_a_second_run_finishes", || {
        let mut bench = Bench::on(":");
        bench.overlay.lower = bench.path("disk/lower");
        let lower = bench.overlay.lower.clone();
        let sh = |line: &str| {
            let status = Command::new("sh").args(["-euc", line]).current_dir(bench.path("")).status().unwrap();
            assert!(status.success(), "{line}");
        };
        sh("mkdir disk; mount -t tmpfs -o size=2m,mode=755 t disk; head -c 1900000 /dev/zero >disk/ballast
            mkdir -p disk/lower/gone; echo old >disk/lower/b");
        Baseline::take(&lower, bench.path("baseline")).unwrap();
        sh("mount -t overlay -o userxattr,lowerdir=disk/lower,upperdir=upper,workdir=work o merged; cd merged
            echo a >a; head -c 1000000 /dev/zero >b; echo c >c; mkdir n; rmdir gone; cd ..; umount merged");
        let error = bench.apply(&[]).unwrap_err();
        let ReviewError::Stopped { applied, failed, left, why } = &error else { panic!("{error}") };
        assert_eq!(applied, &[Path::new("n"), Path::new("a")]);
        assert_eq!(left, &[Path::new("b"), Path::new("c"), Path::new("gone")]);
        assert!(failed == Path::new("b") && why.to_string().contains("No space left"), "{error}");
        assert_eq!(std::fs::read_to_string(lower.join("b")).unwrap(), "old\n");
        let mut names: Vec<_> = std::fs::read_dir(&lower).unwrap().map(|each| each.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a", "b", "gone", "n"], "nothing half-made stays");
        assert_eq!(bench.status(), ["M b", "A c", "D gone/"]);
        sh("rm disk/ballast");
        bench.apply(&[]).unwrap();
        assert_eq!(std::fs::metadata(lower.join("b")).unwrap().len(), 1_000_000);
        assert!(bench.status().is_empty() && !lower.join("gone").exists());
        sh("umount disk");
    });
}
