//! What a caller asked for beside the files. Kept with the box, so that whoever starts it again need not know the words by
//! which it was made, and cannot widen it by leaving them out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::prepare::PrepareError;
use crate::boxfile::{Agent, NetworkMode, Word, WorkspaceMode};
use crate::proto::v1;

/// Each as it was said; what was not said is left to the files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asked {
    pub image: Option<String>,
    pub agent: Option<Agent>,
    /// Program and arguments; empty says nothing.
    pub command: Vec<String>,
    pub workspace_mode: Option<WorkspaceMode>,
    pub network: Option<NetworkMode>,
    pub allow: Vec<String>,
    pub publish: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub labels: BTreeMap<String, String>,
}

impl Asked {
    pub fn of(source: &v1::BoxSource) -> Result<Self, PrepareError> {
        let agent =
            source.agent.as_deref().map(|word| Agent::from_word(word).ok_or(PrepareError::NoAgent(word.to_owned())));
        Ok(Self {
            image: source.image.clone(),
            agent: agent.transpose()?,
            command: source.command.clone(),
            workspace_mode: match source.workspace_mode() {
                v1::WorkspaceMode::Unspecified => None,
                v1::WorkspaceMode::Rw => Some(WorkspaceMode::ReadWrite),
                v1::WorkspaceMode::Ro => Some(WorkspaceMode::ReadOnly),
                v1::WorkspaceMode::Overlay => Some(WorkspaceMode::Overlay),
            },
            network: match source.network() {
                v1::NetworkMode::Unspecified => None,
                v1::NetworkMode::Host => Some(NetworkMode::Host),
                v1::NetworkMode::None => Some(NetworkMode::None),
                v1::NetworkMode::Filtered => Some(NetworkMode::Filtered),
            },
            allow: source.allow.clone(),
            publish: source.publish.clone(),
            env: source.env.clone(),
            labels: source.labels.clone(),
        })
    }

    /// What is said now, and for the rest what was said earlier. A list that is said now replaces the earlier one, or
    /// nothing could be taken from it.
    pub fn over(self, earlier: Self) -> Self {
        let (agent, command) = if !self.command.is_empty() {
            // An agent that was named for another program says nothing of this one.
            (self.agent, self.command)
        } else if let Some(agent) = self.agent {
            // A program that is no agent by its name may be a way to start this one.
            let starts = |program: &String| [Agent::Unknown, agent].contains(&Agent::of_program(program));
            (self.agent, if earlier.command.first().is_some_and(starts) { earlier.command } else { Vec::new() })
        } else {
            (earlier.agent, earlier.command)
        };
        Self {
            image: self.image.or(earlier.image),
            agent,
            command,
            workspace_mode: self.workspace_mode.or(earlier.workspace_mode),
            network: self.network.or(earlier.network),
            allow: if self.allow.is_empty() { earlier.allow } else { self.allow },
            publish: if self.publish.is_empty() { earlier.publish } else { self.publish },
            env: if self.env.is_empty() { earlier.env } else { self.env },
            labels: if self.labels.is_empty() { earlier.labels } else { self.labels },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn what_is_not_said_again_stays_and_what_is_wins() {
        let earlier = Asked {
            image: Some("debian:12".into()),
            command: words(&["bash"]),
            workspace_mode: Some(WorkspaceMode::Overlay),
            network: Some(NetworkMode::None),
            allow: words(&["a.example", "b.example"]),
            env: [("A".to_owned(), "1".to_owned())].into(),
            ..Asked::default()
        };
        assert_eq!(Asked::default().over(earlier.clone()), earlier);
        let now = Asked {
            workspace_mode: Some(WorkspaceMode::ReadWrite),
            allow: words(&["c.example"]),
            labels: [("team".to_owned(), "red".to_owned())].into(),
            ..Asked::default()
        };
        let expected = Asked {
            workspace_mode: now.workspace_mode,
            allow: now.allow.clone(),
            labels: now.labels.clone(),
            ..earlier.clone()
        };
        assert_eq!(now.over(earlier), expected);
    }

    #[test]
    fn agent_and_command_belong_together() {
        let pair = |agent, command: &[&str]| Asked { agent, command: words(command), ..Asked::default() };
        let told = |now: Asked, earlier: Asked| {
            let both = now.over(earlier);
            (both.agent, both.command)
        };
        let wrapped = pair(Some(Agent::Claude), &["./wrap"]);
        assert_eq!(told(pair(None, &["bash"]), wrapped.clone()), (None, words(&["bash"])));
        assert_eq!(told(pair(Some(Agent::Codex), &[]), wrapped), (Some(Agent::Codex), words(&["./wrap"])));
        let named = pair(None, &["claude", "--model", "opus"]);
        assert_eq!(told(pair(Some(Agent::Codex), &[]), named.clone()), (Some(Agent::Codex), Vec::new()));
        assert_eq!(told(pair(Some(Agent::Claude), &[]), named.clone()), (Some(Agent::Claude), named.command));
    }
}
