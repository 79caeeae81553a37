//! What an agent's own helpers cost: each writes a log of its own, beside that of the conversation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::agent::driver::Driver;
use crate::agent::evidence::EpochMs;
use crate::agent::fence;
use crate::agent::tail::{Start, Tail};
use crate::agent::usage::Usage;

/// How many helpers of a conversation are counted. Whoever names files can make as many as the disk takes.
const HELPERS_MAX: usize = 4096;

/// How far the logs of helpers were read. None stays open: there may be hundreds, and most are done.
#[derive(Debug, Default)]
pub struct HelperLogs {
    read_to: BTreeMap<PathBuf, u64>,
}

impl HelperLogs {
    /// Counts what was written since the last call. A log that cannot be read is looked at again the next time.
    pub fn count(&mut self, driver: &dyn Driver, conversation_log: &Path, usage: &mut Usage) {
        for path in driver.helper_logs(conversation_log) {
            let is_known = self.read_to.contains_key(&path);
            if !is_known && self.read_to.len() == HELPERS_MAX {
                continue;
            }
            let read_to = self.read_to.entry(path.clone()).or_default();
            if fence::metadata(&path).is_ok_and(|found| found.len() != *read_to) {
                *read_to = count_from(*read_to, driver, path, usage);
            }
        }
    }
}

/// Counts what stands behind an offset, and tells how far that was.
fn count_from(offset: u64, driver: &dyn Driver, path: PathBuf, usage: &mut Usage) -> u64 {
    let (mut tail, now) = (Tail::new(path, Start::Offset(offset)), EpochMs::now());
    while let Ok(batch) = tail.read() {
        let facts = batch.lines.iter().filter_map(|line| driver.read_line(line.text()?, now).ok());
        facts.filter_map(|facts| facts.usage).for_each(|message| usage.count(message));
        if !batch.more {
            break;
        }
    }
    tail.offset()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::agent::claude::Claude;
    use crate::config::Scratch;

    fn line(message: &str, output: u64) -> String {
        let usage = format!(r#"{{"input_tokens":1,"output_tokens":{output}}}"#);
        let message = format!(r#"{{"id":"{message}","role":"assistant","content":[],"usage":{usage}}}"#);
        format!(r#"{{"type":"assistant","isSidechain":true,"message":{message}}}"#) + "\n"
    }

    #[test]
    fn each_message_of_each_helper_counts_once_as_its_log_grows() {
        let scratch = Scratch::fresh();
        let log = scratch.path("0c0c.jsonl");
        let (mut logs, mut usage) = (HelperLogs::default(), Usage::default());
        let mut output = || {
            logs.count(&Claude, &log, &mut usage);
            (usage.totals().requests, usage.totals().tokens.output)
        };
        assert_eq!(output(), (0, 0), "most conversations have none");
        let helpers = scratch.path("0c0c/subagents");
        fs::create_dir_all(&helpers).unwrap();
        let first = line("a", 5);
        fs::write(helpers.join("agent-1.jsonl"), &first[..20]).unwrap();
        fs::write(helpers.join("agent-1.meta.json"), line("never", 100)).unwrap();
        assert_eq!(output(), (0, 0), "half a line tells nothing yet");
        fs::write(helpers.join("agent-1.jsonl"), &first).unwrap();
        assert_eq!((output(), output()), ((1, 5), (1, 5)));
        fs::write(helpers.join("agent-1.jsonl"), first + &line("b", 7) + "no JSON\n").unwrap();
        fs::write(helpers.join("agent-2.jsonl"), line("c", 11)).unwrap();
        assert_eq!((output(), output()), ((3, 23), (3, 23)));
    }
}
