//! Text becomes a [`BoxFile`], or a list of all that is wrong with it.

use std::ops::{Range, RangeInclusive};
use std::path::Path;

use toml::de::DeTable;

use super::file::{
    BoxFile, BoxSection, EnvSection, InputFilterSection, LimitsSection, NetworkSection, One, SecuritySection,
    SessionSection, WorkspaceSection,
};
use super::keys::SECTIONS;
use super::mistake::Mistakes;
use super::mounts::read_mounts;
use super::name::{NAME_RULE, is_name};
use super::nearest::nearest;
use super::origin::Whose;
use super::reader::{Entries, Reader, Section, entries_of, into_table, quoted};
use crate::egress::{AllowList, PublishRule};
use crate::terminal::{Modes, encode_key};

/// Less, and no agent starts.
const MEMORY_BYTES: RangeInclusive<u64> = 16 << 20..=1 << 50;

/// An agent alone has a dozen threads; the kernel knows no more ids than the larger number.
const PROCESSES: RangeInclusive<u64> = 16..=4_194_304;

/// The kernel divides no finer.
const CPUS: RangeInclusive<f64> = 0.01..=4096.0;

/// Below it programs do not start; above it the kernel says no.
const OPEN_FILES: RangeInclusive<u64> = 64..=1_048_576;

/// What a terminal and its emulator can bear.
const SIDE: RangeInclusive<u64> = 1..=1000;

/// A minute between two keys is no accident any more.
const CTRL_C_MS: RangeInclusive<u64> = 0..=60_000;

/// The longest sequence that a terminal sends for a key is far below.
const KEY_CHARS_MAX: usize = 64;

/// Reads a file's text. The path is only told, not opened.
pub fn parse(path: &Path, text: &str, whose: Whose) -> Result<BoxFile, Mistakes> {
    // Some editors put a mark before the text; it is no part of the first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader::new(text, path, whose);
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        reader.object(&span, sentence(error.message()));
    }
    // What follows a broken line on that line is a guess of the parser's; it would only be told twice.
    let broken: Vec<usize> = reader.mistakes.iter().map(|mistake| mistake.line).collect();
    let file = read_sections(&mut reader, entries_of(document.into_inner()));
    let (mut list, more) = (reader.mistakes, reader.more);
    let further = list.split_off(broken.len());
    list.extend(further.into_iter().filter(|mistake| !broken.contains(&mistake.line)));
    if list.is_empty() {
        return Ok(file);
    }
    list.sort_by_key(|mistake| (mistake.line, mistake.column));
    list.dedup();
    Err(Mistakes { path: path.to_owned(), list, more })
}

/// The parser's words, with the one that people ask about most explained.
fn sentence(message: &str) -> String {
    match message {
        "duplicate key" => "it is said twice; keep one of them".to_owned(),
        other => format!("this is not TOML: {other}"),
    }
}

fn read_sections(reader: &mut Reader<'_>, mut top: Entries<'_>) -> BoxFile {
    let file = BoxFile {
        boxed: read_box(reader.section("box", &mut top)),
        workspace: read_workspace(reader.section("workspace", &mut top)),
        network: read_network(reader.section("network", &mut top)),
        limits: read_limits(reader.section("limits", &mut top)),
        security: read_security(reader.section("security", &mut top)),
        session: read_session(reader.section("session", &mut top)),
        input_filter: read_input_filter(reader.section("input_filter", &mut top)),
        env: read_env(reader.section("env", &mut top)),
    };
    for (name, (span, _)) in top {
        reader.object(&span, unknown_section(&name));
    }
    file
}

/// A key of a section that was written before the first header is told where it belongs.
fn unknown_section(name: &str) -> String {
    let sections = SECTIONS.iter().map(|(section, _)| *section);
    let wrong = format!("there is no section {}", quoted(name));
    if let Some(key) = super::keys::KEYS.iter().find(|key| key.name == name) {
        return format!("{} belongs into a section: write it below [{}]", quoted(name), key.section);
    }
    match nearest(name, sections.clone()) {
        Some(near) => format!("{wrong}; did you mean [{near}]?"),
        None => format!("{wrong}; there are {}", sections.collect::<Vec<_>>().join(", ")),
    }
}

fn read_box(mut section: Section<'_, '_, '_>) -> BoxSection {
    let found = BoxSection {
        image: section.text("image"),
        agent: section.word("agent"),
        command: section.whole_list("command"),
        shell: section.text("shell"),
        setup: section.whole_list("setup"),
        user: section.text("user"),
        uidmap: section.word("uidmap"),
        nested: section.flag("nested"),
        mounts: read_mounts(&mut section),
        hide: section.texts("hide"),
        login: section.word("login"),
        git_identity: section.flag("git_identity"),
    };
    section.finish();
    found
}

fn read_workspace(mut section: Section<'_, '_, '_>) -> WorkspaceSection {
    let path = section.take("path").and_then(|value| {
        let text = section.reader.text_of(&value, "a string", "path = \".\"")?;
        project_only(section.reader, &value.span(), "a project's directory");
        Some(section.reader.said(&value.span(), text))
    });
    let found = WorkspaceSection {
        path,
        mode: section.word("mode"),
        protect: section.texts("protect"),
        protect_git: section.flag("protect_git"),
    };
    section.finish();
    found
}

