//! What coop promises, checked against the real program: one module for each kind of promise.

mod auth;
mod child;
mod complaints;
mod discovery;
mod doctor;
mod ending;
mod faces;
mod following;
mod goldens;
mod hardening;
mod history;
mod input;
mod lock;
mod output;
mod queries;
mod restart;
mod screen;
mod services;
mod slow;
mod startup;
mod support;
mod terminals;
mod verbs;
mod waiting;
mod websocket;
