//! Prometheus' text format, read strictly: what promtool would refuse fails a test.

use std::collections::{BTreeMap, HashSet};

/// One series and its value.
#[derive(Debug)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

/// Everything that was told at one moment.
#[derive(Debug, Default)]
pub struct Page {
    kinds: BTreeMap<String, String>,
    samples: Vec<Sample>,
}

impl Page {
    /// Reads a page; what is wrong with it fails.
    pub fn read(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line must end");
        let mut page = Self::default();
        let (mut helped, mut family) = (None, String::new());
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap_or_else(|| panic!("{line}"));
                assert!(is_name(name) && help.ends_with('.'), "{line}");
                helped = Some(name.to_owned());
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap_or_else(|| panic!("{line}"));
                assert_eq!(helped.take().as_deref(), Some(name), "help comes before type");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert_eq!(
                    kind == "counter",
                    name.ends_with("_total"),
                    "{line}: counters end in _total, and only they"
                );
                assert!(page.kinds.insert(name.to_owned(), kind.to_owned()).is_none(), "{name} comes twice");
                family = name.to_owned();
            } else {
                let sample = read_sample(line);
                let base = match page.kinds[&family].as_str() {
                    "histogram" => ["_bucket", "_sum", "_count"].iter().find_map(|end| sample.name.strip_suffix(end)),
                    _ => Some(sample.name.as_str()),
                };
                assert_eq!(base, Some(family.as_str()), "{line} stands in another family");
                page.samples.push(sample);
            }
        }
        page.check();
        page
    }

    fn check(&self) {
        let mut series = HashSet::new();
        for sample in &self.samples {
            assert!(series.insert(format!("{} {:?}", sample.name, sample.labels)), "{sample:?} comes twice");
            assert!(sample.value.is_finite(), "{sample:?}");
        }
        for (name, _) in self.kinds.iter().filter(|(_, kind)| *kind == "histogram") {
            for count in self.samples.iter().filter(|sample| sample.name == format!("{name}_count")) {
                let is_own = |sample: &&Sample| {
                    let mut labels = sample.labels.clone();
                    labels.remove("le");
                    sample.name == format!("{name}_bucket") && labels == count.labels
                };
                let buckets: Vec<_> = self.samples.iter().filter(is_own).collect();
                let values: Vec<f64> = buckets.iter().map(|bucket| bucket.value).collect();
                assert!(values.is_sorted(), "{name}: buckets include the smaller ones: {values:?}");
                let bounds: Vec<f64> = buckets.iter().map(|bucket| bound(&bucket.labels["le"])).collect();
                assert!(bounds.windows(2).all(|pair| pair[0] < pair[1]), "{name}: {bounds:?}");
                assert_eq!((bounds.last(), values.last()), (Some(&f64::INFINITY), Some(&count.value)), "{name}");
                assert!(self.value(&format!("{name}_sum"), &labels_of(count)).is_some(), "{name} has no sum");
            }
        }
    }

    /// The value of the series with exactly these labels.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels: BTreeMap<_, _> =
            labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.samples.iter().find(|sample| sample.name == name && sample.labels == labels).map(|sample| sample.value)
    }

    /// The same; it must be there.
    pub fn of(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        self.value(name, labels).unwrap_or_else(|| panic!("no {name} with {labels:?} in {self:#?}"))
    }

    /// The labels of the only series of this name.
    pub fn labels(&self, name: &str) -> &BTreeMap<String, String> {
        let found: Vec<_> = self.samples.iter().filter(|sample| sample.name == name).collect();
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        &found[0].labels
    }

    /// How many series there are.
    pub fn series(&self, name: &str) -> usize {
        self.samples.iter().filter(|sample| sample.name == name).count()
    }

    /// Everything that is told of, and what kind of number it is.
    pub fn kinds(&self) -> &BTreeMap<String, String> {
        &self.kinds
    }

    pub fn kind(&self, name: &str) -> Option<&str> {
        self.kinds.get(name).map(String::as_str)
    }
}

fn labels_of(sample: &Sample) -> Vec<(&str, &str)> {
    sample.labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn bound(text: &str) -> f64 {
    if text == "+Inf" { f64::INFINITY } else { text.parse().unwrap() }
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn read_sample(line: &str) -> Sample {
    let name: String = line.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect();
    assert!(is_name(&name), "{line}");
    let mut rest = &line[name.len()..];
    let mut labels = BTreeMap::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            let (label, more) = rest.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
            assert!(is_name(label), "{line}");
            let (value, more) = read_value(more, line);
            assert!(labels.insert(label.to_owned(), value).is_none(), "{line}: {label} comes twice");
            match more.strip_prefix(',') {
                Some(more) => rest = more,
                None => {
                    rest = more.strip_prefix('}').unwrap_or_else(|| panic!("{line}"));
                    break;
                }
            }
        }
    }
    let value = rest.strip_prefix(' ').and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{line}"));
    Sample { name, labels, value }
}

/// A value up to its quote, with its escapes undone; what follows comes back too.
fn read_value<'a>(text: &'a str, line: &str) -> (String, &'a str) {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &text[at + 1..]),
            '\\' => match letters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, other @ ('\\' | '"'))) => value.push(other),
                other => panic!("{line}: {other:?} is no escape"),
            },
            letter => value.push(letter),
        }
    }
    panic!("{line}: a value does not end")
}
