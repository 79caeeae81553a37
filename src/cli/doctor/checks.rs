//! What is looked at, in the order in which an agent lives: it starts, takes a message, asks, is answered; then again
//! without its hooks.

use std::ffi::OsString;
use std::io;

use anyhow::Context;

use super::house::House;
use super::list::What;
use super::model::Model;
use super::patient::{Patient, Way};
use super::report::Report;
use super::subjects::{Answers, Subject};
use super::trouble::Trouble;
use crate::agent::driver;
use crate::agent::version::{self, Release, Version};
use crate::child::{Launch, Size};
use crate::config::Groom;
use crate::proto::v1::{AgentState, AgentStateKind, Evidence};

/// Words that only a hook can carry to the model.
const REASON: &str = "not this file, says the doctor";

/// Looks at everything that can be looked at; what depends on a failure is left out.
pub async fn examine(
    subject: &'static Subject,
    command: Vec<OsString>,
    house: &House,
    report: &mut Report,
) -> anyhow::Result<()> {
    let model = Model::start(&subject.dialect).await?;
    house.seed(model.url())?;
    let release = driver::of(subject.agent).context("coop has no driver for it")?.release();
    let Some(command) = find(command, release, house, &model, report).await? else { return Ok(()) };
    let examination = Examination { subject, command, house, model };
    examination.with_hooks(report).await?;
    examination.without_hooks(report).await?;
    Ok(())
}

/// The command with the place of its program, if that is there.
async fn find(
    mut command: Vec<OsString>,
    release: &Release,
    house: &House,
    model: &Model,
    report: &mut Report,
) -> anyhow::Result<Option<Vec<OsString>>> {
    let launch = Launch {
        argv: command.clone(),
        cwd: None,
        env: house.environment(model.url()),
        env_remove: Vec::new(),
        bare: true,
        size: Size::new(80, 24)?,
    };
    let Some(program) = version::find(&command[0], &launch) else {
        let name = command[0].display();
        let is_path = name.to_string().contains('/');
        let missing = if is_path { "is not there, or cannot be run" } else { "is not in PATH" };
        report.tell(What::Program, Err(Trouble::new(format!("{name} {missing}"))))?;
        return Ok(None);
    };
    // The agent starts in another directory than the doctor.
    let program = std::path::absolute(program)?;
    let version = version::detect(&launch, release, &version::Elsewhere::default()).await;
    report.version = version.as_ref().ok().map(Version::to_string);
    let compared = match &version {
        Ok(version) => compare(*version, release.measured),
        Err(why) => format!("version unknown ({why})"),
    };
    report.tell(What::Program, Ok(format!("{}, {compared}", program.display())))?;
    command[0] = program.into_os_string();
    Ok(Some(command))
}

/// Another version is no failure: the checks that follow say what that means.
fn compare(version: Version, measured: Version) -> String {
    let age = match version.cmp(&measured) {
        std::cmp::Ordering::Equal => return format!("version {version}, with which coop was measured"),
        std::cmp::Ordering::Less => "older",
        std::cmp::Ordering::Greater => "newer",
    };
    format!("version {version}, {age} than {measured}, with which coop was measured")
}

struct Examination<'a> {
    subject: &'static Subject,
    command: Vec<OsString>,
    house: &'a House,
    model: Model,
}

