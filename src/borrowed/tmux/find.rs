//! Finds the pane that is meant among those that there are.

use super::server::Server;
use crate::borrowed::CannotBorrow;
use crate::borrowed::target::Place;

/// A session's name holds no colon; a window's, which may hold anything, is last.
const FORMAT: &str = "#{pane_id} #{pane_index} #{pane_active} #{window_id} #{window_index} #{window_active} \
    #{session_id} #{session_name}:#{window_name}";

/// One pane.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pane {
    id: String,
    index: String,
    is_active: bool,
    window_id: String,
    window_index: String,
    window_is_active: bool,
    session_id: String,
    session: String,
    window: String,
}

/// The id of the pane that is meant.
pub async fn find(server: &Server, place: &Place) -> Result<String, CannotBorrow> {
    let text = server.ask(&["list-panes", "-a", "-F", FORMAT]).await?;
    let panes: Vec<Pane> = String::from_utf8_lossy(&text).lines().filter_map(Pane::parse).collect();
    choose(&panes, place)
}

impl Pane {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(8, ' ');
        let mut next = || words.next().map(str::to_owned);
        let (id, index, is_active) = (next()?, next()?, next()? == "1");
        let (window_id, window_index, window_is_active) = (next()?, next()?, next()? == "1");
        let session_id = next()?;
        let names = next()?;
        let (session, window) = names.split_once(':')?;
        let (session, window) = (session.to_owned(), window.to_owned());
        Some(Self { id, index, is_active, window_id, window_index, window_is_active, session_id, session, window })
    }
}

fn choose(panes: &[Pane], place: &Place) -> Result<String, CannotBorrow> {
    if place.session.starts_with('%') {
        let found = panes.iter().find(|pane| pane.id == place.session);
        let there = || {
            unique(
                panes.iter().map(|pane| format!("{} ({}:{}.{})", pane.id, pane.session, pane.window_index, pane.index)),
            )
        };
        let what = format!("tmux pane {}", place.session);
        return found.map(|pane| pane.id.clone()).ok_or_else(|| CannotBorrow::NotFound { what, there: there() });
    }
    let in_session = of_session(panes, &place.session)?;
    let in_window: Vec<&Pane> = match &place.window {
        None => in_session.iter().copied().filter(|pane| pane.window_is_active).collect(),
        Some(window) => {
            let by_number = |pane: &&&Pane| pane.window_index == *window || pane.window_id == *window;
            let numbered: Vec<&Pane> = in_session.iter().filter(by_number).copied().collect();
            let named = || in_session.iter().copied().filter(|pane| pane.window == *window).collect();
            if numbered.is_empty() { named() } else { numbered }
        }
    };
    let windows = unique(in_window.iter().map(|pane| pane.window_id.clone()));
    let name = &place.session;
    let what = format!("window {:?} in the tmux session {name:?}", place.window.as_deref().unwrap_or_default());
    let listed = |panes: &[&Pane]| unique(panes.iter().map(|pane| format!("{} ({})", pane.window_index, pane.window)));
    if windows.is_empty() {
        return Err(CannotBorrow::NotFound { what, there: listed(&in_session) });
    }
    if windows.len() > 1 {
        return Err(CannotBorrow::Ambiguous { what, there: listed(&in_window) });
    }
    let is_meant = |pane: &&&Pane| match &place.pane {
        Some(wanted) => pane.index == *wanted || pane.id == *wanted,
        None => pane.is_active,
    };
    let found = in_window.iter().find(is_meant).map(|pane| pane.id.clone());
    found.ok_or_else(|| CannotBorrow::NotFound {
        what: format!("pane {} in {what}", place.pane.as_deref().unwrap_or_default()),
        there: in_window.iter().map(|pane| pane.index.clone()).collect(),
    })
}

/// The panes of the session of this very name. tmux itself takes a beginning for the whole, so that what is meant for a session
/// that has ended goes to the next of a like name; `=NAME` is how it is told not to.
fn of_session<'a>(panes: &'a [Pane], name: &str) -> Result<Vec<&'a Pane>, CannotBorrow> {
    let of = |name: &str| {
        let is_meant = |pane: &&Pane| pane.session == name || pane.session_id == name || pane.window_id == name;
        panes.iter().filter(is_meant).collect::<Vec<_>>()
    };
    let found = [Some(name), name.strip_prefix('=')].into_iter().flatten().map(of).find(|panes| !panes.is_empty());
    found.ok_or_else(|| CannotBorrow::NotFound {
        what: format!("tmux session {name:?}"),
        there: unique(panes.iter().map(|pane| pane.session.clone())),
    })
}

fn unique(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::borrowed::target::{Target, parse_target};

    const PANES: &str = "%0 0 1 @0 0 1 $0 main:bash\n%1 0 0 @1 1 0 $0 main:ed: it.or\n%2 1 1 @1 1 0 $0 main:ed: it.or\n\
        %5 0 1 @4 0 0 $2 work:twin\n%6 0 1 @5 1 1 $2 work:twin\n%7 0 1 @6 0 1 $3 worker two:x\n";

    fn found(spec: &str) -> Result<String, String> {
        let panes: Vec<Pane> = PANES.lines().filter_map(Pane::parse).collect();
        let Ok(Target::Tmux { place, .. }) = parse_target(&format!("tmux:{spec}"), None) else { panic!("{spec}") };
        choose(&panes, &place).map_err(|error| error.to_string())
    }

    #[test]
    fn a_pane_is_found_by_every_name_it_has() {
        for (spec, id) in [
            ("main", "%0"),
            ("main:1", "%2"),
            ("main:1.0", "%1"),
            ("main:ed: it.or", "%2"),
            ("%1", "%1"),
            ("$2", "%6"),
            ("=main:1", "%2"),
            ("work", "%6"),
            ("work:0", "%5"),
            ("worker two", "%7"),
            ("main:.%0", "%0"),
        ] {
            assert_eq!(found(spec), Ok(id.to_owned()), "{spec}");
        }
    }

    #[test]
    fn what_is_not_there_is_told_with_what_is() {
        let none = found("nope").unwrap_err();
        assert!(none.contains("\"nope\"") && none.contains("main, work, worker two"), "{none}");
        let beginning = found("mai").unwrap_err();
        assert!(beginning.contains("\"mai\"") && beginning.contains("main, work"), "{beginning}");
        let twins = found("work:twin").unwrap_err();
        assert!(twins.contains("several") && twins.contains("0 (twin), 1 (twin)"), "{twins}");
        assert!(found("main:7").unwrap_err().contains("0 (bash), 1 (ed: it.or)"));
        assert!(found("main:1.9").unwrap_err().contains("0, 1"));
        assert!(found("%99").unwrap_err().contains("%7 (worker two:0.0)"));
    }
}
