//! How boxes begin and end, and what is left of them: nothing.

use std::{
    io::Read,
    os::unix::process::CommandExt,
    process::{Command, Stdio},
};

use coop::sandbox::Ended;
use nix::{
    sys::signal::{Signal, kill, killpg},
    unistd::Pid,
};

use rustix::process::{Resource, Rlimit, getrlimit, prlimit};

use crate::support::{Process, Scratch, coop, offspring, plain, run, sh, start, told, until};

/// What no ordinary hang-up ends, with a child in a session of its own.
const DEAF: &str = "trap '' HUP TERM INT; setsid sleep 1000 & echo ready; while :; do sleep 1000; done";

fn number(pid: u32) -> Pid {
    Pid::from_raw(pid.cast_signed())
}

/// A box with deaf programs: its PID 1 and all others.
fn deaf() -> (coop::sandbox::Sandbox, coop::sandbox::Started, Vec<Process>) {
    let sandbox = start(&plain());
    let started = sandbox.run(&run(&["sh", "-c", DEAF])).unwrap();
    let mut terminal = std::fs::File::from(started.terminal.try_clone().unwrap());
    until(&mut terminal, "ready").unwrap();
    let mut all = offspring(sandbox.pid());
    assert!(all.len() >= 2, "{all:?}");
    all.push(sandbox.pid());
    let all = all.into_iter().map(Process::of).collect();
    (sandbox, started, all)
}

promise! {
    fn dropping_a_box_ends_everything_in_it() {
        let (sandbox, started, all) = deaf();
        assert!(all.iter().all(Process::lives));
        drop(sandbox);
        all.iter().for_each(Process::ends);
        assert_eq!(started.exit.wait(), Ended::BoxGone);
    }
}

promise! {
    fn an_end_that_is_waited_for_leaves_nothing_to_bury() {
        let (sandbox, _started, all) = deaf();
        let pid = sandbox.pid();
        sandbox.end();
        assert!(all.iter().all(|process| !process.lives()));
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }
}

promise! {
    fn killing_pid_1_ends_everything_and_is_told() {
        let (sandbox, started, all) = deaf();
        kill(number(sandbox.pid()), Signal::SIGKILL).unwrap();
        all.iter().for_each(Process::ends);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(sandbox.gone());
        assert_eq!(runtime.block_on(started.exit.ended()), Ended::BoxGone);
        assert_eq!(sandbox.run(&run(&["true"])).unwrap_err().to_string(), "the box is gone");
        assert!(sandbox.dial(1).is_err());
    }
}

promise! {
    fn killing_who_started_a_box_ends_everything_in_it() {
        let scratch = Scratch::fresh();
        let spec = scratch.file("spec.json", &serde_json::to_string(&plain()).unwrap());
        let mut starter = Command::new(coop())
            .arg("box-run").arg(&spec).args(["--", "sh", "-c", DEAF])
            .stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0)
            .spawn().unwrap();
        until(starter.stdout.as_mut().unwrap(), "ready").unwrap();
        let inside: Vec<Process> = offspring(starter.id()).into_iter().map(Process::of).collect();
        assert!(inside.len() >= 3);
        starter.kill().unwrap();
        inside.iter().for_each(Process::ends);
        starter.wait().unwrap();
    }
}

promise! {
    fn a_program_that_ignores_everything_is_ended_from_outside_by_its_group() {
        let sandbox = start(&plain());
        let started = sandbox.run(&run(&["sh", "-c", "trap '' HUP TERM INT; echo ready; while :; do sleep 1000; done"])).unwrap();
        until(&mut std::fs::File::from(started.terminal), "ready").unwrap();
        let all: Vec<Process> = offspring(started.pid).into_iter().chain([started.pid]).map(Process::of).collect();
        killpg(number(started.pid), Signal::SIGKILL).unwrap();
        all.iter().for_each(Process::ends);
        assert_eq!(started.exit.wait(), Ended::Signal(9));
        assert_eq!(told(&sandbox, "echo fine"), "fine");
    }
}

promise! {
    fn orphans_are_buried() {
        let sandbox = start(&plain());
        let started = sandbox.run(&run(&["sh", "-c", "(sleep 1000 & echo $!)"])).unwrap();
        let mut terminal = std::fs::File::from(started.terminal);
        let orphan: u32 = until(&mut terminal, "\n").unwrap().trim().parse().unwrap();
        assert_eq!(started.exit.wait(), Ended::Code(0));
        assert_eq!(told(&sandbox, &format!("grep PPid: /proc/{orphan}/status | cut -f2")), "1");
        let outside = Process::of(offspring(sandbox.pid())[0]);
        told(&sandbox, &format!("kill -9 {orphan}"));
        outside.ends();
        // The end of its output is the end of all who could write there.
        let mut rest = String::new();
        terminal.read_to_string(&mut rest).unwrap();
        // A process that is not buried keeps its place in /proc. It may take PID 1 a moment.
        while sh(&sandbox, &format!("test -e /proc/{orphan}")).ended == Ended::Code(0) {}
    }
}

promise! {
    fn the_same_box_serves_a_hundred_programs_at_once() {
        let sandbox = start(&plain());
        let texts: Vec<String> = std::thread::scope(|scope| {
            let one = |number: u32| {
                let sandbox = &sandbox;
                move || {
                    let mut job = run(&["sh", "-c", &format!("read line; echo {number}; exit {}", number % 7)]);
                    job.size = Some((80, 24));
                    let started = sandbox.run(&job).unwrap();
                    let mut terminal = std::fs::File::from(started.terminal.try_clone().unwrap());
                    std::io::Write::write_all(&mut terminal, b"go\n").unwrap();
                    let said = crate::support::finish(started);
                    assert_eq!(said.ended, Ended::Code((number % 7).cast_signed()));
                    said.text
                }
            };
            let all: Vec<_> = (0..100).map(|number| scope.spawn(one(number))).collect();
            all.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (number, text) in texts.iter().enumerate() {
            assert!(text.lines().any(|line| line == number.to_string()), "{number}: {text:?}");
        }
        assert_eq!(told(&sandbox, "set -- /proc/[0-9]*; echo $#"), "2", "nothing is left of them");
    }
}

promise! {
    fn a_box_that_can_take_no_further_program_says_so_and_lives() {
        let sandbox = start(&plain());
        let first = rustix::process::Pid::from_raw(sandbox.pid().cast_signed());
        // From then on it serves, and has all that it needs for that.
        told(&sandbox, "true");
        let own = getrlimit(Resource::Nofile);
        // Two are enough to wait with, and both are taken.
        prlimit(first, Resource::Nofile, Rlimit { current: Some(2), ..own }).unwrap();
        // Short and long requests, which bring another number of files.
        for length in [1, 100_000] {
            let said = sandbox.run(&run(&["true", &"x".repeat(length)])).unwrap_err().to_string();
            assert!(said.contains("as many programs as it can"), "{said}");
        }
        prlimit(first, Resource::Nofile, own).unwrap();
        assert_eq!(told(&sandbox, "echo well"), "well");
    }
}
