//! `coop open`: the session's page in a browser.

use std::ffi::OsStr;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use serde_json::json;

use super::reach::Reach;
use super::words::{print_json, print_line};
use crate::client::Target;

/// What opens an address where nobody has chosen a browser: on Linux and its like, then on a Mac.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// An opener that has not failed by then has found a browser, or is one.
const FAILS_WITHIN: Duration = Duration::from_secs(2);

/// Between two looks at an opener.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Open the session's page in a browser
///
/// Prints the address and opens it with $BROWSER, xdg-open or open. The page asks for the token, if the session has one;
/// it is never part of the address. Only a session with a port has a page.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop open --url http://localhost:8080\n  coop open --print")]
pub struct Open {
    /// Print the address only
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    reach: Reach,
}

impl Open {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let (target, _) = self.reach.place(None).await?;
        let Target::Url(_) = &target else {
            bail!("{target}: a browser cannot open a socket; start coop with --port, and name it by --url");
        };
        // Somebody must be there, or the browser would only show an error of its own.
        self.reach.connect().await?;
        let url = format!("{target}/");
        if self.reach.json {
            print_json(&json!({ "url": url }))?
        } else {
            print_line(&url)?
        }
        if self.print || browsers(std::env::var_os("BROWSER").as_deref()).iter().any(|words| opens(words, &url)) {
            return Ok(ExitCode::SUCCESS);
        }
        bail!("no browser was found to open it: set BROWSER, or open the address yourself");
    }
}

/// What to try, in order. $BROWSER is a list of commands, in which %s stands for the address.
fn browsers(chosen: Option<&OsStr>) -> Vec<Vec<String>> {
    let chosen = chosen.unwrap_or_default().to_string_lossy().into_owned();
    let own = chosen.split(':').map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    let own: Vec<Vec<String>> = own.filter(|words| !words.is_empty()).collect();
    if own.is_empty() { OPENERS.map(|opener| vec![opener.to_owned()]).to_vec() } else { own }
}

/// Whether this opens it: it is there, and does not fail at once.
fn opens(words: &[String], url: &str) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(rest.iter().map(|word| word.replace("%s", url)));
    if !rest.iter().any(|word| word.contains("%s")) {
        command.arg(url);
    }
    let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut browser) = started else { return false };
    let deadline = Instant::now() + FAILS_WITHIN;
    while Instant::now() < deadline {
        match browser.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::sleep(BETWEEN_LOOKS),
            Err(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_browsers_come_in_their_order_and_alone() {
        let own = browsers(Some(OsStr::new("firefox --new-tab %s::w3m")));
        assert_eq!(own, [vec!["firefox", "--new-tab", "%s"], vec!["w3m"]]);
        assert_eq!(browsers(Some(OsStr::new(""))), [["xdg-open"], ["open"]]);
        assert_eq!(browsers(None).len(), 2);
    }

    #[test]
    fn what_is_not_there_or_fails_opens_nothing() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(opens(&words("test %s = http://x/"), "http://x/"));
        assert!(opens(&words("test -n"), "http://x/"));
        assert!(!opens(&words("false"), "http://x/") && !opens(&words("/no/such/browser"), "http://x/"));
    }
}
