//! Pulls from a registry that misbehaves, and from files.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;
use std::time::Duration;

use base64::Engine as _;

use super::super::manifest::Platform;
use super::super::progress::Progress;
use super::super::registry::Patience;
use super::super::samples::{Sample, gzip, noise};
use super::super::scratch::Scratch;
use super::super::tarmaker::Tar;
use super::super::unruly::{Mood, Unruly};
use super::*;

/// After this a wait has failed. Long, because it only matters when something is broken.
const HANGS_AFTER: Duration = Duration::from_secs(60);

struct Ground {
    scratch: Scratch,
    store: Store,
}

impl Ground {
    fn new() -> Self {
        let scratch = Scratch::fresh();
        let mut store = Store::open(&scratch.path("images")).unwrap();
        store.patience = Patience { attempts_max: 3, pause: Duration::from_millis(1), ..Patience::default() };
        Self { scratch, store }
    }

    async fn pull(&self, text: &str) -> Result<Image, ImageError> {
        self.pull_as(text, &Logins::none(), &Report::nowhere()).await
    }

    async fn pull_as(&self, text: &str, logins: &Logins, report: &Report) -> Result<Image, ImageError> {
        let reference = self.reference(text);
        tokio::time::timeout(HANGS_AFTER, self.store.pull(&reference, logins, report)).await.expect("this never ends")
    }

    fn reference(&self, text: &str) -> Reference {
        Reference::parse(text, &self.scratch.path("")).unwrap()
    }

