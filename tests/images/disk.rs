//! A disk that is full or read-only is told, and leaves no half image that would be taken for a whole one.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use coop::images::{ImageError, Logins, Reference, Report, Store};

use crate::pushed::{Pushed, tar};
use crate::registry_program::RegistryProgram;
use crate::scratch::Scratch;

/// A file system of its own, in a mount namespace that a waiting shell holds. It is reached through that shell's root.
struct Disk {
    shell: Child,
    inside: PathBuf,
    _scratch: Scratch,
}

impl Disk {
    fn of(kilobytes: u32) -> Self {
        let scratch = Scratch::fresh();
        let place = scratch.path("disk");
        fs::create_dir(&place).unwrap();
        let script = r#"mount -t tmpfs -o mode=0700,size="$1"k none "$2" && echo ready && while read -r command; do eval "$command" && echo done || echo failed; done"#;
        let mut command = Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", &kilobytes.to_string()])
            .arg(&place);
        let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("unshare(1) is needed");
        let mut disk = {
            let inside = PathBuf::from(format!("/proc/{}/root{}", shell.id(), place.display()));
            let said = answer(&mut shell);
            Self { shell, inside, _scratch: scratch }.expecting(&said, "ready")
        };
        disk.tell("true");
        disk
    }

    fn expecting(self, said: &str, wanted: &str) -> Self {
        assert_eq!(said, wanted, "an unprivileged user namespace with a mount is needed, as for any box");
        self
    }

    fn tell(&mut self, command: &str) {
        writeln!(self.shell.stdin.as_mut().unwrap(), "{command}").unwrap();
        assert_eq!(answer(&mut self.shell), "done");
    }

    /// With `none` said again, mount(8) does not repeat the old options, which a user namespace refuses.
    fn make_read_only(&mut self) {
        let place = self.inside.strip_prefix(format!("/proc/{}/root", self.shell.id())).unwrap().to_owned();
        self.tell(&format!("mount -o remount,ro none '/{}'", place.display()));
    }

    fn make_larger(&mut self, kilobytes: u32) {
        let place = self.inside.strip_prefix(format!("/proc/{}/root", self.shell.id())).unwrap().to_owned();
        self.tell(&format!("mount -o remount,size={kilobytes}k none '/{}'", place.display()));
    }
}

/// The next line that the shell prints. One byte at a time would do; a line never comes with another.
fn answer(shell: &mut Child) -> String {
    let mut line = String::new();
    let mut reader = BufReader::with_capacity(1, shell.stdout.as_mut().unwrap());
    reader.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

fn noise(bytes: u32) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    (0..bytes).map(|_| next()).collect()
}

async fn pull(store: &Store, text: &str) -> Result<PathBuf, ImageError> {
    let reference = Reference::parse(text, Path::new("/")).unwrap();
    store.pull(&reference, &Logins::none(), &Report::nowhere()).await.map(|image| image.rootfs)
}

#[tokio::test]
async fn a_full_disk_is_told_and_the_pull_works_when_there_is_room() {
    let registry = RegistryProgram::open_to_all();
    let name = format!("{}/name", registry.address);
    Pushed::of(&[tar(&[("a", &noise(3_000_000))])]).push(&registry.address, "name", "latest", "");
    // Too small for the layer; then for the layer, but not for what is in it.
    let mut disk = Disk::of(1000);
    for kilobytes in [1000, 4500] {
        disk.make_larger(kilobytes);
        let store = Store::open(&disk.inside.join("images")).unwrap();
        let error = pull(&store, &name).await.unwrap_err();
        assert!(matches!(error, ImageError::DiskFull(_)), "{error}");
        assert!(error.to_string().contains("no space left"), "{error}");
        assert!(store.list().unwrap().is_empty());
        let left: Vec<_> =
            fs::read_dir(disk.inside.join("images")).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left.len(), 3, "blobs, locks, refs: {left:?}");
    }
    disk.make_larger(20_000);
    let store = Store::open(&disk.inside.join("images")).unwrap();
    assert_eq!(fs::read(pull(&store, &name).await.unwrap().join("a")).unwrap(), noise(3_000_000));
}

#[tokio::test]
async fn a_read_only_disk_is_told_and_what_is_there_still_works() {
    let registry = RegistryProgram::open_to_all();
    let (first, second) = (format!("{}/name:1", registry.address), format!("{}/name:2", registry.address));
    Pushed::of(&[tar(&[("a", b"1")])]).push(&registry.address, "name", "1", "");
    Pushed::of(&[tar(&[("a", b"2")])]).push(&registry.address, "name", "2", "");
    let mut disk = Disk::of(10_000);
    let store = Store::open(&disk.inside.join("images")).unwrap();
    pull(&store, &first).await.unwrap();
    disk.make_read_only();
    let error = pull(&store, &second).await.unwrap_err();
    assert!(matches!(error, ImageError::ReadOnly(_)), "{error}");
    let there = store.find(&Reference::parse(&first, Path::new("/")).unwrap()).unwrap().unwrap();
    assert_eq!(fs::read_to_string(there.rootfs.join("a")).unwrap(), "1");
}
