//! What the operator gives children beyond coop's own environment. A change reaches the child that is started next.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

use crate::child::Launch;

/// Variables that may be given or kept from a child; far more than anybody sets by hand.
const VARIABLES_MAX: usize = 1024;

/// The longest `NAME=VALUE`. Linux starts no program with a longer one, the zero behind it included.
const VARIABLE_BYTES_MAX: usize = 128 * 1024 - 1;

/// All of them together. With 8 MiB of stack, as is usual, Linux leaves 2 MiB to arguments and environment, and coop's
/// own environment needs its share.
const ENVIRONMENT_BYTES_MAX: usize = 1024 * 1024;

/// A change that is asked for.
#[derive(Clone, Debug, Default)]
pub struct Change {
    pub set: BTreeMap<String, String>,
    pub unset: Vec<String>,
}

/// What the next child is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    pub variables: BTreeMap<String, String>,
    /// Kept from the child, although coop itself has them.
    pub unset: BTreeSet<String>,
}

/// A variable that cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadVariable {
    #[error("{0:?} is no name of a variable: it must not be empty, nor hold = or a NUL")]
    Name(String),
    #[error("the value of {0} holds a NUL, which no variable can")]
    Value(String),
    #[error("{0} is coop's own, by which it tells the child about itself: use another name")]
    Reserved(String),
    #[error("{0} is to be set and unset at once: leave out one of them")]
    Both(String),
    #[error("{name} takes {bytes} bytes with its value: {VARIABLE_BYTES_MAX} are the most")]
    TooLong { name: String, bytes: usize },
    #[error("{count} variables of {bytes} bytes are too many: {VARIABLES_MAX} of {ENVIRONMENT_BYTES_MAX} bytes in all")]
    TooMany { count: usize, bytes: usize },
}

impl BadVariable {
    pub fn check_name(name: &str) -> Result<(), Self> {
        let bad = name.is_empty() || name.contains(['=', '\0']);
        if bad { Err(Self::Name(name.to_owned())) } else { Ok(()) }
    }
}

/// Which variables of a [`Launch`] are the operator's; their values are kept there.
#[derive(Clone, Debug)]
pub struct Given {
    names: BTreeSet<OsString>,
    unset: BTreeSet<String>,
    /// Those that nobody may change, because coop speaks to the child through them.
    reserved: BTreeSet<OsString>,
}

impl Given {
    pub fn new(names: impl IntoIterator<Item = OsString>, reserved: impl IntoIterator<Item = OsString>) -> Self {
        let reserved: BTreeSet<OsString> = reserved.into_iter().collect();
        let names = names.into_iter().filter(|name| !reserved.contains(name)).collect();
        Self { names, unset: BTreeSet::new(), reserved }
    }

    /// What the next child is given. What is no text is shown as near to it as text can be.
    pub fn environment(&self, launch: &Launch) -> Environment {
        let given = launch.env.iter().filter(|(name, _)| self.names.contains(name));
        let shown = |text: &OsString| text.to_string_lossy().into_owned();
        let variables = given.map(|(name, value)| (shown(name), shown(value))).collect();
        Environment { variables, unset: self.unset.clone() }
    }

    /// Changes what the next child is given, or nothing at all.
    pub fn change(&mut self, launch: &mut Launch, change: Change) -> Result<(), BadVariable> {
        self.check(launch, &change)?;
        for name in change.unset {
            launch.env.retain(|(known, _)| *known != *name);
            launch.env_remove.push(name.clone().into());
            self.names.remove(OsStr::new(&name));
            self.unset.insert(name);
        }
        for (name, value) in change.set {
            launch.env.retain(|(known, _)| *known != *name);
            self.unset.remove(&name);
            self.names.insert(name.clone().into());
            launch.env.push((name.into(), value.into()));
        }
        // One that is set again, or unset twice, needs no second removal.
        launch.env_remove.sort();
        launch.env_remove.dedup();
        Ok(())
    }

    fn check(&self, launch: &Launch, change: &Change) -> Result<(), BadVariable> {
        for name in change.set.keys().chain(&change.unset) {
            BadVariable::check_name(name)?;
            if self.reserved.contains(OsStr::new(name)) {
                return Err(BadVariable::Reserved(name.clone()));
            }
        }
        if let Some(both) = change.unset.iter().find(|name| change.set.contains_key(*name)) {
            return Err(BadVariable::Both(both.clone()));
        }
        for (name, value) in &change.set {
            if value.contains('\0') {
                return Err(BadVariable::Value(name.clone()));
            }
            let bytes = name.len() + 1 + value.len();
            if bytes > VARIABLE_BYTES_MAX {
                return Err(BadVariable::TooLong { name: name.clone(), bytes });
            }
        }
        self.check_amount(launch, change)
    }

    /// Whether all of it together would still be little enough.
    fn check_amount(&self, launch: &Launch, change: &Change) -> Result<(), BadVariable> {
        let mut unset: BTreeSet<&str> = self.unset.iter().map(String::as_str).collect();
        unset.extend(change.unset.iter().map(String::as_str));
        unset.retain(|name| !change.set.contains_key(*name));
        let changed = |name: &OsString| name.to_str().is_some_and(|n| change.set.contains_key(n) || unset.contains(n));
        let kept = launch.env.iter().filter(|(name, _)| self.names.contains(name) && !changed(name));
        let lengths = kept.map(|(name, value)| name.len() + 1 + value.len());
        let lengths = lengths.chain(change.set.iter().map(|(name, value)| name.len() + 1 + value.len()));
        let lengths: Vec<usize> = lengths.chain(unset.iter().map(|name| name.len() + 1)).collect();
        let (count, bytes) = (lengths.len(), lengths.iter().sum());
        let grows = !change.set.is_empty() || !change.unset.is_empty();
        if grows && (count > VARIABLES_MAX || bytes > ENVIRONMENT_BYTES_MAX) {
            return Err(BadVariable::TooMany { count, bytes });
        }
        Ok(())
    }
}
