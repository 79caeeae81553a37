//! Why the state is what it is, for those who doubt it: what each source says, and who disagrees.

use super::evidence::{EpochMs, Evidence, Source};
use super::referee::Verdict;
use super::seen::Seen;
use crate::session::{StateKind, Tier};

/// Under this name stands what the agent's version lets doubt.
const VERSION: &str = "version";

/// The explanation of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    pub evidence: Vec<Shown>,
    /// Who disagrees with the state, what is wrong with sources that say nothing, and what the agent's version lets doubt.
    pub disagreement: Option<String>,
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub tier: Tier,
    pub source: String,
    /// `None` for a source that says nothing.
    pub claim: Option<StateKind>,
    pub detail: Option<String>,
    pub age_ms: u64,
    /// Whether the state rests on it.
    pub decisive: bool,
}

/// Explains a verdict: the last word of each source, then what came before, then who is silent and why.
pub fn explain(seen: &Seen, verdict: Option<&Verdict>, now: EpochMs) -> Explained {
    let rests_on = |evidence: &Evidence| {
        verdict.is_some_and(|verdict| verdict.source == evidence.source && verdict.rule == evidence.rule)
    };
    let shown = |evidence: &Evidence, decisive: bool| Shown {
        tier: evidence.source.tier(),
        source: format!("{}: {}", evidence.source.word(), evidence.rule),
        claim: Some(evidence.claim.kind()),
        detail: evidence.detail.clone(),
        age_ms: now.since(evidence.at),
        decisive,
    };
    let words_and_banner = seen.words().chain(&seen.banner);
    let mut evidence: Vec<Shown> = words_and_banner.map(|word| shown(word, rests_on(word))).collect();
    let words: Vec<&Evidence> = seen.words().collect();
    evidence.extend(seen.recent().rev().filter(|past| !words.contains(past)).map(|past| shown(past, false)));
    let silent = |tier: Tier, source: &str, problem: &str| Shown {
        tier,
        source: source.to_owned(),
        claim: None,
        detail: Some(problem.to_owned()),
        age_ms: 0,
        decisive: false,
    };
    evidence.extend(seen.ailing().map(|(source, problem)| silent(source.tier(), source.word(), problem)));
    evidence.extend(seen.doubt.as_ref().map(|doubt| silent(Source::Process.tier(), VERSION, doubt)));
    Explained { evidence, disagreement: disagreement(seen, verdict) }
}

fn disagreement(seen: &Seen, verdict: Option<&Verdict>) -> Option<String> {
    let decided = verdict?.state.kind();
    let others = seen.words().filter(|word| word.claim.kind() != decided);
    let dissent = others.map(|word| format!("{}: {} says {}", word.source.word(), word.rule, word.claim.kind().word()));
    let silent = seen.ailing().map(|(source, problem)| {
        let how = if seen.of(source).is_some() { "is incomplete" } else { "is silent" };
        format!("{} {how}: {problem}", source.word())
    });
    let all: Vec<String> = dissent.chain(silent).chain(seen.doubt.clone()).collect();
    (!all.is_empty()).then(|| all.join("; "))
}
