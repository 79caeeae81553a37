//! Mounts as they are written: `"from:to:ro"` or a table.

use std::ops::Range;
use std::str::FromStr;

use toml::Spanned;
use toml::de::DeValue;

use super::file::{Many, Mount, MountSource};
use super::name::{NAME_RULE, is_name};
use super::nearest::nearest;
use super::reader::{Entries, Reader, Section, entries_of, into_table, quoted};
use super::words::{Access, Word};

/// The keys of a table.
const KEYS: [&str; 4] = ["from", "volume", "to", "mode"];

pub fn read_mounts(section: &mut Section<'_, '_, '_>) -> Many<Mount> {
    let mut seen: Vec<(String, usize)> = Vec::new();
    let found = section.items("mounts", |reader, item, told| {
        let span = item.span();
        let mount = read_mount(reader, item, told)?;
        if let Some((to, line)) = seen.iter().find(|(to, _)| *to == mount.to) {
            reader.object(&span, format!("{} is mounted on in line {line} already", quoted(to)));
            return None;
        }
        seen.push((mount.to.clone(), reader.said(&span, ()).origin.line()));
        Some(mount)
    });
    found.map(|said| said.value).unwrap_or_default()
}

fn read_mount(reader: &mut Reader<'_>, item: Spanned<DeValue<'_>>, (expects, example): (&str, &str)) -> Option<Mount> {
    let span = item.span();
    match item.get_ref() {
        DeValue::Table(_) => read_mount_table(reader, &span, entries_of(into_table(item)?)),
        DeValue::String(text) => {
            let mount = short_mount(text);
            if mount.is_none() {
                let forms = "use \"from:to\", \"from:to:ro\" or { from = \"…\", to = \"…\", mode = \"ro\" }";
                reader.object(&span, format!("{} is no mount: {forms}", quoted(text)));
            }
            mount
        }
        _ => {
            reader.wrong_kind(&item, expects, example);
            None
        }
    }
}

/// `from:to`, `from:to:ro` or `from:to:rw`.
fn short_mount(text: &str) -> Option<Mount> {
    let parts: Vec<&str> = text.split(':').collect();
    let (from, to, mode) = match parts[..] {
        [from, to] => (from, to, Access::default()),
        [from, to, mode] => (from, to, Access::from_word(mode)?),
        _ => return None,
    };
    let good = |path: &str| !path.is_empty() && !path.contains('\0');
    let source = MountSource::From(from.to_owned());
    (good(from) && good(to)).then(|| Mount { source, to: to.to_owned(), mode })
}

fn read_mount_table(reader: &mut Reader<'_>, span: &Range<usize>, mut entries: Entries<'_>) -> Option<Mount> {
    let known = reader.mistakes.len() + reader.more;
    let mut take = |name: &str, reader: &mut Reader<'_>| {
        let (_, value) = entries.remove(name)?;
        let text = reader.text_of(&value, "a string", &format!("{name} = \"…\""))?;
        Some((text, value.span()))
    };
    let [from, volume, to, mode] = KEYS.map(|name| take(name, reader));
    for (name, (at, _)) in entries {
        let near = nearest(&name, KEYS).map(|near| format!("did you mean `{near}`?"));
        let hint = near.unwrap_or_else(|| format!("there are {}", KEYS.join(", ")));
        reader.object(&at, format!("a mount has no key {}; {hint}", quoted(&name)));
    }
    if let Some((name, at)) = volume.as_ref().filter(|(name, _)| !is_name(name)) {
        reader.object(at, format!("{} is no name for a volume: use {NAME_RULE}", quoted(name)));
    }
    let access = mode.as_ref().map_or(Some(Access::default()), |(word, _)| Access::from_word(word));
    if let (None, Some((word, at))) = (access, &mode) {
        reader.object(at, format!("`mode` is {}, not {}", Access::choices(), quoted(word)));
    }
    // What is wrong with a part is enough to hear of.
    if reader.mistakes.len() + reader.more > known {
        return None;
    }
    let mode = access.unwrap_or_default();
    let message = match (from, volume, to) {
        (Some((from, _)), None, Some((to, _))) => return Some(Mount { source: MountSource::From(from), to, mode }),
        (None, Some((name, _)), Some((to, _))) => return Some(Mount { source: MountSource::Volume(name), to, mode }),
        (Some(_), Some(_), _) => "a mount is `from` a path or a `volume`, not both",
        (None, None, _) => "a mount needs `from = \"PATH\"` or `volume = \"NAME\"`",
        (_, _, None) => "a mount needs `to = \"/PATH\"`, where it is seen inside",
    };
    reader.object(span, message);
    None
}

/// The short form, which is also that of the command line.
impl FromStr for Mount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        short_mount(text).ok_or_else(|| format!("{} is no mount: use FROM:TO or FROM:TO:ro", quoted(text)))
    }
}
