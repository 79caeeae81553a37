//! The referee's promises: each is one of the rules that others got wrong.

use proptest::prelude::*;

use crate::agent::{Claim, EpochMs, Evidence, Seen, Source, driver, judge};
use crate::config::Agent;
use crate::session::{ErrorCategory, Parked, Prompt, PromptKind, State, StateKind, Trouble};

fn seen(idle_grace_ms: u64) -> Seen {
    let habits = driver::of(Agent::Claude).expect("it has a driver").habits();
    Seen::new(EpochMs(0), idle_grace_ms, *habits)
}

/// A story: evidence at moments, and the state that follows from all of it so far.
struct Story {
    seen: Seen,
    present: State,
}

impl Story {
    fn begin() -> Self {
        Self { seen: seen(0), present: State::Starting }
    }

    fn told(&mut self, at: u64, source: Source, rule: &'static str, claim: Claim) -> &mut Self {
        self.seen.note(Evidence::new(source, rule, claim, EpochMs(at)));
        self
    }

    /// Lets time pass up to this moment, looking again whenever the referee wants to.
    fn at(&mut self, now: u64) -> StateKind {
        let ruling = judge(&self.seen, &self.present, EpochMs(now));
        if let Some(verdict) = ruling.verdict {
            self.seen.is_beginning &= verdict.state.kind() != StateKind::Idle;
            self.present = verdict.state;
        }
        self.present.kind()
    }
}

fn permission() -> Claim {
    Claim::Prompt(Prompt { tool: Some("Bash".into()), ..Prompt::new(PromptKind::Permission) })
}

fn dialog(kind: PromptKind) -> Claim {
    Claim::Prompt(Prompt { options: vec!["Yes".into(), "No".into()], ready: true, ..Prompt::new(kind) })
}

fn trouble() -> Claim {
    Claim::Error(Trouble { category: ErrorCategory::ServerError, detail: "529".into(), resume_at_epoch_ms: None })
}

#[test]
fn where_a_failure_ends_like_any_turn_the_screen_tells_of_it_unless_the_log_would_have() {
    let gemini = driver::of(Agent::Gemini).expect("it has a driver").habits();
    for (log_at, expected) in [(None, StateKind::Error), (Some(50), StateKind::Error), (Some(150), StateKind::Idle)] {
        let mut story = Story { seen: Seen::new(EpochMs(0), 0, *gemini), present: State::Working };
        (story.seen.has_worked, story.seen.is_beginning) = (true, false);
        story.seen.turn_since = Some(EpochMs(100));
        story.seen.log_at = log_at.map(EpochMs);
        story.told(200, Source::Hooks, "AfterAgent", Claim::Idle).told(230, Source::Title, "Ready", Claim::Idle);
        story.seen.banner = Some(Evidence::new(Source::Screen, "unauthorized", trouble(), EpochMs(225)));
        assert_eq!(story.at(2000), expected, "the last line of the log is of {log_at:?}");
    }
}

#[test]
fn a_turn_with_a_permission_is_told_in_order() {
    let mut story = Story::begin();
    assert_eq!(story.told(0, Source::Hooks, "SessionStart", Claim::Idle).at(1), StateKind::Idle);
    assert_eq!(story.told(100, Source::Hooks, "UserPromptSubmit", Claim::Working).at(101), StateKind::Working);
    assert_eq!(story.told(130, Source::Status, "busy", Claim::Working).at(131), StateKind::Working);
    assert_eq!(story.told(200, Source::Hooks, "PermissionRequest", permission()).at(201), StateKind::Prompt);
    // The status file lags: it still speaks of the time before the question.
    assert_eq!(story.told(210, Source::Status, "busy", Claim::Working).at(211), StateKind::Prompt);
    assert_eq!(story.told(240, Source::Status, "waiting", Claim::Waiting).at(241), StateKind::Prompt);
    assert_eq!(story.told(900, Source::Status, "busy", Claim::Working).at(901), StateKind::Working);
    story.told(1000, Source::Hooks, "Stop", Claim::Idle);
    assert_eq!(story.at(1001), StateKind::Working, "it may go on with what it had queued");
    assert_eq!(story.told(1100, Source::Status, "idle", Claim::Idle).at(1200), StateKind::Idle);
}

