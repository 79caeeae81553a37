//! `coop env`: what the next program is given beyond coop's own environment.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::reach::Reach;
use super::words::{complain, plain, print_json, print_line};
use crate::config;
use crate::proto::v1::{Environment, GetEnvironmentRequest, SetEnvironmentRequest};

/// Show or change the variables that the program is started with
///
/// Those of --env, of restarts and of `coop env set`; coop's own environment is not among them. A change reaches the
/// program when it is started again.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  coop env\n  coop env set MODEL=opus && coop restart --resume\n  coop env unset MODEL"
)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Env {
    #[command(subcommand)]
    act: Option<Act>,
    #[command(flatten)]
    reach: Reach,
}

#[derive(Subcommand, Debug)]
enum Act {
    Show(Show),
    Set(Set),
    Unset(Unset),
}

/// Show all of them, as `coop env` alone does, or some
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop env show MODEL")]
struct Show {
    /// Only these; ends with 1 when one of them is not set
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    reach: Reach,
}

/// Set variables for the next start
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop env set MODEL=opus EFFORT=high")]
struct Set {
    /// Variables to set
    #[arg(value_name = "NAME=VALUE", required = true, value_parser = config::text_variable)]
    variables: Vec<(String, String)>,
    #[command(flatten)]
    reach: Reach,
}

/// Keep variables from the next start, also those of coop's own environment
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop env unset ANTHROPIC_API_KEY")]
struct Unset {
    /// Variables to keep from the program
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    #[command(flatten)]
    reach: Reach,
}

impl Env {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        match self.act {
            None => show(&self.reach, Vec::new()).await,
            Some(Act::Show(some)) => show(&some.reach, some.names).await,
            Some(Act::Set(set)) => {
                let set_request = SetEnvironmentRequest { set: set.variables.into_iter().collect(), unset: Vec::new() };
                change(&set.reach, set_request).await
            }
            Some(Act::Unset(unset)) => {
                change(&unset.reach, SetEnvironmentRequest { unset: unset.names, ..Default::default() }).await
            }
        }
    }
}

async fn show(reach: &Reach, names: Vec<String>) -> anyhow::Result<ExitCode> {
    let client = reach.connect().await?;
    let request = GetEnvironmentRequest { names: names.clone() };
    let environment = client.answer(client.calls().get_environment(request)).await?;
    let is_known = |name: &&String| environment.variables.contains_key(*name) || environment.unset.contains(name);
    let unknown: Vec<&str> = names.iter().filter(|name| !is_known(name)).map(String::as_str).collect();
    print(&environment, reach.json)?;
    if unknown.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    complain(&format!("not set by --env, a restart or `coop env set`: {}", plain(&unknown.join(", "))));
    Ok(ExitCode::FAILURE)
}

async fn change(reach: &Reach, request: SetEnvironmentRequest) -> anyhow::Result<ExitCode> {
    let client = reach.connect().await?;
    let environment = client.answer(client.calls().set_environment(request)).await?;
    print(&environment, reach.json)
}

/// `NAME=VALUE` for each that is given, `-NAME` for each that is kept away.
fn print(environment: &Environment, json: bool) -> anyhow::Result<ExitCode> {
    if json {
        print_json(environment)?;
        return Ok(ExitCode::SUCCESS);
    }
    for (name, value) in &environment.variables {
        print_line(&plain(&format!("{name}={value}")))?;
    }
    for name in &environment.unset {
        print_line(&plain(&format!("-{name}")))?;
    }
    Ok(ExitCode::SUCCESS)
}
