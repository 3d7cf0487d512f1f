//! The entry points, called as C calls them.
//!
//! One file for each question that a host's author may ask: what if a pointer is NULL, a buffer too small, a
//! struct of another size, a text not UTF-8, an object gone; who ends the life of a user_data; what is said
//! when something is wrong.

mod support;

mod answer;
mod buffers;
mod callbacks;
mod coerce;
mod context;
mod detail;
mod dialect;
mod drops;
mod inflight;
mod json;
mod layout;
mod lives;
mod nulls;
mod overlap;
mod registered;
mod repair;
mod resources;
mod schema;
mod scratch;
mod sizes;
mod steps;
mod stream;
mod unknown;
mod utf8;
