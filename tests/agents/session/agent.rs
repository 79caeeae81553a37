//! What the harness must know of an agent.

use std::path::{Path, PathBuf};

use super::House;
use crate::model::Dialect;

/// A CLI that tests drive. A value of it holds the choices that only this agent has.
pub trait Agent: Default + Send + Sync + 'static {
    /// As coop's `--agent` and the CLI itself have it.
    const NAME: &str;

    /// How it speaks with its model.
    const DIALECT: &dyn Dialect;

    /// Words that coop's driver adds, for when there is no driver, and that the agent must not be without.
    const UNDRIVEN: &[&str] = &[];

    /// Leaves in the house what a user's earlier answers would have left there, so that the first thing to be seen is the
    /// input box. A house that was lived in before stays as it is, but for the address of the model.
    fn seed(&self, house: &House<Self>, model: &str);

    /// What it finds in its environment, beside HOME and PATH.
    fn variables(&self, house: &House<Self>, model: &str) -> Vec<(&'static str, String)>;
}

/// The CLI that `tests/agents/run` installs.
pub fn program<A: Agent>() -> PathBuf {
    let name = A::NAME;
    let installed = format!("target/agents/{name}/node_modules/.bin/{name}");
    let named = std::env::var_os(format!("COOP_TEST_{}", name.to_uppercase()));
    let program = named.map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(installed), PathBuf::from);
    assert!(program.exists(), "{} is not there: run tests/agents/run, which installs it", program.display());
    program
}
