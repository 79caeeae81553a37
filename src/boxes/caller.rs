//! Who calls: their home and their shell. The daemon may have been started elsewhere, with another environment.

use std::path::PathBuf;

use super::home::Home;
use crate::proto::v1;

/// What the system has as shells of those who may not have one.
const NO_SHELLS: [&str; 2] = ["nologin", "false"];

/// The user's home.
pub fn user_home(home: &Home) -> PathBuf {
    std::env::var_os("HOME").map(PathBuf::from).unwrap_or_else(|| home.path().to_owned())
}

/// The shell that the caller uses, or else the one that the system has for this user.
pub fn shell(source: &v1::BoxSource) -> Option<String> {
    let own = source.exported.get("SHELL").filter(|shell| shell.starts_with('/')).cloned();
    own.or_else(|| {
        let user = nix::unistd::User::from_uid(nix::unistd::geteuid()).ok().flatten()?;
        let is_none = NO_SHELLS.iter().any(|none| user.shell.ends_with(none));
        user.shell.into_os_string().into_string().ok().filter(|shell| shell.starts_with('/') && !is_none)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_callers_shell_goes_before_that_of_the_system() {
        let of = |value: &str| {
            let exported = [("SHELL".to_owned(), value.to_owned())].into();
            shell(&v1::BoxSource { exported, ..Default::default() })
        };
        assert_eq!(of("/opt/bin/fish").as_deref(), Some("/opt/bin/fish"));
        let of_system = shell(&v1::BoxSource::default());
        assert_eq!((of(""), of("fish")), (of_system.clone(), of_system));
    }
}
