//! Locks between processes, by flock, which the kernel releases with their holder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use super::error::{Context, ImageError};

/// How often a lock that somebody else holds is tried again. They hold it for as long as a download takes.
const RETRY_EVERY: Duration = Duration::from_millis(50);

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

#[derive(Clone, Copy)]
pub(super) enum Sharing {
    /// With others who share it.
    Shared,
    Alone,
}

/// Takes the lock if it is free.
pub(super) fn try_lock(path: &Path, sharing: Sharing) -> Result<Option<Lock>, ImageError> {
    let file = open(path).context("open the lock", path)?;
    let result = match sharing {
        Sharing::Shared => file.try_lock_shared(),
        Sharing::Alone => file.try_lock(),
    };
    match result {
        Ok(()) => Ok(Some(Lock { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(ImageError::io("lock", path, source)),
    }
}

/// Waits for the lock; whoever stops waiting leaves nothing behind.
pub(super) async fn lock(path: &Path, sharing: Sharing) -> Result<Lock, ImageError> {
    loop {
        if let Some(lock) = try_lock(path, sharing)? {
            return Ok(lock);
        }
        tokio::time::sleep(RETRY_EVERY).await;
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}
