//! Promises about the flags as a whole.
