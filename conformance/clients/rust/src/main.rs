//! An adapter in Rust: the loop that programs paste, in the mode `bytes`, over three wires.
//!
//! The loop splits the event stream at empty lines, keeps calls by their index, appends to their arguments, and takes
//! at the end what it has. It raises for a frame that is no JSON, for an error of the server, and for a connection
//! that breaks.

mod protocol;
mod reader;

use std::io::{self, BufRead, Write};

use serde_json::{json, Value};

fn main() -> io::Result<()> {
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let answer = match asked["do"].as_str() {
            Some("bye") => break,
            Some("hello") => protocol::hello(),
            _ if asked["stream"] == json!(false) => json!({"unsupported": "the loop asks for streams only"}),
            _ => protocol::answer(reader::read(&asked)),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
