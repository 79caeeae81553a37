//! What `--attach` names.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;

/// Where what is borrowed runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Tmux { socket: Option<Socket>, place: Place },
    Screen(Place),
}

/// A tmux server of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Socket {
    /// `tmux -L`
    Name(OsString),
    /// `tmux -S`
    Path(OsString),
}

/// A terminal, as people name it: `NAME`, `NAME:WINDOW`, `NAME:WINDOW.PANE`, or tmux's own `$1`, `@2`, `%3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub session: String,
    pub window: Option<String>,
    pub pane: Option<String>,
}

/// Reads `tmux:…` or `screen:…`; the error says what would do.
pub fn parse_target(spec: &str, tmux_socket: Option<&OsStr>) -> Result<Target, String> {
    let wrong = || {
        let ways = "use tmux:NAME, tmux:NAME:WINDOW.PANE, tmux:%3, screen:NAME or screen:NAME:WINDOW";
        format!("--attach {spec:?}: {ways}")
    };
    let (kind, place) = spec.split_once(':').ok_or_else(wrong)?;
    let place = Place::parse(place).ok_or_else(wrong)?;
    match kind {
        "tmux" => Ok(Target::Tmux { socket: tmux_socket.map(Socket::parse), place }),
        "screen" if place.pane.is_some() => Err(wrong()),
        "screen" if tmux_socket.is_some() => Err("--tmux-socket is for --attach tmux:NAME: leave it out".to_owned()),
        "screen" => Ok(Target::Screen(place)),
        _ => Err(wrong()),
    }
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        if text.contains(['\0', '\n']) {
            return None;
        }
        let (session, rest) = match text.split_once(':') {
            Some((session, rest)) => (session, Some(rest)),
            None => (text, None),
        };
        // A window's name may hold dots, a pane has a number or an id.
        let is_pane = |pane: &str| {
            let digits = pane.strip_prefix('%').unwrap_or(pane);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        let (window, pane) = match rest.map(|rest| (rest, rest.rsplit_once('.'))) {
            Some((_, Some((window, pane)))) if is_pane(pane) => (Some(window), Some(pane.to_owned())),
            Some((rest, _)) => (Some(rest), None),
            None => (None, None),
        };
        let window = window.filter(|window| !window.is_empty()).map(str::to_owned);
        (!session.is_empty()).then(|| Self { session: session.to_owned(), window, pane })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.session)?;
        if self.window.is_some() || self.pane.is_some() {
            write!(f, ":{}", self.window.as_deref().unwrap_or_default())?;
        }
        self.pane.as_ref().map_or(Ok(()), |pane| write!(f, ".{pane}"))
    }
}

impl Socket {
    /// A path has a slash, a name has none.
    fn parse(text: &OsStr) -> Self {
        match text.as_bytes().contains(&b'/') {
            true => Self::Path(text.to_owned()),
            false => Self::Name(text.to_owned()),
        }
    }
}

impl Target {
    /// As the status names it.
    pub fn backend(&self) -> &'static str {
        match self {
            Self::Tmux { .. } => "tmux",
            Self::Screen(_) => "screen",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(spec: &str) -> Option<(String, Option<String>, Option<String>)> {
        match parse_target(spec, None).ok()? {
            Target::Tmux { place, .. } | Target::Screen(place) => Some((place.session, place.window, place.pane)),
        }
    }

    #[test]
    fn a_target_is_a_session_a_window_or_a_pane() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(place("tmux:main"), Some(("main".into(), None, None)));
        assert_eq!(place("tmux:main:0.1"), Some(("main".into(), some("0"), some("1"))));
        assert_eq!(place("tmux:main:.%7"), Some(("main".into(), None, some("%7"))));
        assert_eq!(place("tmux:main:my.editor"), Some(("main".into(), some("my.editor"), None)));
        assert_eq!(place("tmux:%3"), Some(("%3".into(), None, None)));
        assert_eq!(place("screen:12.work:2"), Some(("12.work".into(), some("2"), None)));
    }

    #[test]
    fn what_names_nothing_is_told_what_would() {
        for bad in ["", "main", "tmux:", "tmux::0", "byobu:x", "screen:", "screen:a:0.1", "tmux:a\nb"] {
            let error = parse_target(bad, None).unwrap_err();
            assert!(error.contains("tmux:NAME") && error.contains("screen:NAME"), "{bad}: {error}");
        }
        assert!(parse_target("screen:a", Some(OsStr::new("x"))).unwrap_err().contains("--tmux-socket"));
    }

    #[test]
    fn a_socket_with_a_slash_is_a_path() {
        let socket = |text: &str| match parse_target("tmux:a", Some(OsStr::new(text))) {
            Ok(Target::Tmux { socket: Some(socket), .. }) => socket,
            other => panic!("{other:?}"),
        };
        assert_eq!(socket("work"), Socket::Name("work".into()));
        assert_eq!(socket("/run/t.sock"), Socket::Path("/run/t.sock".into()));
        assert_eq!(socket("./t"), Socket::Path("./t".into()));
    }
}