fn read_network(mut section: Section<'_, '_, '_>) -> NetworkSection {
    let mut published: Vec<PublishRule> = Vec::new();
    let found = NetworkSection {
        mode: section.word("mode"),
        allow: section.texts_that("allow", AllowList::check),
        publish: section.texts_that("publish", |entry| {
            let rule = PublishRule::parse(entry)?;
            if published.iter().any(|other| rule.collides(*other)) {
                return Err(format!("{} is published already, by an entry before it", rule.listen));
            }
            published.push(rule);
            Ok(())
        }),
    };
    section.finish();
    found
}

fn read_limits(mut section: Section<'_, '_, '_>) -> LimitsSection {
    let found = LimitsSection {
        memory: section.size("memory", &MEMORY_BYTES),
        processes: section.count("processes", &PROCESSES),
        cpus: section.number("cpus", &CPUS),
        open_files: section.count("open_files", &OPEN_FILES),
    };
    section.finish();
    found
}

fn read_security(mut section: Section<'_, '_, '_>) -> SecuritySection {
    let found = SecuritySection { seccomp: section.flag("seccomp"), landlock: section.flag("landlock") };
    section.finish();
    found
}

fn read_session(mut section: Section<'_, '_, '_>) -> SessionSection {
    let labels = section.take("labels");
    let found = SessionSection {
        name: read_name(&mut section),
        restart: section.word("restart"),
        persist: section.texts("persist"),
        cols: section.count("cols", &SIDE),
        rows: section.count("rows", &SIDE),
        attach_size: section.word("attach_size"),
        labels: match labels {
            Some(value) if value.get_ref().is_table() => {
                let entries = into_table(value).map(entries_of).unwrap_or_default();
                section
                    .named(entries, "words without '=' in them", |name| !name.is_empty() && !name.contains(['=', '\0']))
            }
            Some(value) => {
                section.reader.wrong_kind(&value, "a table of strings", "labels = { team = \"red\" }");
                super::file::Named::new()
            }
            None => super::file::Named::new(),
        },
    };
    section.finish();
    found
}

fn read_name(section: &mut Section<'_, '_, '_>) -> One<String> {
    let value = section.take("name")?;
    let text = section.reader.text_of(&value, "a string", "name = \"my-app\"")?;
    if !is_name(&text) {
        section.reader.object(&value.span(), format!("{} is no name for a box: use {NAME_RULE}", quoted(&text)));
        return None;
    }
    project_only(section.reader, &value.span(), "a name");
    Some(section.reader.said(&value.span(), text))
}

/// What every box would have from a user's config.toml, and only one can.
fn project_only(reader: &mut Reader<'_>, span: &Range<usize>, what: &str) {
    if reader.whose == Whose::User {
        reader.object(span, format!("{what} belongs to one box: put it into a project's coop.toml"));
    }
}

fn read_input_filter(mut section: Section<'_, '_, '_>) -> InputFilterSection {
    let found = InputFilterSection {
        ctrl_c_ms: section.count("ctrl_c_ms", &CTRL_C_MS),
        block_keys: section.texts_that("block_keys", |name| {
            is_short(name)?;
            encode_key(name, &Modes::default()).map(drop).map_err(|error| error.to_string())
        }),
        block_sequences: section.texts_that("block_sequences", is_short),
    };
    section.finish();
    found
}

fn is_short(text: &str) -> Result<(), String> {
    let fits = text.chars().count() <= KEY_CHARS_MAX;
    fits.then_some(()).ok_or_else(|| format!("a key or sequence has at most {KEY_CHARS_MAX} characters"))
}

fn read_env(mut section: Section<'_, '_, '_>) -> EnvSection {
    let export = section.items("export", |reader, item, (_, example)| {
        let name = reader.text_of(&item, "a variable's name", example)?;
        check_variable(reader, &item.span(), &name).then_some(name)
    });
    let mut entries = section.rest();
    entries.retain(|name, (span, _)| !is_variable(name) || check_variable(section.reader, span, name));
    let set = section.named(entries, "letters, digits and '_', not beginning with a digit", is_variable);
    section.finish();
    EnvSection { set, export: export.map(|said| said.value).unwrap_or_default() }
}

pub fn is_variable(name: &str) -> bool {
    let begins_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    begins_well && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn check_variable(reader: &mut Reader<'_>, span: &Range<usize>, name: &str) -> bool {
    let wrong = if !is_variable(name) {
        format!("{} is no variable's name: use letters, digits and '_', such as GITHUB_TOKEN", quoted(name))
    } else if is_reserved(name) {
        format!("`{name}` is set by coop itself inside a box: leave it out")
    } else {
        return true;
    };
    reader.object(span, wrong);
    false
}

/// HOME is the box's own; coop's variables tell programs inside how to reach it.
pub fn is_reserved(name: &str) -> bool {
    name == "HOME" || name.starts_with("COOP_")
}
