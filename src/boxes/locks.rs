//! One at a time for each name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

use super::name::Name;

/// Locks that come and go with those who want them.
#[derive(Debug, Default)]
pub struct Locks(Mutex<HashMap<Name, Arc<tokio::sync::Mutex<()>>>>);

impl Locks {
    /// Waits until nobody else is at this name.
    pub async fn of(&self, name: &Name) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // Those that nobody holds or waits for are only ours.
            locks.retain(|known, lock| known == name || Arc::strong_count(lock) > 1);
            locks.entry(name.clone()).or_default().clone()
        };
        lock.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn two_at_one_name_wait_for_each_other_and_names_are_forgotten() {
        let locks = Locks::default();
        let (a, b) = (Name::parse("a").unwrap(), Name::parse("b").unwrap());
        let held = locks.of(&a).await;
        let mut second = Box::pin(locks.of(&a));
        assert!(futures_util::poll!(&mut second).is_pending());
        drop(locks.of(&b).await);
        assert!(futures_util::poll!(&mut second).is_pending());
        drop(held);
        drop(second.await);
        drop(locks.of(&b).await);
        assert_eq!(locks.0.lock().unwrap().len(), 1);
    }
}
