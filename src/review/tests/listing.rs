//! What a box changed is told as it is, from what overlayfs leaves behind.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::XattrFlags;

use super::super::{EntryKind, Options, ReviewError};
use super::bench::Bench;

const PROJECT: &str = "
    echo a >a; echo run >tool; chmod 755 tool; ln -s a link; ln a twin; mkfifo pipe
    mkdir -p d/sub empty; echo b >d/b; echo c >d/sub/c
";

/// The changes that a script makes in the box.
fn told(script: &str) -> Vec<String> {
    let bench = Bench::on(PROJECT);
    bench.in_box(script);
    bench.status()
}

#[test]
fn a_box_that_did_nothing_changed_nothing() {
    assert!(told("cat a d/b >/dev/null; ls -R >/dev/null").is_empty());
}

#[test]
fn each_kind_of_change_is_told() {
    assert_eq!(told("echo x >>a"), ["M a"]);
    assert_eq!(told("echo x >new; : >void"), ["A new", "A void"]);
    assert_eq!(told("rm a"), ["D a"]);
    assert_eq!(told("chmod 755 a"), ["C a"]);
    assert_eq!(told("chmod 700 d"), ["C d/"]);
    assert_eq!(told("mkdir -p x/y"), ["A x/", "A x/y/"]);
    assert_eq!(told("rmdir empty"), ["D empty/"]);
    assert_eq!(told("ln -sf d link"), ["M link"]);
    assert_eq!(told("rm pipe; mkfifo other"), ["A other", "D pipe"]);
}

#[test]
fn what_was_only_opened_for_writing_is_no_change() {
    assert!(told(": >>a; touch d/b; chmod 644 d/sub/c").is_empty());
    assert!(told("echo other >a; echo a >a; mv d/b x; mv x d/b; rm link; ln -s a link").is_empty());
    assert!(told("rm -r d; mkdir -p d/sub; echo b >d/b; echo c >d/sub/c").is_empty());
}

#[test]
fn same_size_and_time_do_not_hide_another_content() {
    assert_eq!(
        told("touch -r a /tmp/coop-stamp-$$; echo b >a; touch -r /tmp/coop-stamp-$$ a; rm /tmp/coop-stamp-$$"),
        ["M a"]
    );
}

#[test]
fn a_deleted_directory_takes_everything_in_it_along() {
    assert_eq!(told("rm -r d"), ["D d/", "D d/b", "D d/sub/", "D d/sub/c"]);
}

#[test]
fn a_directory_made_anew_hides_what_it_had() {
    assert_eq!(told("rm -r d; mkdir d; echo n >d/n"), ["D d/b", "A d/n", "D d/sub/", "D d/sub/c"]);
    // The directory inside is not marked itself: it stands in one that is.
    assert_eq!(told("rm -r d; mkdir -p d/sub; echo n >d/sub/n"), ["D d/b", "D d/sub/c", "A d/sub/n"]);
    assert_eq!(told("rm -r d; mkdir -p d; echo B >d/b; chmod 711 d"), ["C d/", "M d/b", "D d/sub/", "D d/sub/c"]);
}

#[test]
fn a_renamed_directory_is_one_that_went_and_one_that_came() {
    let renamed = told("mv d e");
    assert_eq!(renamed, ["D d/", "D d/b", "D d/sub/", "D d/sub/c", "A e/", "A e/b", "A e/sub/", "A e/sub/c"]);
}

#[test]
fn entries_that_became_something_else_are_told_so() {
    assert_eq!(told("rm a; mkdir a; echo x >a/x"), ["T a/", "A a/x"]);
    assert_eq!(told("rm -r d; echo x >d"), ["T d", "D d/b", "D d/sub/", "D d/sub/c"]);
    assert_eq!(told("rm a; ln -s /etc/passwd a"), ["T a"]);
    assert_eq!(told("rm link; echo x >link"), ["T link"]);
    assert_eq!(told("rm -r d; ln -s empty d"), ["T d", "D d/b", "D d/sub/", "D d/sub/c"]);
    assert_eq!(told("rm a; mkfifo a"), ["T a"]);
}

#[test]
fn one_name_of_a_file_with_two_is_changed_alone() {
    assert_eq!(told("echo x >a; ln tool third"), ["M a", "A third"]);
}

#[test]
fn any_name_is_told() {
    let names = r#"n="$(printf 'new\nline')"; echo x >"$n"; b="$(printf '\377')"; echo x >"$b"; echo x >' q"'"#;
    assert_eq!(told(names), ["A  q\\\"", "A new\\nline", "A \\xff"]);
}

#[test]
fn a_change_knows_both_sides() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo longer >tool; chmod 600 tool");
    let change = &bench.changes().list[0];
    let (old, new) = (change.old.as_ref().unwrap(), change.new.as_ref().unwrap());
    assert_eq!((old.kind, old.mode, old.size), (EntryKind::File, 0o755, 4));
    assert_eq!((new.kind, new.mode, new.size), (EntryKind::File, 0o600, 7));
}

