//! Where what outlives a process is kept: boxes, images, volumes, and what the user trusts.

use std::ffi::OsString;
use std::path::PathBuf;

/// `$COOP_HOME`, or `~/.coop`. `None` where neither variable names a place.
pub fn coop_home() -> Option<PathBuf> {
    choose(std::env::var_os("COOP_HOME"), std::env::var_os("HOME"))
}

fn choose(coop_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let said = |path: Option<OsString>| path.filter(|path| !path.is_empty()).map(PathBuf::from);
    let chosen = said(coop_home).or_else(|| said(home).map(|home| home.join(".coop")))?;
    Some(chosen).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_says_nothing() {
        let chosen = |coop_home: &str, home: &str| choose(Some(coop_home.into()), Some(home.into()));
        assert_eq!(chosen("/kept", "/home/me"), Some("/kept".into()));
        assert_eq!(chosen("", "/home/me"), Some("/home/me/.coop".into()));
        assert_eq!(chosen("", ""), None);
        assert_eq!(chosen("here", "/home/me"), None, "it is not guessed from where");
    }
}
