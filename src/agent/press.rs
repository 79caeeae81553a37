//! The keys of an answer, one after the other, each seen to have landed before the next.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::answers::option_like;
use super::asks::Decision;
use super::nudge::{PASTE_BEGINS, PASTE_ENDS, Typing};
use super::steps::Hands;
use super::view::View;
use crate::session::StateKind;

/// How long a key may take to show an effect. A first key at the trust dialog was once lost under load.
const LANDS_WITHIN: Duration = Duration::from_millis(1500);

/// How long a dialog may take to be drawn after its hook has asked or let it go. Codex 0.166.0 waits until nobody has
/// typed for a second.
const DRAWN_WITHIN: Duration = Duration::from_secs(5);

/// How often a dialog is looked at until it stands still.
const STILL_MAX: usize = 20;

/// How often a key without any effect is pressed again.
const PRESSES_MAX: usize = 3;

const ESCAPE: &str = "\x1b";
const RIGHT: &str = "\x1b[C";
const DOWN: &str = "\x1b[B";

/// Drawn at both sides of some dialogs.
const FRAME: char = '│';

/// More rows than a dialog has.
const ROWS_MAX: usize = 64;

/// One key, or a text, and what must be seen before the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Chooses this option of a list; the dialog goes on or closes.
    Choose(u32),
    /// Chooses the option whose label begins like this, of a list that was not seen yet.
    ChooseLike(&'static str),
    /// Ticks this option of a list that takes several, unless it is ticked.
    Tick(u32),
    /// Moves to the row for own words, which then takes text.
    Focus(u32),
    /// Types into that row and confirms it with Enter.
    Type(String),
    /// Leaves a list that takes several for the next page.
    Next,
    /// Moves the mark to this option, where a digit alone does not choose.
    Select(u32),
    /// A key that must change what is shown.
    Key(&'static str),
    /// Moves the mark down to the row that reads like this without its blanks, mark included.
    Reach(&'static str),
    /// Waits until this question is asked, counted from 0; behind the last one their answers are shown.
    Await(usize),
    /// Confirms a page that asks nothing, or the option that is marked.
    Enter,
    /// Dismisses the dialog.
    Dismiss,
}

/// How an answer is given.
pub enum Way {
    /// What the hook that asked is told; the keys are for the case that it has left.
    Decision {
        decision: Decision,
        keys: Option<Vec<Step>>,
    },
    Keys(Vec<Step>),
    /// The hook that asked decides nothing, so that the agent draws its dialog, and that is answered by keys.
    Undecided(Vec<Step>),
}

/// Presses the keys for the dialog with this name.
pub async fn press(
    hands: &mut Hands,
    typing: &Typing,
    prompt_id: &str,
    steps: &[Step],
) -> Result<(), Cow<'static, str>> {
    for (at, step) in steps.iter().enumerate() {
        // In some dialogs the digit that moves the mark chooses as well: Enter would go to what comes next.
        let was_marked = at > 0 && matches!(steps[at - 1], Step::Select(_));
        if *step == Step::Enter && was_marked && !is_shown(&*hands.view_of_now().await, prompt_id) {
            return Ok(());
        }
        match step {
            Step::Reach(row) => reach(hands, typing, prompt_id, row).await?,
            Step::Await(question) => await_question(hands, prompt_id, *question).await?,
            step => press_one(hands, typing, prompt_id, step).await?,
        }
    }
    Ok(())
}

/// A key that comes before its question is lost, and the next one would answer another.
async fn await_question(hands: &mut Hands, prompt_id: &str, question: usize) -> Result<(), Cow<'static, str>> {
    let asked = |view: &View| view.look.dialog.as_ref().map(|dialog| dialog.prompt.question_current);
    let seen = |view: &View| !is_shown(view, prompt_id) || asked(view) == Some(question);
    let view = hands.until(LANDS_WITHIN, seen).await.ok_or("the next question is not shown")?;
    if is_shown(&view, prompt_id) { Ok(()) } else { Err("the dialog is gone".into()) }
}

/// Moves the mark row by row: each key is seen to have moved it before the next.
async fn reach(hands: &mut Hands, typing: &Typing, prompt_id: &str, row: &str) -> Result<(), Cow<'static, str>> {
    for _ in 0..ROWS_MAX {
        let (_, rows) = drawn(hands, typing, prompt_id).await?;
        if rows.iter().any(|shown| is_like(shown, row)) {
            return Ok(());
        }
        press_one(hands, typing, prompt_id, &Step::Key(DOWN)).await?;
    }
    Err("the row is not in the list".into())
}

async fn press_one(hands: &mut Hands, typing: &Typing, prompt_id: &str, step: &Step) -> Result<(), Cow<'static, str>> {
    for _ in 0..PRESSES_MAX {
        let (view, before) = drawn(hands, typing, prompt_id).await?;
        if is_selected(&view, step) || is_ticked(&view, step) == Some(true) {
            return Ok(());
        }
        let step = &seen(&view, step)?;
        let before = write(hands, typing, step).await?.unwrap_or(before);
        hands.tell_written().await;
        let changed = |view: &View| page(view).is_none_or(|now| now != before);
        let marked = |view: &View| match step {
            Step::Select(_) => is_selected(view, step),
            Step::Tick(_) => is_ticked(view, step) != Some(false),
            _ => true,
        };
        let landed = |view: &View| !is_shown(view, prompt_id) || changed(view) && marked(view);
        if hands.until(LANDS_WITHIN, landed).await.is_some() {
            return Ok(());
        }
    }
    Err("the keys had no effect".into())
}

