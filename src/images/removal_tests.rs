//! What is removed with a box: closed directories, links, trees of any depth.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::{Mode, mkdirat};

use super::remove_tree;
use crate::config::Scratch;

#[test]
fn a_tree_with_closed_directories_goes_and_what_its_links_point_to_stays() {
    let scratch = Scratch::fresh();
    let (tree, kept) = (scratch.path("tree"), scratch.path("kept"));
    fs::create_dir_all(tree.join("a/b")).unwrap();
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("file"), "").unwrap();
    symlink(&kept, tree.join("a/link")).unwrap();
    fs::write(tree.join("a/b/file"), "").unwrap();
    fs::set_permissions(tree.join("a/b"), Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(tree.join("a"), Permissions::from_mode(0o500)).unwrap();
    remove_tree(&tree).unwrap();
    assert!(!tree.exists() && kept.join("file").exists());
    remove_tree(&tree).unwrap();
}

#[test]
fn a_tree_deeper_than_any_path_can_say_goes_too() {
    const DEPTH: usize = 5_000;
    let scratch = Scratch::fresh();
    let tree = scratch.path("tree");
    fs::create_dir(&tree).unwrap();
    let directory = OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut at = open(&tree, directory, Mode::empty()).unwrap();
    for _ in 0..DEPTH {
        mkdirat(&at, "d", Mode::S_IRWXU).unwrap();
        at = openat(&at, "d", directory, Mode::empty()).unwrap();
    }
    drop(at);
    // A thread with a small stack, as the daemon's are.
    let removing = std::thread::Builder::new().stack_size(512 * 1024);
    removing.spawn(move || remove_tree(&tree).map(|()| assert!(!tree.exists()))).unwrap().join().unwrap().unwrap();
}
