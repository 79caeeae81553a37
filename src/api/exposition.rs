//! Prometheus' text format, version 0.0.4: a family has its help, its type, and then its samples.

use std::fmt::Write;

use crate::session::Measured;

/// What the format is called in HTTP.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The text as it grows.
#[derive(Debug, Default)]
pub struct Exposition {
    text: String,
}

/// Names and values, written in this order.
pub type Labels<'a> = &'a [(&'a str, &'a str)];

impl Exposition {
    /// A number that only grows.
    pub fn counter<'a>(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = (Labels<'a>, f64)>) {
        self.family(name, "counter", help, samples);
    }

    /// A number of the moment.
    pub fn gauge<'a>(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = (Labels<'a>, f64)>) {
        self.family(name, "gauge", help, samples);
    }

    fn family<'a>(&mut self, name: &str, kind: &str, help: &str, samples: impl IntoIterator<Item = (Labels<'a>, f64)>) {
        self.head(name, kind, help);
        for (labels, value) in samples {
            self.sample(name, labels, None, value);
        }
    }

    pub fn histogram<'a>(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = (Labels<'a>, Measured)>) {
        self.head(name, "histogram", help);
        let (bucket, sum, count) = (format!("{name}_bucket"), format!("{name}_sum"), format!("{name}_count"));
        for (labels, measured) in samples {
            for (bound, up_to) in &measured.buckets {
                self.sample(&bucket, labels, Some(&bound.to_string()), *up_to as f64);
            }
            self.sample(&bucket, labels, Some("+Inf"), measured.count as f64);
            self.sample(&sum, labels, None, measured.sum.as_secs_f64());
            self.sample(&count, labels, None, measured.count as f64);
        }
    }

    // Writing to a string cannot fail.
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: Labels<'_>, up_to: Option<&str>, value: f64) {
        self.text.push_str(name);
        let mut open = '{';
        for (label, value) in labels.iter().copied().chain(up_to.map(|bound| ("le", bound))) {
            let _ = write!(self.text, "{open}{label}=\"{}\"", escaped(value));
            open = ',';
        }
        if open == ',' {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }

    pub fn into_text(self) -> String {
        self.text
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A name that labels may have. What it may not hold becomes `_`.
pub fn label_name(text: &str) -> String {
    text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_family_has_its_help_its_type_and_its_samples() {
        let mut page = Exposition::default();
        page.counter("a_total", "How often\nit \\ happened.", [(&[("kind", "x")][..], 3.0), (&[][..], 0.25)]);
        let expected = "# HELP a_total How often\\nit \\\\ happened.\n# TYPE a_total counter\n\
                        a_total{kind=\"x\"} 3\na_total 0.25\n";
        assert_eq!(page.into_text(), expected);
    }

    #[test]
    fn values_of_labels_are_escaped() {
        let mut page = Exposition::default();
        page.gauge("g", "G.", [(&[("a", "1\"2\\3\n4"), ("b", "é")][..], 1.0)]);
        assert!(page.into_text().ends_with("g{a=\"1\\\"2\\\\3\\n4\",b=\"é\"} 1\n"));
    }

    #[test]
    fn a_histogram_ends_with_all_its_sum_and_its_count() {
        let measured = Measured { buckets: vec![(0.1, 1), (2.5, 3)], count: 4, sum: Duration::from_millis(7250) };
        let mut page = Exposition::default();
        page.histogram("h_seconds", "H.", [(&[("k", "v")][..], measured)]);
        let expected = "# HELP h_seconds H.\n# TYPE h_seconds histogram\n\
                        h_seconds_bucket{k=\"v\",le=\"0.1\"} 1\nh_seconds_bucket{k=\"v\",le=\"2.5\"} 3\n\
                        h_seconds_bucket{k=\"v\",le=\"+Inf\"} 4\nh_seconds_sum{k=\"v\"} 7.25\nh_seconds_count{k=\"v\"} 4\n";
        assert_eq!(page.into_text(), expected);
    }

    #[test]
    fn a_label_may_be_called_anything() {
        assert_eq!(label_name("team.io/röt-1"), "team_io_r_t_1");
    }
}
