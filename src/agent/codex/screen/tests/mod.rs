//! What coop reads from recorded screens of the real Codex 0.166.0.

mod anything;
mod half_drawn;
mod quoting;
mod recorded;

use std::path::PathBuf;
use std::sync::LazyLock;

use super::*;
use crate::agent::tests::screens::{Gallery, Recording, SIZES, describe};
use crate::session::Prompt;
use crate::terminal::Cursor;

static OWN_RULES: LazyLock<Rules> = LazyLock::new(|| rules(None).unwrap());

const GALLERY: Gallery = Gallery { agent: "codex", look: |sight| look(&OWN_RULES, sight), shows_cursors: true };

fn fixtures() -> PathBuf {
    GALLERY.fixtures()
}
