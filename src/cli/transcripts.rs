//! `coop transcripts`: the conversation, as it was kept before the agent forgot it and as it goes on.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::follow::stdout_closed;
use super::reach::Reach;
use super::words::{bytes, plain, print_bytes, print_json, print_line};
use crate::client::Client;
use crate::proto::v1::{
    CatchupTranscriptsRequest, CatchupTranscriptsResponse, GetHealthRequest, GetTranscriptRequest,
    ListTranscriptsRequest,
};

/// Between two looks at a log that is followed: its lines come when the agent writes them, and no event tells.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// Read the conversation
///
/// A transcript is kept each time before the agent compacts its memory; the live log goes on behind the last one.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  coop transcripts\n  coop transcripts show 1 | jq -c .message\n  coop transcripts catchup --follow"
)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Transcripts {
    #[command(subcommand)]
    act: Option<Act>,
    #[command(flatten)]
    list: List,
}

#[derive(Subcommand, Debug)]
enum Act {
    List(List),
    Show(Show),
    Catchup(Catchup),
}

/// List those that are kept; this is also what `coop transcripts` alone does
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop transcripts list")]
struct List {
    #[command(flatten)]
    reach: Reach,
}

/// Print one of them, as the agent wrote it: lines of JSON
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop transcripts show 1")]
struct Show {
    /// Its number, counted from 1
    #[arg(value_name = "N")]
    number: u32,
    #[command(flatten)]
    reach: Reach,
}

/// Print every line after a place that you know, transcripts first, then the live log
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  coop transcripts catchup --follow\n  coop transcripts catchup --since-line 120 --json"
)]
struct Catchup {
    /// The last transcript that you know
    #[arg(long, value_name = "N", default_value_t = 0)]
    since_transcript: u32,
    /// The last line of the live log that you know
    #[arg(long, value_name = "N", default_value_t = 0)]
    since_line: u64,
    /// Keep printing what comes, until the session ends
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    reach: Reach,
}

impl Transcripts {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        match self.act.unwrap_or(Act::List(self.list)) {
            Act::List(list) => list.run().await,
            Act::Show(show) => show.run().await,
            Act::Catchup(catchup) => catchup.run().await,
        }
    }
}

impl List {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let client = self.reach.connect().await?;
        let answer = client.answer(client.calls().list_transcripts(ListTranscriptsRequest {})).await?;
        if self.reach.json {
            print_json(&answer)?;
            return Ok(ExitCode::SUCCESS);
        }
        for kept in answer.transcripts {
            let (lines, size) = (kept.line_count, bytes(kept.byte_size));
            print_line(&format!("{}  {}  {lines} lines, {size}", kept.number, plain(&kept.timestamp)))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Show {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let client = self.reach.connect().await?;
        let request = GetTranscriptRequest { number: self.number };
        let answer = client.answer(client.calls().get_transcript(request)).await?;
        if self.reach.json {
            print_json(&answer)?
        } else {
            print_bytes(answer.content.as_bytes())?
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Catchup {
    async fn run(self) -> anyhow::Result<ExitCode> {
        let client = self.reach.connect().await?;
        let closed = stdout_closed();
        tokio::pin!(closed);
        let mut cursor =
            CatchupTranscriptsRequest { since_transcript: self.since_transcript, since_line: self.since_line };
        let mut is_first = true;
        let mut conversation = None;
        loop {
            let caught = match client.answer(client.calls().catchup_transcripts(cursor)).await {
                Ok(caught) => caught,
                // Whoever follows a session to its end has all of it.
                Err(_) if !is_first && is_gone(&client).await => return Ok(ExitCode::SUCCESS),
                Err(failure) => return Err(failure.into()),
            };
            // Another has begun meanwhile, and the cursor says nothing of its log.
            if conversation.is_some() && conversation != caught.session_id {
                (conversation, cursor) = (caught.session_id, CatchupTranscriptsRequest::default());
                continue;
            }
            // An answer has an end; what did not fit comes with the next.
            let is_news = !caught.transcripts.is_empty() || !caught.live_lines.is_empty();
            if is_first || is_news {
                self.show(&caught)?;
            }
            if !is_news && !self.follow {
                return Ok(ExitCode::SUCCESS);
            }
            cursor = CatchupTranscriptsRequest {
                since_transcript: caught.current_transcript,
                since_line: caught.current_line,
            };
            (is_first, conversation) = (false, caught.session_id);
            if !is_news {
                tokio::select! {
                    () = tokio::time::sleep(BETWEEN_LOOKS) => {}
                    () = &mut closed => return Ok(ExitCode::SUCCESS),
                }
            }
        }
    }

    fn show(&self, caught: &CatchupTranscriptsResponse) -> std::io::Result<()> {
        if self.reach.json {
            return print_json(caught);
        }
        let kept = caught.transcripts.iter().flat_map(|one| &one.lines);
        for line in kept.chain(&caught.live_lines) {
            print_line(line)?;
        }
        Ok(())
    }
}

/// Whether nobody answers there any more.
async fn is_gone(client: &Client) -> bool {
    client.answer(client.calls().get_health(GetHealthRequest {})).await.is_err()
}