impl Examination<'_> {
    /// The agent as coop starts it; whether the last check works.
    async fn with_hooks(&self, report: &mut Report) -> io::Result<bool> {
        let patient = match Patient::start(self.subject, &self.command, self.house, &self.model, Groom::Auto).await {
            Ok(patient) => patient,
            Err(trouble) => return report.tell(What::Screen, Err(trouble)),
        };
        if !report.tell(What::Screen, drawn(&patient).await)? {
            return Ok(false);
        }
        let Subject { hooks, arbiter, .. } = self.subject;
        if let Some(start) = hooks.start {
            report.tell(What::StartHook, heard(&patient, start).await)?;
        }
        report.tell(What::Arbiter, says_idle(&patient, arbiter.source).await)?;
        // The model waits, so that the agent works for as long as this takes.
        self.model.hold();
        let told = patient.told("Good morning, says the doctor").await;
        let looks = told.is_ok() && self.subject.title_tells;
        let turned = if looks { Some(title(&patient, AgentStateKind::Working).await) } else { None };
        self.model.go_on();
        if !report.tell(What::Message, told.map(|witness| format!("delivered, seen by {witness}")))? {
            return Ok(false);
        }
        report.tell(What::MessageHook, heard(&patient, hooks.message).await)?;
        report.tell(What::StopHook, ended(&patient, hooks.stop).await)?;
        report.tell(What::Log, logged(&patient).await)?;
        if let Some(turned) = turned {
            report.tell(What::Title, rested(&patient, turned).await)?;
        }
        self.dialogs(&patient, report).await
    }

    async fn dialogs(&self, patient: &Patient, report: &mut Report) -> io::Result<bool> {
        if let Err(trouble) = patient.asked_for("refused-by-hook").await {
            return report.tell(What::PermissionHook, Err(trouble));
        }
        let heard = heard(patient, self.subject.hooks.permission).await;
        let by_hook = report.tell(What::PermissionHook, heard)? && self.subject.answers != Answers::Keys;
        let is_drawn = self.subject.answers != Answers::Hook;
        if is_drawn && !report.tell(What::Dialog, recognised(patient).await)? {
            return Ok(false);
        }
        if by_hook {
            let refused = report.tell(What::ByHookNo, self.refused_by_hook(patient).await)?;
            if !refused || !report.tell(What::ByHookYes, self.accepted(patient, "accepted-by-hook", Way::Hook).await)? {
                return Ok(false);
            }
        } else if let Err(trouble) = patient.answered(false, None, Way::Keys).await {
            return report.tell(What::ByKeysNo, Err(trouble));
        } else if self.subject.answers == Answers::Keys {
            let accepted = self.accepted(patient, "accepted-with-hooks", Way::Keys).await;
            if !report.tell(What::ByKeysYes, accepted)? {
                return Ok(false);
            }
        }
        if is_drawn { report.tell(What::ByKeysNo, self.refused_by_keys(patient).await) } else { Ok(true) }
    }

    /// Refuses the dialog that is shown, with words.
    async fn refused_by_hook(&self, patient: &Patient) -> Result<String, Trouble> {
        patient.answered(false, Some(REASON), Way::Hook).await?;
        let told = |state: &AgentState| self.model.has_heard(REASON) && state.state() == AgentStateKind::Idle;
        patient.until("the model does not get the reason", |state| told(state).then_some(())).await?;
        self.never_made("refused-by-hook")?;
        Ok("the command did not run, and the model got the reason".to_owned())
    }

    /// Lets the model ask for a command, and accepts it.
    async fn accepted(&self, patient: &Patient, file: &str, way: Way) -> Result<String, Trouble> {
        patient.asked_for(file).await?;
        if way == Way::Hook && self.subject.answers == Answers::Hook {
            patient.until("nothing is asked", |state| state.prompt.is_some().then_some(())).await?;
        } else {
            recognised(patient).await?;
        }
        let witness = patient.answered(true, None, way).await?;
        let made = self.house.workspace().join(file);
        let ran = |state: &AgentState| made.exists() && state.state() == AgentStateKind::Idle;
        patient.until("the command does not run", |state| ran(state).then_some(())).await?;
        Ok(format!("the command ran, seen by {witness}"))
    }

    async fn refused_by_keys(&self, patient: &Patient) -> Result<String, Trouble> {
        let file = "refused-by-keys";
        patient.asked_for(file).await?;
        recognised(patient).await?;
        let witness = patient.answered(false, None, Way::Keys).await?;
        patient.until_idle().await?;
        self.never_made(file)?;
        Ok(format!("the command did not run, seen by {witness}"))
    }

    fn never_made(&self, file: &str) -> Result<(), Trouble> {
        let is_made = self.house.workspace().join(file).exists();
        if is_made { Err(Trouble::new("the command ran although it was refused")) } else { Ok(()) }
    }

    /// The agent as somebody runs it who wants nothing of coop in its configuration.
    async fn without_hooks(&self, report: &mut Report) -> io::Result<bool> {
        let patient = match Patient::start(self.subject, &self.command, self.house, &self.model, Groom::Pristine).await
        {
            Ok(patient) => patient,
            Err(trouble) => return report.tell(What::BareState, Err(trouble)),
        };
        let idle = patient.until_idle().await;
        if !report.tell(What::BareState, idle.map(|cause| format!("idle ({cause})")))? {
            return Ok(false);
        }
        if !report.tell(What::BareMessage, self.bare_message(&patient).await)? {
            return Ok(false);
        }
        let works = report.tell(What::BareDialog, self.accepted(&patient, "accepted-by-keys", Way::Keys).await)?;
        if !works || self.subject.answers != Answers::Hook {
            return Ok(works);
        }
        report.tell(What::BareRefusal, self.refused_by_keys(&patient).await)
    }

    async fn bare_message(&self, patient: &Patient) -> Result<String, Trouble> {
        self.model.hold();
        let worked = async {
            let witness = patient.told("Good night, says the doctor").await?;
            let works = |state: &AgentState| state.state() == AgentStateKind::Working;
            let cause = |state: &AgentState| works(state).then(|| state.detection_cause.clone());
            Ok((witness, patient.until("it does not work", cause).await?))
        };
        let worked: Result<_, Trouble> = worked.await;
        self.model.go_on();
        let (witness, working) = worked?;
        let idle = patient.until_idle().await?;
        Ok(format!("delivered, seen by {witness}; working ({working}), then idle ({idle})"))
    }
}

