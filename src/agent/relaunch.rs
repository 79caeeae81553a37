//! How the next child is started: it goes on with the conversation of the last one where that has begun, else it begins
//! anew. A conversation's name cannot be given twice, so that the words are made for each start.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::driver::Driver;
use super::fence;
use super::placing::place_all;
use super::random;
use super::resume::holds_anything;
use super::start::{Given, Variables};
use super::version::Version;
use crate::child::Launch;
use crate::config::Groom;

/// What the first start was made from.
#[derive(Clone, Debug)]
pub struct Relaunch {
    pub driver: &'static dyn Driver,
    pub argv: Vec<OsString>,
    pub named: bool,
    pub groom: Groom,
    pub agent_config: Option<Value>,
    pub version: Option<Version>,
    pub coop: PathBuf,
    pub run_dir: PathBuf,
    pub cwd: PathBuf,
}

/// What is known of the last child.
#[derive(Clone, Debug, Default)]
pub struct Last {
    /// The agent's own name for its conversation.
    pub conversation: Option<String>,
    /// Where that was seen to be written.
    pub log: Option<PathBuf>,
    /// A message was seen to be taken in it; its log may be written a moment later.
    pub has_begun: bool,
    /// Where it kept its files.
    pub config_dir: Option<PathBuf>,
    /// It was started with what the user's own words say of a conversation.
    pub by_own_words: bool,
}

/// How the next child is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    /// `None` where the words of the last one will do.
    pub argv: Option<Vec<OsString>>,
    /// Its conversation has the name of the last one's.
    pub keeps_conversation: bool,
    pub by_own_words: bool,
}

/// Which conversation the next child has.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Next {
    GoesOn(String),
    /// A new one under a name that was given before and never used.
    Begins(String),
    /// A new one.
    Anew,
    /// What the user's own words say, because no child has come so far as to follow them.
    AsToldAtFirst,
}

/// What there is of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remains {
    /// The agent can go on with it.
    Something,
    /// A log in which nothing was said: agents neither go on with it nor begin another of its name.
    Empty,
    Nothing,
}

impl Relaunch {
    /// Plans the start of the next child; `next` is what it will be started with otherwise. Reads the agent's files.
    pub fn again(&self, resume: bool, last: &Last, next: &Launch) -> Again {
        let config_dir = self.driver.config_dir(&|name| next.variable(name));
        let remains = |conversation: &str| self.remains(conversation, last, config_dir.as_deref());
        let which = if resume { which(last, remains) } else { Next::Anew };
        self.with(&which, last, config_dir.as_deref(), next).unwrap_or(Again {
            argv: None,
            keeps_conversation: resume,
            by_own_words: false,
        })
    }

    fn remains(&self, conversation: &str, last: &Last, config_dir: Option<&Path>) -> Remains {
        // Agents find their conversations where they keep their files, and not where they have kept them.
        let is_at_home = last.config_dir.as_deref() == config_dir;
        let found = config_dir.and_then(|dir| self.driver.find_log(dir, conversation).ok().flatten());
        let logs: Vec<PathBuf> = last.log.clone().filter(|_| is_at_home).into_iter().chain(found).collect();
        if is_at_home && last.has_begun || logs.iter().any(|log| holds_anything(log, self.driver)) {
            return Remains::Something;
        }
        if logs.iter().any(|log| log.exists()) { Remains::Empty } else { Remains::Nothing }
    }

    fn with(&self, which: &Next, last: &Last, config_dir: Option<&Path>, next: &Launch) -> Option<Again> {
        let session_id = match which {
            Next::Begins(name) => name.clone(),
            _ => random::uuid().ok()?,
        };
        let by_own_words = *which == Next::AsToldAtFirst;
        let given = Given {
            argv: &self.argv,
            named: self.named,
            groom: self.groom,
            agent_config: self.agent_config.as_ref(),
            version: self.version,
            coop: &self.coop,
            run_dir: &self.run_dir,
            session_id: &session_id,
            resume: if let Next::GoesOn(name) = which { Some(name) } else { None },
            again: !by_own_words,
            config_dir,
            variables: Variables(&|name| next.variable(name)),
        };
        // The files of the first start are still there; only the words are made anew.
        let plan = self.driver.prepare(&given, &|path| fence::read_to_string(&self.cwd.join(path))).ok()?;
        plan.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        if last.config_dir.as_deref() != config_dir {
            self.place(&plan.placed);
        }
        let is_named = plan.session_id.is_some() && plan.session_id == last.conversation;
        let keeps_conversation = is_named || matches!(which, Next::GoesOn(_));
        Some(Again { argv: Some(plan.argv), keeps_conversation, by_own_words })
    }

    /// Gives an agent that keeps its files elsewhere from now on what it looks for there.
    fn place(&self, files: &[(PathBuf, Vec<u8>)]) {
        if files.is_empty() {
            return;
        }
        if fence::is_up() {
            // Whether a link stands in the way can be told only while nothing runs in the box.
            return tracing::warn!(
                "nothing is written to other places of a box that runs: coop sees less of the agent"
            );
        }
        if let Err(error) = place_all(files) {
            tracing::warn!(%error, "coop sees less of the agent");
        }
    }
}