#[test]
fn what_no_hook_tells_the_status_file_does() {
    for start in [Claim::Working, permission()] {
        let mut story = Story::begin();
        story.told(100, Source::Hooks, "x", start).told(150, Source::Status, "waiting", Claim::Waiting);
        story.told(500, Source::Status, "idle", Claim::Idle);
        assert_eq!(story.at(1100), StateKind::Idle, "Esc and denials fire no hook");
    }
}

#[test]
fn a_queued_message_makes_no_flash_of_idle() {
    let mut story = Story::begin();
    story.told(100, Source::Hooks, "UserPromptSubmit", Claim::Working).at(101);
    story.seen.queued = 1;
    story.told(900, Source::Hooks, "Stop", Claim::Idle).told(950, Source::Status, "idle", Claim::Idle);
    assert_eq!(story.at(960), StateKind::Working);
    story.told(966, Source::Status, "busy", Claim::Working);
    assert_eq!(story.told(980, Source::Hooks, "UserPromptSubmit", Claim::Working).at(981), StateKind::Working);
}

#[test]
fn a_plan_that_is_about_to_be_carried_out_makes_no_flash_of_idle() {
    let codex = driver::of(Agent::Codex).expect("it has a driver").habits();
    for (kind, follows) in [(PromptKind::Plan, StateKind::Prompt), (PromptKind::Setup, StateKind::Idle)] {
        let mut story = Story { seen: Seen::new(EpochMs(0), 0, *codex), present: State::Working };
        story.seen.is_beginning = false;
        story.told(100, Source::Hooks, "Stop", Claim::Idle).told(110, Source::Signal, "idle", Claim::Idle);
        let look = |claim, at| Some(Evidence::new(Source::Screen, "drawn", claim, EpochMs(at)));
        story.seen.look(look(dialog(kind), 200), EpochMs(200));
        assert_eq!(story.at(9000), StateKind::Prompt);
        story.seen.look(look(Claim::Idle, 9100), EpochMs(9100));
        assert_eq!(story.at(9500), follows, "{kind:?}: the next turn begins a moment after its dialog has gone");
        assert_eq!(story.at(11_000), StateKind::Idle, "{kind:?}: it was turned down");
    }
}

#[test]
fn a_question_is_not_told_before_its_dialog_because_a_frame_was_half_drawn() {
    let gemini = driver::of(Agent::Gemini).expect("it has a driver").habits();
    let mut story = Story { seen: Seen::new(EpochMs(0), 0, *gemini), present: State::Working };
    story.told(100, Source::Title, "Working", Claim::Working).told(100, Source::Screen, "working", Claim::Working);
    story.seen.look(None, EpochMs(190));
    // Another may be asked in the same moment, and be the one that is drawn.
    assert_eq!(story.told(200, Source::Hooks, "Notification", permission()).at(205), StateKind::Working);
    let drawn = Evidence::new(Source::Screen, "shell", dialog(PromptKind::Permission), EpochMs(700));
    story.seen.look(Some(drawn), EpochMs(700));
    assert_eq!(story.at(701), StateKind::Prompt);
}

#[test]
fn an_error_stays_until_the_next_turn() {
    let mut story = Story::begin();
    story.told(100, Source::Hooks, "StopFailure", trouble()).told(130, Source::Status, "idle", Claim::Idle);
    story.told(140, Source::Log, "turn_duration", Claim::Idle).told(150, Source::Screen, "input box", Claim::Idle);
    assert_eq!(story.at(60_000), StateKind::Error);
    assert_eq!(story.told(61_000, Source::Hooks, "UserPromptSubmit", Claim::Working).at(61_001), StateKind::Working);
    story.told(62_000, Source::Hooks, "Stop", Claim::Idle).told(62_100, Source::Status, "idle", Claim::Idle);
    assert_eq!(story.at(62_300), StateKind::Idle, "the error does not come back");
}

#[test]
fn a_turn_that_fails_at_once_is_not_taken_for_one_that_runs() {
    let mut story = Story::begin();
    story.told(100, Source::Hooks, "UserPromptSubmit", Claim::Working);
    story.told(150, Source::Hooks, "StopFailure", trouble()).told(180, Source::Status, "busy", Claim::Working);
    story.told(190, Source::Title, "sign", Claim::Working).told(190, Source::Screen, "working", Claim::Working);
    assert_eq!(story.at(200), StateKind::Error);
    story.told(230, Source::Status, "idle", Claim::Idle).told(300, Source::Screen, "input box", Claim::Idle);
    assert_eq!(story.at(9000), StateKind::Error);
}

