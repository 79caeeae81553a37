//! What the boxes of this user stand on: nothing of that may be removed under them.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use anyhow::Context;

use crate::boxes::{Name, Record};
use crate::boxfile::PlannedSource;
use crate::images::Digest;

/// What is used, and by whom.
#[derive(Debug, Default)]
pub struct Used {
    pub images: BTreeMap<String, Vec<String>>,
    pub builds: BTreeMap<String, Vec<String>>,
    pub volumes: BTreeMap<String, Vec<String>>,
}

/// Reads what every box was made from. One that cannot be read may stand on anything.
pub fn used(coop_home: &Path) -> anyhow::Result<Used> {
    let mut used = Used::default();
    let Ok(entries) = std::fs::read_dir(coop_home.join("sessions")) else { return Ok(used) };
    for dir in entries.flatten().map(|entry| entry.path()) {
        let Some(name) = Name::of_entry(&dir) else { continue };
        let record = Record::read(&dir)
            .with_context(|| format!("what box {name} stands on is not known; `coop rm --force {name}` removes it"))?;
        used.note(&record);
    }
    Ok(used)
}

impl Used {
    fn note(&mut self, record: &Record) {
        let name = record.name.to_string();
        let by = |map: &mut BTreeMap<String, Vec<String>>, what: &str| {
            map.entry(what.to_owned()).or_default().push(name.clone());
        };
        if let Some(image) = &record.image {
            by(&mut self.images, &image.digest);
        }
        if let Some(key) = &record.setup_build {
            by(&mut self.builds, key);
        }
        for mount in &record.plan.mounts {
            if let PlannedSource::Volume(volume) = &mount.source {
                by(&mut self.volumes, volume);
            }
        }
    }
}

/// The same for who knows them as digests only.
pub fn digests(used: &BTreeMap<String, Vec<String>>) -> HashSet<Digest> {
    let read = |text: &String| Digest::parse(text).ok().or_else(|| Digest::from_hex(text));
    used.keys().filter_map(read).collect()
}
