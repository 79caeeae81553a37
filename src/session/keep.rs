//! A place beside something shared, where a face keeps what it made of it.

use std::any::Any;
use std::sync::OnceLock;

/// Made by the first who needs it, and shared by all who come later. What it is, is the face's affair.
#[derive(Debug, Default)]
pub struct Keep(OnceLock<Box<dyn Any + Send + Sync>>);

impl Keep {
    /// What is kept, or what is made now. Something of another type is left alone and made anew each time.
    pub fn get_or_make<T: Clone + Send + Sync + 'static>(&self, make: impl Fn() -> T) -> T {
        match self.0.get_or_init(|| Box::new(make())).downcast_ref::<T>() {
            Some(kept) => kept.clone(),
            None => make(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_once_for_each_kind_of_user() {
        let (keep, made) = (Keep::default(), std::cell::Cell::new(0));
        let text = || {
            made.set(made.get() + 1);
            "text".to_owned()
        };
        assert_eq!((keep.get_or_make(text), keep.get_or_make(text)), ("text".into(), "text".into()));
        assert_eq!(made.get(), 1);
        assert_eq!(keep.get_or_make(|| 7u8), 7, "a face with another form gets its own");
    }
}
