//! Images and volumes: listed, and removed only where no box stands on them.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;

use serde_json::json;

use super::user::User;

fn volume(user: &User, name: &str) {
    let dir = user.home().join("volumes").join(name);
    DirBuilder::new().recursive(true).mode(0o700).create(&dir).unwrap();
    std::fs::write(dir.join("file"), "content").unwrap();
}

#[tokio::test]
async fn a_volume_that_a_box_uses_stays_and_no_other_goes_unasked() {
    let user = User::new();
    assert_eq!(user.run(&["volume", "ls"]).await.ok(), "");
    volume(&user, "left");
    std::fs::write(
        user.scratch.path("project/coop.toml"),
        "[box]\nmounts = [{ volume = \"cache\", to = \"/cache\" }]\n",
    )
    .unwrap();
    let project = user.project();
    user.run(&["trust", &project, "--yes"]).await;
    let ended = user.run(&["up", &project, "--name", "red", "--json", "--", "cat"]).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let listed = user.run(&["volume", "ls", "--json"]).await.json();
    let names: Vec<_> =
        listed["volumes"].as_array().unwrap().iter().map(|one| (&one["name"], &one["used_by"])).collect();
    assert_eq!(names, [(&json!("cache"), &json!(["red"])), (&json!("left"), &json!([]))]);

    let ended = user.run(&["volume", "rm", "left", "cache", "--yes"]).await;
    assert!(ended.complaint().contains("volume cache is used by red"), "{ended:?}");
    let ended = user.run(&["volume", "rm", "left"]).await;
    assert!(ended.complaint().ends_with("add --yes"), "{ended:?}");
    assert!(user.home().join("volumes/left/file").exists(), "all or nothing");
    assert!(user.run(&["volume", "rm", "gone", "--yes"]).await.complaint().contains("no volume \"gone\""));
    assert_eq!(user.run(&["volume", "rm", "left", "--yes"]).await.ok(), "removed volume left\n");
    assert!(!user.home().join("volumes/left").exists());
}

#[tokio::test]
async fn where_no_image_is_there_is_nothing_to_list_remove_or_clean() {
    let user = User::new();
    assert_eq!(user.run(&["image", "ls", "--json"]).await.json(), json!({"images": []}));
    assert!(!user.home().exists(), "looking makes nothing");
    assert_eq!(user.run(&["image", "gc"]).await.ok(), "freed 0 B: 0 images, 0 layers\n");
    let ended = user.run(&["image", "rm", "debian:12"]).await;
    assert!(ended.code == Some(1) && ended.err.contains("debian:12"), "{ended:?}");
    for bad in ["", "tar:/no/such/file.tar", "NOT AN IMAGE"] {
        let ended = user.run(&["image", "pull", bad]).await;
        assert!(ended.code == Some(1) && ended.out.is_empty() && !ended.err.is_empty(), "{bad}: {ended:?}");
    }
}