    /// What the store has beside its fixed directories.
    fn left(&self) -> Vec<String> {
        let names = fs::read_dir(self.scratch.path("images"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !["blobs", "refs", "locks"].contains(&name.as_str())).collect()
    }

    fn blobs(&self) -> Vec<String> {
        let dir = self.scratch.path("images/blobs/sha256");
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn has_no_image(&self, text: &str) {
        assert!(self.store.find(&self.reference(text)).unwrap().is_none());
        assert!(self.store.list().unwrap().is_empty());
        assert_eq!(self.left(), Vec::<String>::new());
    }
}

fn is_usual(image: &Image) {
    assert_eq!(fs::read_to_string(image.rootfs.join("etc/name")).unwrap(), "high");
    assert_eq!(fs::read(image.rootfs.join("large")).unwrap(), noise(200_000, 1));
    assert!(!image.rootfs.join("gone").exists());
    assert_eq!((image.config.argv(), image.config.working_dir.as_deref()), (vec!["sh".to_owned()], Some("/srv")));
}

fn name_at(registry: &Unruly) -> String {
    format!("{}/name", registry.address)
}

/// A daemon pulls in a task of its own.
#[test]
fn a_pull_can_be_given_to_another_thread() {
    fn is_send<T: Send>(_: &T) {}
    let ground = Ground::new();
    let (reference, logins, report) = (ground.reference("debian"), Logins::none(), Report::nowhere());
    is_send(&ground.store.ensure(&reference, &logins, &report));
}

#[tokio::test]
async fn an_image_is_pulled_once_and_known_by_its_reference_after() {
    let (sample, ground) = (Sample::usual(), Ground::new());
    let registry = Unruly::with(&sample).await;
    let name = name_at(&registry);
    let told = Arc::new(Mutex::new(Vec::<Progress>::new()));
    let heard = told.clone();
    let report = Report::new(move |step| heard.lock().unwrap().push(step));
    let image = ground.pull_as(&name, &Logins::none(), &report).await.unwrap();
    is_usual(&image);
    assert_eq!(image.id, sample.id());
    let told = told.lock().unwrap().clone();
    assert_eq!(told.first().unwrap().phase, Phase::Resolving);
    assert_eq!(told.last().unwrap().phase, Phase::Done);
    for phase in [Phase::Pulling, Phase::Unpacking] {
        for layer in &sample.layers {
            let digest = Digest::of(layer).to_string();
            let steps: Vec<_> = told.iter().filter(|step| step.phase == phase && step.layer == digest).collect();
            assert!(steps.is_sorted_by_key(|step| step.bytes_done), "{steps:?}");
            assert_eq!(steps.last().unwrap().bytes_done, layer.len() as u64);
        }
    }
    let before = registry.asked().len();
    let again = ground.store.find(&ground.reference(&name)).unwrap().unwrap();
    assert_eq!((again.id, again.rootfs), (image.id, image.rootfs));
    ground.pull(&name).await.unwrap();
    assert_eq!(registry.asked().len(), before + 1, "the tag is looked up, and nothing else is fetched");
}

#[tokio::test]
async fn a_pull_that_breaks_off_goes_on_where_it_ended() {
    let (sample, ground) = (Sample::usual(), Ground::new());
    let registry = Unruly::with(&sample).await;
    registry.moods(&sample.layers[1], &[Mood::Cut(50_000), Mood::Cut(30_000), Mood::Status(503)]);
    is_usual(&ground.pull(&name_at(&registry)).await.unwrap());
    let ranges = registry.ranges(&sample.layers[1]);
    let from = |bytes: usize| Some(format!("bytes={bytes}-"));
    assert_eq!(ranges, [None, from(50_000), from(80_000), from(80_000)]);
}

#[tokio::test]
async fn a_pull_that_is_abandoned_goes_on_the_next_time() {
    let (sample, ground) = (Sample::usual(), Ground::new());
    let mut registry = Unruly::start().await;
    registry.put("name", "latest", &sample);
    registry.moods(&sample.layers[1], &[Mood::Stall(60_000)]);
    let name = name_at(&registry);
    let partial = ground.scratch.path(&format!("images/blobs/sha256/{}.partial", Digest::of(&sample.layers[1]).hex()));
    {
        let reference = ground.reference(&name);
        let (logins, report) = (Logins::none(), Report::nowhere());
        let pulling = ground.store.pull(&reference, &logins, &report);
        let arrived = async {
            // The config, a layer, and the one that stalls.
            registry.served(3).await;
            while fs::metadata(&partial).map_or(0, |found| found.len()) < 60_000 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = pulling => panic!("it cannot end"),
            () = arrived => {}
        }
    }
    ground.has_no_image(&name);
    // Another process comes, opens the store, and pulls.
    Store::open(&ground.scratch.path("images")).unwrap();
    is_usual(&ground.pull(&name).await.unwrap());
    assert_eq!(registry.ranges(&sample.layers[1]), [None, Some("bytes=60000-".into())]);
}

#[tokio::test]
async fn a_registry_that_falls_silent_is_asked_again() {
    let (sample, mut ground) = (Sample::usual(), Ground::new());
    ground.store.patience.stall = Duration::from_secs(1);
    ground.store.patience.attempts_max = 100;
    let registry = Unruly::with(&sample).await;
    registry.moods(&sample.layers[1], &[Mood::Stall(10_000)]);
    is_usual(&ground.pull(&name_at(&registry)).await.unwrap());
    assert_eq!(registry.ranges(&sample.layers[1])[1], Some("bytes=10000-".into()));
}

#[tokio::test]
async fn a_registry_that_knows_no_ranges_starts_over() {
    let (sample, ground) = (Sample::usual(), Ground::new());
    let registry = Unruly::with(&sample).await;
    registry.moods(&sample.layers[1], &[Mood::Cut(50_000), Mood::IgnoreRange]);
    is_usual(&ground.pull(&name_at(&registry)).await.unwrap());
}

#[tokio::test]
async fn a_tampered_layer_is_refused_and_removed() {
    let (sample, ground) = (Sample::usual(), Ground::new());
    let registry = Unruly::with(&sample).await;
    let name = name_at(&registry);
    // At once, after a break, and with breaks forever: what was resumed is given one chance from the beginning.
    for moods in [
        vec![Mood::Tamper],
        vec![Mood::Cut(50_000), Mood::Tamper, Mood::Tamper],
        vec![Mood::Cut(50_000), Mood::Tamper, Mood::Cut(50_000), Mood::Tamper],
    ] {
        registry.moods(&sample.layers[1], &moods);
        let error = ground.pull(&name).await.unwrap_err();
        assert!(matches!(error, ImageError::Tampered { .. }), "{error}");
        let digest = Digest::of(&sample.layers[1]);
        assert!(error.to_string().contains(&format!("blob {digest} was tampered with")), "{error}");
        assert!(ground.blobs().iter().all(|blob| !blob.contains(digest.hex())), "{:?}", ground.blobs());
        ground.has_no_image(&name);
    }
    is_usual(&ground.pull(&name).await.unwrap());
}

#[tokio::test]
async fn what_a_crash_left_of_a_download_is_not_trusted() {
    let (sample, ground) = (Sample::usual(), Ground::new());
    let registry = Unruly::with(&sample).await;
    let hex = Digest::of(&sample.layers[1]).hex().to_owned();
    for garbage in [vec![0; 1000], vec![0; sample.layers[1].len()], vec![0; sample.layers[1].len() + 1]] {
        let ground = Ground::new();
        ground.scratch.file(&format!("images/blobs/sha256/{hex}.partial"), garbage);
        is_usual(&ground.pull(&name_at(&registry)).await.unwrap());
    }
    // Nor is a whole blob: one of the right size is seen through when it is unpacked, and fetched anew after.
    ground.scratch.file(&format!("images/blobs/sha256/{hex}"), vec![0; sample.layers[1].len()]);
    assert!(ground.pull(&name_at(&registry)).await.is_err());
    ground.has_no_image(&name_at(&registry));
    let mut flipped = sample.layers[1].clone();
    *flipped.last_mut().unwrap() ^= 1;
    ground.scratch.file(&format!("images/blobs/sha256/{hex}"), flipped);
    assert!(ground.pull(&name_at(&registry)).await.is_err());
    is_usual(&ground.pull(&name_at(&registry)).await.unwrap());
}

#[tokio::test]
async fn a_blob_of_another_size_than_said_is_refused_at_once() {
    let (sample, ground) = (Sample::usual(), Ground::new());
    let registry = Unruly::with(&sample).await;
    for mood in [Mood::Longer(10), Mood::Endless] {
        registry.moods(&sample.layers[1], &[mood]);
        let error = ground.pull(&name_at(&registry)).await.unwrap_err();
        assert!(matches!(error, ImageError::Tampered { .. }) && error.to_string().contains("instead of"), "{error}");
        ground.has_no_image(&name_at(&registry));
    }
}

#[tokio::test]
async fn what_stays_broken_is_given_up_with_the_registrys_own_words() {
    let (sample, ground) = (Sample::usual(), Ground::new());
    let registry = Unruly::with(&sample).await;
    registry.moods(&sample.layers[0], &vec![Mood::Status(503); 3]);
    let error = ground.pull(&name_at(&registry)).await.unwrap_err().to_string();
    assert!(error.contains(&registry.address) && error.contains("503") && error.contains("not now"), "{error}");
    let missing = ground.pull(&format!("{}/other", registry.address)).await.unwrap_err().to_string();
    assert!(missing.contains("has no other, manifest latest"), "{missing}");
    let nobody = {
        let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        gone.local_addr().unwrap().to_string()
    };
    let error = ground.pull(&format!("{nobody}/x")).await.unwrap_err().to_string();
    assert!(error.contains("refused"), "{error}");
    ground.has_no_image(&name_at(&registry));
}

#[tokio::test]
async fn several_who_pull_the_same_share_one_download() {
    let (sample, ground) = (Sample::usual(), Ground::new());
    let registry = Unruly::with(&sample).await;
    let name = name_at(&registry);
    let other = Store::open(&ground.scratch.path("images")).unwrap();
    let (logins, report, reference) = (Logins::none(), Report::nowhere(), ground.reference(&name));
    let (a, b, c) = tokio::join!(ground.pull(&name), ground.pull(&name), other.pull(&reference, &logins, &report));
    for image in [a.unwrap(), b.unwrap(), c.unwrap()] {
        is_usual(&image);
    }
    for layer in &sample.layers {
        assert_eq!(registry.ranges(layer).len(), 1);
    }
    let manifests = registry.asked().iter().filter(|asked| asked.path.contains("manifests")).count();
    assert_eq!(manifests, 1, "those who waited took what came");
}

#[tokio::test]
async fn a_new_version_fetches_only_what_is_new() {
    let ground = Ground::new();
    let low = Tar::new().file("low", &noise(10_000, 2)).done();
    let first = Sample::of(&[low.clone(), Tar::new().file("v", b"1").done()], &Platform::here());
    let second = Sample::of(&[low, Tar::new().file("v", b"2").done()], &Platform::here());
    let registry = Unruly::with(&first).await;
    let one = ground.pull(&name_at(&registry)).await.unwrap();
    registry.put("name", "latest", &second);
    let two = ground.pull(&name_at(&registry)).await.unwrap();
    assert_eq!(registry.ranges(&first.layers[0]).len(), 1);
    assert_eq!(fs::read_to_string(two.rootfs.join("v")).unwrap(), "2");
    // The old one is nobody's now, but a box may still use it.
    assert_eq!(ground.store.gc(&HashSet::from([one.id.clone()])).unwrap().images, 0);
    assert_eq!(fs::read_to_string(one.rootfs.join("v")).unwrap(), "1");
    let freed = ground.store.gc(&HashSet::new()).unwrap();
    assert_eq!((freed.images, one.rootfs.exists(), two.rootfs.exists()), (1, false, true));
    assert_eq!(ground.blobs().len(), 3, "two layers and a configuration");
}

#[tokio::test]
async fn the_image_for_this_machine_is_chosen_and_its_digest_pins_it() {
    let here = Platform::here();
    let other = Platform { os: "linux".into(), architecture: "s390x".into() };
    let (mine, theirs) = (Sample::usual(), Sample::of(&[Tar::new().done()], &other));
    let registry = Unruly::start().await;
    let part = |sample: &Sample, platform: &Platform| {
        let (digest, size) = (Digest::of(&sample.manifest), sample.manifest.len());
        format!(
            r#"{{"digest":"{digest}","size":{size},"platform":{{"os":"{}","architecture":"{}"}}}}"#,
            platform.os, platform.architecture
        )
    };
    for sample in [&mine, &theirs] {
        registry.put("name", "unused", sample);
    }
    let index = format!(r#"{{"schemaVersion":2,"manifests":[{},{}]}}"#, part(&theirs, &other), part(&mine, &here));
    registry.put_manifest("name", "both", index.as_bytes());
    registry.put_manifest(
        "name",
        "theirs",
        format!(r#"{{"schemaVersion":2,"manifests":[{}]}}"#, part(&theirs, &other)).as_bytes(),
    );
    registry.put_manifest("name", "lie", &theirs.manifest);
    let ground = Ground::new();
    is_usual(&ground.pull(&format!("{}/name:both", registry.address)).await.unwrap());
    for tag in ["theirs", "lie"] {
        let error = ground.pull(&format!("{}/name:{tag}", registry.address)).await.unwrap_err().to_string();
        assert!(error.contains(&format!("is not made for {here}")) && error.contains("linux/s390x"), "{error}");
    }
    let digest = Digest::of(index.as_bytes());
    registry.put_manifest("name", &digest.to_string(), index.as_bytes());
    is_usual(&ground.pull(&format!("{}/name@{digest}", registry.address)).await.unwrap());
    registry.put_manifest("name", &digest.to_string(), &theirs.manifest);
    let error = ground.pull(&format!("{}/name@{digest}", registry.address)).await.unwrap_err();
    assert!(matches!(error, ImageError::Tampered { .. }), "{error}");
}

#[tokio::test]
async fn a_registry_that_wants_a_token_gets_one_with_and_without_a_login() {
    let sample = Sample::usual();
    let registry = Unruly::with(&sample).await;
    let challenge =
        format!(r#"Bearer realm="http://{}/token",service="it",scope="repository:name:pull""#, registry.address);
    registry.wants("Bearer secret-token", &challenge);
    registry.gives_token(None, "secret-token");
    is_usual(&Ground::new().pull(&name_at(&registry)).await.unwrap());
    let token = registry.asked().into_iter().find(|asked| asked.path.starts_with("/token")).unwrap();
    assert_eq!(token.path, "/token?service=it&scope=repository:name:pull");
    // With a login.
    let basic = base64::engine::general_purpose::STANDARD.encode("me:hunter2");
    registry.gives_token(Some(&format!("Basic {basic}")), "secret-token");
    let ground = Ground::new();
    let file = ground.scratch.file("auth", format!(r#"{{"auths":{{"{}":{{"auth":"{basic}"}}}}}}"#, registry.address));
    let logins = Logins::in_files(vec![file]);
    is_usual(&ground.pull_as(&name_at(&registry), &logins, &Report::nowhere()).await.unwrap());
    // With none, and with a wrong one: told, without the secret.
    let error = Ground::new().pull(&name_at(&registry)).await.unwrap_err().to_string();
    assert!(error.contains("docker login") && error.contains("wrong password"), "{error}");
    let wrong = base64::engine::general_purpose::STANDARD.encode("me:nope");
    let file = ground.scratch.file("auth", format!(r#"{{"auths":{{"{}":{{"auth":"{wrong}"}}}}}}"#, registry.address));
    let error = Ground::new().pull_as(&name_at(&registry), &Logins::in_files(vec![file]), &Report::nowhere()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("does not suffice") && !error.contains("nope") && !error.contains(&wrong), "{error}");
}

#[tokio::test]
async fn a_login_is_told_to_the_registry_and_to_nobody_it_points_to() {
    let sample = Sample::usual();
    let (registry, elsewhere) = (Unruly::with(&sample).await, Unruly::start().await);
    elsewhere.put_blobs(&sample);
    let basic = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode("me:hunter2"));
    registry.wants(&basic, "Basic realm=\"x\"");
    for layer in &sample.layers {
        let to = format!("http://{}/cdn/{}", elsewhere.address, Digest::of(layer));
        registry.moods(layer, &[Mood::Redirect(to)]);
    }
    let ground = Ground::new();
    let file = ground
        .scratch
        .file("auth", format!(r#"{{"auths":{{"{}":{{"username":"me","password":"hunter2"}}}}}}"#, registry.address));
    is_usual(&ground.pull_as(&name_at(&registry), &Logins::in_files(vec![file]), &Report::nowhere()).await.unwrap());
    assert_eq!(elsewhere.asked().len(), 2);
    assert!(elsewhere.asked().iter().all(|asked| asked.authorization.is_none()));
}

#[tokio::test]
async fn nothing_is_fetched_without_tls_but_from_this_machine() {
    let (sample, ground) = (Sample::usual(), Ground::new());
    let registry = Unruly::with(&sample).await;
    for to in ["http://192.0.2.1/x", "http://registry.example.com/x", "ftp://127.0.0.1/x"] {
        registry.moods(&sample.layers[1], &[Mood::Redirect(to.into())]);
        let error = ground.pull(&name_at(&registry)).await.unwrap_err().to_string();
        assert!(error.contains("without TLS"), "{to}: {error}");
    }
    registry.moods(&sample.layers[1], &vec![Mood::Redirect("/v2/x".to_owned() + &"/".repeat(3)); 9]);
    registry.wants("Bearer x", "Bearer realm=\"http://registry.example.com/token\"");
    let error = ground.pull(&name_at(&registry)).await.unwrap_err().to_string();
    assert!(error.contains("without TLS"), "{error}");
}

#[tokio::test]
async fn what_is_no_image_is_said_to_be_none() {
    let ground = Ground::new();
    let registry = Unruly::start().await;
    for (manifest, part) in [("<html>", "cannot be read"), ("{}", "neither"), (r#"{"schemaVersion":1}"#, "schema 1")] {
        registry.put_manifest("name", "latest", manifest.as_bytes());
        let error = ground.pull(&name_at(&registry)).await.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    registry.put_manifest("name", "latest", &vec![b' '; 5 << 20]);
    let error = ground.pull(&name_at(&registry)).await.unwrap_err().to_string();
    assert!(error.contains("larger than"), "{error}");
    assert!(matches!(ground.pull("host").await, Err(ImageError::Unknown(_))));
}

#[tokio::test]
async fn a_layout_is_used_by_tag_and_seen_when_it_changes() {
    let (sample, ground) = (Sample::usual(), Ground::new());
    sample.write_layout(&ground.scratch.path("layout"), "12");
    is_usual(&ground.pull("oci:layout:12").await.unwrap());
    is_usual(&ground.pull("oci:layout").await.unwrap());
    let error = ground.pull("oci:layout:13").await.unwrap_err().to_string();
    assert!(error.contains("no tag 13; it has 12"), "{error}");
    let reference = ground.reference("oci:layout");
    assert!(ground.store.find(&reference).unwrap().is_some());
    let other = Sample::of(&[Tar::new().file("other", b"").done()], &Platform::here());
    other.write_layout(&ground.scratch.path("layout"), "12");
    assert!(ground.store.find(&reference).unwrap().is_none(), "it is another image now");
    let image = ground.store.ensure(&reference, &Logins::none(), &Report::nowhere()).await.unwrap();
    assert!(image.rootfs.join("other").exists());
    // A layer that is not what its name says.
    let hex = Digest::of(&sample.layers[0]).hex().to_owned();
    sample.write_layout(&ground.scratch.path("bad"), "x");
    ground.scratch.file(&format!("bad/blobs/sha256/{hex}"), gzip(&Tar::new().file("evil", b"").done()));
    let bad = Ground::new();
    let reference = Reference::parse("oci:bad", &ground.scratch.path("")).unwrap();
    let error = bad.store.pull(&reference, &Logins::none(), &Report::nowhere()).await.unwrap_err();
    assert!(matches!(error, ImageError::Tampered { .. }), "{error}");
    assert_eq!(bad.left(), Vec::<String>::new());
}

#[tokio::test]
async fn archives_of_both_kinds_are_read_compressed_or_not() {
    let sample = Sample::usual();
    for archive in
        [sample.docker_archive(), sample.oci_archive(), gzip(&sample.docker_archive()), gzip(&sample.oci_archive())]
    {
        let ground = Ground::new();
        ground.scratch.file("image.tar", archive);
        let image = ground.pull("tar:image.tar").await.unwrap();
        is_usual(&image);
        assert_eq!(image.id, sample.id());
        assert_eq!(ground.left(), [sample.id().hex().to_owned()], "nothing else is left");
        assert!(ground.store.find(&ground.reference("tar:image.tar")).unwrap().is_some());
    }
}

#[tokio::test]
async fn an_archive_that_lies_or_holds_no_image_is_refused() {
    let sample = Sample::usual();
    let saved = |manifest: &str| Tar::new().file("c", &sample.config).file("manifest.json", manifest.as_bytes()).done();
    let tampered = {
        let mut lie = sample.clone();
        lie.layers[0] = gzip(&Tar::new().file("evil", b"").done());
        lie.docker_archive()
    };
    for (archive, part) in [
        (Tar::new().file("etc/passwd", b"").done(), "neither a manifest.json nor an index.json"),
        (b"hello".to_vec(), "ends in the middle"),
        (saved("[]"), "it holds none"),
        (saved(r#"[{"Config":"../../etc/passwd","Layers":[]}]"#), "which is not in it"),
        (saved(r#"[{"Config":"c","Layers":[]}]"#), "different numbers"),
        (tampered, "tampered"),
    ] {
        let ground = Ground::new();
        ground.scratch.file("image.tar", archive);
        let error = ground.pull("tar:image.tar").await.unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
        ground.has_no_image("tar:image.tar");
    }
    let error = Ground::new().pull("tar:nowhere.tar").await.unwrap_err().to_string();
    assert!(error.contains("nowhere.tar") && error.contains("No such file"), "{error}");
}

#[tokio::test]
async fn a_directory_is_used_where_it_lies() {
    let ground = Ground::new();
    fs::create_dir(ground.scratch.path("root")).unwrap();
    let image = ground.pull("dir:root").await.unwrap();
    assert_eq!(image.rootfs, ground.scratch.path("root").canonicalize().unwrap());
    assert_eq!(ground.store.find(&ground.reference("dir:root")).unwrap().unwrap().id, image.id);
    assert!(ground.pull("dir:nowhere").await.unwrap_err().to_string().contains("No such file"));
    ground.scratch.file("file", "");
    assert!(ground.pull("dir:file").await.unwrap_err().to_string().contains("not a directory"));
}

#[tokio::test]
async fn an_image_in_use_stays_and_one_with_two_names_loses_one() {
    let (sample, ground) = (Sample::usual(), Ground::new());
    let registry = Unruly::with(&sample).await;
    registry.put("name", "second", &sample);
    let (first, second) = (name_at(&registry), format!("{}:second", name_at(&registry)));
    let image = ground.pull(&first).await.unwrap();
    ground.pull(&second).await.unwrap();
    let in_use = HashSet::from([image.id.clone()]);
    assert_eq!(ground.store.remove(&ground.reference(&first), &in_use).unwrap().images, 0);
    is_usual(&ground.store.find(&ground.reference(&second)).unwrap().unwrap());
    let refused = ground.store.remove(&ground.reference(&second), &in_use).unwrap_err();
    assert!(matches!(refused, ImageError::InUse(_)), "{refused}");
    // What forbids its own removal.
    fs::create_dir(image.rootfs.join("shut")).unwrap();
    fs::write(image.rootfs.join("shut/in"), "x").unwrap();
    fs::set_permissions(image.rootfs.join("shut"), fs::Permissions::from_mode(0o000)).unwrap();
    let freed = ground.store.remove(&ground.reference(&second), &HashSet::new()).unwrap();
    assert!(freed.images == 1 && freed.blobs == 3 && freed.bytes > 200_000, "{freed:?}");
    assert!(ground.left().is_empty() && ground.blobs().is_empty());
    assert!(matches!(ground.store.remove(&ground.reference(&first), &in_use), Err(ImageError::Unknown(_))));
}

#[tokio::test]
async fn what_an_interrupted_unpack_left_is_swept_unless_somebody_is_at_it() {
    let ground = Ground::new();
    let left = ground.scratch.path(&format!("images/{}.unpacking", Digest::of(b"x").hex()));
    fs::create_dir_all(left.join("rootfs/shut")).unwrap();
    fs::set_permissions(left.join("rootfs/shut"), fs::Permissions::from_mode(0o000)).unwrap();
    let pulling = lock(&ground.store.lock_path("store"), Sharing::Shared).await.unwrap();
    Store::open(&ground.scratch.path("images")).unwrap();
    assert!(left.exists(), "it may be theirs");
    assert!(matches!(ground.store.gc(&HashSet::new()), Err(ImageError::Busy)));
    drop(pulling);
    Store::open(&ground.scratch.path("images")).unwrap();
    assert!(!left.exists());
}

#[tokio::test]
async fn an_image_that_is_refused_while_unpacking_leaves_nothing_that_looks_like_one() {
    let evil = Sample::of(&[Tar::new().file("../evil", b"").done()], &Platform::here());
    let ground = Ground::new();
    let registry = Unruly::with(&evil).await;
    let error = ground.pull(&name_at(&registry)).await.unwrap_err().to_string();
    assert!(error.contains("is refused") && error.contains("leads out of the image"), "{error}");
    ground.has_no_image(&name_at(&registry));
}
