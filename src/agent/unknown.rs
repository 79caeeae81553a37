//! Programs that coop does not know: their state by the operator's patterns, where there are any. They can be typed to
//! and looked at like any other; messages with a witness and answers to dialogs need a driver.

use std::time::Duration;

use tokio::time::Instant;

use super::rules::{Patterns, Sign, Told};
use crate::session::{
    Cause, Declared, ErrorCategory, Item, Life, Picture, Resume, Session, State, StateKind, Tier, Trouble, Wants,
};

/// How long a picture must say anything but working before it counts: a program that redraws shows its prompt in between.
const SETTLES: Duration = Duration::from_millis(300);

/// How much of a row is told with an error.
const DETAIL_CHARS_MAX: usize = 500;

/// Begins to tell the states of a program, through all its restarts.
pub fn watch_patterns(session: Session, patterns: Patterns, idle_grace: Duration) {
    tokio::spawn(async move {
        const WANTS: Wants = Wants { output: false, screen: true, state: true, messages: false };
        let Ok(mut subscription) = session.subscribe_uncounted(WANTS, Resume::default()) else { return };
        let mut due = None;
        loop {
            let item = tokio::select! {
                item = subscription.next() => item,
                () = until(due.as_ref().map(|(at, _)| *at)) => {
                    if let Some((_, seen)) = due.take() {
                        declare(&session, seen).await;
                    }
                    continue;
                }
            };
            let Some(item) = item else { return };
            let Item::Screen(picture) = item else { continue };
            let seen = look(&patterns, &picture);
            if due.as_ref().is_some_and(|(_, waiting)| *waiting == seen) {
                continue;
            }
            let wait = match seen.0.kind() {
                StateKind::Working => Duration::ZERO,
                StateKind::Idle => idle_grace.max(SETTLES),
                _ => SETTLES,
            };
            due = Some((Instant::now() + wait, seen));
        }
    });
}

/// What a picture means, and by which pattern.
fn look(patterns: &Patterns, picture: &Picture) -> (State, String) {
    match patterns.judge(&picture.screen.lines, &picture.cursor_row()) {
        None => (State::Unknown, "no pattern".to_owned()),
        Some(Told { sign, rule, row }) => {
            let state = match sign {
                Sign::Working => State::Working,
                Sign::Idle => State::Idle,
                Sign::Error => State::Error(Trouble {
                    category: ErrorCategory::Other,
                    detail: row.chars().take(DETAIL_CHARS_MAX).collect(),
                    resume_at_epoch_ms: None,
                }),
            };
            (state, rule)
        }
    }
}

async fn declare(session: &Session, (state, rule): (State, String)) {
    let Life::Running { pid } = session.vitals().life else { return };
    let cause = Cause::new(Tier::Screen, format!("screen: {rule}"));
    session.declare(Declared { pid, state, cause, last_message: None, conversation: None }).await;
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
