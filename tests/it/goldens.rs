//! The contract as files.
