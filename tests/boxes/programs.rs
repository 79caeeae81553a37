//! Programs in a box: their terminal, their end, and why they could not start.

use std::{ffi::OsString, fs, os::unix::ffi::OsStringExt, os::unix::fs::PermissionsExt};

use coop::sandbox::{Ended, Limits, RunError, Spec};

use crate::support::{Scratch, bind, finish, plain, run, sh, start, told, with};

promise! {
    fn a_terminal_of_its_own_is_there_and_has_its_size() {
        let sandbox = start(&plain());
        let mut job = run(&["sh", "-c", "tty; stty size; test -t 0 && test -t 1 && test -t 2 && echo yes > /dev/tty"]);
        job.size = Some((123, 45));
        let said = finish(sandbox.run(&job).unwrap());
        assert_eq!(said.text, "/dev/pts/0\n45 123\nyes\n");
        // Programs can have terminals of their own too, as under `script` or tmux.
        let own = "use Fcntl; sysopen(my $t, '/dev/ptmx', O_RDWR) or die $!; print 'open'";
        assert_eq!(crate::support::perl(&sandbox, own), "open");
    }
}

promise! {
    fn keys_and_hang_ups_reach_it() {
        use std::io::Write;
        let sandbox = start(&plain());
        let mut job = run(&["sh", "-c", "trap 'echo stopped; exit 3' INT; echo ready; while :; do sleep 1000 & wait $!; done"]);
        job.size = Some((80, 24));
        let started = sandbox.run(&job).unwrap();
        let mut terminal = fs::File::from(started.terminal.try_clone().unwrap());
        crate::support::until(&mut terminal, "ready").unwrap();
        terminal.write_all(b"\x03").unwrap();
        crate::support::until(&mut terminal, "stopped").unwrap();
        assert_eq!(started.exit.wait(), Ended::Code(3));

        let mut job = run(&["cat"]);
        job.size = Some((80, 24));
        let started = sandbox.run(&job).unwrap();
        drop((terminal, started.terminal));
        assert_eq!(started.exit.wait(), Ended::Signal(1));
    }
}

promise! {
    fn without_a_terminal_it_reads_prints_and_complains_through_pipes() {
        use std::io::{Read, Write};
        let sandbox = start(&plain());
        let script = "cat; echo no >&2; test -t 0 || test -t 1 || test -t 2 || echo none; (: </dev/tty) 2>/dev/null || echo unasked";
        let mut piped = sandbox.run_piped(&run(&["sh", "-c", script])).unwrap();
        let mut stdin = fs::File::from(piped.stdin);
        stdin.write_all(b"\x04\r\n\xff").unwrap();
        drop(stdin);
        let (mut printed, mut complained) = (Vec::new(), Vec::new());
        fs::File::from(piped.stdout).read_to_end(&mut printed).unwrap();
        fs::File::from(piped.stderr).read_to_end(&mut complained).unwrap();
        assert_eq!((printed, complained), (b"\x04\r\n\xffnone\nunasked\n".to_vec(), b"no\n".to_vec()));
        assert_eq!(piped.exit.wait(), Ended::Code(0));
        piped = sandbox.run_piped(&run(&["sh", "-c", "kill -TERM $$"])).unwrap();
        assert_eq!(piped.exit.wait(), Ended::Signal(15));
    }
}

promise! {
    fn the_code_or_the_signal_of_the_end_is_told() {
        let sandbox = start(&plain());
        assert_eq!(sh(&sandbox, "exit 0").ended, Ended::Code(0));
        assert_eq!(sh(&sandbox, "exit 42").ended, Ended::Code(42));
        assert_eq!(sh(&sandbox, "exit 255").ended, Ended::Code(255));
        assert_eq!(sh(&sandbox, "kill -TERM $$").ended, Ended::Signal(15));
        assert_eq!(sh(&sandbox, "kill -KILL $$").ended, Ended::Signal(9));
        // A real-time signal, which has no name.
        assert_eq!(sh(&sandbox, "kill -40 $$").ended, Ended::Signal(40));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let started = sandbox.run(&run(&["sh", "-c", "exit 5"])).unwrap();
        assert_eq!(runtime.block_on(started.exit.ended()), Ended::Code(5));
    }
}

promise! {
    fn its_ids_are_told_as_seen_from_both_sides() {
        let sandbox = start(&plain());
        let started = sandbox.run(&run(&["sh", "-c", "echo $$; read line < /dev/null; sleep 1000"])).unwrap();
        let mut output = fs::File::from(started.terminal);
        let inside = crate::support::until(&mut output, "\n").unwrap();
        assert_eq!(inside.trim(), started.inner_pid.to_string());
        let status = fs::read_to_string(format!("/proc/{}/status", started.pid)).unwrap();
        let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap();
        let ids: Vec<&str> = ids.split_whitespace().collect();
        assert!(ids.ends_with(&[&started.pid.to_string(), &started.inner_pid.to_string()]), "{ids:?}");
    }
}

