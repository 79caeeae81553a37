//! The keys of an answer, one after the other, each seen to have landed before the next.

use std::borrow::Cow;
use std::time::Duration;

use super::respond::Step;
use crate::agent::steps::Hands;
use crate::agent::view::View;
use crate::session::StateKind;

/// How long a key may take to show an effect. A first key at the trust dialog was once lost under load.
const LANDS_WITHIN: Duration = Duration::from_millis(1500);

/// How often a key without any effect is pressed again.
const PRESSES_MAX: usize = 3;

const ESCAPE: &str = "\x1b";
const RIGHT: &str = "\x1b[C";

/// Presses the keys for the dialog with this name.
pub async fn press(hands: &mut Hands, prompt_id: &str, steps: &[Step]) -> Result<(), Cow<'static, str>> {
    for step in steps {
        press_one(hands, prompt_id, step).await?;
    }
    Ok(())
}

async fn press_one(hands: &mut Hands, prompt_id: &str, step: &Step) -> Result<(), Cow<'static, str>> {
    for _ in 0..PRESSES_MAX {
        let view = hands.view();
        if !is_shown(&view, prompt_id) {
            return Err("the dialog is gone".into());
        }
        let Some(before) = page(&view) else {
            // Asked by a hook, but not drawn yet.
            let drawn = hands.until(LANDS_WITHIN, |view| page(view).is_some() || !is_shown(view, prompt_id)).await;
            drawn.ok_or("the dialog is not drawn")?;
            continue;
        };
        let before = write(hands, step).await?.unwrap_or(before);
        hands.tell_written().await;
        let landed = |view: &View| !is_shown(view, prompt_id) || page(view).is_none_or(|now| now != before);
        if hands.until(LANDS_WITHIN, landed).await.is_some() {
            return Ok(());
        }
    }
    Err("the keys had no effect".into())
}

/// Writes one step; what the dialog showed in the middle of it, where it has a middle.
async fn write(hands: &mut Hands, step: &Step) -> Result<Option<Vec<String>>, Cow<'static, str>> {
    let gone = |_| Cow::from("exited");
    let key = match step {
        Step::Choose(option) | Step::Tick(option) | Step::Focus(option) => option.to_string(),
        Step::Next => RIGHT.to_owned(),
        Step::Enter => "\r".to_owned(),
        Step::Dismiss => ESCAPE.to_owned(),
        Step::Type(text) => {
            let clean: String = text.chars().filter(|c| !c.is_control()).collect();
            let tail: String = clean.chars().filter(|c| !c.is_whitespace()).rev().take(10).collect();
            hands.write(clean).await.map_err(gone)?;
            // Enter goes out alone, and only when the words stand there: before, it would choose something.
            let shown = move |view: &View| {
                let rows = view.look.dialog.as_ref().map(|dialog| dialog.prompt.screen_lines.concat());
                let bare: String = rows.unwrap_or_default().chars().filter(|c| !c.is_whitespace()).collect();
                bare.contains(&tail.chars().rev().collect::<String>())
            };
            let typed = hands.until(LANDS_WITHIN, shown).await.ok_or("the text is not shown")?;
            hands.write("\r").await.map_err(gone)?;
            return Ok(page(&typed));
        }
    };
    hands.write(key).await.map_err(gone)?;
    Ok(None)
}

fn is_shown(view: &View, prompt_id: &str) -> bool {
    view.state.kind() == StateKind::Prompt && view.state.prompt().is_some_and(|prompt| prompt.id == prompt_id)
}

/// What the dialog shows, to see whether a key changed it.
fn page(view: &View) -> Option<Vec<String>> {
    view.look.dialog.as_ref().map(|dialog| dialog.prompt.screen_lines.clone())
}
