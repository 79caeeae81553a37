//! What strangers may write into a layer, and what comes of it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use proptest::prelude::*;

use super::super::scratch::Scratch;
use super::super::tarmaker::Tar;
use super::*;

/// A directory with a root to unpack into and something beside it that must stay as it is.
struct Ground {
    scratch: Scratch,
    limits: Limits,
}

impl Ground {
    fn new() -> Self {
        let scratch = Scratch::fresh();
        fs::create_dir(scratch.path("rootfs")).unwrap();
        fs::create_dir(scratch.path("outside")).unwrap();
        scratch.file("outside/victim", "untouched");
        Self { scratch, limits: Limits::default() }
    }

    fn unpack_files(&self, layers: &[Vec<u8>], diff_ids: &[Digest]) -> Result<Unpacked, ImageError> {
        let mut files = Vec::new();
        for (number, (data, diff_id)) in layers.iter().zip(diff_ids).enumerate() {
            let path = self.scratch.file(&format!("layer{number}"), data);
            let (digest, size) = (Some(Digest::of(data)), data.len() as u64);
            files.push(LayerFile { path, digest, diff_id: diff_id.clone(), size });
        }
        unpack(&files, &self.scratch.path("rootfs"), &self.limits, &AtomicBool::new(false), &Report::nowhere())
    }

    fn unpack(&self, layers: &[Vec<u8>]) -> Result<Unpacked, ImageError> {
        let diff_ids: Vec<_> = layers.iter().map(|tar| Digest::of(tar)).collect();
        self.unpack_files(layers, &diff_ids)
    }

