//! The variables of a box's programs: nothing of the caller's environment comes in but what was asked for.

use std::ffi::OsString;
use std::path::Path;

use super::places::Places;
use super::programs::Installed;
use super::spec::COOP_INSIDE;
use crate::boxes::Record;
use crate::boxfile::NetworkMode;
use crate::egress;

/// Where the machine's own programs are.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What the image itself sets.
pub fn image_variables(record: &Record) -> Vec<String> {
    record.image.as_ref().map(|image| image.env.clone()).unwrap_or_default()
}

/// All variables, in the order in which later ones win.
pub fn environment(
    record: &Record,
    places: &Places,
    installed: &Installed,
    of_image: &[String],
) -> Vec<(OsString, OsString)> {
    let plan = &record.plan;
    let mut env: Vec<(OsString, OsString)> = Vec::new();
    let mut set = |name: &str, value: OsString| {
        env.retain(|(known, _)| known != name);
        env.push((name.into(), value));
    };
    set("PATH", PATH.into());
    set("LANG", "C.UTF-8".into());
    set("TMPDIR", "/tmp".into());
    for pair in of_image {
        if let Some((name, value)) = pair.split_once('=') {
            set(name, value.into());
        }
    }
    // Where the box's own files are, which coop reads from outside by the same path.
    set("HOME", places.home().into());
    set("SHELL", plan.shell.clone().into());
    if plan.network.mode == NetworkMode::Filtered {
        for (name, value) in egress::variables() {
            set(&name, value.into());
        }
    }
    for (name, value) in record.env.iter().chain(&plan.env.set) {
        set(name, value.into());
    }
    let known = env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone()).unwrap_or_default();
    // Last: a coop that the box has itself is the one that its programs mean.
    let own = Path::new(COOP_INSIDE).parent().map(Path::to_owned);
    let dirs = installed.path.iter().cloned().chain(std::env::split_paths(&known)).chain(own);
    // A directory with a colon in its name cannot be in a PATH; the program is not found then, and that is told.
    if let Ok(path) = std::env::join_paths(dirs) {
        env.retain(|(name, _)| name != "PATH");
        env.push(("PATH".into(), path));
    }
    env
}
