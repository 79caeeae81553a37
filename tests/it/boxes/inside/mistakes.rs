//! What is wrong in a coop.toml is told with its line and column, and makes nothing.

use serde_json::json;

use super::super::user::User;

#[tokio::test]
async fn a_mistake_is_told_where_it_stands_and_no_box_is_made() {
    let user = User::new();
    for (toml, place, words) in [
        ("[box]\nimgae = \"debian\"\n", "coop.toml:2:1", "did you mean `image`?"),
        ("[box]\n  nested = \"yes\"\n", "coop.toml:2:12", "expected true or false, found a string"),
        ("[network]\nmode = \"open\"\n", "coop.toml:2:8", "\"filtered\""),
        ("[limits]\nmemory = \"much\"\n", "coop.toml:2:10", "memory"),
        ("[workspace]\nprotect = [\"../etc\"]\n", "coop.toml:2:12", "../etc"),
        ("[box]\nimage = \n", "coop.toml:2:9", ""),
        ("[session]\nname = \"Not A Name\"\n", "coop.toml:2:8", "no name for a box"),
        ("[network]\nmode = \"none\"\n\n[nework]\n", "coop.toml:4:2", "[network]"),
    ] {
        user.scratch.file("project/coop.toml", toml);
        let ended = user.run(&["up", &user.project(), "-d", "--", "cat"]).await;
        assert!(ended.code == Some(1) && ended.out.is_empty(), "{toml}: {ended:?}");
        assert!(ended.err.contains(place) && ended.err.contains(words), "{toml}: {}", ended.err);
    }
    assert_eq!(user.run(&["ls", "--json"]).await.json()["boxes"], json!([]));
}

#[tokio::test]
async fn what_a_strangers_file_asks_for_is_refused_line_by_line_until_it_is_trusted() {
    let user = User::new().with("TOKEN_OF_TEST", "t0ken");
    let toml = "[box]\nnested = true\nmounts = [\"/etc:/mnt:ro\"]\n\n[network]\nmode = \"host\"\n\n[env]\nexport = [\"TOKEN_OF_TEST\"]\n";
    user.scratch.file("project/coop.toml", toml);
    let refused = user.tries(&["-d", "--", "cat"]).await;
    assert!(refused.code == Some(1) && refused.err.contains("coop trust"), "{refused:?}");
    for line in ["line 2:", "line 3:", "line 6:", "line 9:"] {
        assert!(refused.err.contains(line), "{line} {}", refused.err);
    }
    assert!(!user.kept(super::NAME).exists());
    user.has(toml).await;
    assert_eq!(user.told("test -e /mnt/passwd && echo \"$TOKEN_OF_TEST\"").await, "t0ken");
    user.run(&["rm", "--force", super::NAME]).await.ok();
    // Trust is in these bytes, not in the place.
    user.scratch.file("project/coop.toml", format!("{toml}\n# more\n"));
    assert!(user.tries(&["-d", "--", "cat"]).await.err.contains("coop trust"));
}