promise! {
    fn no_shell_sees_the_arguments_and_bytes_stay_bytes() {
        let sandbox = start(&plain());
        let said = finish(sandbox.run(&run(&["printf", "<%s>", "$HOME", "a  b", "*; x", "", "\"'\\"])).unwrap());
        assert_eq!(said.text, "<$HOME><a  b><*; x><><\"'\\>");
        let mut job = run(&["sh", "-c", "printf %s \"$1$V\" | od -An -tx1", "sh"]);
        job.argv.push(OsString::from_vec(vec![0xff, b'a']));
        job.env.push(("V".into(), OsString::from_vec(vec![0xfe])));
        assert_eq!(finish(sandbox.run(&job).unwrap()).text.trim(), "ff 61 fe");
    }
}

promise! {
    fn its_variables_are_those_and_no_others() {
        let sandbox = start(&plain());
        let mut job = run(&["env"]);
        job.env.push(("ONE".into(), "a=b c".into()));
        let text = finish(sandbox.run(&job).unwrap()).text;
        assert_eq!(text.lines().filter(|line| !line.starts_with("PATH=")).collect::<Vec<_>>(), ["LC_ALL=C", "ONE=a=b c"]);
        // More than a socket holds.
        job.env.push(("MUCH".into(), "x".repeat(100_000).into()));
        for number in 0..10 {
            job.env.push((format!("MUCH{number}").into(), "y".repeat(100_000).into()));
        }
        assert!(finish(sandbox.run(&job).unwrap()).text.len() > 1_100_000);
    }
}

promise! {
    fn what_can_not_be_started_is_named_with_its_reason() {
        let scratch = Scratch::fresh();
        let dir = scratch.path("");
        scratch.file("plain", "x");
        fs::set_permissions(scratch.file("lost", "#!/no/such/interpreter\n"), PermissionsExt::from_mode(0o755)).unwrap();
        fs::set_permissions(scratch.file("noise", "\u{1}\u{2}"), PermissionsExt::from_mode(0o755)).unwrap();
        let sandbox = start(&with([bind(&dir, "/run/files")]));
        let failure = |program: &str| {
            let error = sandbox.run(&run(&[program])).unwrap_err();
            (error.to_string(), error.shell_code())
        };
        assert_eq!(failure("no-such-bsah"), ("cannot run \"no-such-bsah\" in the box: no such program on its PATH".into(), 127));
        assert_eq!(failure("/nope/x").0, "cannot run \"/nope/x\" in the box: no such program");
        assert!(failure("/run/files/plain").0.contains("permission denied"));
        assert_eq!(failure("/run/files/plain").1, 126);
        assert!(failure("/run/files/lost").0.contains("interpreter"), "{}", failure("/run/files/lost").0);
        assert!(failure("/run/files/noise").0.contains("no program"), "{}", failure("/run/files/noise").0);
        let elsewhere = coop::sandbox::Run { cwd: "/nowhere".into(), ..run(&["true"]) };
        assert_eq!(sandbox.run(&elsewhere).unwrap_err().to_string(), "cannot start in \"/nowhere\" in the box: No such file or directory");
        assert!(matches!(sandbox.run(&run(&[])), Err(RunError::NothingToRun)));
        assert!(matches!(sandbox.run(&run(&["a\0b"])), Err(RunError::ZeroByte { .. })));
        // What failed says so before it ends, and is buried a moment later: the shell looks until it is alone with PID 1.
        let alone = "i=0; while set -- /proc/[0-9]*; [ $# -gt 2 ] && [ $((i+=1)) -lt 100000 ]; do :; done; echo $#";
        assert_eq!(told(&sandbox, alone), "2", "nothing is left of the attempts");
    }
}

promise! {
    fn a_raised_limit_of_ours_is_not_passed_on() {
        use nix::sys::resource::{Resource, getrlimit, setrlimit};
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
        assert_eq!(told(&start(&plain()), "ulimit -Sn; ulimit -Hn"), format!("{}\n{hard}", hard.min(1024)));
    }
}

promise! {
    fn limits_without_a_cgroup_are_kept_or_said_not_to_be() {
        let limits = Limits { open_files: Some(77), processes: Some(20), memory_bytes: Some(1 << 40), cpus: Some(64.0) };
        let sandbox = start(&Spec { limits, ..plain() });
        assert_eq!(told(&sandbox, "ulimit -n; ulimit -Hn"), "77\n77");
        let warnings = sandbox.warnings().join("\n");
        let grouped = !warnings.contains("the limit on");
        assert!(grouped || (warnings.contains("memory") && warnings.contains("processors")), "{warnings}");
        let root = nix::unistd::Uid::effective().is_root();
        if grouped || !root {
            let text = sh(&sandbox, "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do sleep 1000 >/dev/null 2>&1 & done; echo all").text;
            assert!(text.contains("fork"), "{text}");
        } else {
            assert!(warnings.contains("processes"), "{warnings}");
        }
    }
}
