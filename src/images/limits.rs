//! How much an image may ask of the disk.

/// What an image must stay within, all its layers together.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of all layers, uncompressed.
    pub bytes_max: u64,
    /// Entries of all layers.
    pub entries_max: u64,
    /// Bytes of one path.
    pub path_len_max: usize,
    /// How many times its size a layer may unpack to.
    pub ratio_max: u64,
    /// A layer that unpacks to less than this may have any ratio: files of zeros are no attack.
    pub ratio_floor_bytes: u64,
}

impl Default for Limits {
    /// The largest images in use (machine learning) have 30 GB and half a million files; real layers shrink to a
    /// twentieth at most.
    fn default() -> Self {
        Self {
            bytes_max: 64 << 30,
            entries_max: 2_000_000,
            path_len_max: 4095,
            ratio_max: 200,
            ratio_floor_bytes: 256 << 20,
        }
    }
}
