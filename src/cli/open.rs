//! `coop open`: the session's page in a browser.

use std::ffi::OsStr;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use serde_json::json;

use super::reach::Reach;
use super::words::{print_json, print_line};
use crate::client::{Target, box_of};
use crate::proto::v1::{GetHealthRequest, GetStatusRequest};

/// What opens an address where nobody has chosen a browser: on Linux and its like, then on a Mac.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// An opener that has not failed by then has found a browser, or is one.
const FAILS_WITHIN: Duration = Duration::from_secs(2);

/// Between two looks at an opener.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Open the session's page in a browser
///
/// Prints the address and opens it with $BROWSER, xdg-open or open. Only a session with a port has a page.
///
/// A token that you give, by flag or variable, is handed to the page behind `#token=`: browsers send that part to nobody,
/// and the page removes it from the address bar at once. It is not printed, but while the browser starts, other users of
/// this machine can read it in the process list; with --no-token the page asks for it instead.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  coop open\n  coop open --url http://localhost:8080 --token-file token\n  coop open --print"
)]
pub struct Open {
    /// Print the address only
    #[arg(long)]
    print: bool,
    /// Keep the token from the browser: the page asks for it
    #[arg(long)]
    no_token: bool,
    #[command(flatten)]
    reach: Reach,
}

impl Open {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let (target, _) = self.reach.place(None).await?;
        if let Some(name) = box_of(&target) {
            bail!("box {name} has no port of its own: `coop serve` shows all boxes, this one at /box/{name}/");
        }
        // Somebody must be there, or the browser would only show an error of its own.
        let client = self.reach.connect().await?;
        let base = match &target {
            Target::Url(_) => {
                // Whatever else listens there must not be handed the token.
                client.answer(client.calls().get_health(GetHealthRequest {})).await?;
                Some(target.to_string())
            }
            Target::Socket(_) => client.answer(client.calls().get_status(GetStatusRequest {})).await?.url,
        };
        let Some(base) = base else {
            bail!("this session has no port, and a browser cannot open a socket: start coop with --port");
        };
        let url = format!("{base}/");
        if self.reach.json {
            print_json(&json!({ "url": url }))?
        } else {
            print_line(&url)?
        }
        if self.print {
            return Ok(ExitCode::SUCCESS);
        }
        let token = self.reach.secret()?.filter(|_| !self.no_token);
        let address = url + &token.map(|token| fragment(token.reveal())).unwrap_or_default();
        let chosen = std::env::var_os("BROWSER").filter(|chosen| !chosen.is_empty());
        if browsers(chosen.as_deref()).iter().any(|words| opens(words, &address)) {
            return Ok(ExitCode::SUCCESS);
        }
        match chosen {
            Some(_) => bail!("what BROWSER names could not open it: set another, or open the address yourself"),
            None => bail!("no browser was found to open it: set BROWSER, or open the address yourself"),
        }
    }
}

/// The part of an address that no browser sends; the page reads it as it reads a query.
fn fragment(token: &str) -> String {
    let escaped = token.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    format!("#token={}", escaped.collect::<String>())
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
    fn a_token_with_odd_characters_is_the_same_on_the_page() {
        assert_eq!(fragment("a-B_9+/=~%é"), "#token=a-B_9%2B%2F%3D%7E%25%C3%A9");
    }

    #[test]
    fn what_is_not_there_or_fails_opens_nothing() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(opens(&words("test %s = http://x/"), "http://x/"));
        assert!(opens(&words("test -n"), "http://x/"));
        assert!(!opens(&words("false"), "http://x/") && !opens(&words("/no/such/browser"), "http://x/"));
    }
}
