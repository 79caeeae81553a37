//! How a box that was there already has become another, one line for each thing.

use std::collections::BTreeMap;

use crate::cli::words::{plain, word};
use crate::proto::v1::{Box, NetworkMode, WorkspaceMode};

/// Something of a box by its name, and how it is told.
type Aspect = (&'static str, fn(&Box) -> String);

/// `box red: workspace overlay -> rw`
pub fn changes(before: &Box, now: &Box) -> Vec<String> {
    let aspects: [Aspect; 6] = [
        ("image", |told| told.image.clone()),
        ("workspace", |told| word::<WorkspaceMode>(told.workspace_mode)),
        ("network", |told| word::<NetworkMode>(told.network)),
        ("agent", |told| told.agent.clone()),
        ("command", |told| told.command.join(" ")),
        ("labels", |told| labels(&told.labels)),
    ];
    let changed = aspects.iter().map(|(what, of)| (what, of(before), of(now))).filter(|(_, before, now)| before != now);
    let name = plain(&now.name);
    changed.map(|(what, before, now)| format!("box {name}: {what} {} -> {}", plain(&before), plain(&now))).collect()
}

fn labels(labels: &BTreeMap<String, String>) -> String {
    if labels.is_empty() {
        return "none".to_owned();
    }
    labels.iter().map(|(label, value)| format!("{label}={value}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_another_is_told() {
        let mut before = Box { name: "red".into(), command: vec!["bash".into()], ..Box::default() };
        before.set_workspace_mode(WorkspaceMode::Overlay);
        before.set_network(NetworkMode::None);
        let mut now = Box { labels: [("team".to_owned(), "a".to_owned())].into(), ..before.clone() };
        now.set_workspace_mode(WorkspaceMode::Rw);
        assert_eq!(changes(&before, &before), [""; 0]);
        assert_eq!(changes(&before, &now), ["box red: workspace overlay -> rw", "box red: labels none -> team=a"]);
    }
}
