//! `coop logs`: coop's own log, or the bytes that the program printed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::follow::follow;
use super::reach::{Reach, Whom, kept_box};
use super::words::{complain, print_bytes, print_json};
use crate::cli::completions;
use crate::client::{Client, Failure, Kept};
use crate::proto::v1::{
    GetOutputRequest, GetOutputResponse, LogLine, OutputChunk, StreamLogRequest, StreamOutputRequest,
};

/// How much of a log's file is read; as much as a session holds of it, and more.
const KEPT_LOG_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Print coop's own log, or what the program printed
///
/// With --output the program's bytes come as they are, escape sequences and all, as far back as the session holds them.
/// The log of a box that stands still is read from its file, which tells why it did not start.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop logs -n 20\n  coop logs my-box -f\n  coop logs --output > session.bytes")]
pub struct Logs {
    /// Which one, when several run: a box, or a session as `coop ls` shows it
    #[arg(value_name = "NAME", value_hint = completions::NAME, conflicts_with_all = ["url", "socket", "named"])]
    name: Option<String>,
    /// Keep printing what comes
    #[arg(long, short)]
    follow: bool,
    /// Only the last N lines of the log
    #[arg(long = "lines", short = 'n', value_name = "N", conflicts_with = "output")]
    tail: Option<u32>,
    /// What the program printed, instead of coop's log
    #[arg(long)]
    output: bool,
    /// First byte of the output [default: the oldest that is held]
    #[arg(long, value_name = "OFFSET", requires = "output")]
    from: Option<u64>,
    #[command(flatten)]
    reach: Reach,
}

impl Logs {
    pub async fn run(mut self) -> anyhow::Result<ExitCode> {
        self.reach = self.reach.called(self.name.take());
        let whom = self.reach.whom().await?;
        if let Whom::Box(name) = &whom {
            self.reach = self.reach.called(Some(name.clone()));
        }
        let client = match (self.reach.connect().await, whom) {
            (Ok(client), _) => client,
            (Err(failure), Whom::Box(name)) => match kept_box(&name) {
                Some(kept) if !self.output => return self.kept_log(&kept),
                _ => return Err(failure.into()),
            },
            (Err(failure), Whom::Session) => return Err(failure.into()),
        };
        match (self.output, self.follow) {
            (false, _) => self.log(&client).await?,
            (true, true) => self.follow_output(&client).await?,
            (true, false) => self.held_output(&client).await?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn kept_log(&self, kept: &Kept) -> anyhow::Result<ExitCode> {
        let path = kept.log();
        let text = last_of(&path).with_context(|| path.display().to_string())?;
        let lines: Vec<&str> = text.lines().collect();
        let tail = self.tail.map_or(lines.len(), |tail| usize::try_from(tail).unwrap_or(usize::MAX));
        for line in &lines[lines.len().saturating_sub(tail)..] {
            let line = (*line).to_owned();
            if self.reach.json { print_json(&LogLine { line })? } else { print_bytes(format!("{line}\n").as_bytes())? }
        }
        if self.follow {
            complain(&format!("box {0} stands still, and logs nothing more: `coop restart {0}` starts it", kept.name));
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn log(&self, client: &Client) -> anyhow::Result<()> {
        let request = StreamLogRequest { tail: self.tail, follow: self.follow };
        let lines = client.answer(client.calls().stream_log(request)).await?;
        let json = self.reach.json;
        let show = |line: &LogLine| print_bytes(format!("{}\n", line.line).as_bytes());
        follow(client, lines, |line| if json { print_json(&line) } else { show(&line) }).await
    }

    async fn follow_output(&self, client: &Client) -> anyhow::Result<()> {
        let request = StreamOutputRequest { from_offset: self.from };
        let chunks = client.answer(client.calls().stream_output(request)).await?;
        follow(client, chunks, |chunk| self.show_chunk(&chunk)).await
    }

    fn show_chunk(&self, chunk: &OutputChunk) -> io::Result<()> {
        if self.reach.json {
            return print_json(chunk);
        }
        if let Some((from, to)) = chunk.gap.as_ref().and_then(|gap| gap.from_offset.zip(gap.to_offset)) {
            tell_missing(from, to);
        }
        print_bytes(&chunk.data)
    }

    /// Page by page, up to what was there at the start: a program that never stops must not keep this from ending.
    async fn held_output(&self, client: &Client) -> anyhow::Result<()> {
        let (mut offset, mut end) = (self.from, None);
        loop {
            let page = self.page(client, offset).await?;
            let end = *end.get_or_insert(page.total_written);
            if let Some(from) = offset.filter(|from| *from < page.offset) {
                tell_missing(from, page.offset);
            }
            if self.reach.json {
                print_json(&page)?
            } else {
                print_bytes(&page.data)?
            }
            if page.data.is_empty() || page.next_offset >= end {
                return Ok(());
            }
            offset = Some(page.next_offset);
        }
    }

    async fn page(&self, client: &Client, offset: Option<u64>) -> Result<GetOutputResponse, Failure> {
        client.answer(client.calls().get_output(GetOutputRequest { offset, limit: None })).await
    }
}

/// The end of a file, from the beginning of a line.
fn last_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let skipped = file.metadata()?.len().saturating_sub(KEPT_LOG_BYTES_MAX);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(KEPT_LOG_BYTES_MAX).read_to_end(&mut bytes)?;
    let begin = if skipped == 0 { 0 } else { bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1) };
    Ok(String::from_utf8_lossy(&bytes[begin..]).into_owned())
}

/// On stderr, so that stdout stays the program's own bytes.
fn tell_missing(from: u64, to: u64) {
    complain(&format!("bytes {from} to {to} are not held any more"));
}
