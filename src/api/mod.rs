//! coop.v1 without a transport: what each call does, who may make it, and how errors are named.
//!
//! `service` is the trait of a session, `boxes` that of the daemon; the calls themselves live in files by subject. Faces reach all of it through the
//! trait, or through `conversation`, which is Session for gRPC and WebSocket alike.

mod access;
mod agents;
mod attach;
mod boxes;
mod children;
mod commands;
mod conversation;
mod convert;
mod error;
mod exposition;
mod extensions;
mod faces;
mod gates;
mod inputs;
mod keeper;
mod machine;
mod metrics;
mod outgoing;
mod reader;
mod rpcs;
mod screens;
mod service;
mod side_terminals;
mod standing;
mod states;
mod streams;
mod transcripts;
mod waits;
mod warnings;

pub use access::{Access, Gate, Secret};
pub use attach::attach;
pub use boxes::{BoxesApi, DaemonAbout};
pub use conversation::{Conversation, Misheard, Speech, converse};
pub use error::{ApiError, Code};
pub use exposition::CONTENT_TYPE as METRICS_CONTENT_TYPE;
pub use extensions::{Encoded, ExactText, HttpStatus, Trusted, WantsJson, json_line};
pub use keeper::keep;
pub use outgoing::Outgoing;
pub use rpcs::{RPCS, Rpc, rpc_of_grpc_path};
pub use service::{About, Api, Service, WsClient};
pub use side_terminals::{Side, SideTerminals};
pub use waits::EXITED;
pub use warnings::Warnings;
