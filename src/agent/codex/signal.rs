//! What Codex says of its state in its output: OSC 7501 and the title (0.166.0).

use crate::agent::driver::Sign;
use crate::agent::evidence::Claim;
use crate::session::{ErrorCategory, Trouble};

/// How the title begins while a dialog is open; the sign in it blinks.
const ASKS: [&str; 2] = ["[ ! ] Action Required", "[ . ] Action Required"];

/// Reads `state=blocked:app=codex:kind=permission`.
pub fn signal(text: &str) -> Option<Sign> {
    let field = |name: &str| text.split(':').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    if field("app").is_some_and(|app| app != "codex") {
        return None;
    }
    match field("state")? {
        "idle" => Some(Sign::new("idle", Claim::Idle)),
        "done" => Some(Sign::new("done", Claim::Idle)),
        "working" => Some(Sign::new("working", Claim::Working)),
        "blocked" => {
            let detail = field("kind").map(str::to_owned);
            Some(Sign { detail, ..Sign::new("blocked", Claim::Waiting) })
        }
        "error" => {
            let detail = "the last turn failed".to_owned();
            let trouble = Trouble { category: ErrorCategory::Other, detail, resume_at_epoch_ms: None };
            Some(Sign::new("error", Claim::Error(trouble)))
        }
        // `clear` comes with the end, of which others tell.
        _ => None,
    }
}

/// It begins with a turning sign while Codex works, and asks while a dialog is open.
pub fn title(title: &str) -> Option<Sign> {
    if ASKS.iter().any(|asks| title.starts_with(asks)) {
        return Some(Sign::new("asks", Claim::Waiting));
    }
    match title.chars().next()? {
        '\u{2800}'..='\u{28ff}' => Some(Sign::new("sign", Claim::Working)),
        // The name of the project, or of the task.
        _ => Some(Sign::new("name", Claim::Still)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_has_its_meaning() {
        let claim = |text: &str| signal(text).map(|sign| sign.claim.kind().word());
        for (text, expected) in [
            ("state=idle:app=codex", Some("idle")),
            ("state=done:app=codex", Some("idle")),
            ("state=working:app=codex", Some("working")),
            ("state=blocked:app=codex:kind=permission", Some("prompt")),
            ("state=error:app=codex", Some("error")),
            ("state=clear", None),
            ("state=new:app=codex", None),
            ("state=working:app=other", None),
            ("", None),
        ] {
            assert_eq!(claim(text), expected, "{text}");
        }
        let detail = signal("state=blocked:app=codex:kind=question").unwrap().detail;
        assert_eq!(detail.as_deref(), Some("question"));
    }

    #[test]
    fn the_title_turns_or_asks_or_names() {
        let claim = |text: &str| title(text).map(|sign| sign.claim);
        assert_eq!(claim("⠋ project"), Some(Claim::Working));
        assert_eq!(claim("[ . ] Action Required | project"), Some(Claim::Waiting));
        assert_eq!(claim("project"), Some(Claim::Still));
        assert_eq!(claim(""), None);
    }
}
