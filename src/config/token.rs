//! The token: from a flag, a variable or a file, and fit to be sent in a header.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{Mistake, read_text};
use crate::api::Secret;

/// Far above every token in use, and small enough to go with every call.
const TOKEN_BYTES_MAX: usize = 4096;

/// The bits of a mode that let somebody else than the owner read.
const READABLE_BY_OTHERS: u32 = 0o044;

/// A token as it was given, `from` being the flag or the file to name in an error. It is never shown itself.
pub fn check_token(from: &str, token: &OsStr) -> Result<Secret, Mistake> {
    let token = token.to_str().unwrap_or("\u{fffd}").trim();
    if token.is_empty() {
        let way_out = "give a token, such as one from `openssl rand -hex 32`, or leave it out altogether";
        return Err(Mistake::new(format!("{from} is empty: {way_out}")));
    }
    if !token.bytes().all(|b| b.is_ascii_graphic()) || token.len() > TOKEN_BYTES_MAX {
        let rule = format!("use at most {TOKEN_BYTES_MAX} visible ASCII characters without blanks");
        return Err(Mistake::new(format!("{from} holds a token that cannot be sent in a header: {rule}")));
    }
    Ok(Secret::new(token))
}

/// The token in a file; a newline at its end does not count.
pub fn token_in_file(flag: &str, path: &Path) -> Result<Secret, Mistake> {
    let text = read_text(flag, path, TOKEN_BYTES_MAX)?;
    check_token(&format!("{flag} {}", path.display()), OsStr::new(&text))
}

/// Says so when others can read the file.
pub fn exposure(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    let exposed = metadata.is_file() && metadata.permissions().mode() & READABLE_BY_OTHERS != 0;
    exposed.then(|| format!("the token file {0} can be read by other users: chmod 600 {0}", path.display()))
}
