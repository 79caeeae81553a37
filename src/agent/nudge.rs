//! How a message reaches an agent: into an empty input box, seen there, sent by a key of its own, and witnessed.
//!
//! What differs between agents is in their [`Typing`], what a look at the box tells in [`input_box`](super::input_box).

use std::borrow::Cow;
use std::time::{Duration, Instant};

use super::asks::Ask;
use super::complaints::Complaints;
use super::driver::Driver;
use super::evidence::EpochMs;
use super::handle::Agent;
use super::input_box::{has_box, is_empty, is_opening, may_enter, shows};
use super::look::Look;
use super::press::NOBODY_READS;
use super::steps::{Effect, Hands, NOT_SEEN, READ_WITHIN, TURN_WITHIN_MIN, seen_within};
use super::talk::{AGENT_BUSY, Failure, NO_INPUT_BOX, Nudge, Nudged, WRITER_BUSY, reason};
use super::typing::{PASTE_BEGINS, PASTE_ENDS, Typing};
use super::view::View;
use crate::session::{Expect, InputKind, Phase, StateKind, Style, Ticket, Turn, TurnId};

/// How often the box is cleared before it is given up.
const CLEARINGS_MAX: usize = 8;

/// How long the box may take to show what was done to it; 5 KB took up to 1.1 s. Nothing more is written before: what
/// the agent reads in one piece it takes for one paste, and keys within become letters of the message.
const SHOWN_WITHIN: Duration = READ_WITHIN;

/// How long the box itself may be out of sight: half drawn, not covered. Others wait with their keys meanwhile.
const BOX_WITHIN: Duration = Duration::from_secs(5);

/// How long an Enter that was read may take before it is sent again, if the message still stands in the box.
const ENTER_WITHIN: Duration = Duration::from_secs(4);

const ENTERS_MAX: usize = 3;

/// How long a witness is waited for before the receipt says that there was none; it may still come later.
const WITNESS_WITHIN: Duration = Duration::from_secs(10);

/// How long the log may take to show a message, where hooks do not speak: 480 ms were measured.
const LOG_WITHIN: Duration = Duration::from_millis(1500);

/// How long the state may take to follow whoever saw the message taken: of a borrowed agent the log tells both, line by line.
/// Callers that read `idle` with `delivered` would take the turn for over.
const STATE_WITHIN: Duration = Duration::from_millis(500);

/// Why nothing was sent, though something was typed: Enter would have chosen something.
const DIALOG_OPENED: &str = "a dialog opened";

/// Why a command was not taken.
const UNKNOWN_COMMAND: &str = "unknown command";

/// How long the agent may take to say that it does not know a command.
const COMMAND_WITHIN: Duration = Duration::from_millis(800);

/// Looks at the agent, one after the other.
type Views = tokio::sync::watch::Receiver<std::sync::Arc<View>>;

/// What is waited for.
const ACCEPTED: Phase = Phase::Accepted { witness: Cow::Borrowed("") };

/// Gives a message to the agent. The caller is answered in time; the delivery itself is finished in any case.
pub async fn nudge(agent: &Agent, nudge: Nudge) -> Result<Nudged, Failure> {
    let text = deliverable(agent.driver(), &nudge.message, nudge.command)?;
    let typing = agent.driver().typing();
    let busy_key = busy_key(agent.driver().name(), typing, &nudge)?;
    let began = Instant::now();
    let refused = |before: StateKind, reason: &'static str| Nudged {
        delivered: false,
        before,
        reason: Some(reason.into()),
        receipt: None,
    };
    let view = agent.view_as_told().await;
    if let Some(reason) = obstacle(&view, busy_key.is_some()) {
        return Ok(refused(view.state.kind(), reason));
    }
    let turn = agent.session().begin_turn(InputKind::Nudge, nudge.writer, nudge.expect, nudge.command);
    let Ok(turn) = tokio::time::timeout(nudge.timeout.max(TURN_WITHIN_MIN), turn).await else {
        return Ok(refused(view.state.kind(), WRITER_BUSY));
    };
    let mut turn = turn?;
    let Some(mut ticket) = turn.take_ticket() else { return Ok(refused(view.state.kind(), AGENT_BUSY)) };
    // Whoever had its turn before may have set the agent to work.
    let view = agent.view();
    let (before, since) = (view.state.kind(), agent.session().vitals().state_since);
    if let Some(reason) = obstacle(&view, busy_key.is_some()) {
        agent.session().progress(turn.id, Phase::Refused { why: reason.into() }).await;
        return Ok(refused(before, reason));
    }
    let busy_key = busy_key.filter(|_| is_busy(&view));
    let (key, queues) = (busy_key.unwrap_or(typing.send), busy_key.is_some());
    let delivery = Delivery { agent: agent.clone(), typing, id: turn.id, text, is_command: nudge.command, key, queues };
    tokio::spawn(delivery.run(turn, ticket.clone()));
    let left = nudge.timeout.saturating_sub(began.elapsed());
    let receipt = ticket.judged_within(left).await;
    let reason = reason(&receipt.phase);
    if reason.is_none() && !nudge.command && agent.session().vitals().state_since == since {
        let left = nudge.timeout.saturating_sub(began.elapsed()).min(STATE_WITHIN);
        let _ = seen_within(&mut agent.views(), left, |view| view.state.kind() != before).await;
    }
    Ok(Nudged { delivered: reason.is_none(), before, reason, receipt: Some(receipt) })
}

