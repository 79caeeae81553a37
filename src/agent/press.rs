//! The keys of an answer, one after the other, each seen to have landed before the next. None is pressed on top of one
//! that nobody has read: the agent would take both, and the second for another dialog.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use super::answers::option_like;
use super::asks::Decision;
use super::look::Dialog;
use super::steps::{Effect, Hands};
use super::typing::{PASTE_BEGINS, PASTE_ENDS, Typing};
use super::view::View;
use crate::session::StateKind;

/// How long a key that was read may take to show an effect. A first key at the trust dialog was once lost under load.
const LANDS_WITHIN: Duration = Duration::from_millis(1500);

/// How long a dialog may take to be drawn after its hook has asked or let it go. Codex 0.166.0 waits until nobody has
/// typed for a second.
const DRAWN_WITHIN: Duration = Duration::from_secs(5);

/// How often a dialog is looked at until it stands still.
const STILL_MAX: usize = 20;

/// How often a key that was read without any effect is pressed.
const PRESSES_MAX: usize = 3;

/// How long a key may take that is pressed once: nobody can tell whether it was read, or a second one might answer what comes
/// next.
const UNTOLD_WITHIN: Duration = Duration::from_millis(4500);

/// Why nothing is pressed.
pub const NOBODY_READS: &str = "nobody reads the keys";

const ESCAPE: &str = "\x1b";
const RIGHT: &str = "\x1b[C";
const DOWN: &str = "\x1b[B";
const UP: &str = "\x1b[A";
const BACKSPACE: &str = "\x7f";

/// How much is taken away at once: a key for an API has about 40 characters.
const ERASED_CHARS: usize = 64;

