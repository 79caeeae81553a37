//! Images come from a real registry as they were pushed.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use coop::images::{Image, ImageError, Logins, Reference, Report, Store};

use crate::pushed::{Pushed, digest, tar};
use crate::registry_program::RegistryProgram;
use crate::scratch::Scratch;

fn sample() -> Pushed {
    let large: Vec<u8> = (0..2_000_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    Pushed::of(&[
        tar(&[("etc/name", b"low"), ("gone", b"")]),
        tar(&[("etc/name", b"high"), (".wh.gone", b""), ("large", &large)]),
    ])
}

async fn pull(store: &Store, text: &str, logins: &Logins) -> Result<Image, ImageError> {
    store.pull(&Reference::parse(text, Path::new("/"))?, logins, &Report::nowhere()).await
}

fn is_sample(image: &Image) {
    assert_eq!(fs::read_to_string(image.rootfs.join("etc/name")).unwrap(), "high");
    assert!(!image.rootfs.join("gone").exists());
    assert_eq!(image.rootfs.join("large").metadata().unwrap().len(), 2_000_000);
}

#[tokio::test]
async fn what_was_pushed_is_pulled_by_tag_by_digest_and_out_of_an_index() {
    let registry = RegistryProgram::open_to_all();
    let sample = sample();
    sample.push(&registry.address, "team/name", "1", "");
    sample.push_index(&registry.address, "team/name", "both");
    let scratch = Scratch::fresh();
    let store = Store::open(&scratch.path("images")).unwrap();
    let name = format!("{}/team/name", registry.address);
    for text in [format!("{name}:1"), format!("{name}@{}", sample.manifest_digest), format!("{name}:both")] {
        let image = pull(&store, &text, &Logins::none()).await.unwrap();
        is_sample(&image);
        assert_eq!(image.id.to_string(), sample.config_digest);
    }
    assert_eq!(store.list().unwrap().len(), 3);
    let missing = pull(&store, &format!("{name}:2"), &Logins::none()).await.unwrap_err();
    assert!(matches!(missing, ImageError::NotFound { .. }), "{missing}");
    for image in store.list().unwrap() {
        store.remove(&Reference::parse(&image.reference, Path::new("/")).unwrap(), &HashSet::new()).unwrap();
    }
    assert_eq!(fs::read_dir(scratch.path("images/blobs/sha256")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_download_goes_on_where_an_earlier_one_ended() {
    let registry = RegistryProgram::open_to_all();
    let sample = sample();
    sample.push(&registry.address, "name", "latest", "");
    let scratch = Scratch::fresh();
    let store = Store::open(&scratch.path("images")).unwrap();
    let layer = &sample.layers[1];
    let hex = digest(layer)[7..].to_owned();
    fs::write(scratch.path(&format!("images/blobs/sha256/{hex}.partial")), &layer[..layer.len() / 2]).unwrap();
    is_sample(&pull(&store, &format!("{}/name", registry.address), &Logins::none()).await.unwrap());
    let line = registry.answer_to(&format!("GET /v2/name/blobs/{}", digest(layer)));
    assert!(line.contains("\" 206 "), "only the rest was sent: {line}");
}

#[tokio::test]
async fn a_login_opens_what_is_closed_without() {
    let registry = RegistryProgram::with_login();
    let basic = base64::engine::general_purpose::STANDARD.encode("me:hunter2");
    let sample = sample();
    sample.push(&registry.address, "name", "latest", &format!("Basic {basic}"));
    let scratch = Scratch::fresh();
    let store = Store::open(&scratch.path("images")).unwrap();
    let name = format!("{}/name", registry.address);
    let refused = pull(&store, &name, &Logins::none()).await.unwrap_err();
    assert!(matches!(refused, ImageError::Unauthorized { .. }), "{refused}");
    let file = scratch.path("config.json");
    fs::write(&file, format!(r#"{{"auths":{{"{}":{{"auth":"{basic}"}}}}}}"#, registry.address)).unwrap();
    is_sample(&pull(&store, &name, &Logins::in_files(vec![file])).await.unwrap());
}