/// The key by which an agent at work may be given the message; none, if it shall be left alone.
fn busy_key(agent: &str, typing: &Typing, nudge: &Nudge) -> Result<Option<&'static str>, Failure> {
    match (nudge.queue, nudge.steer) {
        (true, true) => {
            Err(Failure::Bad("queue and steer: a message goes in now or later, give one of them".to_owned()))
        }
        (true, false) => Ok(Some(typing.queue)),
        (false, false) => Ok(None),
        (false, true) => typing.steer.map(Some).ok_or_else(|| {
            Failure::Bad(format!(
                "steer: {agent} takes no message into what it is doing; queue:true gives it one for later"
            ))
        }),
    }
}

/// Why the agent takes no message now, if it may be given one at work or not.
fn obstacle(view: &View, also_at_work: bool) -> Option<&'static str> {
    if !is_ready(view, also_at_work) {
        return Some(AGENT_BUSY);
    }
    // Whoever opened that view closes it; to wait for them would keep their keys back.
    view.look.covered.is_some().then_some(NO_INPUT_BOX)
}

fn is_ready(view: &View, also_at_work: bool) -> bool {
    let may_take = matches!(view.state.kind(), StateKind::Idle | StateKind::Error | StateKind::Parked);
    if is_busy(view) { also_at_work } else { may_take }
}

/// Whether the agent would keep a message for later. While it retries a request it is as busy as while it works.
fn is_busy(view: &View) -> bool {
    let waits = view.look.retrying.is_some() || view.look.stalled.is_some();
    view.state.kind() == StateKind::Working || view.state.kind() == StateKind::Parked && waits
}

/// The message as it is typed.
fn deliverable(driver: &dyn Driver, message: &str, is_command: bool) -> Result<String, Failure> {
    // Escape would end the paste; other control characters are keys.
    let lines = message.replace("\r\n", "\n").replace('\r', "\n");
    let text: String = lines.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    let text = text.trim_matches(['\n', '\t', ' ']);
    if text.is_empty() {
        return Err(Failure::Bad("message: there is nothing in it that could be sent".to_owned()));
    }
    driver.guarded(text, is_command)
}

/// One message on its way.
struct Delivery {
    agent: Agent,
    typing: &'static Typing,
    id: TurnId,
    text: String,
    is_command: bool,
    /// Hands it to the agent.
    key: &'static str,
    /// The agent works, and will keep the message until it can take it.
    queues: bool,
}

impl Delivery {
    async fn run(self, turn: Turn, receipt: Ticket) {
        let hands = Hands::new(&self.agent, turn);
        let Err(why) = self.type_in(hands, receipt).await else { return };
        let stays = why == DIALOG_OPENED || why == NOT_SEEN;
        self.agent.tell(Ask::Forget { turn: self.id }).await;
        self.agent.session().progress(self.id, Phase::Refused { why }).await;
        if stays {
            self.take_back().await;
        }
    }

    /// Behind a dialog that opened, what was typed cannot be taken away; once that is gone it must not stay for somebody's
    /// next Enter.
    async fn take_back(&self) {
        let mut views = self.agent.views();
        let Ok(view) = views.wait_for(|view| has_box(view) || view.pid.is_none()).await.map(|view| view.clone()) else {
            return;
        };
        if !self.shows(&view) {
            return;
        }
        let session = self.agent.session();
        let Ok(turn) = session.begin_turn(InputKind::Groom, None, Expect::default(), false).await else { return };
        let id = turn.id;
        let mut hands = Hands::new(&self.agent, turn);
        // Whoever had its turn before may have sent the very same words, or taken them away.
        let phase = match hands.view_of_now().await.map(|view| self.shows(&view)) {
            Ok(true) => self.clear(&mut hands).await.map(|()| Phase::Accepted { witness: "screen".into() }),
            Ok(false) => Err("it is gone already".into()),
            Err(why) => Err(why.into()),
        };
        session.progress(id, phase.unwrap_or_else(|why| Phase::Refused { why })).await;
    }