#[test]
fn an_input_box_alone_does_not_mean_that_anybody_reads() {
    let mut story = Story::begin();
    story.seen.expects_hooks = true;
    assert_eq!(story.told(100, Source::Screen, "input box", Claim::Idle).at(1500), StateKind::Starting);
    assert_eq!(story.told(1600, Source::Hooks, "SessionStart", Claim::Idle).at(1601), StateKind::Idle);
}

#[test]
fn a_limit_ends_when_its_time_has_come() {
    let mut story = Story::begin();
    let parked =
        Parked { reason: "session limit".into(), resume_at_epoch_ms: Some(5000), category: ErrorCategory::RateLimited };
    assert_eq!(story.told(100, Source::Hooks, "StopFailure", Claim::Parked(parked)).at(4999), StateKind::Parked);
    assert_eq!(story.at(5000), StateKind::Idle);
}

#[test]
fn a_dialog_that_nobody_speaks_of_is_seen_on_the_screen() {
    let mut story = Story::begin();
    story.told(10, Source::Screen, "trust", dialog(PromptKind::Permission));
    assert_eq!(story.at(20), StateKind::Starting, "a frame may be half drawn");
    assert_eq!(story.at(80), StateKind::Prompt);
    let mut story = Story::begin();
    story.told(10, Source::Status, "idle", Claim::Idle).at(300);
    story.told(400, Source::Screen, "rate_limit_options", dialog(PromptKind::Setup));
    assert_eq!(story.at(470), StateKind::Prompt);
}

#[test]
fn a_dialog_that_was_answered_does_not_come_back_while_the_screen_is_repainted() {
    let mut story = Story::begin();
    story.told(100, Source::Hooks, "PermissionRequest", permission());
    story.told(160, Source::Screen, "permission", dialog(PromptKind::Permission)).at(300);
    story.told(500, Source::Hooks, "PostToolUse", Claim::Working);
    for now in [501, 600, 760] {
        assert_eq!(story.at(now), StateKind::Working, "at {now}");
    }
}

#[test]
fn the_screen_adds_the_options_to_what_the_hook_asked() {
    let mut story = Story::begin();
    story.told(100, Source::Hooks, "PermissionRequest", permission()).at(101);
    assert!(story.present.prompt().is_some_and(|prompt| prompt.options.is_empty() && !prompt.ready));
    story.told(160, Source::Screen, "permission", dialog(PromptKind::Permission)).at(161);
    let prompt = story.present.prompt().expect("a prompt");
    assert_eq!((prompt.options.len(), prompt.ready, prompt.tool.as_deref()), (2, true, Some("Bash")));
}

#[test]
fn a_plan_is_not_overwritten_by_the_plain_permission_that_the_screen_shows() {
    let mut story = Story::begin();
    story.told(100, Source::Hooks, "PermissionRequest", Claim::Prompt(Prompt::new(PromptKind::Plan)));
    story.told(120, Source::Screen, "permission", dialog(PromptKind::Permission));
    assert_eq!(story.at(500), StateKind::Prompt);
    assert_eq!(story.present.prompt().map(|prompt| prompt.kind), Some(PromptKind::Plan));
}

#[test]
fn without_hooks_and_status_the_screen_ends_what_has_been_contradicted_for_long() {
    let mut story = Story::begin();
    story.told(100, Source::Hooks, "UserPromptSubmit", Claim::Working);
    story.told(500, Source::Screen, "input box", Claim::Idle);
    assert_eq!(story.at(1500), StateKind::Working);
    assert_eq!(story.at(3500), StateKind::Idle, "an early Esc leaves no other trace");
}

#[test]
fn a_status_file_is_not_contradicted_by_a_placeholder_on_the_screen() {
    let mut story = Story::begin();
    story.told(100, Source::Status, "busy", Claim::Working).told(500, Source::Screen, "input box", Claim::Idle);
    assert_eq!(story.at(60_000), StateKind::Working);
}

