//! The loop: frames of an event stream, and the calls that are kept by their index.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::protocol::decoded;

/// A call as the loop keeps it.
#[derive(Default)]
pub struct Call {
    pub id: Option<String>,
    pub name: Option<String>,
    pub arguments: String,
}

/// The end of a stream.
#[derive(Default)]
pub struct Read {
    pub calls: BTreeMap<i64, Call>,
    pub text: String,
    pub error: Option<String>,
}

/// Reads the answer of a run.
pub fn read(asked: &Value) -> Read {
    let mut read = Read::default();
    let chunks = asked["chunks"].as_array().into_iter().flatten();
    let body: Vec<u8> = chunks.flat_map(|chunk| decoded(chunk.as_str().unwrap_or_default())).collect();
    if asked["status"].as_i64().unwrap_or(200) != 200 {
        read.error = Some(format!("status {}", asked["status"]));
        return read;
    }
    let text = String::from_utf8_lossy(&body).replace("\r\n", "\n");
    for frame in text.split("\n\n") {
        let lines = frame.lines().filter_map(|line| line.strip_prefix("data:"));
        let data = lines.map(str::trim).collect::<Vec<_>>().join("\n");
        if data.is_empty() || data == "[DONE]" {
            continue;
        }
        match serde_json::from_str::<Value>(&data) {
            Ok(frame) => take(&mut read, asked["wire"].as_str().unwrap_or_default(), &frame),
            Err(error) => read.error = Some(format!("frame: {error}")),
        }
        if read.error.is_some() {
            return read;
        }
    }
    let ending = asked["ending"].as_str().unwrap_or("clean");
    if !["clean", "half"].contains(&ending) {
        read.error = Some(format!("connection: {ending}"));
    }
    read
}

fn take(read: &mut Read, wire: &str, frame: &Value) {
    if frame["error"].is_object() || frame["type"] == "error" {
        read.error = Some(format!("server: {}", frame["error"]));
        return;
    }
    match wire {
        "chat-completions" => take_chat(read, frame),
        "anthropic" => take_message(read, frame),
        _ => take_response(read, frame),
    }
}

fn take_chat(read: &mut Read, frame: &Value) {
    let delta = &frame["choices"][0]["delta"];
    read.text += delta["content"].as_str().unwrap_or_default();
    for piece in delta["tool_calls"].as_array().into_iter().flatten() {
        let made = &piece["function"];
        add(read, &piece["index"], &piece["id"], &made["name"], &made["arguments"]);
    }
}

fn take_message(read: &mut Read, frame: &Value) {
    let (index, block, delta) = (&frame["index"], &frame["content_block"], &frame["delta"]);
    match frame["type"].as_str() {
        Some("content_block_start") if block["type"] == "tool_use" => {
            add(read, index, &block["id"], &block["name"], &Value::Null);
        }
        Some("content_block_delta") => {
            read.text += delta["text"].as_str().unwrap_or_default();
            if delta["type"] == "input_json_delta" {
                append(read, index, &delta["partial_json"]);
            }
        }
        _ => (),
    }
}

fn take_response(read: &mut Read, frame: &Value) {
    let (index, item) = (&frame["output_index"], &frame["item"]);
    match frame["type"].as_str() {
        Some("response.output_text.delta") => read.text += frame["delta"].as_str().unwrap_or_default(),
        Some("response.output_item.added") if item["type"] == "function_call" => {
            add(read, index, &item["call_id"], &item["name"], &item["arguments"]);
        }
        Some("response.function_call_arguments.delta") => {
            append(read, index, &frame["delta"]);
        }
        _ => (),
    }
}

/// Appends to the arguments of a call that has begun.
fn append(read: &mut Read, index: &Value, arguments: &Value) {
    if let Some(call) = read.calls.get_mut(&index.as_i64().unwrap_or(0)) {
        call.arguments += arguments.as_str().unwrap_or_default();
    }
}

fn add(read: &mut Read, index: &Value, id: &Value, name: &Value, arguments: &Value) {
    let call = read.calls.entry(index.as_i64().unwrap_or(0)).or_default();
    call.id = call.id.take().or_else(|| id.as_str().map(String::from));
    call.name = call.name.take().or_else(|| name.as_str().map(String::from));
    call.arguments += arguments.as_str().unwrap_or_default();
}
