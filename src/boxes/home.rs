//! Where boxes, images and volumes are kept: `COOP_HOME`, or `~/.coop`, open to its user only.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::name::Name;
use crate::config::check_private_to_us;

/// The directory of everything that outlives a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(PathBuf);

#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("COOP_HOME is {0:?}, which is no absolute path")]
    Relative(PathBuf),
    #[error("neither COOP_HOME nor HOME says where boxes are kept: set COOP_HOME to a directory of your own")]
    Unknown,
    #[error("boxes cannot be kept in {}: {why}; set COOP_HOME to a directory of your own", path.display())]
    Unusable { path: PathBuf, why: String },
}

impl Home {
    /// The directory of this user, made if need be.
    pub fn open() -> Result<Self, HomeError> {
        Self::chosen(|name| std::env::var_os(name))?.made()
    }

    fn chosen(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, HomeError> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        match variable("COOP_HOME") {
            Some(path) if path.is_absolute() => Ok(Self(path)),
            Some(path) => Err(HomeError::Relative(path)),
            None => {
                let home = variable("HOME").filter(|path| path.is_absolute()).ok_or(HomeError::Unknown)?;
                Ok(Self(home.join(".coop")))
            }
        }
    }

    /// The same, there and without links in its path: paths are the same inside a box and outside.
    fn made(self) -> Result<Self, HomeError> {
        let unusable = |why: String| HomeError::Unusable { path: self.0.clone(), why };
        make_dir(&self.0).map_err(|error| unusable(error.to_string()))?;
        let real = self.0.canonicalize().map_err(|error| unusable(error.to_string()))?;
        check_private_to_us(&real).map_err(unusable)?;
        let home = Self(real);
        make_dir(&home.sessions()).map_err(|error| unusable(error.to_string()))?;
        Ok(home)
    }

    /// One for a test, wherever it is.
    #[cfg(test)]
    pub(super) fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// One directory for each box.
    pub fn sessions(&self) -> PathBuf {
        self.0.join("sessions")
    }

    pub fn session(&self, name: &Name) -> PathBuf {
        self.sessions().join(name.as_str())
    }

    pub fn images(&self) -> PathBuf {
        self.0.join("images")
    }

    /// What setup commands made.
    pub fn builds(&self) -> PathBuf {
        self.0.join("builds")
    }

    pub fn volumes(&self) -> PathBuf {
        self.0.join("volumes")
    }

    pub fn daemon_log(&self) -> PathBuf {
        self.0.join("daemon.log")
    }
}

/// Makes a directory for the user alone; one that is there stays as it is, also where nothing can be written.
fn make_dir(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::config::Scratch;

    fn chosen(variables: &[(&str, &str)]) -> Result<Home, HomeError> {
        let found = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        Home::chosen(found)
    }

    #[test]
    fn the_variable_goes_before_the_users_home() {
        let path = |variables: &[(&str, &str)]| chosen(variables).unwrap().0;
        assert_eq!(path(&[("COOP_HOME", "/c"), ("HOME", "/h")]), Path::new("/c"));
        assert_eq!(path(&[("COOP_HOME", ""), ("HOME", "/h")]), Path::new("/h/.coop"));
        assert!(matches!(chosen(&[("COOP_HOME", "c"), ("HOME", "/h")]), Err(HomeError::Relative(_))));
        assert!(matches!(chosen(&[]), Err(HomeError::Unknown)));
    }

    #[test]
    fn it_is_made_for_the_user_alone_and_one_that_is_open_to_others_is_refused() {
        let scratch = Scratch::fresh();
        let home = Home(scratch.path("a/coop")).made().unwrap();
        assert_eq!(std::fs::metadata(home.path()).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(home.sessions().is_dir());
        std::fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
        let told = Home(scratch.path("a/coop")).made().unwrap_err().to_string();
        assert!(told.contains("mode 755") && told.contains("COOP_HOME"), "{told}");
        scratch.file("file", "");
        assert!(Home(scratch.path("file")).made().is_err());
    }
}
