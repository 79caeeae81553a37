//! What coop promises to people: terminals inside a real tmux and a real GNU screen, and programs that draw.
//!
//! `tests/terminals/run` installs what is needed and runs this.

#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "shared with tests/it, which uses all of it")]
mod support;

mod attach;
mod borrowed_screen;
mod borrowed_tmux;
mod migration;
mod screen;
mod shells;
mod stand_in;
mod tmux;

#[cfg(test)]
mod harness {
    use crate::support::{alive, session_members};
    use crate::tmux::Tmux;

    #[test]
    fn what_a_program_draws_in_tmux_is_seen() {
        let tmux = Tmux::running(40, 10, &["sh", "-c", "printf 'drawn\\n'; cat"]);
        tmux.shows("main", "drawn");
        tmux.does(&["send-keys", "-t", "main", "typed", "Enter"]);
        let rows = tmux.shows_that("main", |rows| rows.iter().filter(|row| *row == "typed").count() == 2);
        assert_eq!(rows.len(), 10);
    }

    #[test]
    fn what_runs_in_tmux_ends_with_the_test_though_it_ignores_the_hang_up() {
        let tmux = Tmux::running(40, 10, &["sh", "-c", "trap '' HUP; sleep 1000 & echo deaf; sleep 1000"]);
        tmux.shows("main", "deaf");
        let leader = tmux.does(&["display-message", "-p", "-t", "main", "#{pane_pid}"]).trim().parse().unwrap();
        assert!(alive(leader));
        drop(tmux);
        assert_eq!(session_members(leader), [].into());
    }
}
