//! Which variables a process gets that outlives its caller: those that speak of the user and the machine, none that speak
//! of a terminal, a session around it, or somebody's secrets.

use std::ffi::OsString;

const KEPT: &[&str] = &[
    "COOP_DAEMON_LINGER",
    "COOP_HOME",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "TZ",
    "USER",
];

const KEPT_BEGINNINGS: &[&str] = &["LC_", "XDG_"];

/// In either case, as programs have it.
const KEPT_PROXIES: &[&str] = &["all_proxy", "http_proxy", "https_proxy", "no_proxy"];

/// The part of our own environment that is passed on.
pub fn passed_on() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_kept))
}

fn is_kept(name: &str) -> bool {
    KEPT.contains(&name)
        || KEPT_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || KEPT_PROXIES.iter().any(|proxy| name.eq_ignore_ascii_case(proxy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_secrets_nor_the_callers_terminal_are_passed_on() {
        for kept in ["PATH", "HOME", "XDG_RUNTIME_DIR", "LC_ALL", "HTTPS_PROXY", "no_proxy", "COOP_HOME"] {
            assert!(is_kept(kept), "{kept}");
        }
        for left in ["TERM", "TMUX", "COOP", "COOP_SOCKET", "COOP_AUTH_TOKEN", "ANTHROPIC_API_KEY", "SSH_AUTH_SOCK"] {
            assert!(!is_kept(left), "{left}");
        }
    }
}