    fn refused(&self, tar: Tar) -> String {
        let error = self.unpack(&[tar.done()]).expect_err("it must be refused").to_string();
        self.outside_is_as_it_was();
        error
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path("rootfs").join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn outside_is_as_it_was(&self) {
        assert_eq!(fs::read_to_string(self.scratch.path("outside/victim")).unwrap(), "untouched");
        assert_eq!(fs::read_dir(self.scratch.path("outside")).unwrap().count(), 1);
        let mut beside: Vec<_> = fs::read_dir(self.scratch.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
        beside.retain(|name| !name.to_string_lossy().starts_with("layer"));
        beside.sort();
        assert_eq!(beside, ["outside", "rootfs"]);
    }

    fn mode(&self, name: &str) -> u32 {
        fs::symlink_metadata(self.path(name)).unwrap().mode() & 0o7777
    }
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zstd(data: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(data, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn layers_are_applied_in_order_and_the_later_wins() {
    let ground = Ground::new();
    let low = Tar::new()
        .dir("./", 0o755)
        .dir("etc/", 0o755)
        .file("etc/a", b"low")
        .file("etc/b", b"kept")
        .symlink("bin", "usr/bin");
    let high = Tar::new().file("etc/a", b"high").file("bin/sh", b"#!").hardlink("etc/c", "etc/b");
    let high = high.dir("usr/", 0o755).dir("usr/bin/", 0o755);
    let low = low.dir("usr/", 0o755).dir("usr/bin/", 0o755);
    ground.unpack(&[low.done(), high.done()]).unwrap();
    assert_eq!(
        (ground.read("etc/a"), ground.read("etc/b"), ground.read("etc/c")),
        ("high".into(), "kept".into(), "kept".into())
    );
    assert_eq!(ground.read("usr/bin/sh"), "#!", "a link of a lower layer is followed, inside the root");
    let time = fs::metadata(ground.path("etc/a")).unwrap().mtime();
    assert_eq!(time, 1_700_000_000);
}

#[test]
fn every_compression_of_images_is_read_in_any_number_of_parts() {
    let tar = Tar::new().file("a", &vec![b'x'; 300_000]).done();
    let (left, right) = tar.split_at(100_000);
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    for layer in [
        tar.clone(),
        gzip(&tar),
        [gzip(left), gzip(right)].concat(),
        zstd(&tar),
        [zstd(left), skippable.clone(), zstd(right), skippable].concat(),
    ] {
        let ground = Ground::new();
        ground.unpack_files(&[layer], &[Digest::of(&tar)]).unwrap();
        assert_eq!(ground.read("a").len(), 300_000);
    }
    let ground = Ground::new();
    let error = ground.unpack(&[b"\xfd7zXZ\0....".to_vec()]).unwrap_err().to_string();
    assert!(error.contains("compressed with xz"), "{error}");
}

#[test]
fn a_layer_that_is_cut_short_is_refused_however_it_is_compressed() {
    let tar = Tar::new().file("a", &(0..200_000u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>()).done();
    for whole in [tar.clone(), gzip(&tar), zstd(&tar)] {
        let ground = Ground::new();
        let cut = whole[..whole.len() / 2].to_vec();
        let error = ground.unpack_files(&[cut], &[Digest::of(&tar)]).unwrap_err();
        assert!(matches!(error, ImageError::Layer { .. }), "{error}");
    }
}

#[test]
fn a_layer_that_is_not_what_the_configuration_says_is_refused() {
    let ground = Ground::new();
    let error = ground.unpack_files(&[Tar::new().file("a", b"1").done()], &[Digest::of(b"another")]).unwrap_err();
    assert!(matches!(error, ImageError::Tampered { .. }), "{error}");
}

#[test]
fn a_path_with_dots_is_refused_and_an_absolute_one_stays_inside() {
    for path in ["../victim", "a/../../victim", "..", "a/.."] {
        let error = Ground::new().refused(Tar::new().file(path, b"evil"));
        assert!(error.contains("leads out of the image"), "{path}: {error}");
    }
    let ground = Ground::new();
    let victim = ground.scratch.path("outside/victim");
    ground.unpack(&[Tar::new().file(victim.to_str().unwrap(), b"evil").done()]).unwrap();
    ground.outside_is_as_it_was();
    assert_eq!(ground.read(victim.strip_prefix("/").unwrap().to_str().unwrap()), "evil");
}

#[test]
fn nothing_is_written_through_a_link_that_leads_out() {
    let ground = Ground::new();
    let outside = ground.scratch.path("outside");
    let absolute = outside.to_str().unwrap();
    fs::create_dir_all(ground.path("real")).unwrap();
    // Inside of the root the same path is another place; there it goes.
    let there = Tar::new().dir(&absolute[1..], 0o755).symlink("abs", absolute).file("abs/victim", b"evil");
    let up = there.symlink("up", "../../../../../../../..").file("up/tmp-evil", b"evil");
    let file = up.symlink("file", &format!("{absolute}/victim")).file("file", b"mine");
    ground.unpack(&[file.done()]).unwrap();
    ground.outside_is_as_it_was();
    assert_eq!(ground.read(&format!("{}/victim", &absolute[1..])), "evil");
    assert_eq!(ground.read("tmp-evil"), "evil");
    assert_eq!(ground.read("file"), "mine", "the link was replaced, not followed");
    assert!(!fs::symlink_metadata(ground.path("file")).unwrap().is_symlink());
    let broken = Ground::new().refused(Tar::new().symlink("x", "/nowhere").file("x/victim", b""));
    assert!(broken.contains("broken link"), "{broken}");
    let circle = Ground::new().refused(Tar::new().symlink("x", "y").symlink("y", "x").file("x/z", b""));
    assert!(circle.contains("in a circle"), "{circle}");
    let below_file = Ground::new().refused(Tar::new().file("x", b"").file("x/z", b""));
    assert!(below_file.contains("no directory"), "{below_file}");
}

#[test]
fn a_directory_that_becomes_a_link_between_entries_is_looked_up_anew() {
    let ground = Ground::new();
    let tar = Tar::new().dir("a", 0o755).dir("b", 0o755).file("a/1", b"").symlink("a", "b").file("a/2", b"");
    ground.unpack(&[tar.done()]).unwrap();
    assert!(ground.path("b/2").exists(), "it went where the link leads, not where the directory was");
    // The link that an entry comes through leads elsewhere after that entry.
    let ground = Ground::new();
    let tar = Tar::new().dir("b/c", 0o755).dir("x", 0o755).symlink("l", "x/..").file("l/1", b"");
    ground.unpack(&[tar.symlink("l/x", "b/c").file("l/2", b"").done()]).unwrap();
    assert!(ground.path("1").exists() && ground.path("b/2").exists());
    let ground = Ground::new();
    let outside = ground.scratch.path("outside");
    let swap = Tar::new().dir("a", 0o755).file("a/1", b"").symlink("a", outside.to_str().unwrap());
    let _ = ground.unpack(&[swap.file("a/victim", b"evil").done()]);
    ground.outside_is_as_it_was();
}

#[test]
fn a_hard_link_cannot_name_what_is_outside() {
    let ground = Ground::new();
    let victim = ground.scratch.path("outside/victim");
    let error = ground.refused(Tar::new().hardlink("x", victim.to_str().unwrap()));
    assert!(error.contains("not there"), "{error}");
    let error = Ground::new().refused(Tar::new().hardlink("x", "../outside/victim"));
    assert!(error.contains("leads out"), "{error}");
    // Through a link: the last part is not followed, so that x is a second name of the link itself.
    let ground = Ground::new();
    let victim = ground.scratch.path("outside/victim");
    let tar = Tar::new().symlink("link", victim.to_str().unwrap()).hardlink("x", "link").file("x", b"evil");
    ground.unpack(&[tar.done()]).unwrap();
    ground.outside_is_as_it_was();
    let outside = ground.scratch.path("outside");
    let through = Tar::new().symlink("dir", outside.to_str().unwrap()).hardlink("y", "dir/victim");
    assert!(ground.refused(through).contains("not there"));
    assert!(Ground::new().refused(Tar::new().dir("d", 0o755).hardlink("x", "d")).contains("to a directory"));
    assert!(Ground::new().refused(Tar::new().hardlink("x", "/")).contains("to a directory"));
}

#[test]
fn a_file_with_two_names_is_replaced_under_one_of_them_only() {
    let ground = Ground::new();
    let low = Tar::new().file("a", b"old").hardlink("b", "a").hardlink("a", "a");
    ground.unpack(&[low.done(), Tar::new().file("a", b"new").done()]).unwrap();
    assert_eq!((ground.read("a"), ground.read("b")), ("new".into(), "old".into()));
}

#[test]
fn devices_and_pipes_are_left_out_with_a_note() {
    let ground = Ground::new();
    let tar = Tar::new().typed("dev/null", b'3', b"").typed("disk", b'4', b"").typed("pipe", b'6', b"").file("a", b"");
    let unpacked = ground.unpack(&[tar.done()]).unwrap();
    assert_eq!(unpacked.notes.len(), 3);
    assert!(unpacked.notes[0].contains("\"dev/null\" is a character device and was left out"));
    assert!(!ground.path("disk").exists() && !ground.path("pipe").exists() && ground.path("a").exists());
    let mut many = Tar::new();
    for number in 0..100 {
        many = many.typed(&format!("{number}"), b'6', b"");
    }
    let notes = Ground::new().unpack(&[many.done()]).unwrap().notes;
    assert_eq!((notes.len(), notes.last().unwrap().as_str()), (NOTES_MAX + 1, "and 80 more"));
    assert!(Ground::new().refused(Tar::new().typed("x", b'Z', b"")).contains("kind that images do not have"));
}

#[test]
fn nobody_becomes_another_user_by_a_file_of_an_image() {
    let ground = Ground::new();
    let tar =
        Tar::new().file_with_mode("su", 0o6755).dir("tmp", 0o1777).dir("group", 0o2755).file_with_mode("secret", 0o400);
    ground.unpack(&[tar.done()]).unwrap();
    assert_eq!(ground.mode("su"), 0o755);
    assert_eq!((ground.mode("tmp"), ground.mode("group"), ground.mode("secret")), (0o1777, 0o755, 0o400));
    assert_eq!(fs::metadata(ground.path("su")).unwrap().uid(), nix::unistd::geteuid().as_raw());
}

#[test]
fn directories_can_be_filled_and_removed_by_their_owner_whatever_the_image_says() {
    let ground = Ground::new();
    let tar = Tar::new().dir("./", 0o000).dir("shut", 0o000).file("shut/in", b"x").dir("shut", 0o555);
    ground.unpack(&[tar.done()]).unwrap();
    assert_eq!(ground.mode("shut"), 0o755);
    assert_eq!(ground.mode(""), 0o700);
}

#[test]
fn attributes_that_overlayfs_would_believe_are_refused_and_others_left_out() {
    for name in
        ["SCHILY.xattr.user.overlay.opaque", "SCHILY.xattr.trusted.overlay.redirect", "LIBARCHIVE.xattr.user.overlay.x"]
    {
        let error = Ground::new().refused(Tar::new().pax(&[(name, b"y")]).dir("d", 0o755));
        assert!(error.contains("overlayfs"), "{name}: {error}");
    }
    let ground = Ground::new();
    let harmless: [(&str, &[u8]); 2] = [("SCHILY.xattr.security.capability", b"\x01\n"), ("SCHILY.xattr.user.x", b"y")];
    ground.unpack(&[Tar::new().pax(&harmless).file("ping", b"").done()]).unwrap();
    assert!(ground.path("ping").exists());
}

#[test]
fn a_whiteout_removes_what_lower_layers_have() {
    let ground = Ground::new();
    let low =
        Tar::new().dir("d", 0o755).file("d/gone", b"").file("d/kept", b"").dir("d/tree", 0o555).file("d/tree/x", b"");
    let high =
        Tar::new().file("d/.wh.gone", b"").file("d/.wh.tree", b"").file("d/.wh.never-was", b"").file("no/.wh.x", b"");
    ground.unpack(&[low.done(), high.done()]).unwrap();
    assert!(!ground.path("d/gone").exists() && !ground.path("d/tree").exists() && ground.path("d/kept").exists());
    assert!(!ground.path("no").exists() && !ground.path("d/.wh.gone").exists());
}

#[test]
fn an_opaque_directory_keeps_what_its_own_layer_has_whichever_comes_first() {
    for opaque_first in [true, false] {
        let ground = Ground::new();
        let low =
            Tar::new().dir("d", 0o755).file("d/old", b"").dir("d/sub", 0o755).file("d/sub/old", b"").file("top", b"");
        let opaque = |tar: Tar| tar.file("d/.wh..wh..opq", b"");
        let new = |tar: Tar| tar.file("d/new", b"").file("d/sub/new", b"").file("d/made/new", b"");
        let high = if opaque_first { new(opaque(Tar::new())) } else { opaque(new(Tar::new())) };
        ground.unpack(&[low.done(), high.done()]).unwrap();
        for kept in ["d/new", "d/sub/new", "d/made/new", "top"] {
            assert!(ground.path(kept).exists(), "{kept}");
        }
        for gone in ["d/old", "d/sub/old", "d/.wh..wh..opq"] {
            assert!(!ground.path(gone).exists(), "{gone}");
        }
    }
}

#[test]
fn a_whiteout_does_not_leave_the_root() {
    let ground = Ground::new();
    let outside = ground.scratch.path("outside");
    let link = Tar::new().symlink("out", outside.to_str().unwrap()).symlink("up", "../../..").done();
    let tar = Tar::new().file("out/.wh.victim", b"").file("out/.wh..wh..opq", b"").file("up/.wh.outside", b"");
    ground.unpack(&[link, tar.done()]).unwrap();
    ground.outside_is_as_it_was();
    for bad in ["a/.wh...", "a/.wh..", ".wh.", "../.wh.victim", ".wh.a/b"] {
        Ground::new().refused(Tar::new().dir("a", 0o755).file(bad, b""));
    }
    // A whiteout of a link removes the link.
    let ground = Ground::new();
    let low = Tar::new().symlink("out", ground.scratch.path("outside").to_str().unwrap()).done();
    ground.unpack(&[low, Tar::new().file(".wh.out", b"").done()]).unwrap();
    ground.outside_is_as_it_was();
    assert!(fs::symlink_metadata(ground.path("out")).is_err());
}

#[test]
fn a_link_that_stood_in_the_root_before_is_no_way_out_either() {
    let ground = Ground::new();
    symlink(ground.scratch.path("outside"), ground.path("planted")).unwrap();
    let _ = ground.unpack(&[Tar::new().file("planted/victim", b"evil").file("planted/.wh.victim", b"").done()]);
    ground.outside_is_as_it_was();
}

#[test]
fn bombs_are_stopped_at_a_limit_that_is_named() {
    let mut ground = Ground::new();
    ground.limits = Limits { ratio_floor_bytes: 1 << 20, ratio_max: 100, ..Limits::default() };
    let tar = Tar::new().file("zeros", &vec![0; 8 << 20]).done();
    let error = ground.unpack_files(&[gzip(&tar)], &[Digest::of(&tar)]).unwrap_err().to_string();
    assert!(error.contains("100 times its size"), "{error}");
    let mut ground = Ground::new();
    ground.limits.bytes_max = 1 << 20;
    let error = ground.refused(Tar::new().file("large", &vec![1; 2 << 20]));
    assert!(error.contains("more than 1048576 bytes"), "{error}");
    // The limit is on all layers together.
    let half = Tar::new().file("half", &vec![1; 600_000]).done();
    let mut ground = Ground::new();
    ground.limits.bytes_max = 1 << 20;
    assert!(ground.unpack(&[half.clone(), half]).unwrap_err().to_string().contains("more than 1048576 bytes"));
    let mut ground = Ground::new();
    ground.limits.entries_max = 3;
    let two = Tar::new().file("a", b"").file("b", b"").done();
    assert!(ground.unpack(&[two.clone(), two]).unwrap_err().to_string().contains("more than 3 entries"));
    let long = "x/".repeat(3000);
    assert!(Ground::new().refused(Tar::new().gnu_long(&long, b"")).contains("path that is too long"));
    assert!(Ground::new().refused(Tar::new().gnu_long(&"x".repeat(300), b"")).contains("name that is too long"));
}

#[test]
fn an_unpack_that_is_cancelled_says_so() {
    let ground = Ground::new();
    let tar = Tar::new().file("a", b"").done();
    let layer =
        LayerFile { path: ground.scratch.file("layer", &tar), digest: None, diff_id: Digest::of(&tar), size: 1 };
    let error =
        unpack(&[layer], &ground.path(""), &ground.limits, &AtomicBool::new(true), &Report::nowhere()).unwrap_err();
    assert!(matches!(error, ImageError::Cancelled));
}

#[test]
fn the_umask_has_no_say() {
    // Each mode is set explicitly; a made parent too.
    let ground = Ground::new();
    fs::set_permissions(ground.path(""), fs::Permissions::from_mode(0o700)).unwrap();
    ground.unpack(&[Tar::new().file("made/for/it", b"").done()]).unwrap();
    assert_eq!((ground.mode("made"), ground.mode("made/for"), ground.mode("made/for/it")), (0o755, 0o755, 0o644));
    assert_eq!(ground.mode(""), 0o755);
}

/// Entries of a few names that get into each other's way, with links to all of them and out.
fn any_entry() -> impl Strategy<Value = (u8, String, String)> {
    let name = || {
        prop_oneof![
            Just("a"),
            Just("b"),
            Just("c"),
            Just("victim"),
            Just("outside"),
            Just(".wh.a"),
            Just(".wh.b"),
            Just(".wh..wh..opq"),
            Just("."),
            Just(""),
            Just("..")
        ]
    };
    let path = || proptest::collection::vec(name(), 1..4).prop_map(|names| names.join("/"));
    let target = prop_oneof![
        path(),
        Just("..".to_owned()),
        Just("../outside".to_owned()),
        Just("OUT".to_owned()),
        Just("OUT/victim".to_owned()),
        Just("/".to_owned()),
        Just("../../..".to_owned())
    ];
    (prop_oneof![Just(b'0'), Just(b'1'), Just(b'2'), Just(b'2'), Just(b'5'), Just(b'3')], path(), target)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each entry is a layer of its own, so that one that is refused does not keep the others from being tried.
    #[test]
    fn no_sequence_of_entries_writes_outside_the_root(entries in proptest::collection::vec(any_entry(), 1..25)) {
        let ground = Ground::new();
        let outside = ground.scratch.path("outside");
        let mut root = Root::open(&ground.path("")).unwrap();
        let mut fresh = Fresh::default();
        for (kind, path, target) in entries {
            let target = target.replace("OUT", outside.to_str().unwrap());
            let kind = match kind {
                b'0' => Kind::File,
                b'1' => Kind::Hardlink(target.into_bytes()),
                b'2' => Kind::Symlink(target.into_bytes()),
                b'5' => Kind::Directory,
                _ => Kind::Special("device"),
            };
            let entry = Entry { path: path.into_bytes(), kind, mode: 0o777, mtime: (0, 0), attributes: Vec::new() };
            let report = Report::nowhere();
            let cancelled = AtomicBool::new(false);
            let mut work = Work { root, limits: &ground.limits, cancelled: &cancelled, report: &report, entries_left: 1, bytes_left: 1, unpacked: Unpacked::default() };
            let _ = work.apply(&entry, &mut &b"evil"[..], &mut fresh);
            root = work.root;
            ground.outside_is_as_it_was();
        }
    }
}
