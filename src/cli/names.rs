//! `coop names`: what a shell offers where a session or a box is to be named. Completions call it, nobody types it.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use super::words::print_line;
use crate::client::{Credentials, Found, Wish, kept, sessions};
use crate::config;

/// Somebody has pressed Tab and waits. A session that hangs is left out.
const TOLD_WITHIN: Duration = Duration::from_millis(500);

/// Quiet whatever happens, and starts nothing: boxes are found by their directories, sessions by their sockets.
pub async fn run() -> anyhow::Result<ExitCode> {
    let boxes = config::coop_home().map(|home| kept(&home)).unwrap_or_default();
    let mut names: BTreeSet<String> = boxes.into_iter().map(|kept| kept.name).collect();
    let credentials = Wish::default().credentials(|name| std::env::var_os(name)).unwrap_or_default();
    names.extend(told(&credentials).await);
    for name in names.iter().filter(|name| is_plain(name)) {
        print_line(name)?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn told(credentials: &Credentials) -> Vec<String> {
    let runtime_dir = config::runtime_dir();
    let found = tokio::time::timeout(TOLD_WITHIN, sessions(&runtime_dir, credentials)).await;
    found.ok().and_then(Result::ok).unwrap_or_default().iter().map(Found::name).collect()
}

/// What a shell takes as it is, wherever it puts it.
fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !name.starts_with('-') && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_a_shell_would_do_something_with_is_not_offered() {
        for plain in ["red", "my-app.v2_x", "4711"] {
            assert!(is_plain(plain), "{plain}");
        }
        for odd in ["a b", "$(id)", "`id`", "-rf", "a;b", "é", "a\nb", "'"] {
            assert!(!is_plain(odd), "{odd}");
        }
    }
}
