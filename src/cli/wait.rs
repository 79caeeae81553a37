//! `coop wait`: waits until something is true.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::TIMED_OUT;
use super::input::millis;
use super::lines::exit_ending;
use super::reach::Reach;
use super::words::{bytes, complain, plain, print_json, print_line, word};
use crate::api::EXITED;
use crate::cli::completions;
use crate::proto::v1::{AgentStateKind, WaitRequest, WaitResponse};

/// The longest that a session waits for one call.
const WAIT_MAX: Duration = Duration::from_secs(600);

/// Wait until something is true
///
/// Any of the conditions will do, unless --all. Prints which one came true. Exit codes: 0 it came true, 124 it did not in
/// time, 1 it cannot any more, because the program has ended.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop wait --text 'tests passed' --timeout 60\n  coop wait --quiet 500 --exited")]
#[group(
    id = "conditions",
    required = true,
    multiple = true,
    args = ["states", "text", "regex", "quiet", "offset", "exited"]
)]
pub struct Wait {
    /// Which one, when several run: its name or number, as `coop ls` shows them
    #[arg(value_name = "NAME", value_hint = completions::NAME, conflicts_with_all = ["url", "socket", "named"])]
    name: Option<String>,
    /// The agent is in this state (repeatable)
    #[arg(long = "state", value_name = "STATE", value_parser = state())]
    states: Vec<AgentStateKind>,
    /// The screen shows this text
    #[arg(long)]
    text: Option<String>,
    /// A row of the screen matches this regular expression
    #[arg(long)]
    regex: Option<String>,
    /// Nothing has been printed for so many milliseconds
    #[arg(long, value_name = "MS")]
    quiet: Option<u32>,
    /// So many bytes have been printed in all
    #[arg(long, value_name = "N")]
    offset: Option<u64>,
    /// The program has ended
    #[arg(long)]
    exited: bool,
    /// All conditions at once
    #[arg(long)]
    all: bool,
    /// How long to wait, at most 600
    #[arg(long, value_name = "SECS", default_value = "30", value_parser = timeout)]
    timeout: Duration,
    #[command(flatten)]
    reach: Reach,
}

impl Wait {
    pub async fn run(mut self) -> anyhow::Result<ExitCode> {
        self.reach = self.reach.called(self.name.take());
        let client = self.reach.connect().await?;
        let request = WaitRequest {
            states: self.states.into_iter().map(Into::into).collect(),
            text: self.text,
            regex: self.regex,
            quiet_ms: self.quiet,
            offset: self.offset,
            exited: self.exited,
            all: self.all,
            timeout_ms: Some(millis(self.timeout)),
        };
        let answer = client.answer_after(self.timeout, client.calls().wait(request)).await?;
        if self.reach.json {
            print_json(&answer)?;
        } else if answer.matched {
            print_line(&describe(&answer))?;
        } else {
            complain(&describe(&answer));
        }
        Ok(if answer.matched {
            ExitCode::SUCCESS
        } else if is_hopeless(&answer) {
            ExitCode::FAILURE
        } else {
            ExitCode::from(TIMED_OUT)
        })
    }
}

/// What the contract allows.
fn timeout(text: &str) -> Result<Duration, String> {
    let secs = crate::config::seconds(text)?;
    if secs <= WAIT_MAX { Ok(secs) } else { Err(format!("at most {} seconds", WAIT_MAX.as_secs())) }
}

/// The words of the contract, without the one that says nothing.
fn state() -> impl TypedValueParser<Value = AgentStateKind> {
    let kinds = (1..).map_while(|number| AgentStateKind::try_from(number).ok());
    // Leaked once: clap keeps words for as long as the process lives.
    let words: Vec<&'static str> = kinds.map(|kind| &*word::<AgentStateKind>(kind.into()).leak()).collect();
    PossibleValuesParser::new(words).try_map(|word| serde_json::from_value::<AgentStateKind>(word.into()))
}

/// Whether waiting longer would have been in vain, too.
fn is_hopeless(answer: &WaitResponse) -> bool {
    answer.reason.as_deref() == Some(EXITED)
}

fn describe(answer: &WaitResponse) -> String {
    let secs = Duration::from_millis(answer.elapsed_ms).as_secs_f64();
    let state = word::<AgentStateKind>(answer.state);
    if !answer.matched {
        if is_hopeless(answer) {
            let ending = answer.exit.as_ref().and_then(exit_ending).map(|ending| format!(" ({ending})"));
            return format!("cannot come true any more: the program has ended{}", ending.unwrap_or_default());
        }
        return format!("timed out after {secs:.1} s (state {state}, seq {})", answer.seq);
    }
    let condition = answer.condition.as_deref().unwrap_or("matched");
    let what = match condition {
        "state" => format!("state: {state}"),
        "offset" => format!("offset: {}", bytes(answer.offset)),
        "exited" => match answer.exit.as_ref().and_then(exit_ending) {
            Some(ending) => format!("exited: {ending}"),
            None => "exited".to_owned(),
        },
        other => match &answer.line {
            Some(line) => format!("{}: {}", plain(other), plain(line.trim_end())),
            None => plain(other),
        },
    };
    format!("{what}  (seq {}, after {secs:.1} s)", answer.seq)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::ExitEvent;

    fn met(condition: &str) -> WaitResponse {
        WaitResponse {
            matched: true,
            condition: Some(condition.into()),
            seq: 12,
            state: AgentStateKind::Idle.into(),
            offset: 1,
            elapsed_ms: 1250,
            line: None,
            exit: None,
            reason: None,
        }
    }

    #[test]
    fn what_came_true_is_told() {
        let line = Some("ready> \x1b".to_owned());
        assert_eq!(describe(&WaitResponse { line, ..met("text") }), "text: ready> \\u{1b}  (seq 12, after 1.2 s)");
        assert_eq!(describe(&met("state")), "state: idle  (seq 12, after 1.2 s)");
        assert_eq!(describe(&met("quiet")), "quiet  (seq 12, after 1.2 s)");
        assert_eq!(describe(&met("offset")), "offset: 1 byte  (seq 12, after 1.2 s)");
        let exit = Some(ExitEvent { signal: Some(15), ..Default::default() });
        assert!(describe(&WaitResponse { exit, ..met("exited") }).starts_with("exited: ended by signal 15"));
        let late = WaitResponse { matched: false, condition: None, ..met("") };
        assert_eq!(describe(&late), "timed out after 1.2 s (state idle, seq 12)");
        let exit = Some(ExitEvent { code: Some(3), ..Default::default() });
        let gone = WaitResponse { matched: false, exit, reason: Some(EXITED.into()), ..met("") };
        assert_eq!(describe(&gone), "cannot come true any more: the program has ended (exit code 3)");
    }
}
