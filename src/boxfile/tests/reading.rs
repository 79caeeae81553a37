//! Promises about files that are not what they should be, and about which file is found.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use super::super::*;
use super::scratch::Scratch;

fn told(path: &Path, whose: Whose) -> String {
    let file = read(path, whose).and_then(|source| Ok(source.expect("it is there").parse()?));
    file.map(|file| format!("{file:?}")).expect_err("it is not fine").to_string()
}

#[test]
fn bytes_that_are_no_text_are_told_with_their_line() {
    let scratch = Scratch::fresh();
    let table: [(&[u8], &str); 5] = [
        (b"[box]\nimage = \"\xe9\"\n", ":2:10: this is not UTF-8"),
        (b"\x7fELF\x02\x01\x01\0\0\0", ":1:8: this is no text"),
        (b"\xff\xfe[\0b\0", ":1:1: this is UTF-16"),
        (b"# \xc3\xa9\n#\xc3", ":2:2: this is not UTF-8"),
        (b"\xef\xbb\xbf[boks]\r\n", ":1:2: there is no section"),
    ];
    for (bytes, part) in table {
        let path = scratch.file("coop.toml", bytes);
        let text = told(&path, Whose::Project);
        assert!(text.starts_with(&format!("{}{part}", path.display())), "{text}");
    }
}

#[test]
fn a_file_that_is_too_large_is_refused_by_the_limit() {
    let scratch = Scratch::fresh();
    let path = scratch.file("coop.toml", vec![b'#'; 10 << 20]);
    assert_eq!(
        told(&path, Whose::Project),
        format!("{}: is larger than 256 KiB, which no description of a box is", path.display())
    );
    scratch.file("coop.toml", vec![b'#'; FILE_BYTES_MAX]);
    assert!(read(&path, Whose::Project).unwrap().unwrap().parse().is_ok());
    scratch.file("coop.toml", vec![b'#'; FILE_BYTES_MAX + 1]);
    assert!(read(&path, Whose::Project).is_err());
}

#[test]
fn what_is_no_file_is_said_and_nobody_waits_for_it() {
    let scratch = Scratch::fresh();
    let dir = scratch.make("a/coop.toml");
    assert!(told(&dir, Whose::Project).contains("is a directory"));
    let pipe = scratch.dir().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(told(&pipe, Whose::User).contains("is no ordinary file"));
    let socket = scratch.dir().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    assert!(told(&socket, Whose::User).contains("is no ordinary file"));
    assert!(told(Path::new("/dev/null"), Whose::User).contains("is no ordinary file"));
}

#[test]
fn a_repositorys_link_is_not_followed_and_the_users_own_is() {
    let scratch = Scratch::fresh();
    let (real, link) = (scratch.file("real", "[box]\n"), scratch.dir().join("coop.toml"));
    symlink(&real, &link).unwrap();
    assert!(told(&link, Whose::Project).contains("is a symbolic link"));
    assert!(read(&link, Whose::User).unwrap().is_some());
    std::fs::remove_file(real).unwrap();
    assert!(told(&link, Whose::Project).contains("is a symbolic link"));
    assert!(told(&link, Whose::User).contains("cannot be read"));
}

#[test]
fn a_file_that_must_not_be_read_is_said() {
    let scratch = Scratch::fresh();
    let path = scratch.file("coop.toml", "[box]\n");
    std::fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
    let found = read(&path, Whose::Project);
    // Nothing is closed to root.
    if nix::unistd::geteuid().is_root() {
        assert!(found.unwrap().is_some());
    } else {
        assert!(found.unwrap_err().to_string().contains("cannot be read: Permission denied"));
    }
    // A part of the path that is no directory is closed to everybody.
    assert!(told(&path.join("coop.toml"), Whose::Project).contains("cannot be read: Not a directory"));
}

#[test]
fn no_file_is_no_mistake() {
    let scratch = Scratch::fresh();
    assert!(read(&scratch.dir().join("coop.toml"), Whose::Project).unwrap().is_none());
    let loaded = load(scratch.dir(), Path::new("/nobody"), &scratch.dir().join(".coop")).unwrap();
    assert!(loaded.source.is_none() && loaded.demands.is_empty() && loaded.user == BoxFile::default());
    let named = load_files(Some(&scratch.dir().join("x.toml")), scratch.dir()).unwrap_err();
    assert!(named.to_string().ends_with("x.toml: does not exist"), "{named}");
}

#[test]
fn the_nearest_file_counts_up_to_the_repository() {
    let scratch = Scratch::fresh();
    let home = scratch.make("home");
    let deep = scratch.make("home/work/app/src/deep");
    assert_eq!(discover(&deep, &home), None);
    let outer = scratch.file("home/work/coop.toml", "");
    assert_eq!(discover(&deep, &home), Some(outer.clone()));
    let nearer = scratch.file("home/work/app/src/coop.toml", "");
    assert_eq!(discover(&deep, &home), Some(nearer.clone()));
    std::fs::remove_file(nearer).unwrap();
    scratch.make("home/work/app/.git");
    assert_eq!(discover(&deep, &home), None);
    let inner = scratch.file("home/work/app/coop.toml", "");
    assert_eq!(discover(&deep, &home), Some(inner.clone()));
    assert_eq!(discover(inner.parent().unwrap(), &home), Some(inner));
    assert_eq!(discover(outer.parent().unwrap(), &home), Some(outer));
}

#[test]
fn a_file_in_the_home_directory_is_not_for_all_below_it() {
    let scratch = Scratch::fresh();
    let (home, work) = (scratch.make("home"), scratch.make("home/work"));
    let file = scratch.file("home/coop.toml", "");
    scratch.file("coop.toml", "");
    assert_eq!(discover(&work, &home), None);
    assert_eq!(discover(&home, &home), Some(file));
}

#[test]
fn outside_of_home_and_repositories_nobody_can_put_a_file_above() {
    let scratch = Scratch::fresh();
    let (home, work) = (scratch.make("home"), scratch.make("tmp/work"));
    scratch.file("tmp/coop.toml", "");
    assert_eq!(discover(&work, &home), None);
    let own = scratch.file("tmp/work/coop.toml", "");
    assert_eq!(discover(&work, &home), Some(own));
}

#[test]
fn the_search_does_not_climb_to_where_anybody_can_write() {
    let scratch = Scratch::fresh();
    let (shared, work) = (scratch.make("home/shared"), scratch.make("home/shared/work"));
    let (home, trap) = (scratch.dir().join("home"), scratch.file("home/shared/coop.toml", ""));
    scratch.make("home/shared/.git");
    assert_eq!(discover(&work, &home), Some(trap));
    std::fs::set_permissions(shared, Permissions::from_mode(0o1777)).unwrap();
    assert_eq!(discover(&work, &home), None);
}

#[test]
fn what_belongs_to_one_box_is_refused_in_the_users_file() {
    let scratch = Scratch::fresh();
    let path = scratch.file("config.toml", "[session]\nname = \"a\"\n[workspace]\npath = \"/x\"\n");
    let text = told(&path, Whose::User);
    assert!(text.contains(":2:8: a name belongs to one box") && text.contains(":4:8: a project's directory"), "{text}");
}
