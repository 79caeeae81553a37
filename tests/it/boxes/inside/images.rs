//! Boxes that stand on an image: what is written over it stays with the box, and setup commands are run once.

use super::super::user::User;
use super::image::{archive, layout, rootfs};

/// The box's root, in one of the forms of a reference.
fn reference(user: &User, kind: &str) -> String {
    let root = user.scratch.path("rootfs");
    rootfs(&root, kind);
    let at = match kind {
        "dir" => root,
        "tar" => archive(&root, user.scratch.dir()),
        _ => layout(&root, user.scratch.dir()),
    };
    format!("{kind}:{}", at.display())
}

#[tokio::test]
async fn every_kind_of_image_is_the_root_and_a_restart_keeps_what_was_written_over_it() {
    for kind in ["dir", "tar", "oci"] {
        let user = User::new();
        let image = reference(&user, kind);
        let made = user.has(&format!("[box]\nimage = \"{image}\"\n")).await;
        assert_eq!(made["image"], image);
        assert_eq!(user.told("cat /etc/mark").await, kind);
        assert_eq!(user.told("ls /usr/bin/git 2>&1 || echo none").await.lines().last(), Some("none"), "of the machine");
        if kind != "dir" {
            assert_eq!(user.told("echo $OF_IMAGE").await, "yes", "the image's own variables");
        }
        user.told("echo kept >/etc/note; echo changed >/etc/mark; rm /bin/sleep").await;
        user.restarts().await;
        let seen = user.told("cat /etc/note /etc/mark; ls /bin/sleep 2>/dev/null || echo removed").await;
        assert_eq!(seen, "kept\nchanged\nremoved", "{kind}");
        let below = std::fs::read_to_string(user.scratch.path("rootfs/etc/mark")).unwrap();
        assert_eq!(below.trim(), kind, "what it stands on is shared, and stays as it is");
        // A box of another name begins anew.
        user.run(&["rm", "--force", super::NAME]).await.ok();
        user.has(&format!("[box]\nimage = \"{image}\"\n")).await;
        assert_eq!(user.told("cat /etc/mark").await, kind);
    }
}

#[tokio::test]
async fn setup_commands_are_run_once_and_kept_by_what_they_say() {
    let user = User::new();
    let image = reference(&user, "tar");
    let toml = |setup: &str| format!("[box]\nimage = \"{image}\"\nsetup = [{setup}]\n");
    // Each run would leave another number.
    let first = toml("\"cat /proc/sys/kernel/random/uuid >/uuid\", \"id -u >/uid; echo said\"");
    user.says(&first).await;
    let made = user.tries(&["-d", "--", "cat"]).await;
    assert!(made.code == Some(0) && made.err.contains("setup") && made.err.contains("said"), "{made:?}");
    assert_eq!(user.told("cat /uid").await, "0", "installing is root's work, of the box only");
    let uuid = user.told("cat /uuid").await;
    user.restarts().await;
    assert_eq!(user.told("cat /uuid").await, uuid);
    user.run(&["rm", "--force", super::NAME]).await.ok();
    let again = user.tries(&["-d", "--", "cat"]).await;
    assert!(again.code == Some(0) && !again.err.contains("said"), "{again:?}");
    assert_eq!(user.told("cat /uuid").await, uuid, "another box stands on the same");
    user.run(&["rm", "--force", super::NAME]).await.ok();
    user.has(&toml("\"cat /proc/sys/kernel/random/uuid >/uuid\", \"true\"")).await;
    assert_ne!(user.told("cat /uuid").await, uuid, "other commands make something else");
}

#[tokio::test]
async fn a_setup_command_that_fails_is_told_with_what_it_printed_and_tried_again() {
    let user = User::new();
    let image = reference(&user, "tar");
    let toml = format!("[box]\nimage = \"{image}\"\nsetup = [\"true\", \"echo no such package; exit 3\"]\n");
    user.says(&toml).await;
    for _ in 0..2 {
        let failed = user.tries(&["-d", "--", "cat"]).await;
        assert!(failed.code == Some(1) && failed.err.contains("ended with 3"), "{failed:?}");
        assert!(failed.err.contains("no such package") && failed.err.contains("exit 3"), "{failed:?}");
    }
    assert_eq!(user.run(&["ls", "--json"]).await.json()["boxes"], serde_json::json!([]), "no box was made of it");
}
