//! Both files of a place, read once: the user's and the project's.

use std::path::Path;

use super::demands::{Demand, demands};
use super::discover::discover;
use super::file::BoxFile;
use super::merge::{Overrides, merge};
use super::origin::Whose;
use super::source::{FileError, Source, read};
use super::trust::{Trust, TrustError, Verdict};

/// The name of the user's own file in COOP_HOME.
pub const CONFIG_NAME: &str = "config.toml";

/// What the files say.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    pub user: BoxFile,
    pub project: BoxFile,
    /// The project's file as it was read.
    pub source: Option<Source>,
    /// What the project's file asks for.
    pub demands: Vec<Demand>,
}

/// Finds and reads the user's config.toml and the coop.toml that this directory belongs to. Neither need be there.
pub fn load(start_dir: &Path, home: &Path, coop_home: &Path) -> Result<Loaded, FileError> {
    let found = discover(start_dir, home);
    load_files(found.as_deref(), coop_home)
}

/// The same with a coop.toml that was named.
pub fn load_files(project: Option<&Path>, coop_home: &Path) -> Result<Loaded, FileError> {
    let user = match read(&coop_home.join(CONFIG_NAME), Whose::User)? {
        Some(source) => source.parse()?,
        None => BoxFile::default(),
    };
    let source = match project {
        Some(path) => {
            let missing = || FileError::Unreadable { path: path.to_owned(), why: "does not exist".to_owned() };
            Some(read(path, Whose::Project)?.ok_or_else(missing)?)
        }
        None => None,
    };
    let project = source.as_ref().map(Source::parse).transpose()?.unwrap_or_default();
    let demands = demands(&project, &user);
    Ok(Loaded { user, project, source, demands })
}

impl Loaded {
    /// All layers together.
    pub fn settings(&self, overrides: Overrides) -> BoxFile {
        merge(self.user.clone(), self.project.clone(), overrides)
    }

    /// Whether the project's file may have what it asks for.
    pub fn verdict(&self, trust: &Trust) -> Result<Verdict, TrustError> {
        match &self.source {
            Some(source) => trust.check(&source.path, &source.bytes, self.demands.clone()),
            None => Ok(Verdict::Trusted),
        }
    }
}
