//! Where coop itself is, also after its file was replaced by a newer one.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// What the kernel puts behind the path of a program whose file is gone.
const GONE: &str = " (deleted)";

/// The path under which others find coop.
pub fn own_path() -> anyhow::Result<PathBuf> {
    usable(std::env::current_exe().context("where is coop itself?")?, Path::is_file)
}

fn usable(path: PathBuf, is_there: impl Fn(&Path) -> bool) -> anyhow::Result<PathBuf> {
    if is_there(&path) {
        return Ok(path);
    }
    // An upgrade has put another file in its place, which does as well.
    let replaced = path.to_str().and_then(|text| text.strip_suffix(GONE)).map(PathBuf::from);
    match replaced.filter(|path| is_there(path)) {
        Some(path) => Ok(path),
        None => bail!("coop's own file is gone: there is no {}; install it again", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_an_upgrade_the_new_file_is_used_and_a_file_that_is_gone_is_said() {
        let there = |path: &Path| path == Path::new("/bin/coop");
        assert_eq!(usable("/bin/coop".into(), there).unwrap(), Path::new("/bin/coop"));
        assert_eq!(usable("/bin/coop (deleted)".into(), there).unwrap(), Path::new("/bin/coop"));
        let told = usable("/opt/coop (deleted)".into(), there).unwrap_err().to_string();
        assert!(told.contains("/opt/coop") && told.contains("install it again"), "{told}");
    }
}
