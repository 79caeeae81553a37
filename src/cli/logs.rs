//! `coop logs`: coop's own log, or the bytes that the program printed.

use std::io;
use std::process::ExitCode;

use clap::Args;

use super::follow::follow;
use super::reach::Reach;
use super::words::{complain, print_bytes, print_json};
use crate::client::{Client, Failure};
use crate::proto::v1::{
    GetOutputRequest, GetOutputResponse, LogLine, OutputChunk, StreamLogRequest, StreamOutputRequest,
};

/// Print coop's own log, or what the program printed
///
/// With --output the program's bytes come as they are, escape sequences and all, as far back as the session holds them.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop logs -n 20\n  coop logs --output > session.bytes")]
pub struct Logs {
    /// Go on with what comes
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
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let client = self.reach.connect().await?;
        match (self.output, self.follow) {
            (false, _) => self.log(&client).await?,
            (true, true) => self.follow_output(&client).await?,
            (true, false) => self.held_output(&client).await?,
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

/// On stderr, so that stdout stays the program's own bytes.
fn tell_missing(from: u64, to: u64) {
    complain(&format!("bytes {from} to {to} are not held any more"));
}