#[test]
fn only_chosen_paths_are_told_and_a_path_without_changes_is_an_error() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo x >a; echo x >d/b; echo x >d/sub/c");
    let only = |path: &str| Options { only: super::super::Selection::of([path]).unwrap(), ..Options::default() };
    let list = bench.overlay.changes(&only("./d/sub/")).unwrap().list;
    assert_eq!(list.len(), 1);
    let error = bench.overlay.changes(&only("tool")).err().unwrap();
    assert!(matches!(&error, ReviewError::NothingThere(paths) if paths.len() == 1), "{error}");
}

#[test]
fn whiteouts_in_the_form_of_attributes_are_known() {
    let bench = Bench::on(PROJECT);
    let upper = bench.path("upper");
    std::fs::create_dir(upper.join("d")).unwrap();
    rustix::fs::setxattr(upper.join("d"), "user.overlay.opaque", b"x", XattrFlags::empty()).unwrap();
    std::fs::write(upper.join("d/b"), "").unwrap();
    rustix::fs::setxattr(upper.join("d/b"), "user.overlay.whiteout", b"", XattrFlags::empty()).unwrap();
    assert_eq!(bench.status(), ["D d/b"]);
}

#[test]
fn marks_of_other_overlays_are_refused_not_guessed() {
    let bench = Bench::on(PROJECT);
    bench.in_box("echo x >a");
    let file = bench.path("upper/a");
    rustix::fs::setxattr(&file, "user.overlay.metacopy", b"", XattrFlags::empty()).unwrap();
    let error = bench.overlay.changes(&Options::default()).err().unwrap().to_string();
    assert!(error.contains("user.overlay.metacopy") && error.contains("upper/a"), "{error}");
    bench.discard(&[]).unwrap();
    assert!(bench.status().is_empty());
}

#[test]
fn a_box_cannot_forge_marks() {
    let bench = Bench::on(PROJECT);
    let forged = bench.path("forged");
    std::fs::write(&forged, "").unwrap();
    for mark in ["user.overlay.whiteout", "user.overlay.metacopy"] {
        rustix::fs::setxattr(&forged, mark, b"y", XattrFlags::empty()).unwrap();
    }
    // Older kernels refuse such attributes, newer ones keep them under another name.
    bench.in_box("cp --preserve=xattr ../forged a || :; test ! -s a; cp --preserve=xattr ../forged new || :");
    assert_eq!(bench.status(), ["M a", "A new"]);
}

#[test]
fn what_cannot_be_looked_into_is_told() {
    let bench = Bench::on(PROJECT);
    bench.in_box("mkdir locked; echo x >locked/x; chmod 0 locked; echo y >y; chmod 0 y");
    let changes = bench.changes();
    let short: Vec<String> = changes.list.iter().map(super::bench::short).collect();
    if nix::unistd::geteuid().is_root() {
        assert_eq!(short, ["A locked/", "A locked/x", "A y"]);
    } else {
        assert_eq!(short, ["A locked/", "A y"]);
        assert_eq!(changes.unreadable, [std::path::Path::new("locked")]);
    }
}

#[test]
fn a_box_that_swaps_directories_for_links_while_it_is_looked_at_shows_nothing_from_outside() {
    let bench = Bench::on("mkdir d; echo old >d/f");
    std::fs::create_dir(bench.path("outside")).unwrap();
    std::fs::write(bench.path("outside/f"), "secret\n").unwrap();
    bench.in_box("echo new >d/f; ln -s ../outside link");
    let upper = bench.path("upper");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                for (from, to) in [("d", "away"), ("link", "d"), ("d", "link"), ("away", "d")] {
                    std::fs::rename(upper.join(from), upper.join(to)).unwrap();
                }
            }
        });
        for _ in 0..300 {
            let mut diff = Vec::new();
            let told = bench.overlay.changes(&Options::default());
            let told = told.and_then(|changes| changes.write_diff(&mut diff, super::super::Style::Plain));
            let diff = String::from_utf8(diff).unwrap();
            if told.is_err() || diff.contains("secret") {
                over.store(true, Ordering::Relaxed);
                panic!("{told:?} {diff}");
            }
        }
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_box_with_links_out_of_the_workspace_shows_nothing_from_there() {
    let bench = Bench::on(PROJECT);
    bench.in_box("rm -r d; ln -s /etc d");
    let mut diff = Vec::new();
    bench.changes().write_diff(&mut diff, super::super::Style::Plain).unwrap();
    let diff = String::from_utf8(diff).unwrap();
    assert!(diff.contains("+/etc\n\\ No newline") && !diff.contains("root:"), "{diff}");
}
