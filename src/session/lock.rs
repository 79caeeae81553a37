//! Who may write alone, and for how long.

use std::time::{Duration, Instant};

/// Names a lock that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockId(pub String);

/// At most one holder, whose lease ends unless it is used. The clock is the caller's.
#[derive(Debug, Default)]
pub struct Lock {
    held: Option<Lease>,
}

#[derive(Debug)]
struct Lease {
    id: LockId,
    ttl: Duration,
    ends: Instant,
}

impl Lock {
    /// Gives the lock, or says for how much longer another holds it. The holder itself gets a fresh lease.
    pub fn acquire(&mut self, id: LockId, ttl: Duration, now: Instant) -> Result<(), Duration> {
        self.admit(Some(&id), now)?;
        self.held = Some(Lease { id, ttl, ends: now + ttl });
        Ok(())
    }

    /// Whether that lock was held.
    pub fn release(&mut self, id: &LockId, now: Instant) -> bool {
        let held = self.is_held_by(id, now);
        if held {
            self.held = None;
        }
        held
    }

    /// Whether this writer may write now; the holder's lease begins anew.
    pub fn admit(&mut self, writer: Option<&LockId>, now: Instant) -> Result<(), Duration> {
        match &mut self.held {
            Some(lease) if lease.ends <= now => self.held = None,
            Some(lease) if Some(&lease.id) == writer => lease.ends = now + lease.ttl,
            Some(lease) => return Err(lease.ends - now),
            None => {}
        }
        Ok(())
    }

    pub fn is_held_by(&self, id: &LockId, now: Instant) -> bool {
        self.held.as_ref().is_some_and(|lease| lease.id == *id && lease.ends > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(30);

    fn id(name: &str) -> LockId {
        LockId(name.into())
    }

    #[test]
    fn only_the_holder_may_write() {
        let (mut lock, now) = (Lock::default(), Instant::now());
        lock.acquire(id("a"), TTL, now).unwrap();
        assert_eq!(lock.admit(None, now), Err(TTL));
        assert_eq!(lock.admit(Some(&id("b")), now), Err(TTL));
        assert_eq!(lock.admit(Some(&id("a")), now), Ok(()));
        assert_eq!(lock.acquire(id("b"), TTL, now), Err(TTL));
    }

    #[test]
    fn a_lease_ends_unless_it_is_used() {
        let (mut lock, now) = (Lock::default(), Instant::now());
        lock.acquire(id("a"), TTL, now).unwrap();
        let later = now + Duration::from_secs(20);
        lock.admit(Some(&id("a")), later).unwrap();
        assert!(lock.admit(None, now + TTL).is_err(), "the use at 20 s began the lease anew");
        assert!(lock.admit(None, later + TTL).is_ok());
        assert!(!lock.is_held_by(&id("a"), later + TTL));
    }

    #[test]
    fn only_the_holder_can_release() {
        let (mut lock, now) = (Lock::default(), Instant::now());
        lock.acquire(id("a"), TTL, now).unwrap();
        assert!(!lock.release(&id("b"), now));
        assert!(lock.release(&id("a"), now));
        assert!(!lock.release(&id("a"), now));
        assert!(lock.admit(None, now).is_ok());
    }
}
