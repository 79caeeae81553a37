//! Reading: the screen, and the bytes it was painted with.

use std::sync::Arc;

use bytes::Bytes;

use super::convert;
use super::error::ApiError;
use super::service::Service;
use crate::proto::v1::{self, ScreenFormat};
use crate::session::{Picture, Style};
use crate::terminal::{Offset, Seq};

/// What one call returns at most, and by default.
const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

impl Service {
    pub(super) async fn screen(&self, request: &v1::GetScreenRequest) -> Result<v1::ScreenSnapshot, ApiError> {
        let style = style(request.format);
        let mut snapshot = match request.since_seq {
            None => convert::screen(&*self.session.picture(style).await?),
            Some(since) => {
                let difference = self.session.difference(style, Seq(since)).await?;
                let mut snapshot = convert::screen(&difference.picture);
                if let Some(rows) = difference.rows {
                    let changed = |(row, text)| v1::ChangedRow { row: u32::try_from(row).unwrap_or(u32::MAX), text };
                    snapshot.changed = rows.into_iter().map(changed).collect();
                    snapshot.lines.clear();
                }
                snapshot
            }
        };
        if let Some(lines) = request.scrollback.filter(|n| *n > 0) {
            let above = self.session.scrollback(usize::try_from(lines).unwrap_or(usize::MAX)).await?;
            snapshot.lines.splice(0..0, above);
        }
        if let Some(lines) = request.lines {
            keep_last(&mut snapshot.lines, usize::try_from(lines).unwrap_or(usize::MAX));
        }
        if request.cursor == Some(false) {
            snapshot.cursor = None;
        }
        Ok(snapshot)
    }

    /// The answer to the most usual request, encoded once for each picture.
    pub(super) async fn screen_json(&self) -> Result<Bytes, ApiError> {
        let picture: Arc<Picture> = self.session.picture(Style::Text).await?;
        Ok(picture.encoded.get_or_make(|| super::extensions::json_line(&convert::screen(&picture)).unwrap_or_default()))
    }

    pub(super) fn output(&self, request: &v1::GetOutputRequest) -> v1::GetOutputResponse {
        let limit = request.limit.map_or(OUTPUT_BYTES_MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
        let (slice, total) = self.session.output(request.offset.map(Offset), limit.min(OUTPUT_BYTES_MAX));
        v1::GetOutputResponse {
            next_offset: slice.offset.0 + slice.data.len() as u64,
            offset: slice.offset.0,
            data: slice.data,
            total_written: total.0,
        }
    }
}

pub fn style(format: i32) -> Style {
    match ScreenFormat::try_from(format) {
        Ok(ScreenFormat::Ansi) => Style::Ansi,
        _ => Style::Text,
    }
}

/// The last lines that say something: blank ones below the last text do not count.
fn keep_last(lines: &mut Vec<String>, count: usize) {
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let extra = lines.len().saturating_sub(count);
    lines.drain(..extra);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_those_with_text() {
        let mut lines: Vec<String> = ["a", "", "b", "c", "", ""].map(str::to_owned).to_vec();
        keep_last(&mut lines, 3);
        assert_eq!(lines, ["", "b", "c"]);
    }
}
