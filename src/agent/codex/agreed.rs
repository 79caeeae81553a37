//! What was allowed for later. Codex 0.166.0 asks its hook about every patch, and only then looks whether its files were allowed
//! before ("don't ask again for these files"): such a hook is let go, and Codex does as it was told. Commands that were
//! allowed by their beginning reach no hook any more.

use serde_json::Value;

use super::hear::PATCH_TOOL;
use crate::agent::heard::{Asked, Done};

/// What stands before a file's name in a patch.
const NAMING: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// Whether all files of a patch are among those of patches that were allowed for later.
pub fn covers(asked: &Asked, agreed: &[Done]) -> bool {
    let patches = agreed.iter().filter(|done| done.tool == PATCH_TOOL);
    let allowed: Vec<&str> = patches.flat_map(|done| files(&done.input)).collect();
    asked.tool == PATCH_TOOL
        && files(&asked.input).next().is_some()
        && files(&asked.input).all(|file| allowed.contains(&file))
}

fn files(patch: &Value) -> impl Iterator<Item = &str> {
    let lines = patch["command"].as_str().unwrap_or_default().lines();
    lines.filter_map(|line| NAMING.iter().find_map(|naming| line.strip_prefix(naming)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::session::{Prompt, PromptKind};

    fn patch(lines: &[&str]) -> Value {
        let lines = [&["*** Begin Patch"], lines, &["@@", "-a", "+b", "*** End Patch"]].concat();
        json!({"command": lines.join("\n")})
    }

    fn is_covered(tool: &str, input: Value, agreed: &[Value]) -> bool {
        let agreed: Vec<Done> =
            agreed.iter().map(|input| Done { tool: PATCH_TOOL.into(), input: input.clone() }).collect();
        let prompt = Prompt::new(PromptKind::Permission);
        covers(&Asked { prompt, tool: tool.into(), input, is_held: true }, &agreed)
    }

    #[test]
    fn files_that_were_allowed_are_not_asked_about_and_others_are() {
        let (one, two) = (patch(&["*** Update File: /a"]), patch(&["*** Add File: /b", "*** Update File: /c"]));
        assert!(!is_covered(PATCH_TOOL, one.clone(), &[]));
        assert!(is_covered(PATCH_TOOL, one.clone(), std::slice::from_ref(&one)));
        assert!(!is_covered(PATCH_TOOL, two.clone(), std::slice::from_ref(&one)));
        let both = [one.clone(), two];
        assert!(is_covered(PATCH_TOOL, patch(&["*** Delete File: /c", "*** Update File: /a"]), &both));
        assert!(!is_covered(PATCH_TOOL, patch(&["*** Update File: /a", "*** Move to: /d"]), &both));
        assert!(!is_covered("Bash", one.clone(), &both), "a command is no patch");
        assert!(!is_covered(PATCH_TOOL, patch(&[]), &both), "what cannot be read is asked about");
    }
}
