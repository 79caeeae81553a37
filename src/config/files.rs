//! Small text files that a flag names.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::Mistake;

/// Reads a file that must be text and not larger than `bytes_max`: a flag may name a device that never ends.
/// Pipes will do, so that a shell can hand over what is in no file.
pub fn read_text(flag: &str, path: &Path, bytes_max: usize) -> Result<String, Mistake> {
    let wrong = |why: &dyn std::fmt::Display| Mistake::new(format!("{flag} {}: {why}", path.display()));
    let file = File::open(path).map_err(|error| wrong(&error))?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(|error| wrong(&error))?;
    if bytes.len() > bytes_max {
        return Err(wrong(&format_args!("is larger than {bytes_max} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| wrong(&"is not UTF-8 text"))
}