    async fn type_in(&self, mut hands: Hands, receipt: Ticket) -> Result<(), Cow<'static, str>> {
        let exited = |_| Cow::from("exited");
        let is_settled = |view: &View| has_box(view) || view.look.covered.is_some();
        hands.until(BOX_WITHIN, is_settled).await.filter(|view| has_box(view)).ok_or(NO_INPUT_BOX)?;
        if !hands.all_read().await {
            return Err(NOBODY_READS.into());
        }
        self.clear(&mut hands).await?;
        let (text, turn, queues) = (self.text.clone(), self.id, self.queues);
        self.agent.ask(|reply| Ask::Expect { text, turn, queues, reply }).await.map_err(|_| "exited")?;
        self.paste(&mut hands).await?;
        for enters in 0..ENTERS_MAX {
            tokio::time::sleep(self.typing.settles).await;
            let view = match hands.view_of_now().await {
                Ok(view) => view,
                Err(why) if enters == 0 => return Err(why.into()),
                // It may have been taken.
                Err(_) => return self.is_unsure().await,
            };
            if !may_enter(&view) || is_opening(&view, EpochMs::now()) {
                let opened = Err(DIALOG_OPENED.into());
                // It may have opened because the message was taken.
                return if enters == 0 { opened } else { self.is_unsure().await };
            }
            let before = self.complaints().await;
            hands.write(self.key).await.map_err(exited)?;
            self.agent.session().progress(self.id, Phase::Written).await;
            let effect = tokio::select! {
                // Some agents leave what they do not know in the box, where it shall not stay.
                () = self.is_unknown(before) => {
                    self.clear(&mut hands).await?;
                    return Err(UNKNOWN_COMMAND.into());
                }
                effect = hands.effect(ENTER_WITHIN, |view| self.has_left(view)) => effect,
            };
            if matches!(effect, Effect::Unread) {
                return self.is_unsure().await;
            }
            if matches!(effect, Effect::Seen(_)) || !self.shows(&hands.view()) {
                self.wait_for_witness(hands, receipt, before).await;
                return Ok(());
            }
            // Claude Code 2.1.197 may take a message that was to be queued when a turn ends in that moment, and leave it in its
            // box as well: another Enter would send it once more.
            if receipt.now().phase.reaches(&ACCEPTED) {
                return self.clear(&mut hands).await.or(Ok(()));
            }
        }
        // Keys are read in their order: once the box is seen to be cleared, no Enter is to come.
        match self.clear(&mut hands).await {
            Ok(()) => Err("enter had no effect".into()),
            Err(_) => self.is_unsure().await,
        }
    }

    /// What was sent may still be taken, and a witness still come.
    async fn is_unsure(&self) -> Result<(), Cow<'static, str>> {
        self.agent.tell(Ask::Doubt { turn: self.id }).await;
        self.agent.session().progress(self.id, Phase::Unconfirmed).await;
        Ok(())
    }

    /// Puts the message into the box and sees it there; only once, because what is not shown may still come.
    async fn paste(&self, hands: &mut Hands) -> Result<(), Cow<'static, str>> {
        hands.write(format!("{PASTE_BEGINS}{}{PASTE_ENDS}", self.text)).await.map_err(|_| "exited")?;
        if hands.until(SHOWN_WITHIN, |view| self.shows(view)).await.is_some() {
            return Ok(());
        }
        // It must not stay there for the next message to be added to.
        self.clear(hands).await?;
        Err("the input box does not show it".into())
    }

    /// The message has left the box: who saw the agent take it?
    async fn wait_for_witness(&self, hands: Hands, mut receipt: Ticket, before: Complaints) {
        let session = self.agent.session();
        if self.queues {
            return session.progress(self.id, Phase::Echoed).await;
        }
        let mut views = hands.let_go();
        if self.is_command {
            let phase = self.look_for_command(&mut views, before).await;
            // Nobody tells of it as of a message; one with the same words would lose its witness to it.
            self.agent.tell(Ask::Forget { turn: self.id }).await;
            return session.progress(self.id, phase).await;
        }
        let (hooks_speak, log_speaks) = {
            let view = views.borrow();
            (view.hooks_speak, view.log_speaks)
        };
        // Without hooks and log, the screen is the only witness.
        let patience = if hooks_speak { WITNESS_WITHIN } else { LOG_WITHIN };
        let others_see = tokio::time::timeout(patience, receipt.reached(&ACCEPTED));
        // A short turn is over before the others have had their time.
        let (others_saw, worked) = tokio::join!(others_see, went_to_work(&mut views));
        if others_saw.is_ok() {
            return;
        }
        if worked && !hooks_speak && !log_speaks {
            return session.progress(self.id, Phase::Accepted { witness: "screen".into() }).await;
        }
        let _ = self.is_unsure().await;
    }

    /// A command is nobody's message: that the box let it go is all there is to see, unless the agent does not know it.
    async fn look_for_command(&self, views: &mut Views, before: Complaints) -> Phase {
        tokio::select! {
            () = self.is_unknown(before) => Phase::Refused { why: UNKNOWN_COMMAND.into() },
            _ = seen_within(views, COMMAND_WITHIN, |view| view.state.kind() == StateKind::Working) => {
                Phase::Accepted { witness: "screen".into() }
            }
        }
    }

    /// Waits until the agent says that it does not know this command; for ever, when it is a message.
    async fn is_unknown(&self, before: Complaints) {
        if !self.is_command {
            return std::future::pending().await;
        }
        let mut views = self.agent.views();
        while !self.complaints().await.are_newer_than(before) {
            if views.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    /// What the screen shows of commands with this name that the agent did not know.
    async fn complaints(&self) -> Complaints {
        if !self.is_command {
            return Complaints::default();
        }
        let name = self.text.split_whitespace().next().unwrap_or_default();
        let Ok(picture) = self.agent.session().picture(Style::Text).await else { return Complaints::default() };
        Complaints::read(&picture.screen.lines, &(self.typing.unknown_command)(name))
    }

    /// Whether the message is seen to have left the box: a frame in which there is none may be half drawn.
    fn has_left(&self, view: &View) -> bool {
        let Look { input_box, dialog, covered, .. } = &view.look;
        !self.shows(view) && (input_box.is_some() || dialog.is_some() || covered.is_some()) || view.pid.is_none()
    }

    /// Whether the box holds the message.
    fn shows(&self, view: &View) -> bool {
        shows(view, &self.text, self.typing.pasted)
    }

    /// Empties the input box of whatever stands in it.
    async fn clear(&self, hands: &mut Hands) -> Result<(), Cow<'static, str>> {
        for _ in 0..CLEARINGS_MAX {
            let view = hands.view_of_now().await?;
            if !may_enter(&view) {
                return Err(DIALOG_OPENED.into());
            }
            if is_empty(&view) {
                return Ok(());
            }
            let is_bare_shell =
                view.look.input_box.as_ref().is_some_and(|input| input.is_shell && input.text.is_empty());
            let leave = self.typing.leave_shell.filter(|_| is_bare_shell);
            hands.write(leave.map_or(self.typing.clear, str::as_bytes)).await.map_err(|_| "exited")?;
            // One may not be enough for many lines. The next goes out when this one is seen to have done something.
            let before = view.look.input_box.clone();
            hands.until(SHOWN_WITHIN, |view| view.look.input_box != before).await.ok_or(NOBODY_READS)?;
        }
        Err("the input box could not be cleared".into())
    }
}

