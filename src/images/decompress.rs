//! A layer's file as a stream of tar bytes: decompressed by what its first bytes say, counted, and hashed twice.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::digest::{Digest, Hashing};
use super::limits::Limits;
use super::tarball::TarError;

const BUFFER_BYTES: usize = 128 << 10;

/// What came in and what came out so far.
#[derive(Clone, Default)]
pub(super) struct Meter(Rc<Cell<u64>>);

impl Meter {
    pub(super) fn bytes(&self) -> u64 {
        self.0.get()
    }
}

/// Counts what goes through.
struct Metered<R> {
    inner: R,
    meter: Meter,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.meter.0.set(self.meter.0.get() + n as u64);
        Ok(n)
    }
}

type Source = BufReader<Hashing<Metered<File>>>;

/// The tar bytes of a layer, and the digests on both sides of the decompression.
pub(super) struct Layer {
    stream: Hashing<Stream>,
    read: Meter,
    limits: Limits,
    bytes_left: u64,
}

enum Stream {
    Plain(Source),
    Gzip(Box<flate2::bufread::MultiGzDecoder<Source>>),
    Zstd(Box<Zstd>),
}

impl Layer {
    /// `bytes_left` is what of the limit on bytes is left for this layer.
    pub(super) fn open(path: &Path, limits: &Limits, bytes_left: u64) -> Result<Self, TarError> {
        let read = Meter::default();
        let file = Metered { inner: File::open(path)?, meter: read.clone() };
        let stream = Stream::guess(BufReader::with_capacity(BUFFER_BYTES, Hashing::new(file)))?;
        Ok(Self { stream: Hashing::new(stream), read, limits: limits.clone(), bytes_left })
    }

    /// How much of the file was read, for telling progress.
    pub(super) fn meter(&self) -> Meter {
        self.read.clone()
    }

    /// The digest of the file, that of the tar in it, and the length of the latter. Only right when all was read.
    pub(super) fn finish(self) -> Result<(Digest, Digest, u64), TarError> {
        let (stream, tar, bytes) = self.stream.into_parts();
        let mut source = stream.into_source();
        // What follows the compressed data belongs to the file and to its digest.
        io::copy(&mut source, &mut io::sink())?;
        Ok((source.into_inner().finish().0, tar, bytes))
    }
}

impl Read for Layer {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.stream.read(buffer)?;
        let bytes = self.stream.count();
        if bytes > self.bytes_left {
            return Err(io::Error::other(TarError::TooLarge(self.limits.bytes_max)));
        }
        if bytes > self.limits.ratio_floor_bytes && bytes / self.limits.ratio_max > self.read.bytes() {
            return Err(io::Error::other(TarError::Bomb(self.limits.ratio_max)));
        }
        Ok(n)
    }
}

impl Stream {
    fn guess(mut source: Source) -> Result<Self, TarError> {
        match source.fill_buf()? {
            [0x1f, 0x8b, ..] => Ok(Self::Gzip(Box::new(flate2::bufread::MultiGzDecoder::new(source)))),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Ok(Self::Zstd(Box::new(Zstd::new(source))))
            }
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Err(TarError::Compression("xz")),
            [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', ..] => Err(TarError::Compression("bzip2")),
            _ => Ok(Self::Plain(source)),
        }
    }

    fn into_source(self) -> Source {
        match self {
            Self::Plain(source) => source,
            Self::Gzip(gzip) => gzip.into_inner(),
            Self::Zstd(zstd) => zstd.source,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(source) => source.read(buffer),
            Self::Gzip(gzip) => gzip.read(buffer),
            Self::Zstd(zstd) => zstd.read(buffer),
        }
    }
}

/// Any number of zstd frames with skippable ones between them, as `zstd:chunked` layers have them. The decoder knows
/// single frames only, and refuses windows that would take more than 100 MB.
struct Zstd {
    source: Source,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl Zstd {
    fn new(source: Source) -> Self {
        Self { source, decoder: FrameDecoder::new(), in_frame: false }
    }

    /// Goes to the next frame with data; false at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            let mut magic = [0; 4];
            let head = &mut self.source;
            head.read_exact(&mut magic)?;
            if !matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18]) {
                self.decoder.reset((&magic[..]).chain(&mut self.source)).map_err(io::Error::other)?;
                return Ok(true);
            }
            let mut length = [0; 4];
            head.read_exact(&mut length)?;
            let length = u64::from(u32::from_le_bytes(length));
            if io::copy(&mut head.take(length), &mut io::sink())? < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

impl Read for Zstd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            if !self.in_frame {
                if !self.next_frame()? {
                    break;
                }
                self.in_frame = true;
            }
            // What is decoded becomes readable only once it lies behind the window, hence the loop.
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let some = BlockDecodingStrategy::UptoBytes(buffer.len());
                self.decoder.decode_blocks(&mut self.source, some).map_err(io::Error::other)?;
            }
            let n = self.decoder.read(buffer)?;
            if n > 0 {
                return Ok(n);
            }
            self.in_frame = false;
        }
        Ok(0)
    }
}
