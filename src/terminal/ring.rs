//! The last N bytes a child printed, addressed by absolute offset.

use super::Offset;
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// Bytes per sealed chunk: large enough that a megabyte takes few chunks, small enough that the oldest one,
/// kept until its last byte is evicted, wastes little.
const CHUNK_BYTES: usize = 64 * 1024;

/// Keeps what was appended last, up to its capacity.
#[derive(Debug)]
pub struct Ring {
    capacity_bytes: usize,
    /// Full chunks of `CHUNK_BYTES` each, oldest first; never changed, so reads can share them.
    sealed: VecDeque<Bytes>,
    /// The newest bytes, until they fill a chunk.
    tail: BytesMut,
    /// Offset of the first byte that is stored; it may be evicted already.
    start: Offset,
}

/// A part of the child's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Where `data` begins; later than asked for when the bytes asked for are gone.
    pub offset: Offset,
    pub data: Bytes,
}

impl Ring {
    /// A ring that keeps `capacity_bytes`, at least one.
    pub fn new(capacity_bytes: usize) -> Ring {
        Self::starting_at(Offset(0), capacity_bytes)
    }

    fn starting_at(start: Offset, capacity_bytes: usize) -> Ring {
        Ring { capacity_bytes: capacity_bytes.max(1), sealed: VecDeque::new(), tail: BytesMut::new(), start }
    }

    pub fn append(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if rest.len() >= self.capacity_bytes {
            // Nothing stored survives, so only the part that will stay is copied.
            let gone = rest.len() - self.capacity_bytes;
            self.start = self.end().plus(gone);
            self.sealed.clear();
            self.tail.clear();
            rest = &rest[gone..];
        }
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(CHUNK_BYTES - self.tail.len()));
            self.tail.extend_from_slice(now);
            if self.tail.len() == CHUNK_BYTES {
                let full = std::mem::take(&mut self.tail);
                self.sealed.push_back(full.freeze());
            }
            rest = later;
        }
        while self.oldest() >= self.start.plus(CHUNK_BYTES) && self.sealed.pop_front().is_some() {
            self.start = self.start.plus(CHUNK_BYTES);
        }
    }

    /// Offset of the oldest byte that can be read.
    pub fn oldest(&self) -> Offset {
        let kept = self.stored().min(self.capacity_bytes);
        self.start.plus(self.stored() - kept)
    }

    /// Offset just after the newest byte.
    pub fn end(&self) -> Offset {
        self.start.plus(self.stored())
    }

    /// Up to `limit` bytes from `from` on, or from the oldest byte kept if that is later.
    pub fn read(&self, from: Offset, limit: usize) -> Slice {
        let offset = from.max(self.oldest());
        let wanted = self.end().0.saturating_sub(offset.0).min(limit as u64) as usize;
        if wanted == 0 {
            return Slice { offset, data: Bytes::new() };
        }
        let skipped = (offset.0 - self.start.0) as usize;
        let (first, within) = (skipped / CHUNK_BYTES, skipped % CHUNK_BYTES);
        if let Some(chunk) = self.sealed.get(first)
            && within + wanted <= chunk.len()
        {
            return Slice { offset, data: chunk.slice(within..within + wanted) };
        }
        let mut data = BytesMut::with_capacity(wanted);
        let mut skip = within;
        for chunk in self.sealed.iter().skip(first).map(AsRef::as_ref).chain([self.tail.as_ref()]) {
            let part = &chunk[skip..];
            data.extend_from_slice(&part[..part.len().min(wanted - data.len())]);
            skip = 0;
        }
        Slice { offset, data: data.freeze() }
    }

    fn stored(&self) -> usize {
        self.sealed.len() * CHUNK_BYTES + self.tail.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The byte that the tests put at an offset, so that a misplaced read shows.
    fn byte_at(offset: u64) -> u8 {
        (offset.wrapping_mul(31) ^ (offset >> 8)) as u8
    }

    fn append_n(ring: &mut Ring, n: usize) {
        let from = ring.end().0;
        ring.append(&(from..from + n as u64).map(byte_at).collect::<Vec<_>>());
    }

    #[test]
    fn evicted_bytes_are_skipped_and_bytes_to_come_are_empty() {
        let mut ring = Ring::new(4);
        ring.append(b"abcdef");
        assert_eq!((ring.oldest(), ring.end()), (Offset(2), Offset(6)));
        assert_eq!(ring.read(Offset(0), 99), Slice { offset: Offset(2), data: Bytes::from_static(b"cdef") });
        assert_eq!(ring.read(Offset(3), 2), Slice { offset: Offset(3), data: Bytes::from_static(b"de") });
        for beyond in [6, 7, u64::MAX] {
            assert_eq!(ring.read(Offset(beyond), 9), Slice { offset: Offset(beyond), data: Bytes::new() });
        }
    }

    #[test]
    fn a_ring_holds_at_least_one_byte() {
        let mut ring = Ring::new(0);
        ring.append(b"xy");
        assert_eq!(ring.read(Offset(0), 9).data, "y");
    }

    #[test]
    fn memory_stays_near_the_capacity_even_byte_by_byte() {
        let mut ring = Ring::new(3 * CHUNK_BYTES);
        for _ in 0..10 * CHUNK_BYTES {
            ring.append(b"x");
        }
        assert!(ring.sealed.len() <= 4, "{} chunks", ring.sealed.len());
        assert!(ring.tail.capacity() <= CHUNK_BYTES);
        assert_eq!(ring.end().0 - ring.oldest().0, 3 * CHUNK_BYTES as u64);
    }

    #[test]
    fn a_read_within_a_sealed_chunk_shares_its_memory() {
        let mut ring = Ring::new(4 * CHUNK_BYTES);
        append_n(&mut ring, 2 * CHUNK_BYTES);
        let (one, two) = (ring.read(Offset(5), 100), ring.read(Offset(5), 100));
        assert_eq!(one.data.as_ptr(), two.data.as_ptr());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn exactly_the_last_bytes_can_be_read_at_any_offset(
            start in prop_oneof![Just(0), Just(u64::from(u32::MAX) - 7), 0..u64::MAX / 2],
            capacity in prop_oneof![1usize..100, 1..4 * CHUNK_BYTES],
            appends in proptest::collection::vec(prop_oneof![0usize..10, 0..2 * CHUNK_BYTES], 1..8),
            back in 0..5 * CHUNK_BYTES as u64,
            limit in prop_oneof![0usize..100, 0..3 * CHUNK_BYTES, Just(usize::MAX)],
        ) {
            let mut ring = Ring::starting_at(Offset(start), capacity);
            for n in &appends {
                append_n(&mut ring, *n);
            }
            let total: usize = appends.iter().sum();
            prop_assert_eq!(ring.end(), Offset(start).plus(total));
            prop_assert_eq!(ring.oldest(), Offset(start).plus(total.saturating_sub(capacity)));
            let from = Offset(ring.end().0.saturating_sub(back));
            let slice = ring.read(from, limit);
            prop_assert_eq!(slice.offset, from.max(ring.oldest()));
            let available = (ring.end().0 - slice.offset.0) as usize;
            prop_assert_eq!(slice.data.len(), available.min(limit));
            prop_assert!(slice.data.iter().zip(slice.offset.0..).all(|(b, at)| *b == byte_at(at)));
        }
    }
}