/// The last option that has a key. The first digit of a larger number would choose another option at once.
const DIGIT_MAX: u32 = 9;

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
    /// Takes away what stands in the field that has the keys, unless nothing does.
    Empty,
    /// Types into that row and confirms it with Enter.
    Type(String),
    /// Types into that row, where Enter would take back what it says.
    Fill(String),
    /// Leaves a list that takes several for the next page.
    Next,
    /// Moves the mark to this option, where a digit alone does not choose.
    Select(u32),
    /// A key that must change what is shown.
    Key(&'static str),
    /// Moves the mark down to the row that reads like this without its blanks, mark included.
    Reach(&'static str),
    /// Sees that the mark stands on the row that begins like this; words for another row would say the opposite.
    Stand(&'static str),
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

/// Why an answer was not given to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missed {
    /// It was not taken, and will not be.
    Refused(Cow<'static, str>),
    /// A key was written, and nobody saw what became of it: it may still be taken.
    Unsure,
}

impl From<&'static str> for Missed {
    fn from(why: &'static str) -> Self {
        Self::Refused(why.into())
    }
}

impl Way {
    /// The keys that are pressed, at once or when the hook has left.
    pub fn keys(&self) -> Option<&[Step]> {
        match self {
            Self::Decision { keys, .. } => keys.as_deref(),
            Self::Keys(keys) | Self::Undecided(keys) => Some(keys),
        }
    }
}

/// Presses the keys for the dialog with this name.
pub async fn press(hands: &mut Hands, typing: &Typing, prompt_id: &str, steps: &[Step]) -> Result<(), Missed> {
    if !hands.all_read().await {
        return Err(NOBODY_READS.into());
    }
    for (at, step) in steps.iter().enumerate() {
        // In some dialogs the digit that moves the mark chooses as well: Enter would go to what comes next.
        let was_marked = at > 0 && matches!(steps[at - 1], Step::Select(_));
        if *step == Step::Enter && was_marked && !is_shown(&*hands.view_of_now().await?, prompt_id) {
            return Ok(());
        }
        match step {
            Step::Reach(row) => reach(hands, typing, prompt_id, row).await?,
            Step::Stand(row) => stand(hands, typing, prompt_id, row).await?,
            Step::Await(question) => await_question(hands, prompt_id, *question).await?,
            Step::Choose(option) if *option > DIGIT_MAX => {
                mark(hands, typing, prompt_id, *option).await?;
                press_one(hands, typing, prompt_id, &Step::Enter).await?;
            }
            Step::Select(option) | Step::Focus(option) if *option > DIGIT_MAX => {
                mark(hands, typing, prompt_id, *option).await?;
            }
            step => press_one(hands, typing, prompt_id, step).await?,
        }
    }
    Ok(())
}

/// A key that comes before its question is lost, and the next one would answer another.
async fn await_question(hands: &mut Hands, prompt_id: &str, question: usize) -> Result<(), Missed> {
    let asked = |view: &View| view.look.dialog.as_ref().map(|dialog| dialog.prompt.question_current);
    let seen = |view: &View| !is_shown(view, prompt_id) || asked(view) == Some(question);
    let view = hands.until(LANDS_WITHIN, seen).await.ok_or("the next question is not shown")?;
    if is_shown(&view, prompt_id) { Ok(()) } else { Err("the dialog is gone".into()) }
}

/// Moves the mark row by row: each key is seen to have moved it before the next.
async fn reach(hands: &mut Hands, typing: &Typing, prompt_id: &str, row: &str) -> Result<(), Missed> {
    for _ in 0..ROWS_MAX {
        let (_, rows) = drawn(hands, typing, prompt_id).await?;
        if rows.iter().any(|shown| is_like(shown, row)) {
            return Ok(());
        }
        press_one(hands, typing, prompt_id, &Step::Key(DOWN)).await?;
    }
    Err("the row is not in the list".into())
}

/// What is shown a moment late may have led the mark past its row.
async fn stand(hands: &mut Hands, typing: &Typing, prompt_id: &str, row: &str) -> Result<(), Missed> {
    let (_, rows) = drawn(hands, typing, prompt_id).await?;
    let begins = |shown: &String| bare(shown).collect::<String>().starts_with(row);
    if rows.iter().any(begins) { Ok(()) } else { Err("the mark is on another row".into()) }
}

/// Moves the mark to an option that has no key of its own, likewise.
async fn mark(hands: &mut Hands, typing: &Typing, prompt_id: &str, option: u32) -> Result<(), Missed> {
    for _ in 0..ROWS_MAX {
        let (view, _) = drawn(hands, typing, prompt_id).await?;
        let key = match marked(&view).ok_or("no option is marked")?.cmp(&option) {
            Ordering::Equal => return Ok(()),
            Ordering::Less => DOWN,
            Ordering::Greater => UP,
        };
        press_one(hands, typing, prompt_id, &Step::Key(key)).await?;
    }
    Err("the mark does not reach the option".into())
}

async fn press_one(hands: &mut Hands, typing: &Typing, prompt_id: &str, step: &Step) -> Result<(), Missed> {
    for presses in 0..PRESSES_MAX {
        let (view, before) = drawn(hands, typing, prompt_id).await?;
        if is_done(&view, step) {
            return Ok(());
        }
        if presses > 0 && !may_repeat(&view, step) {
            break;
        }
        if is_taken_for_text(&view, step) {
            return Err("keys go into a text now, and would choose nothing".into());
        }
        let step = &seen(&view, step)?;
        let mark_before = self::marked(&view);
        let before = write(hands, typing, step).await?.unwrap_or(before);
        hands.tell_written().await;
        let changed = |view: &View| page(view).is_none_or(|now| now != before);
        let marked = |view: &View| match step {
            Step::Select(_) => is_selected(view, step),
            Step::Tick(_) => is_ticked(view, step) != Some(false),
            Step::Empty => is_empty(view),
            // A dialog may be drawn anew at any time: only a mark that moved is what the key did.
            Step::Key(DOWN | UP) => mark_before.is_none() || self::marked(view) != mark_before,
            _ => true,
        };
        let landed = |view: &View| !is_shown(view, prompt_id) || changed(view) && marked(view);
        match lands(hands, &landed).await {
            Effect::Seen(_) => return Ok(()),
            // One that is drawn late would be answered by the next, which stands where this one did.
            Effect::Nothing if decides(&view, step) => {
                let seen = hands.until(UNTOLD_WITHIN - LANDS_WITHIN, landed).await;
                return seen.map(drop).ok_or(Missed::Unsure);
            }
            Effect::Nothing => {}
            Effect::Unread | Effect::Unknown => return Err(Missed::Unsure),
        }
    }
    Err("the keys had no effect".into())
}

/// Waits for what a key does.
async fn lands(hands: &mut Hands, landed: impl Fn(&View) -> bool) -> Effect {
    match hands.effect(LANDS_WITHIN, &landed).await {
        Effect::Unknown => {
            hands.until(UNTOLD_WITHIN - LANDS_WITHIN, landed).await.map_or(Effect::Unknown, Effect::Seen)
        }
        effect => effect,
    }
}

/// Writes one step; what the dialog showed in the middle of it, where it has a middle.
async fn write(hands: &mut Hands, typing: &Typing, step: &Step) -> Result<Option<Vec<String>>, Missed> {
    let gone = |_| Missed::from("exited");
    let key = match step {
        // What is not seen is not chosen.
        Step::ChooseLike(_) => return Err("the dialog has no such option".into()),
        Step::Choose(option) | Step::Tick(option) | Step::Focus(option) | Step::Select(option)
            if *option > DIGIT_MAX =>
        {
            return Err("the option has no key of its own".into());
        }
        Step::Choose(option) | Step::Tick(option) | Step::Focus(option) | Step::Select(option) => option.to_string(),
        Step::Key(key) => (*key).to_owned(),
        Step::Empty => BACKSPACE.repeat(ERASED_CHARS),
        Step::Next => RIGHT.to_owned(),
        Step::Reach(_) => DOWN.to_owned(),
        Step::Await(_) | Step::Stand(_) => return Ok(None),
        Step::Enter => "\r".to_owned(),
        Step::Dismiss => ESCAPE.to_owned(),
        Step::Type(text) | Step::Fill(text) => {
            hands.until(LANDS_WITHIN, takes_words).await.ok_or("no field takes the text")?;
            let clean = typable(text);
            let tail: String = clean.chars().filter(|c| !c.is_whitespace()).rev().take(10).collect();
            let bytes = if typing.pastes_answers { format!("{PASTE_BEGINS}{clean}{PASTE_ENDS}") } else { clean };
            hands.write(bytes).await.map_err(gone)?;
            // Enter goes out alone, and only when the words stand there: before, it would choose something.
            let shown = move |view: &View| {
                let words = view.look.dialog.as_ref().map(written);
                let bare: String = words.unwrap_or_default().chars().filter(|c| !c.is_whitespace()).collect();
                bare.contains(&tail.chars().rev().collect::<String>())
            };
            let typed = match lands(hands, shown).await {
                Effect::Seen(typed) => typed,
                Effect::Nothing => return Err("the text is not shown".into()),
                Effect::Unread | Effect::Unknown => return Err(Missed::Unsure),
            };
            if matches!(step, Step::Fill(_)) {
                return Ok(None);
            }
            tokio::time::sleep(typing.settles).await;
            hands.write("\r").await.map_err(gone)?;
            return Ok(page(&typed));
        }
    };
    hands.write(key).await.map_err(gone)?;
    Ok(None)
}

/// Words as they can be typed into one row. Control characters are keys, and Enter would send half of them.
fn typable(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() && c.is_control()).filter(|words| !words.is_empty());
    let joined = words.collect::<Vec<_>>().join(" ");
    joined.chars().filter(|c| !c.is_control()).collect()
}

/// The step with the number of its option, once that is seen.
fn seen(view: &View, step: &Step) -> Result<Step, Missed> {
    let Step::ChooseLike(beginning) = step else { return Ok(step.clone()) };
    let drawn = view.look.dialog.as_ref().and_then(|dialog| option_like(&dialog.prompt, beginning));
    drawn.map(Step::Choose).ok_or_else(|| "the dialog has no such option".into())
}

fn is_shown(view: &View, prompt_id: &str) -> bool {
    view.state.kind() == StateKind::Prompt && view.state.prompt().is_some_and(|prompt| prompt.id == prompt_id)
}

/// The dialog as it is drawn, once it has stood still for as long as the agent needs to hear keys: what is typed while it
/// still draws may be lost, and what it draws then would be taken for an effect of the key.
async fn drawn(hands: &mut Hands, typing: &Typing, prompt_id: &str) -> Result<(Arc<View>, Vec<String>), Missed> {
    for _ in 0..STILL_MAX {
        let view = hands.view_of_now().await?;
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

/// Whether the step has nothing to do.
fn is_done(view: &View, step: &Step) -> bool {
    let is_emptied = *step == Step::Empty && is_empty(view);
    is_selected(view, step) || is_ticked(view, step) == Some(true) || is_focused(view, step) || is_emptied
}

/// Whether the step answers something that an agent at work asks, and may ask again at once. At its start, keys were seen to
/// be lost.
fn decides(view: &View, step: &Step) -> bool {
    let answers = matches!(step, Step::Choose(_) | Step::ChooseLike(_) | Step::Enter | Step::Dismiss);
    answers && !view.state.prompt().is_some_and(|prompt| prompt.is_of_start())
}

/// Whether a key that was read without any effect may be pressed once more. A second tick would undo a first one that is
/// shown late, and words would stand there twice.
fn may_repeat(view: &View, step: &Step) -> bool {
    match step {
        Step::Tick(_) => is_ticked(view, step) == Some(false),
        Step::Type(_) | Step::Fill(_) => false,
        _ => true,
    }
}

/// Whether the step's digit would become part of a text.
fn is_taken_for_text(view: &View, step: &Step) -> bool {
    let is_digit =
        matches!(step, Step::Choose(_) | Step::ChooseLike(_) | Step::Tick(_) | Step::Focus(_) | Step::Select(_));
    is_digit && view.look.dialog.as_ref().is_some_and(|dialog| dialog.free_text_focused)
}

/// Whether the step moves to the row for own words, which has the keys and holds none yet.
fn is_focused(view: &View, step: &Step) -> bool {
    let Step::Focus(row) = step else { return false };
    view.look.dialog.as_ref().is_some_and(|dialog| {
        let is_there = dialog.selected.map(|selected| selected + 1) == usize::try_from(*row).ok();
        is_there && dialog.free_text_focused && dialog.typed.is_empty()
    })
}

/// Whether nothing stands in the field that has the keys.
fn is_empty(view: &View) -> bool {
    view.look.dialog.as_ref().is_some_and(|dialog| dialog.free_text_focused && dialog.typed.is_empty())
}

/// What was written into the field of a dialog, where that is seen: short words may stand elsewhere in it, too.
fn written(dialog: &Dialog) -> String {
    if dialog.free_text_focused { dialog.typed.clone() } else { dialog.prompt.screen_lines.concat() }
}

/// Whether words are taken as such: in a list, outside of its fields, digits among them would choose.
fn takes_words(view: &View) -> bool {
    view.look.dialog.as_ref().is_some_and(|dialog| dialog.free_text_focused || dialog.menu.is_none())
}

/// Whether the step ticks an option that is ticked, where that is seen.
fn is_ticked(view: &View, step: &Step) -> Option<bool> {
    let Step::Tick(number) = step else { return None };
    let menu = view.look.dialog.as_ref()?.menu.as_ref()?;
    menu.options.iter().find(|option| option.number == *number)?.checked
}

/// Whether the step only moves the mark to where it is.
fn is_selected(view: &View, step: &Step) -> bool {
    matches!(step, Step::Select(option) if marked(view) == Some(*option))
}

/// The number of the option that is marked; a long list may not begin with the first.
fn marked(view: &View) -> Option<u32> {
    let dialog = view.look.dialog.as_ref()?;
    let shown = dialog.menu.as_ref().and_then(|menu| menu.options.get(menu.selected?));
    shown.map(|option| option.number).or_else(|| u32::try_from(dialog.selected? + 1).ok())
}

/// Whether a row reads like this without its blanks and the frame around the dialog.
fn is_like(shown: &str, row: &str) -> bool {
    bare(shown).eq(row.chars())
}

fn bare(shown: &str) -> impl Iterator<Item = char> {
    shown.chars().filter(|c| !c.is_whitespace() && *c != FRAME)
}

/// What the dialog shows, to see whether a key changed it.
fn page(view: &View) -> Option<Vec<String>> {
    view.look.dialog.as_ref().map(|dialog| dialog.prompt.screen_lines.clone())
}
