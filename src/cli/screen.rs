//! `coop screen`: what the terminal shows.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Args;

use super::follow::follow;
use super::reach::Reach;
use super::words::{print_bytes, print_json};
use crate::cli::completions;
use crate::proto::v1::{GetScreenRequest, ScreenFormat, ScreenSnapshot, StreamScreenRequest};

/// Makes a terminal paint over what it shows: cursor to the corner, then everything below it cleared.
const PAINT_OVER: &str = "\x1b[H\x1b[J";

/// Ends the colours of a row.
const PLAIN_AGAIN: &str = "\x1b[0m";

/// Print what the terminal shows
///
/// Blank rows at the end are left out.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop screen --lines 5\n  coop screen --ansi --watch")]
pub struct Screen {
    /// Which one, when several run: its name or number, as `coop ls` shows them
    #[arg(value_name = "NAME", value_hint = completions::NAME, conflicts_with_all = ["url", "socket", "named"])]
    name: Option<String>,
    /// With colours and other attributes
    #[arg(long)]
    ansi: bool,
    /// Only the last N rows that are not blank
    #[arg(long, value_name = "N", conflicts_with = "watch")]
    lines: Option<u32>,
    /// First print N rows that have scrolled off the top
    #[arg(long, value_name = "N", conflicts_with = "watch")]
    scrollback: Option<u32>,
    /// Print it again whenever it changes
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    reach: Reach,
}

impl Screen {
    pub async fn run(mut self) -> anyhow::Result<ExitCode> {
        self.reach = self.reach.called(self.name.take());
        let client = self.reach.connect().await?;
        let format = if self.ansi { ScreenFormat::Ansi } else { ScreenFormat::Text }.into();
        if self.watch {
            let request = StreamScreenRequest { format, ..Default::default() };
            let screens = client.answer(client.calls().stream_screen(request)).await?;
            follow(&client, screens, |screen| self.show(&screen)).await?;
            return Ok(ExitCode::SUCCESS);
        }
        let request = GetScreenRequest { format, lines: self.lines, scrollback: self.scrollback, ..Default::default() };
        self.show(&client.answer(client.calls().get_screen(request)).await?)?;
        Ok(ExitCode::SUCCESS)
    }

    fn show(&self, screen: &ScreenSnapshot) -> io::Result<()> {
        if self.reach.json {
            return print_json(screen);
        }
        let before = match (self.watch, io::stdout().is_terminal()) {
            (false, _) => String::new(),
            (true, true) => PAINT_OVER.to_owned(),
            (true, false) => format!("--- screen at seq {}\n", screen.seq),
        };
        print_bytes(format!("{before}{}", rows(&screen.lines, self.ansi)).as_bytes())
    }
}

/// The rows down to the last one that shows something.
fn rows(lines: &[String], ansi: bool) -> String {
    let shown = lines.iter().rposition(|line| !line.trim_end().is_empty()).map_or(0, |last| last + 1);
    let end = if ansi { PLAIN_AGAIN } else { "" };
    lines[..shown].iter().map(|line| format!("{}{end}\n", line.trim_end_matches(' '))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_rows_at_the_end_are_left_out() {
        let lines = ["$ ls  ", "", "a", "  ", ""].map(str::to_owned);
        assert_eq!(rows(&lines, false), "$ ls\n\na\n");
        assert_eq!(rows(&lines[..1], true), "$ ls\x1b[0m\n");
        assert_eq!(rows(&lines[3..], false), "");
        assert_eq!(rows(&[], false), "");
    }
}
