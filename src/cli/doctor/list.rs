//! What the doctor looks at, how it is called, and the way out when it fails.

use super::report::Check;
use super::subjects::{Answers, Subject};

/// Everything that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Program,
    Screen,
    StartHook,
    Arbiter,
    Message,
    MessageHook,
    StopHook,
    Log,
    Title,
    PermissionHook,
    Dialog,
    ByHookNo,
    ByHookYes,
    ByKeysYes,
    ByKeysNo,
    BareState,
    BareMessage,
    BareDialog,
    BareRefusal,
}

const ALL: [What; 19] = [
    What::Program,
    What::Screen,
    What::StartHook,
    What::Arbiter,
    What::Message,
    What::MessageHook,
    What::StopHook,
    What::Log,
    What::Title,
    What::PermissionHook,
    What::Dialog,
    What::ByHookNo,
    What::ByHookYes,
    What::ByKeysYes,
    What::ByKeysNo,
    What::BareState,
    What::BareMessage,
    What::BareDialog,
    What::BareRefusal,
];

impl Subject {
    /// All that there is to look at in this agent, in order.
    pub fn checks(&self) -> impl Iterator<Item = What> {
        ALL.into_iter().filter(|what| match what {
            What::StartHook => self.hooks.start.is_some(),
            What::Title => self.title_tells,
            What::Dialog => self.answers != Answers::Hook,
            What::ByHookNo | What::ByHookYes => self.answers != Answers::Keys,
            What::ByKeysYes => self.answers == Answers::Keys,
            What::ByKeysNo => self.answers != Answers::Hook,
            What::BareRefusal => self.answers == Answers::Hook,
            _ => true,
        })
    }

    /// What a check is called, and the way out when it fails.
    pub fn check(&self, what: What) -> Check {
        let program = self.program;
        let hook = |event: &str| format!("hook {event}");
        let (name, hint) = match what {
            What::Program => {
                let by_path = format!("coop doctor --agent {program} -- /path/to/{program}");
                ("program".to_owned(), format!("install it with `{}`, or name it: {by_path}", self.install))
            }
            What::Screen => (
                "screen".to_owned(),
                "if that is a dialog or an error, run the same command by hand to get past it; if it is the input box, \
                 this version draws it in a way that coop does not know"
                    .to_owned(),
            ),
            What::StartHook => (
                hook(self.hooks.start.unwrap_or_default()),
                format!(
                    "does something turn hooks off, such as managed settings, or does another program start {program}? \
                     coop goes by its other sources then"
                ),
            ),
            What::Arbiter => (self.arbiter.name.to_owned(), self.arbiter.hint.to_owned()),
            What::Message => (
                "message".to_owned(),
                "`coop nudge` will not work, or nobody will see that it did: type with `coop input` instead"
                    .to_owned(),
            ),
            What::MessageHook => (
                hook(self.hooks.message),
                "messages are seen to arrive by the log instead, which is slower".to_owned(),
            ),
            What::StopHook => (
                hook(self.hooks.stop),
                format!(
                    "the end of a turn is seen by the {} and the screen instead; a stop gate cannot work",
                    self.arbiter.name
                ),
            ),
            What::Log => (
                "log".to_owned(),
                "this version keeps its log elsewhere or writes it differently: transcripts, usage and --resume will not \
                 work"
                    .to_owned(),
            ),
            What::Title => (
                "title".to_owned(),
                format!("coop does without, as long as hooks or the {} work", self.arbiter.name),
            ),
            What::PermissionHook => (
                hook(self.hooks.permission),
                "does the command allow tools by itself? else dialogs are told by the screen alone, and answered by keys"
                    .to_owned(),
            ),
            What::Dialog => (
                "dialog".to_owned(),
                "this version draws it in a way that coop does not know: answer with `coop keys`".to_owned(),
            ),
            What::ByHookNo => (
                "hook answers no".to_owned(),
                "refuse without words (`coop respond --deny`), which goes by keys".to_owned(),
            ),
            What::ByHookYes => {
                ("hook answers yes".to_owned(), "choose an option instead: `coop respond --option 1`".to_owned())
            }
            What::ByKeysYes | What::ByKeysNo => (
                if what == What::ByKeysYes { "keys answer yes" } else { "keys answer no" }.to_owned(),
                "look at the dialog with `coop screen`, and answer it with `coop keys`".to_owned(),
            ),
            What::BareState => (
                "no hooks: state".to_owned(),
                "do not use --groom pristine with this version: coop needs the hooks".to_owned(),
            ),
            What::BareMessage => (
                "no hooks: message".to_owned(),
                "do not use --groom pristine with this version: nobody sees messages arrive".to_owned(),
            ),
            What::BareDialog | What::BareRefusal => (
                if what == What::BareDialog { "no hooks: dialog" } else { "no hooks: refusal" }.to_owned(),
                "with --groom pristine, answer dialogs with `coop keys`".to_owned(),
            ),
        };
        Check { name, hint }
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::NAME_WIDTH;
    use super::super::subjects::Known;

    #[test]
    fn nobody_is_asked_for_a_report_without_an_address() {
        let hints = [Known::Claude, Known::Codex, Known::Gemini].map(Known::subject).into_iter().flat_map(|subject| {
            let hint = move |what| subject.check(what).hint;
            subject.checks().map(hint).collect::<Vec<_>>()
        });
        for hint in hints {
            assert!(!hint.contains("report"), "{hint}");
        }
    }

    #[test]
    fn names_fit_their_column_and_no_two_are_alike() {
        for known in [Known::Claude, Known::Codex, Known::Gemini] {
            let subject = known.subject();
            let names: Vec<String> = subject.checks().map(|what| subject.check(what).name).collect();
            for (index, name) in names.iter().enumerate() {
                assert!(name.len() < NAME_WIDTH && !names[..index].contains(name), "{known:?}: {name}");
            }
        }
    }
}
