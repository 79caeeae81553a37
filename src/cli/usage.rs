//! `coop usage`: what the conversation cost.

use std::process::ExitCode;

use clap::Args;

use super::reach::Reach;
use super::words::{print_json, print_line};
use crate::cli::completions;
use crate::proto::v1;

/// Show what the conversation has cost
///
/// Counted from the agent's own log, each message once. What the log does not tell is 0.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop usage\n  coop usage --json | jq .total_cost_usd")]
pub struct Usage {
    /// Which one, when several run: its name or number, as `coop ls` shows them
    #[arg(value_name = "NAME", value_hint = completions::NAME, conflicts_with_all = ["url", "socket", "named"])]
    name: Option<String>,
    #[command(flatten)]
    reach: Reach,
}

impl Usage {
    pub async fn run(mut self) -> anyhow::Result<ExitCode> {
        self.reach = self.reach.called(self.name.take());
        let client = self.reach.connect().await?;
        let usage = client.answer(client.calls().get_usage(v1::GetUsageRequest {})).await?;
        if self.reach.json {
            print_json(&usage)?
        } else {
            print_line(&describe(&usage))?
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// `12 requests  3400 tokens in, 210 out, cache 9000 read and 120 written  $0.0421`
fn describe(usage: &v1::Usage) -> String {
    let requests = if usage.request_count == 1 { "request" } else { "requests" };
    let mut parts = vec![
        format!("{} {requests}", usage.request_count),
        format!(
            "{} tokens in, {} out, cache {} read and {} written",
            usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens
        ),
    ];
    if usage.total_cost_usd > 0.0 {
        parts.push(format!("${:.4}", usage.total_cost_usd));
    }
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_that_is_not_known_is_not_told_as_nothing() {
        let usage = v1::Usage { input_tokens: 3400, output_tokens: 210, request_count: 1, ..Default::default() };
        assert_eq!(describe(&usage), "1 request  3400 tokens in, 210 out, cache 0 read and 0 written");
        let paid = v1::Usage { total_cost_usd: 0.04213, request_count: 12, ..usage };
        assert!(describe(&paid).starts_with("12 requests") && describe(&paid).ends_with("  $0.0421"));
    }
}