#[test]
fn retries_are_a_wait() {
    let mut story = Story::begin();
    story.told(100, Source::Hooks, "UserPromptSubmit", Claim::Working).told(
        110,
        Source::Status,
        "busy",
        Claim::Working,
    );
    let wait = Parked { reason: "attempt 5".into(), resume_at_epoch_ms: None, category: ErrorCategory::ServerError };
    assert_eq!(story.told(900, Source::Screen, "retrying", Claim::Parked(wait)).at(901), StateKind::Parked);
    assert_eq!(story.told(2000, Source::Screen, "working", Claim::Working).at(2001), StateKind::Working);
}

#[test]
fn an_agent_of_which_nothing_is_recognised_is_unknown_in_the_end() {
    let mut story = Story::begin();
    assert_eq!(story.at(1000), StateKind::Starting);
    assert_eq!(story.at(60_000), StateKind::Unknown);
    assert_eq!(story.told(61_000, Source::Hooks, "SessionStart", Claim::Idle).at(61_001), StateKind::Idle);
}

#[test]
fn an_idle_agent_is_called_idle_after_the_grace() {
    let mut story = Story { seen: seen(3000), present: State::Working };
    story.told(100, Source::Status, "idle", Claim::Idle);
    assert_eq!(story.at(3000), StateKind::Working);
    assert_eq!(story.at(3100), StateKind::Idle);
}

fn any_claim() -> impl Strategy<Value = Claim> {
    prop_oneof![
        Just(Claim::Working),
        Just(Claim::Idle),
        Just(Claim::Still),
        Just(Claim::Waiting),
        Just(permission()),
        Just(trouble()),
        Just(limit()),
    ]
}

fn limit() -> Claim {
    let (reason, category) = ("limit".into(), ErrorCategory::RateLimited);
    Claim::Parked(Parked { reason, resume_at_epoch_ms: None, category })
}

fn any_source() -> impl Strategy<Value = Source> {
    prop_oneof![
        Just(Source::Hooks),
        Just(Source::Status),
        Just(Source::Log),
        Just(Source::Title),
        Just(Source::Signal),
        Just(Source::Screen),
    ]
}

proptest! {
    #[test]
    fn nothing_leads_out_of_exited(said in prop::collection::vec((any_source(), any_claim(), 0..5000u64), 0..30)) {
        let mut story = Story { seen: seen(0), present: State::Exited };
        for (source, claim, at) in said {
            story.told(at, source, "x", claim);
            prop_assert_eq!(story.at(at), StateKind::Exited);
        }
    }

    #[test]
    fn nothing_latches(said in prop::collection::vec((any_source(), any_claim(), 0..5000u64), 0..30)) {
        let mut story = Story::begin();
        for (source, claim, at) in said {
            story.told(at, source, "x", claim);
            story.at(at);
        }
        // A turn begins and ends, as everybody can see.
        story.told(6000, Source::Hooks, "UserPromptSubmit", Claim::Working);
        story.told(6010, Source::Status, "busy", Claim::Working).told(6010, Source::Screen, "working", Claim::Working);
        prop_assert_eq!(story.at(7000), StateKind::Working);
        story.told(8000, Source::Hooks, "Stop", Claim::Idle).told(8010, Source::Status, "idle", Claim::Idle);
        story.told(8020, Source::Screen, "input box", Claim::Idle);
        prop_assert_eq!(story.at(11_000), StateKind::Idle);
    }
}

/// Who tells of a turn, beside the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Teller {
    Hooks,
    Arbiter,
    Both,
}

fn any_agent() -> impl Strategy<Value = Agent> {
    prop_oneof![Just(Agent::Claude), Just(Agent::Codex), Just(Agent::Gemini)]
}

fn any_teller() -> impl Strategy<Value = Teller> {
    prop_oneof![Just(Teller::Hooks), Just(Teller::Arbiter), Just(Teller::Both)]
}

