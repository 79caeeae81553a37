//! Takes typed values out of a parsed document and remembers everything that is wrong on the way.

use std::collections::{BTreeMap, HashSet};
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::amounts;
use super::file::{Many, Named, One};
use super::keys;
use super::mistake::{Lines, MISTAKES_KEPT_MAX, Mistake};
use super::nearest::nearest;
use super::origin::{Origin, Said, Whose};
use super::shown::shown;
use super::words::Word;

/// What is repeated of a wrong value or key in an error.
const QUOTED_CHARS_MAX: usize = 60;

/// Nobody writes longer lists by hand, and layers compare each item with every other.
const ITEMS_MAX: usize = 1000;

pub struct Reader<'a> {
    lines: Lines<'a>,
    file: Arc<Path>,
    pub whose: Whose,
    pub mistakes: Vec<Mistake>,
    /// Mistakes that were only counted.
    pub more: usize,
}

/// A table whose keys are taken one by one; what is left at the end is a mistake.
pub struct Section<'r, 'a, 't> {
    pub reader: &'r mut Reader<'a>,
    name: &'static str,
    entries: BTreeMap<String, (Range<usize>, Spanned<DeValue<'t>>)>,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str, file: &Path, whose: Whose) -> Self {
        Self { lines: Lines::of(text), file: file.into(), whose, mistakes: Vec::new(), more: 0 }
    }

    pub fn said<T>(&self, span: &Range<usize>, value: T) -> Said<T> {
        let spot = self.lines.spot(&self.file, span.start);
        let origin = match self.whose {
            Whose::User => Origin::User(spot),
            Whose::Project => Origin::Project(spot),
        };
        Said { value, origin }
    }

    pub fn object(&mut self, span: &Range<usize>, message: impl Into<String>) {
        if self.mistakes.len() < MISTAKES_KEPT_MAX {
            self.mistakes.push(self.lines.mistake(span.clone(), message));
        } else {
            self.more += 1;
        }
    }

    /// The section of this name, empty if it is not there.
    pub fn section<'r, 't>(&'r mut self, name: &'static str, top: &mut Entries<'t>) -> Section<'r, 'a, 't> {
        let entries = match top.remove(name) {
            None => BTreeMap::new(),
            Some((_, value)) => match value.get_ref() {
                DeValue::Table(_) => into_table(value).map(entries_of).unwrap_or_default(),
                // `[[box]]` would make several of what there is one of.
                other => {
                    let found = kind(other);
                    let way_out = format!("write its settings below a line that says [{name}]");
                    self.object(&value.span(), format!("`{name}` is a section, not {found}: {way_out}"));
                    BTreeMap::new()
                }
            },
        };
        Section { reader: self, name, entries }
    }

    /// A string that can be passed on to a system.
    pub fn text_of(&mut self, value: &Spanned<DeValue<'_>>, expects: &str, example: &str) -> Option<String> {
        let DeValue::String(text) = value.get_ref() else {
            self.wrong_kind(value, expects, example);
            return None;
        };
        if text.is_empty() {
            self.object(&value.span(), format!("it must not be empty: use {expects}, such as {example}"));
            return None;
        }
        if text.contains('\0') {
            self.object(&value.span(), "it holds a NUL character, which no path, name or command can");
            return None;
        }
        Some(text.to_string())
    }

    pub fn wrong_kind(&mut self, value: &Spanned<DeValue<'_>>, expects: &str, example: &str) {
        let found = kind(value.get_ref());
        self.object(&value.span(), format!("expected {expects}, found {found}; such as {example}"));
    }
}

/// What stands in a table, by name, each with the place of the name.
pub type Entries<'t> = BTreeMap<String, (Range<usize>, Spanned<DeValue<'t>>)>;

