//! Query and path parameters as a message: each text is read as the type that its field asks for.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::api::ApiError;

/// Reads a message from names and texts; a name may come more than once.
pub fn from_params<T: DeserializeOwned>(params: &[(String, String)]) -> Result<T, ApiError> {
    let mut fields: Vec<(&str, Field<'_>)> = Vec::new();
    for (name, text) in params {
        match fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, field)) => field.texts.push(text),
            None => fields.push((name, Field { texts: vec![text] })),
        }
    }
    let map = MapDeserializer::new(fields.into_iter());
    serde_path_to_error::deserialize(map).map_err(|error: serde_path_to_error::Error<de::value::Error>| {
        ApiError::bad_request(crate::serve::body::explain(error.path(), error.inner()))
    })
}

/// Splits a query string into names and texts.
pub fn query(text: &str) -> Result<Vec<(String, String)>, ApiError> {
    axum::extract::Query::<Vec<(String, String)>>::try_from_uri(
        &format!("/?{text}").parse().map_err(|_| ApiError::bad_request("the query is not a query"))?,
    )
    .map(|query| query.0)
    .map_err(|error| ApiError::bad_request(error.body_text()))
}

/// What was given for one name.
#[derive(Clone)]
struct Field<'a> {
    texts: Vec<&'a String>,
}

impl<'a> Field<'a> {
    /// The last one given, as with repeated flags.
    fn text(&self) -> &'a str {
        self.texts.last().map_or("", |text| text.as_str())
    }
}

impl<'de, 'a: 'de> IntoDeserializer<'de, de::value::Error> for Field<'a> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de, 'a: 'de> Deserializer<'de> for Field<'a> {
    type Error = de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_borrowed_str(self.text())
    }

    /// An empty text, as in `?cursor=`, is nothing, and so is the default of the field.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        if self.texts.iter().all(|text| text.is_empty()) { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.text() {
            "true" | "1" => visitor.visit_bool(true),
            "false" | "0" => visitor.visit_bool(false),
            other => Err(de::Error::invalid_value(de::Unexpected::Str(other), &"true or false")),
        }
    }

    /// Several values: the name more than once, or commas.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        let parts = self.texts.iter().flat_map(|text| text.split(',')).filter(|part| !part.is_empty());
        visitor.visit_seq(SeqDeserializer::new(parts))
    }

    fn deserialize_map<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(de::Error::custom("this field does not fit into a query: send it in a body"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.deserialize_map(visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct tuple
        tuple_struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::proto::v1::{AgentStateKind, GetScreenRequest, RestartRequest, WaitRequest};

    fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
        query(text).and_then(|params| from_params(&params)).map_err(|error| error.message)
    }

    #[test]
    fn each_text_is_read_as_its_field_asks() {
        let screen: GetScreenRequest = read("format=ansi&cursor=false&since_seq=7").unwrap();
        assert_eq!((screen.format, screen.cursor, screen.since_seq), (2, Some(false), Some(7)));
        let wait: WaitRequest = read("states=idle,exited&states=error&text=a%20b&exited=1").unwrap();
        assert_eq!(wait.states.len(), 3);
        assert_eq!(wait.states[1], AgentStateKind::Exited as i32);
        assert_eq!((wait.text.as_deref(), wait.exited), (Some("a b"), true));
        assert_eq!(read::<GetScreenRequest>("sinceSeq=7").unwrap().since_seq, Some(7));
    }

    #[test]
    fn an_empty_text_is_the_default() {
        assert_eq!(read::<GetScreenRequest>("cursor=&since_seq=&format=").unwrap(), GetScreenRequest::default());
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let error = read::<GetScreenRequest>("since_seq=soon").unwrap_err();
        assert_eq!(error, "since_seq: invalid value: string \"soon\", expected a number (u64)");
        assert!(read::<GetScreenRequest>("colour=red").unwrap_err().contains("unknown field `colour`"));
        assert!(read::<GetScreenRequest>("cursor=maybe").unwrap_err().contains("expected true or false"));
        assert!(read::<GetScreenRequest>("format=html").unwrap_err().contains("`text`, `ansi`"));
        assert!(read::<RestartRequest>("env=a").unwrap_err().contains("send it in a body"));
    }

    proptest! {
        #[test]
        fn any_query_is_read_or_refused(text in ".{0,60}") {
            let _ = read::<WaitRequest>(&text);
        }
    }
}