proptest! {
    #[test]
    fn nothing_latches_in_any_agent_whoever_tells(
        agent in any_agent(),
        teller in any_teller(),
        said in prop::collection::vec((any_source(), any_claim(), 0..5000u64), 0..30),
    ) {
        let habits = *driver::of(agent).expect("it has a driver").habits();
        let mut story = Story { seen: Seen::new(EpochMs(0), 0, habits), present: State::Starting };
        for (source, claim, at) in said {
            story.told(at, source, "x", claim);
            story.at(at);
        }
        for (at, screen, rule, claim) in
            [(10_000, "working", "begins", Claim::Working), (20_000, "input box", habits.stop_event, Claim::Idle)]
        {
            if teller != Teller::Arbiter {
                story.told(at, Source::Hooks, rule, claim.clone());
            }
            if teller != Teller::Hooks {
                story.told(at + 10, habits.arbiter, "arbiter", claim.clone());
            }
            story.told(at + 20, Source::Screen, screen, claim.clone());
            prop_assert_eq!(story.at(at + 5000), claim.kind(), "{:?}", agent);
        }
    }
}

/// An agent whose arbiter is its title, whose hooks tell when it is ready, and whose turns all end alike.
fn story_by_title() -> Story {
    let habits = driver::of(Agent::Gemini).expect("it has a driver").habits();
    let mut story = Story { seen: Seen::new(EpochMs(0), 0, *habits), present: State::Starting };
    story.seen.expects_hooks = true;
    story
}

#[test]
fn the_end_of_a_turn_that_failed_does_not_end_its_error() {
    let mut story = story_by_title();
    story.told(100, Source::Screen, "input box", Claim::Idle);
    story.told(200, Source::Hooks, "BeforeAgent", Claim::Working).at(201);
    story.told(300, Source::Log, "error", trouble()).told(350, Source::Hooks, "AfterAgent", Claim::Idle);
    assert_eq!(story.at(360), StateKind::Error);
    assert_eq!(story.told(400, Source::Title, "Ready", Claim::Idle).at(5000), StateKind::Error);
    assert_eq!(story.told(6000, Source::Hooks, "BeforeAgent", Claim::Working).at(6001), StateKind::Working);
    assert_eq!(story.told(7000, Source::Hooks, "AfterAgent", Claim::Idle).at(9000), StateKind::Idle);
}

#[test]
fn a_title_that_is_drawn_after_the_failure_was_logged_does_not_end_it() {
    let mut story = story_by_title();
    story.told(100, Source::Hooks, "BeforeAgent", Claim::Working).told(155, Source::Log, "error", trouble());
    story.told(158, Source::Title, "Working", Claim::Working);
    assert_eq!(story.at(160), StateKind::Error);
    story.told(174, Source::Hooks, "AfterAgent", Claim::Idle).told(230, Source::Title, "Ready", Claim::Idle);
    assert_eq!(story.at(5000), StateKind::Error);
}

#[test]
fn an_agent_that_tells_when_it_is_ready_is_waited_for_only_once() {
    let mut story = story_by_title();
    story.told(100, Source::Title, "Ready", Claim::Idle).told(100, Source::Screen, "input box", Claim::Idle);
    assert_eq!(story.at(5000), StateKind::Starting, "its hooks may still speak");
    assert_eq!(story.at(20_000), StateKind::Idle, "they do not, for whatever reason");
    story.told(21_000, Source::Title, "Working", Claim::Working).told(21_000, Source::Screen, "w", Claim::Working);
    assert_eq!(story.at(21_001), StateKind::Working);
    story.told(23_000, Source::Title, "Ready", Claim::Idle).told(23_000, Source::Screen, "input box", Claim::Idle);
    assert_eq!(story.at(23_500), StateKind::Idle, "and are not waited for again");
}

#[test]
fn a_queue_on_the_screen_makes_no_flash_of_idle() {
    let mut story = story_by_title();
    story.told(100, Source::Hooks, "BeforeAgent", Claim::Working).at(101);
    story.seen.shows_queue = true;
    story.told(900, Source::Hooks, "AfterAgent", Claim::Idle).told(950, Source::Title, "Ready", Claim::Idle);
    assert_eq!(story.at(2000), StateKind::Working);
    assert_eq!(story.told(2300, Source::Hooks, "BeforeAgent", Claim::Working).at(2301), StateKind::Working);
}

