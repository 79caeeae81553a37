//! What coop reads from recorded screens of the real Gemini CLI 0.61.0.

mod anything;
mod half_drawn;
mod quoting;
mod recorded;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use super::*;
use crate::agent::look::Dialog;
use crate::agent::tests::screens::{Gallery, Recording, SIZES, describe};
use crate::session::{Prompt, PromptKind};
use crate::terminal::Cursor;

static OWN_RULES: LazyLock<Rules> = LazyLock::new(|| rules(None).unwrap());

const GALLERY: Gallery = Gallery { agent: "gemini", look: |sight| look(&OWN_RULES, sight), shows_cursors: false };

/// All recordings of one size, by name.
fn recordings(folder: &str, cols: usize, rows: usize) -> BTreeMap<String, Recording> {
    GALLERY.recordings((folder, cols, rows))
}

fn fixtures() -> PathBuf {
    GALLERY.fixtures()
}
