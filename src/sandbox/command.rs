//! The hidden verb `coop box-run SPEC.json -- argv…`: one program in a box of its own, for tests and for trying.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, IsTerminal},
    path::Path,
    process::ExitCode,
};

use super::{Ended, Run, RunError, Sandbox, SandboxError, Spec};

/// A box that could not be made, told apart from every code of a program that is not looking for trouble.
const NO_BOX: u8 = 125;

#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("usage: coop box-run SPEC.json [--tty] [--cwd DIR] -- PROGRAM [ARGUMENT]...")]
    Usage,
    #[error("cannot read {0:?}: {1}")]
    Spec(OsString, String),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("cannot pass its output on: {0}")]
    Output(io::Error),
}

/// Runs one program in a box, prints what it prints, and ends as it ends.
pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    match run(words) {
        Ok(code) => ExitCode::from(code),
        Err(trouble) => {
            eprintln!("coop: {trouble}");
            match trouble {
                Trouble::Run(error) => ExitCode::from(error.shell_code()),
                _ => ExitCode::from(NO_BOX),
            }
        }
    }
}

fn run(words: impl Iterator<Item = OsString>) -> Result<u8, Trouble> {
    let mut words = words.peekable();
    let file = words.next().ok_or(Trouble::Usage)?;
    let (mut cwd, mut tty) = (OsString::from("/"), io::stdin().is_terminal());
    loop {
        let word = words.next().ok_or(Trouble::Usage)?;
        match word.to_str() {
            Some("--") => break,
            Some("--tty") => tty = true,
            Some("--cwd") => cwd = words.next().ok_or(Trouble::Usage)?,
            _ => return Err(Trouble::Usage),
        }
    }
    let text = std::fs::read_to_string(&file).map_err(|error| Trouble::Spec(file.clone(), error.to_string()))?;
    let spec: Spec = serde_json::from_str(&text).map_err(|error| Trouble::Spec(file, error.to_string()))?;
    let sandbox = Sandbox::start(&spec, Path::new("/proc/self/exe"))?;
    for warning in sandbox.warnings() {
        eprintln!("coop: {warning}");
    }
    let env = std::env::vars_os().collect();
    let run = Run { argv: words.collect(), cwd: cwd.into(), env, size: tty.then_some((80, 24)) };
    let started = sandbox.run(&run)?;
    let output = File::from(started.terminal);
    let copying = std::thread::spawn(move || copy(output));
    let ended = started.exit.wait();
    // What it left running holds its output open; all of that ends here.
    sandbox.end();
    copying.join().unwrap_or(Ok(())).map_err(Trouble::Output)?;
    Ok(match ended {
        Ended::Code(code) => u8::try_from(code).unwrap_or(NO_BOX),
        // As a shell says it.
        Ended::Signal(signal) => u8::try_from(128 + signal).unwrap_or(NO_BOX),
        Ended::BoxGone => NO_BOX,
    })
}

/// Passes everything on. A terminal whose last program has closed it ends with an error instead of an end of file.
fn copy(mut from: File) -> io::Result<()> {
    match io::copy(&mut from, &mut io::stdout()) {
        Err(error) if error.raw_os_error() != Some(nix::libc::EIO) => Err(error),
        _ => Ok(()),
    }
}
