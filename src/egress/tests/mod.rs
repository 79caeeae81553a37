//! The proxy with real sockets, between a program that a test plays and a far side that it plays too.

mod leads;
mod limits;
mod plain;
mod published;
mod smuggling;
mod socks;
mod support;
mod tunnels;