#[test]
fn a_conversation_that_begins_behind_a_dialog_does_not_end_it_and_counts_no_more_after_a_restart() {
    let mut story = story_by_title();
    story.told(100, Source::Title, "Ready", Claim::Idle).told(200, Source::Screen, "trust", dialog(PromptKind::Setup));
    assert_eq!(story.at(300), StateKind::Prompt);
    assert_eq!(story.told(400, Source::Hooks, "SessionStart", Claim::Idle).at(401), StateKind::Prompt);
    story.seen.begin_again();
    story.told(900, Source::Screen, "restarting", Claim::Working).told(900, Source::Title, "Ready", Claim::Idle);
    assert_eq!(story.at(1000), StateKind::Working);
    story.told(5000, Source::Screen, "input box", Claim::Idle);
    assert_eq!(story.at(7000), StateKind::Working, "it draws its box before it reads");
    assert_eq!(story.told(7100, Source::Hooks, "SessionStart", Claim::Idle).at(7101), StateKind::Idle);
}

#[test]
fn a_dialog_of_the_start_that_was_answered_is_not_told_again_because_the_conversation_begins() {
    let mut story = Story::begin();
    story.told(100, Source::Screen, "API key", dialog(PromptKind::Setup));
    assert_eq!(story.at(200), StateKind::Prompt);
    assert_eq!(story.told(1000, Source::Status, "idle", Claim::Idle).at(1090), StateKind::Idle);
    story.told(1100, Source::Hooks, "SessionStart", Claim::Idle);
    assert_eq!(story.at(1200), StateKind::Idle, "the screen is only not repainted yet");
    assert_eq!(story.at(1800), StateKind::Prompt, "it was not answered after all");
}

#[test]
fn an_agent_that_says_that_it_is_ready_before_it_has_drawn_its_box_is_not() {
    let mut story = story_by_title();
    story.told(100, Source::Hooks, "SessionStart", Claim::Idle);
    assert_eq!(story.at(3000), StateKind::Starting);
    assert_eq!(story.told(3100, Source::Screen, "input box", Claim::Idle).at(3101), StateKind::Starting);
    assert_eq!(story.at(3900), StateKind::Idle, "the box has come to stay");
    let mut unseen = story_by_title();
    unseen.told(100, Source::Hooks, "SessionStart", Claim::Idle);
    assert_eq!(unseen.at(20_000), StateKind::Idle, "the box may not be known to anybody");
}

#[test]
fn a_failure_that_is_told_late_is_not_idle_before() {
    let trouble = Trouble { category: ErrorCategory::Other, detail: "too long".into(), resume_at_epoch_ms: None };
    let mut story = Story::begin();
    story.told(1000, Source::Hooks, "UserPromptSubmit", Claim::Working);
    assert_eq!(story.at(1000), StateKind::Working);
    story.told(1500, Source::Status, "idle", Claim::Idle);
    assert_eq!(story.at(1800), StateKind::Working, "nobody has said how it ended");
    story.told(1850, Source::Hooks, "StopFailure", Claim::Error(trouble));
    assert_eq!(story.at(1850), StateKind::Error);
}

#[test]
fn what_failed_is_told_once_with_its_kind_and_not_first_without() {
    let habits = driver::of(Agent::Codex).expect("it has a driver").habits();
    let some_failure = Trouble { category: ErrorCategory::Other, detail: String::new(), resume_at_epoch_ms: None };
    for (logged, state) in [(true, StateKind::Parked), (false, StateKind::Error)] {
        let mut story = Story { seen: Seen::new(EpochMs(0), 0, *habits), present: State::Idle };
        assert_eq!(story.told(1000, Source::Signal, "working", Claim::Working).at(2000), StateKind::Working);
        story.told(2000, Source::Signal, "error", Claim::Error(some_failure.clone()));
        assert_eq!(story.at(2100), StateKind::Working, "the log is about to say what failed");
        if logged {
            story.told(1999, Source::Log, "task_complete", limit());
        }
        assert_eq!(story.at(2700), state, "{logged}");
    }
}

#[test]
fn an_interruption_is_idle_as_soon_as_two_say_so_and_soon_after_one_does() {
    for (logged, idle_at) in [(true, 1600), (false, 2150)] {
        let mut story = Story::begin();
        story.told(1000, Source::Hooks, "UserPromptSubmit", Claim::Working);
        assert_eq!(story.at(1000), StateKind::Working);
        story.told(1500, Source::Status, "idle", Claim::Idle);
        if logged {
            story.told(1500, Source::Log, "interrupted", Claim::Idle);
        }
        assert_eq!(story.at(idle_at), StateKind::Idle, "{logged}");
    }
}