async fn went_to_work(views: &mut Views) -> bool {
    seen_within(views, LOG_WITHIN, |view| view.look.working || view.state.kind() == StateKind::Working).await.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::driver;
    use crate::agent::look::Retry;
    use crate::config;
    use crate::session::{ErrorCategory, Parked, State};

    #[test]
    fn an_agent_at_work_is_given_a_message_only_as_it_was_asked_for_and_can_be() {
        let key = |agent: config::Agent, queue, steer| {
            let driver = driver::of(agent).unwrap();
            let (message, timeout) = (String::new(), Duration::ZERO);
            let nudge =
                Nudge { message, queue, steer, command: false, expect: Expect::default(), writer: None, timeout };
            busy_key(driver.name(), driver.typing(), &nudge).map_err(|failure| failure.to_string())
        };
        assert_eq!(key(config::Agent::Codex, false, false), Ok(None));
        assert_eq!(key(config::Agent::Codex, true, false), Ok(Some("\t")));
        assert_eq!(key(config::Agent::Codex, false, true), Ok(Some("\r")));
        assert!(key(config::Agent::Codex, true, true).unwrap_err().contains("one of them"));
        for agent in [config::Agent::Claude, config::Agent::Gemini] {
            assert!(key(agent, false, true).unwrap_err().contains("queue:true"));
        }
    }

    #[test]
    fn an_agent_that_retries_queues() {
        let parked = Parked { reason: String::new(), resume_at_epoch_ms: None, category: ErrorCategory::ServerError };
        let mut view = View { state: State::Parked(parked), ..View::of_nobody() };
        assert!(!is_busy(&view) && is_ready(&view, false), "a limit takes messages");
        view.look.retrying = Some(Retry { seconds: 1, attempt: 1, of: 10 });
        assert!(is_busy(&view) && is_ready(&view, true) && !is_ready(&view, false));
    }
}