/// Whether a source has said this, now or lately.
fn said(state: &AgentState, source: &str) -> Option<()> {
    state.evidence.iter().any(|evidence| evidence.source == source).then_some(())
}

/// What a source says now: last words come first.
fn says(state: &AgentState, source: &str) -> Option<AgentStateKind> {
    let of = |evidence: &&Evidence| evidence.source.split(':').next() == Some(source);
    state.evidence.iter().find(of).map(Evidence::claim)
}

async fn drawn(patient: &Patient) -> Result<String, Trouble> {
    patient.until("no input box is seen", |state| said(state, "screen: input box")).await?;
    let idle = patient.until_idle().await?;
    Ok(format!("shows its input box, idle ({idle})"))
}

async fn heard(patient: &Patient, event: &str) -> Result<String, Trouble> {
    let source = format!("hooks: {event}");
    let heard = patient.until("not heard", |state| said(state, &source)).await;
    // The screen does not tell why a hook is silent.
    heard.map(|()| "heard".to_owned()).map_err(|trouble| Trouble::new(trouble.detail))
}

async fn says_idle(patient: &Patient, source: &str) -> Result<String, Trouble> {
    let idle = |state: &AgentState| says(state, source).filter(|claim| *claim == AgentStateKind::Idle);
    patient.until("it does not say idle", idle).await?;
    Ok("says idle".to_owned())
}

/// The turn is over and the hook has said so.
async fn ended(patient: &Patient, event: &str) -> Result<String, Trouble> {
    heard(patient, event).await?;
    let idle = patient.until_idle().await?;
    Ok(format!("heard, idle again ({idle})"))
}

async fn logged(patient: &Patient) -> Result<String, Trouble> {
    patient.until_logged().await?;
    Ok("found, and has a message in it".to_owned())
}

async fn title(patient: &Patient, claim: AgentStateKind) -> Result<AgentStateKind, Trouble> {
    let what = if claim == AgentStateKind::Working { "it does not turn" } else { "it does not rest" };
    patient.until(what, |state| says(state, "title").filter(|said| *said == claim)).await
}

/// The title's sign turned while the agent worked, and does not now.
async fn rested(patient: &Patient, turned: Result<AgentStateKind, Trouble>) -> Result<String, Trouble> {
    turned?;
    title(patient, AgentStateKind::Idle).await?;
    Ok("turns while it works, rests when it does".to_owned())
}

/// A dialog with options of its own.
async fn recognised(patient: &Patient) -> Result<String, Trouble> {
    let options = patient.until("no dialog with options is seen", |state| {
        let prompt = state.prompt.as_ref()?;
        (prompt.ready && !prompt.options_fallback && !prompt.options.is_empty()).then_some(prompt.options.len())
    });
    Ok(format!("recognised with {} options", options.await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_said_and_not_failed() {
        let compared = |version| compare(version, Version(2, 1, 197));
        assert_eq!(compared(Version(2, 1, 197)), "version 2.1.197, with which coop was measured");
        assert!(compared(Version(2, 1, 196)).contains("older than 2.1.197"));
        assert!(compared(Version(3, 0, 0)).contains("newer than 2.1.197"));
    }

    #[test]
    fn the_last_word_of_a_source_counts_and_earlier_ones_are_remembered() {
        let sign = |source: &str, claim: AgentStateKind| Evidence {
            source: source.into(),
            claim: claim.into(),
            ..Default::default()
        };
        let evidence = vec![
            sign("title: sign", AgentStateKind::Working),
            sign("title: sign", AgentStateKind::Idle),
            sign("log: prompt", AgentStateKind::Working),
        ];
        let state = AgentState { evidence, ..Default::default() };
        assert_eq!(says(&state, "title"), Some(AgentStateKind::Working));
        assert_eq!(
            (says(&state, "hooks"), said(&state, "log: prompt"), said(&state, "log: end_turn")),
            (None, Some(()), None)
        );
    }
}