pub fn entries_of(table: DeTable<'_>) -> Entries<'_> {
    table.into_iter().map(|(key, value)| (key.get_ref().to_string(), (key.span(), value))).collect()
}

pub fn into_table(value: Spanned<DeValue<'_>>) -> Option<DeTable<'_>> {
    match value.into_inner() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

/// What a value is, in words.
pub fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A stranger's word in an error.
pub fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(QUOTED_CHARS_MAX).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("`{}{more}`", shown(&cut))
}

/// The integer, if it is one that fits.
fn whole(value: &DeValue<'_>) -> Option<u64> {
    let DeValue::Integer(digits) = value else { return None };
    u64::from_str_radix(digits.as_str(), digits.radix()).ok()
}

impl<'t> Section<'_, '_, 't> {
    pub fn take(&mut self, name: &str) -> Option<Spanned<DeValue<'t>>> {
        self.entries.remove(name).map(|(_, value)| value)
    }

    fn expects(&self, name: &str) -> (&'static str, String) {
        keys::about(self.name, name)
            .map_or(("", String::new()), |key| (key.expects, format!("{name} = {}", key.example)))
    }

    pub fn flag(&mut self, name: &str) -> One<bool> {
        let value = self.take(name)?;
        if let Some(flag) = value.get_ref().as_bool() {
            return Some(self.reader.said(&value.span(), flag));
        }
        let (expects, example) = self.expects(name);
        self.reader.wrong_kind(&value, expects, &example);
        None
    }

    pub fn text(&mut self, name: &str) -> One<String> {
        let value = self.take(name)?;
        let (expects, example) = self.expects(name);
        let text = self.reader.text_of(&value, expects, &example)?;
        Some(self.reader.said(&value.span(), text))
    }

    pub fn word<W: Word>(&mut self, name: &str) -> One<W> {
        let value = self.take(name)?;
        if let Some(word) = value.get_ref().as_str().and_then(W::from_word) {
            return Some(self.reader.said(&value.span(), word));
        }
        let near = value.get_ref().as_str().and_then(|text| nearest(text, W::ALL.iter().map(|known| known.word())));
        let hint = near.map(|word| format!("; did you mean \"{word}\"?")).unwrap_or_default();
        let found = value.get_ref().as_str().map_or_else(|| kind(value.get_ref()).to_owned(), quoted);
        self.reader.object(&value.span(), format!("`{name}` is {}, not {found}{hint}", W::choices()));
        None
    }

    pub fn count<N: TryFrom<u64>>(&mut self, name: &str, bounds: &RangeInclusive<u64>) -> One<N> {
        let value = self.take(name)?;
        self.bounded(name, &value, whole(value.get_ref()), bounds, u64::to_string)
    }

    /// Bytes, as a number or as people write them.
    pub fn size(&mut self, name: &str, bounds: &RangeInclusive<u64>) -> One<u64> {
        let value = self.take(name)?;
        let found = value.get_ref().as_str().map_or_else(|| whole(value.get_ref()), amounts::bytes);
        self.bounded(name, &value, found, bounds, |bytes| amounts::shown_bytes(*bytes))
    }

    fn bounded<N: TryFrom<u64>>(
        &mut self,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        found: Option<u64>,
        bounds: &RangeInclusive<u64>,
        tell: impl Fn(&u64) -> String,
    ) -> One<N> {
        let (expects, example) = self.expects(name);
        if let Some(number) = found.filter(|number| bounds.contains(number)).and_then(|number| N::try_from(number).ok())
        {
            return Some(self.reader.said(&value.span(), number));
        }
        if found.is_some() || matches!(value.get_ref(), DeValue::Integer(_)) {
            let range = format!("between {} and {}", tell(bounds.start()), tell(bounds.end()));
            self.reader.object(&value.span(), format!("`{name}` must be {range}; such as {example}"));
        } else if let Some(text) = value.get_ref().as_str() {
            self.reader.object(&value.span(), format!("expected {expects}, found {}; such as {example}", quoted(text)));
        } else {
            self.reader.wrong_kind(value, expects, &example);
        }
        None
    }

    /// A number that may have a fraction.
    pub fn number(&mut self, name: &str, bounds: &RangeInclusive<f64>) -> One<f64> {
        let value = self.take(name)?;
        let (expects, example) = self.expects(name);
        let found = match value.get_ref() {
            DeValue::Float(digits) => digits.as_str().parse().ok(),
            DeValue::Integer(digits) if digits.radix() == 10 => digits.as_str().parse().ok(),
            other => {
                if whole(other).is_none() {
                    self.reader.wrong_kind(&value, expects, &example);
                    return None;
                }
                None
            }
        };
        // Not a number is in no range.
        if let Some(number) = found.filter(|number| bounds.contains(number)) {
            return Some(self.reader.said(&value.span(), number));
        }
        let range = format!("between {} and {}", bounds.start(), bounds.end());
        self.reader.object(&value.span(), format!("`{name}` must be {range}; such as {example}"));
        None
    }

    /// The items of a list, each read by `read`, which reports what is wrong itself. No list is an empty list.
    pub fn items<T>(
        &mut self,
        name: &str,
        mut read: impl FnMut(&mut Reader<'_>, Spanned<DeValue<'t>>, (&str, &str)) -> Option<T>,
    ) -> One<Vec<Said<T>>> {
        let value = self.take(name)?;
        let (expects, example) = self.expects(name);
        let span = value.span();
        let DeValue::Array(_) = value.get_ref() else {
            self.reader.wrong_kind(&value, expects, &example);
            return None;
        };
        let DeValue::Array(list) = value.into_inner() else { return None };
        if list.len() > ITEMS_MAX {
            self.reader.object(&span, format!("`{name}` has {} items, at most {ITEMS_MAX} are possible", list.len()));
            return None;
        }
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            let span = item.span();
            if let Some(found) = read(self.reader, item, (expects, &example)) {
                items.push(self.reader.said(&span, found));
            }
        }
        Some(self.reader.said(&span, items))
    }

    /// Strings that are collected; one that is there already changes nothing.
    pub fn texts(&mut self, name: &str) -> Many<String> {
        self.texts_that(name, |_| Ok(()))
    }

    /// The same of a kind that `check` knows; its word about another is told where that stands.
    pub fn texts_that(&mut self, name: &str, mut check: impl FnMut(&str) -> Result<(), String>) -> Many<String> {
        let mut seen = HashSet::new();
        let found = self.items(name, |reader, item, (_, example)| {
            let text = reader.text_of(&item, "a string", example)?;
            if seen.insert(text.clone())
                && let Err(wrong) = check(&text)
            {
                reader.object(&item.span(), wrong);
                return None;
            }
            Some(text)
        });
        let mut unique: Many<String> = Vec::new();
        for item in found.map(|said| said.value).unwrap_or_default() {
            if unique.iter().all(|known| known.value != item.value) {
                unique.push(item);
            }
        }
        unique
    }

    /// Strings whose order and number matter.
    pub fn whole_list(&mut self, name: &str) -> One<Vec<String>> {
        let found = self.items(name, |reader, item, (_, example)| reader.text_of(&item, "a string", example));
        found.map(|said| said.map(|items| items.into_iter().map(|item| item.value).collect()))
    }

    /// A table of strings by names that `is_name` likes. Empty strings are strings here.
    pub fn named(&mut self, entries: Entries<'_>, rule: &str, is_name: impl Fn(&str) -> bool) -> Named {
        let mut named = Named::new();
        if let Some((_, (span, _))) = entries.iter().nth(ITEMS_MAX) {
            self.reader
                .object(span, format!("[{}] has {} names, at most {ITEMS_MAX} are possible", self.name, entries.len()));
            return named;
        }
        for (name, (span, value)) in entries {
            if !is_name(&name) {
                self.reader.object(&span, format!("{} is no name here: use {rule}", quoted(&name)));
            } else if let Some(text) = value.get_ref().as_str().filter(|text| !text.contains('\0')) {
                let text = text.to_owned();
                named.insert(name, self.reader.said(&span, text));
            } else if value.get_ref().is_str() {
                self.reader.object(&value.span(), "it holds a NUL character, which no variable or label can");
            } else {
                self.reader.wrong_kind(&value, "a string", &format!("{} = \"1\"", shown(&name)));
            }
        }
        named
    }

    /// All that nobody took.
    pub fn rest(&mut self) -> Entries<'t> {
        std::mem::take(&mut self.entries)
    }

    pub fn finish(mut self) {
        for (name, (span, _)) in self.rest() {
            let message = unknown_key(self.name, &name);
            self.reader.object(&span, message);
        }
    }
}

/// Names the nearest key, also one of another section: that is the usual slip.
fn unknown_key(section: &str, name: &str) -> String {
    let wrong = format!("there is no key {} in [{section}]", quoted(name));
    if let Some(word) = nearest(name, keys::names_in(section)) {
        return format!("{wrong}; did you mean `{word}`?");
    }
    if let Some(other) = keys::KEYS.iter().find(|key| key.name == name) {
        return format!("{wrong}; it belongs to [{}]", other.section);
    }
    format!("{wrong}; there are {}", keys::names_in(section).collect::<Vec<_>>().join(", "))
}
