//! `coop box-run`: one program in a box, as a command.

use std::process::{Command, Output, Stdio};

use crate::support::{Scratch, coop, plain};

fn box_run(spec: &str, words: &[&str]) -> Output {
    let scratch = Scratch::fresh();
    let file = scratch.file("spec.json", spec);
    Command::new(coop()).arg("box-run").arg(file).args(words).stdin(Stdio::null()).output().unwrap()
}

promise! {
    fn it_prints_what_the_program_prints_and_ends_as_it_ends() {
        let spec = serde_json::to_string(&plain()).unwrap();
        let done = box_run(&spec, &["--cwd", "/usr", "--", "sh", "-c", "pwd; exit 7"]);
        assert_eq!((String::from_utf8_lossy(&done.stdout).as_ref(), done.status.code()), ("/usr\n", Some(7)));
        let left = box_run(&spec, &["--", "sh", "-c", "sleep 1000 & echo over"]);
        assert_eq!((left.stdout.as_slice(), left.status.code()), (&b"over\n"[..], Some(0)), "what it left running ends too");
        let killed = box_run(&spec, &["--", "sh", "-c", "kill -9 $$"]);
        assert_eq!(killed.status.code(), Some(137));
        let terminal = box_run(&spec, &["--tty", "--", "tty"]);
        assert_eq!(String::from_utf8_lossy(&terminal.stdout), "/dev/pts/0\r\n");
    }
}

promise! {
    fn a_specification_needs_only_names_and_its_mistakes_are_told() {
        let least = r#"{"name": "least", "hostname": "h"}"#;
        assert_eq!(box_run(least, &["--", "hostname"]).stdout, b"h\n");
        for (spec, expected) in [
            ("{", "EOF"),
            (r#"{"name": "x", "hostname": "h", "sudo": true}"#, "sudo"),
            (r#"{"name": "x", "hostname": "h", "mounts": [{"bind": {"from": "/a"}}]}"#, "missing field `to`"),
        ] {
            let done = box_run(spec, &["--", "true"]);
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(done.status.code() == Some(125) && said.contains(expected), "{said}");
        }
        assert_eq!(box_run(least, &["--", "no-such-bsah"]).status.code(), Some(127));
        assert_eq!(box_run(least, &[]).status.code(), Some(125));
    }
}
