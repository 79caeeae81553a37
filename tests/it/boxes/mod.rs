//! Many sessions of one user: the daemon that knows them, their lives, and the ways to them.

mod again;
mod crowd;
mod daemon;
mod denials;
mod endings;
mod full_and_closed;
mod inside;
mod keeping;
mod killing;
mod lives;
mod names;
mod older;
mod passing_on;
mod pipes;
mod reviewing;
mod serving;
mod stranger;
mod user;
mod verbs;
mod walls;
