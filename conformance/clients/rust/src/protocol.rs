//! The lines of the adapter protocol.

use serde_json::{json, Value};

use crate::reader::Read;

const WIRES: [&str; 3] = ["chat-completions", "responses", "anthropic"];

/// Returns the line that names the clients.
pub fn hello() -> Value {
    let client = |wire: &&str| {
        json!({
            "name": "rust-loop", "version": env!("CARGO_PKG_VERSION"), "wire": wire, "mode": "bytes",
            "runs_tools": false
        })
    };
    json!({"protocol": 1, "clients": WIRES.iter().map(client).collect::<Vec<_>>()})
}

/// Returns the line that tells what a run came to.
pub fn answer(read: Read) -> Value {
    let call = |call: &crate::reader::Call| json!({"id": call.id, "name": call.name, "arguments": call.arguments});
    json!({
        "calls": read.calls.values().map(call).collect::<Vec<_>>(),
        "refused": [],
        "error": read.error,
        "text": read.text,
    })
}

/// Returns the bytes of a text in base64; letters of no meaning are left out.
pub fn decoded(text: &str) -> Vec<u8> {
    let (mut bytes, mut bits, mut n_bits) = (Vec::new(), 0u32, 0);
    for letter in text.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
        }
    }
    bytes
}