/// Writes one step; what the dialog showed in the middle of it, where it has a middle.
async fn write(hands: &mut Hands, typing: &Typing, step: &Step) -> Result<Option<Vec<String>>, Cow<'static, str>> {
    let gone = |_| Cow::from("exited");
    let key = match step {
        // What is not seen is not chosen.
        Step::ChooseLike(_) => return Err("the dialog has no such option".into()),
        Step::Choose(option) | Step::Tick(option) | Step::Focus(option) | Step::Select(option) => option.to_string(),
        Step::Key(key) => (*key).to_owned(),
        Step::Next => RIGHT.to_owned(),
        Step::Reach(_) => DOWN.to_owned(),
        Step::Await(_) => return Ok(None),
        Step::Enter => "\r".to_owned(),
        Step::Dismiss => ESCAPE.to_owned(),
        Step::Type(text) => {
            let clean: String = text.chars().filter(|c| !c.is_control()).collect();
            let tail: String = clean.chars().filter(|c| !c.is_whitespace()).rev().take(10).collect();
            let bytes = if typing.pastes_answers { format!("{PASTE_BEGINS}{clean}{PASTE_ENDS}") } else { clean };
            hands.write(bytes).await.map_err(gone)?;
            // Enter goes out alone, and only when the words stand there: before, it would choose something.
            let shown = move |view: &View| {
                let rows = view.look.dialog.as_ref().map(|dialog| dialog.prompt.screen_lines.concat());
                let bare: String = rows.unwrap_or_default().chars().filter(|c| !c.is_whitespace()).collect();
                bare.contains(&tail.chars().rev().collect::<String>())
            };
            let typed = hands.until(LANDS_WITHIN, shown).await.ok_or("the text is not shown")?;
            tokio::time::sleep(typing.settles).await;
            hands.write("\r").await.map_err(gone)?;
            return Ok(page(&typed));
        }
    };
    hands.write(key).await.map_err(gone)?;
    Ok(None)
}

/// The step with the number of its option, once that is seen.
fn seen(view: &View, step: &Step) -> Result<Step, Cow<'static, str>> {
    let Step::ChooseLike(beginning) = step else { return Ok(step.clone()) };
    let drawn = view.look.dialog.as_ref().and_then(|dialog| option_like(&dialog.prompt, beginning));
    drawn.map(Step::Choose).ok_or_else(|| "the dialog has no such option".into())
}

fn is_shown(view: &View, prompt_id: &str) -> bool {
    view.state.kind() == StateKind::Prompt && view.state.prompt().is_some_and(|prompt| prompt.id == prompt_id)
}

/// The dialog as it is drawn, once it has stood still for as long as the agent needs to hear keys: what is typed while it
/// still draws may be lost, and what it draws then would be taken for an effect of the key.
async fn drawn(
    hands: &mut Hands,
    typing: &Typing,
    prompt_id: &str,
) -> Result<(Arc<View>, Vec<String>), Cow<'static, str>> {
    for _ in 0..STILL_MAX {
        let view = hands.view_of_now().await;
        if !is_shown(&view, prompt_id) {
            return Err("the dialog is gone".into());
        }
        let Some(rows) = page(&view) else {
            // Asked by a hook, but not drawn yet.
            let drawn = hands.until(DRAWN_WITHIN, |view| page(view).is_some() || !is_shown(view, prompt_id)).await;
            drawn.ok_or("the dialog is not drawn")?;
            continue;
        };
        let moved = |view: &View| page(view).as_ref() != Some(&rows);
        if typing.settles.is_zero() || hands.until(typing.settles, moved).await.is_none() {
            return Ok((view, rows));
        }
    }
    Err("the dialog does not stand still".into())
}

/// Whether the step ticks an option that is ticked, where that is seen.
fn is_ticked(view: &View, step: &Step) -> Option<bool> {
    let Step::Tick(number) = step else { return None };
    let menu = view.look.dialog.as_ref()?.menu.as_ref()?;
    menu.options.iter().find(|option| option.number == *number)?.checked
}

/// Whether the step only moves the mark to where it is.
fn is_selected(view: &View, step: &Step) -> bool {
    let selected = view.look.dialog.as_ref().and_then(|dialog| dialog.selected).map(|selected| selected + 1);
    matches!(step, Step::Select(option) if usize::try_from(*option).ok() == selected)
}

/// Whether a row reads like this without its blanks and the frame around the dialog.
fn is_like(shown: &str, row: &str) -> bool {
    shown.chars().filter(|c| !c.is_whitespace() && *c != FRAME).eq(row.chars())
}

/// What the dialog shows, to see whether a key changed it.
fn page(view: &View) -> Option<Vec<String>> {
    view.look.dialog.as_ref().map(|dialog| dialog.prompt.screen_lines.clone())
}
