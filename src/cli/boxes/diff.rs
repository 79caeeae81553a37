//! `coop diff`: what an agent changed in its layer over the project.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::paths::choose;
use super::{DIFF_WITHIN, Daemon};
use crate::cli::completions;
use crate::cli::words::{complain, plain, print_bytes, print_json, print_line};
use crate::proto::v1::{ChangeKind, DiffWorkspaceRequest, DiffWorkspaceResponse, WorkspaceChange};

/// Show what was changed in a box whose workspace is an overlay
///
/// As `git diff --binary` prints it, so that `git apply` takes it; of a file of more than 4 MiB it says only that it
/// differs. Where a terminal reads it, control characters are shown and not obeyed, and what is no text is left out. The box is the one that is named, that of this directory, or the only one. `coop apply` carries the changes
/// over into the project, `coop discard` throws them away.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop diff\n  coop diff my-box --names\n  coop diff my-box src/ > work.patch")]
pub struct Diff {
    /// The box, then paths: only what was changed there
    #[arg(value_name = "NAME|PATH", value_hint = completions::NAME)]
    words: Vec<String>,
    /// Only which files: A added, M modified, D deleted, T another type, X another mode
    #[arg(long)]
    names: bool,
    /// Colours
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto", default_missing_value = "always", num_args = 0..=1, require_equals = true)]
    color: When,
    /// Print JSON, as the HTTP API answers it
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

impl Diff {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let daemon = Daemon::reach().await?;
        let chosen = choose(&daemon, &self.words).await?;
        let name = chosen.found.name.clone();
        let request = DiffWorkspaceRequest { name, paths: chosen.paths, names_only: self.names };
        let diff = daemon.ask(DIFF_WITHIN, daemon.calls().diff_workspace(request)).await?;
        if self.json {
            print_json(&diff)?;
        } else {
            self.print(&diff)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn print(&self, diff: &DiffWorkspaceResponse) -> std::io::Result<()> {
        if self.names {
            return diff.changes.iter().try_for_each(|change| print_line(&told(change)));
        }
        let is_seen = std::io::stdout().is_terminal();
        let colored = match self.color {
            When::Always => true,
            When::Never => false,
            When::Auto => is_seen && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        };
        let text = diff.exact.as_deref().unwrap_or(diff.text.as_bytes());
        print_bytes(&shown(text, is_seen, colored))?;
        if diff.is_cut {
            complain("the rest is too long to be shown: `coop diff --names` lists all, and a path shows one of them");
        }
        Ok(())
    }
}

/// `M src/main.rs`
pub fn told(change: &WorkspaceChange) -> String {
    let letter = match change.kind() {
        ChangeKind::Added => 'A',
        ChangeKind::Modified => 'M',
        ChangeKind::Deleted => 'D',
        ChangeKind::TypeChanged => 'T',
        ChangeKind::ModeChanged => 'X',
        ChangeKind::Unspecified => '?',
    };
    format!("{letter} {}", plain(&change.path))
}

/// The text as it is for programs, byte for byte; for a terminal without what it would obey, and in colours if wanted.
fn shown(text: &[u8], is_seen: bool, colored: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut is_binary = false;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let (line, end) = line.strip_suffix(b"\n").map_or((line, &b""[..]), |line| (line, b"\n"));
        // Nobody reads such a content: it is digits up to the next file or note, which have spaces in them.
        is_binary &= !line.starts_with(b"diff ") && !line.starts_with(b"# ");
        if is_binary && is_seen {
            continue;
        }
        is_binary |= line == BINARY.as_bytes();
        let line = if is_seen { seen(line).into() } else { Cow::Borrowed(line) };
        match color(&line).filter(|_| colored) {
            Some(color) => {
                out.extend_from_slice(format!("\x1b[{color}m").as_bytes());
                out.extend_from_slice(&line);
                out.extend_from_slice(b"\x1b[0m");
            }
            None => out.extend_from_slice(&line),
        }
        out.extend_from_slice(end);
    }
    out
}

/// A line for eyes. Tabs are part of the text.
fn seen(line: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(line).split('\t').map(plain).collect::<Vec<_>>().join("\t").into_bytes()
}

/// The heading of a content that is no text.
const BINARY: &str = "GIT binary patch";

/// What git paints a line in.
fn color(line: &[u8]) -> Option<&'static str> {
    const HEADINGS: [&str; 10] =
        ["diff ", "index ", "--- ", "+++ ", "new file", "deleted file", "old mode", "new mode", "Binary files", BINARY];
    if HEADINGS.iter().any(|heading| line.starts_with(heading.as_bytes())) {
        return Some("1");
    }
    match line.first()? {
        b'+' => Some("32"),
        b'-' => Some("31"),
        b'@' => Some("36"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, is_seen: bool, colored: bool) -> String {
        String::from_utf8(super::shown(text.as_bytes(), is_seen, colored)).unwrap()
    }

    #[test]
    fn bytes_stay_bytes_for_programs_and_are_letters_for_eyes() {
        let text = b"+caf\xe9\n-x\n";
        assert_eq!(super::shown(text, false, false), text);
        assert_eq!(super::shown(text, false, true), b"\x1b[32m+caf\xe9\x1b[0m\n\x1b[31m-x\x1b[0m\n");
        assert_eq!(super::shown(text, true, false), "+caf\u{fffd}\n-x\n".as_bytes());
    }

    #[test]
    fn a_terminal_is_not_told_what_to_do_by_a_diff_and_a_program_has_it_as_it_is() {
        let text = "+a\x1b[2Jb\tc\r\n";
        assert_eq!(shown(text, true, false), "+a\\u{1b}[2Jb\tc\\r\n");
        assert_eq!(shown(text, false, false), text);
    }

    #[test]
    fn a_terminal_is_spared_a_content_that_is_no_text() {
        let text = "diff --git a/x b/x\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n# y: a note\n";
        assert_eq!(shown(text, true, false), "diff --git a/x b/x\nGIT binary patch\n# y: a note\n");
        assert_eq!(shown(text, false, false), text);
    }

    #[test]
    fn colours_are_gits() {
        let text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n\\ No newline";
        let lines: Vec<String> = shown(text, true, true).lines().map(str::to_owned).collect();
        assert_eq!(lines[1], "\x1b[1m--- a/x\x1b[0m");
        assert_eq!((lines[4].as_str(), lines[5].as_str()), ("\x1b[31m-old\x1b[0m", "\x1b[32m+new\x1b[0m"));
        assert_eq!((lines[6].as_str(), lines[7].as_str()), (" same", "\\ No newline"));
    }

    #[test]
    fn a_change_is_a_letter_and_a_path() {
        let change = WorkspaceChange { path: "a\nb".into(), kind: ChangeKind::Deleted.into() };
        assert_eq!(told(&change), "D a\\nb");
    }
}
