//! The pieces of coop's JSON shape that the generated code leans on: numbers, nulls, JSON text shown as JSON.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A number, or a text that holds one; a wrong one is named in the error.
pub struct Number<T>(pub T);

impl<'de, T> Deserialize<'de> for Number<T>
where
    T: FromStr,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);

        impl<T: FromStr> Reader<T> {
            fn parse<E: de::Error>(self, text: &str, seen: de::Unexpected<'_>) -> Result<Number<T>, E> {
                // A float such as 3.0 is how some clients print whole numbers.
                let whole = text.strip_suffix(".0").unwrap_or(text);
                T::from_str(whole).map(Number).map_err(|_| E::invalid_value(seen, &self))
            }
        }

        impl<T: FromStr> Visitor<'_> for Reader<T> {
            type Value = Number<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a number ({})", std::any::type_name::<T>())
            }

            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Self::Value, E> {
                self.parse(&v.to_string(), de::Unexpected::Unsigned(v))
            }

            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Self::Value, E> {
                self.parse(&v.to_string(), de::Unexpected::Signed(v))
            }

            fn visit_f64<E: de::Error>(self, v: f64) -> Result<Self::Value, E> {
                self.parse(&format!("{v:?}"), de::Unexpected::Float(v))
            }

            fn visit_str<E: de::Error>(self, v: &str) -> Result<Self::Value, E> {
                self.parse(v, de::Unexpected::Str(v))
            }
        }

        deserializer.deserialize_any(Reader(PhantomData))
    }
}

/// An absent value, which is written all the same.
pub struct Null;

impl Serialize for Null {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_none()
    }
}

/// Text that is JSON and is written as such; text that is not becomes a JSON string rather than broken output.
pub struct Verbatim<'a>(pub &'a str);

impl Serialize for Verbatim<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_str::<&RawValue>(self.0) {
            Ok(raw) => raw.serialize(serializer),
            Err(_) => serializer.serialize_str(self.0),
        }
    }
}

/// Any JSON value, kept as the text it came in: key order and number spelling stay.
pub struct VerbatimText(pub String);

impl<'de> Deserialize<'de> for VerbatimText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self(raw.get().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_as_numbers_or_as_text() {
        for json in ["7", "\"7\"", "7.0"] {
            assert_eq!(serde_json::from_str::<Number<u32>>(json).unwrap().0, 7, "{json}");
        }
        assert_eq!(serde_json::from_str::<Number<u64>>("18446744073709551615").unwrap().0, u64::MAX);
    }

    #[test]
    fn a_wrong_number_is_named() {
        let error =
            |json: &str| serde_json::from_str::<Number<u32>>(json).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error("\"x\"").contains("invalid value: string \"x\", expected a number (u32)"), "{}", error("\"x\""));
        assert!(error("-1").contains("`-1`"), "{}", error("-1"));
        assert!(error("4294967296").contains("4294967296"), "{}", error("4294967296"));
        assert!(error("true").contains("expected a number (u32)"), "{}", error("true"));
    }

    #[test]
    fn json_text_is_shown_as_it_came() {
        let text = r#"{"b":1,"a":[1.50,null]}"#;
        assert_eq!(serde_json::to_string(&Verbatim(text)).unwrap(), text);
        assert_eq!(serde_json::from_str::<VerbatimText>(text).unwrap().0, text);
        assert_eq!(serde_json::to_string(&Verbatim("not json")).unwrap(), "\"not json\"");
    }
}
