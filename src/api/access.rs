//! Who may make which call.

use subtle::ConstantTimeEq;

use super::error::{ApiError, Code};

/// Who a call is open to; the contract says so for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody.
    Open,
    /// Those with the token; anonymous readers too, where the operator allows them.
    Read,
    /// Those with the token.
    Write,
    /// Those with the token or the child's hook token.
    Hook,
}

/// A token, which no log shows.
#[derive(Clone)]
pub struct Secret(String);

/// The operator's decision about callers.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Without it everybody who reaches coop may make every call; the listeners see to it who does.
    pub token: Option<Secret>,
    /// Known only to the child.
    pub hook_token: Secret,
    pub anonymous_read: bool,
}

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// For the child's environment.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    fn matches(&self, other: &str) -> bool {
        self.0.as_bytes().ct_eq(other.as_bytes()).into()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Gate {
    /// Whether a caller with this token may make a call that is open to `access`.
    pub fn admit(&self, access: Access, presented: Option<&str>) -> Result<(), ApiError> {
        let Some(token) = &self.token else { return Ok(()) };
        let is_main = presented.is_some_and(|p| token.matches(p));
        let is_hook = presented.is_some_and(|p| self.hook_token.matches(p));
        match access {
            Access::Open => Ok(()),
            _ if is_main => Ok(()),
            Access::Hook if is_hook => Ok(()),
            Access::Read if self.anonymous_read && presented.is_none() => Ok(()),
            _ if is_hook => {
                let message = "the hook token opens hook calls only: use the session's own token";
                Err(ApiError::new(Code::Forbidden, message))
            }
            _ => {
                let why = if presented.is_some() { "wrong token" } else { "no token" };
                let message = format!("{why}: send the session's token as `Authorization: Bearer …`");
                Err(ApiError::new(Code::Unauthorized, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(anonymous_read: bool) -> Gate {
        Gate { token: Some(Secret::new("main")), hook_token: Secret::new("hook"), anonymous_read }
    }

    fn code(access: Access, presented: Option<&str>, anonymous_read: bool) -> Option<Code> {
        gate(anonymous_read).admit(access, presented).err().map(|error| error.code)
    }

    #[test]
    fn the_token_opens_everything() {
        for access in [Access::Open, Access::Read, Access::Write, Access::Hook] {
            assert_eq!(code(access, Some("main"), false), None);
        }
    }

    #[test]
    fn without_a_token_only_probes_are_answered() {
        assert_eq!(code(Access::Open, None, false), None);
        for access in [Access::Read, Access::Write, Access::Hook] {
            assert_eq!(code(access, None, false), Some(Code::Unauthorized));
            assert_eq!(code(access, Some("guess"), false), Some(Code::Unauthorized));
        }
    }

    #[test]
    fn the_hook_token_opens_hook_calls_only() {
        assert_eq!(code(Access::Hook, Some("hook"), false), None);
        assert_eq!(code(Access::Read, Some("hook"), false), Some(Code::Forbidden));
        assert_eq!(code(Access::Write, Some("hook"), false), Some(Code::Forbidden));
    }

    #[test]
    fn anonymous_readers_read_and_no_more() {
        assert_eq!(code(Access::Read, None, true), None);
        assert_eq!(code(Access::Write, None, true), Some(Code::Unauthorized));
        assert_eq!(code(Access::Read, Some("guess"), true), Some(Code::Unauthorized), "a wrong token is an error");
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert!(!format!("{:?}", gate(false)).contains("main"));
    }
}