/// Which conversation a child has that is to go on where the last one was.
fn which(last: &Last, remains: impl Fn(&str) -> Remains) -> Next {
    let Some(name) = last.conversation.clone() else {
        return if last.by_own_words { Next::AsToldAtFirst } else { Next::Anew };
    };
    match remains(&name) {
        Remains::Something => Next::GoesOn(name),
        Remains::Empty => Next::Anew,
        Remains::Nothing => Next::Begins(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::claude::Claude;
    use crate::agent::claude::paths::log_path;
    use crate::agent::codex::Codex;
    use crate::agent::gemini::Gemini;
    use crate::child::Size;
    use crate::config::Scratch;

    const ID: &str = "11111111-2222-4333-8444-555555555555";
    const PROMPT: &str = r#"{"type":"user","message":{"role":"user","content":"Hello"},"uuid":"u"}"#;

    struct Place {
        scratch: Scratch,
        driver: &'static dyn Driver,
        argv: &'static [&'static str],
    }

    impl Place {
        fn of_claude() -> Self {
            Self { scratch: Scratch::fresh(), driver: &Claude, argv: &["claude"] }
        }

        fn log(&self, dir: &str, text: &str) {
            let log = log_path(&self.scratch.path(dir), &self.scratch.path("ws"), ID);
            std::fs::create_dir_all(log.parent().unwrap()).unwrap();
            std::fs::write(log, text).unwrap();
        }

        fn last(&self) -> Last {
            let config_dir = Some(self.scratch.path("a"));
            Last { conversation: Some(ID.to_owned()), config_dir, by_own_words: true, ..Last::default() }
        }

        /// The words about a conversation with which the next child is started, with its files in this directory.
        fn words(&self, last: &Last, dir: &str) -> (String, bool) {
            let relaunch = Relaunch {
                driver: self.driver,
                argv: self.argv.iter().map(OsString::from).collect(),
                named: false,
                groom: Groom::Auto,
                agent_config: None,
                version: Some(self.driver.release().measured),
                coop: "/opt/coop".into(),
                run_dir: self.scratch.path("run"),
                cwd: self.scratch.path("ws"),
            };
            let dir = self.scratch.path(dir).into_os_string();
            let homes = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"];
            let env = homes.map(|name| (name.into(), dir.clone())).into();
            let size = Size::new(80, 24).unwrap();
            let next = Launch { argv: Vec::new(), cwd: None, env, env_remove: Vec::new(), bare: true, size };
            let again = relaunch.again(true, last, &next);
            let argv = again.argv.unwrap();
            let words = argv.iter().map(|word| word.to_str().unwrap()).filter(|word| {
                ["--resume", "--session-id", "--continue", "resume"].iter().any(|name| word.starts_with(name))
            });
            (words.collect::<Vec<_>>().join(" "), again.keeps_conversation)
        }
    }

    #[test]
    fn a_conversation_goes_on_once_something_was_said_in_it() {
        let place = Place::of_claude();
        let (anew, goes_on) = (format!("--session-id={ID}"), format!("--resume={ID}"));
        assert_eq!(place.words(&place.last(), "a"), (anew, true), "nobody has used the name");
        let has_begun = Last { has_begun: true, ..place.last() };
        assert_eq!(place.words(&has_begun, "a"), (goes_on.clone(), true), "its log is still to be written");
        place.log("a", "{\"type\":\"mode\"}\n");
        let (another, keeps) = place.words(&place.last(), "a");
        assert!(another.starts_with("--session-id=") && !another.contains(ID) && !keeps, "{another}");
        place.log("a", &format!("{PROMPT}\n"));
        assert_eq!(place.words(&place.last(), "a"), (goes_on, true));
    }

    #[test]
    fn an_agent_that_keeps_its_files_elsewhere_now_does_not_know_the_conversation() {
        let place = Place::of_claude();
        place.log("a", &format!("{PROMPT}\n"));
        let last = Last { has_begun: true, ..place.last() };
        assert_eq!(place.words(&last, "b"), (format!("--session-id={ID}"), true));
        place.log("b", &format!("{PROMPT}\n"));
        assert_eq!(place.words(&last, "b"), (format!("--resume={ID}"), true), "unless somebody has taken it along");
    }

    #[test]
    fn a_log_in_a_place_that_only_the_agent_names_counts() {
        let place = Place::of_claude();
        let log = place.scratch.file("elsewhere.jsonl", &format!("{PROMPT}\n"));
        let last = Last { log: Some(log), ..place.last() };
        assert_eq!(place.words(&last, "a"), (format!("--resume={ID}"), true));
    }

    #[test]
    fn the_users_own_choice_stands_until_a_child_has_followed_it() {
        let place = Place { argv: &["claude", "--continue"], ..Place::of_claude() };
        let nameless = Last { conversation: None, ..place.last() };
        assert_eq!(place.words(&nameless, "a"), ("--continue".to_owned(), false));
        let (anew, _) = place.words(&Last { by_own_words: false, ..nameless }, "a");
        assert!(anew.starts_with("--session-id="), "{anew}");
        place.log("a", &format!("{PROMPT}\n"));
        assert_eq!(place.words(&place.last(), "a"), (format!("--resume={ID}"), true));
    }

    #[test]
    fn an_agent_that_keeps_its_files_elsewhere_now_finds_there_what_it_needs_for_its_hooks() {
        let place = Place { driver: &Gemini, argv: &["gemini"], ..Place::of_claude() };
        let extension = |dir: &str| place.scratch.path(&format!("{dir}/.gemini/extensions/coop/hooks/hooks.json"));
        let last = Last { config_dir: Some(place.scratch.path("a/.gemini")), ..place.last() };
        place.words(&last, "a");
        assert!(!extension("a").exists(), "the first start has placed it");
        place.words(&last, "b");
        assert!(extension("b").exists());
    }

    #[test]
    fn an_agent_that_takes_no_names_begins_anew_without_one() {
        let place = Place { driver: &Codex, argv: &["codex"], ..Place::of_claude() };
        assert_eq!(place.words(&place.last(), "a"), (String::new(), false));
    }
}
