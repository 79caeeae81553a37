//! What stands between the keys and the program of a pane: a mode of tmux's own, or an input that was turned off.

use super::server::Release;

/// Asks for both.
pub const FORMAT: &str = "#{pane_mode}|#{pane_input_off}";

/// The modes that `send-keys -X cancel` ends. In another one an older tmux would take keys for its own: Enter switches
/// sessions there, and `x`, then `y`, kills a pane.
const CANCELLED: [&str; 2] = ["copy-mode", "view-mode"];

/// Takes whoever scrolls or chooses there out of it, so that keys go to the program; it fails where nobody does.
pub fn lift(pane: &str, release: Release) -> String {
    match release >= Release::ENDS_MODES {
        true => format!("copy-mode -q -t {pane}"),
        false => format!("send-keys -t {pane} -X cancel"),
    }
}

/// Why nothing that is typed would reach the program, by tmux's answer, once [`lift`] has done what it can.
pub fn before_keys(answer: &str, release: Release) -> Option<String> {
    let (mode, _) = answer.trim().split_once('|')?;
    let is_lifted = mode.is_empty() || CANCELLED.contains(&mode) || release >= Release::ENDS_MODES;
    let in_mode = || format!("the pane is in tmux's {mode}, which would take the keys for its own: leave it first");
    before_pastes(answer).or_else(|| (!is_lifted).then(in_mode))
}

/// The same for a paste, which no mode sees.
pub fn before_pastes(answer: &str) -> Option<String> {
    let (_, is_off) = answer.trim().split_once('|')?;
    (is_off == "1").then(|| "the pane takes no input: `tmux select-pane -e` lets it take some again".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tmux_cannot_lift_is_told() {
        let (old, new) = (Release::TAKES_BYTES, Release::ENDS_MODES);
        for (answer, release) in
            [("|0", old), ("copy-mode|0", old), ("view-mode|0", old), ("tree-mode|0", new), ("|", old), ("", old)]
        {
            assert_eq!(before_keys(answer, release), None, "{answer} {release:?}");
        }
        assert!(before_keys("tree-mode|0", old).unwrap().contains("tmux's tree-mode"));
        for answer in ["|1\n", "copy-mode|1", "tree-mode|1"] {
            assert!(before_keys(answer, new).unwrap().contains("select-pane -e"), "{answer}");
            assert!(before_pastes(answer).unwrap().contains("select-pane -e"), "{answer}");
        }
        assert_eq!(before_pastes("tree-mode|0"), None);
    }
}
