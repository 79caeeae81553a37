//! The promises of a review, kept on real overlays that are mounted in a user namespace.

mod applying;
mod bench;
mod discarding;
mod listing;
mod ordinary;
mod random;
mod renewing;
mod repository;
mod showing;
