//! A message as the generateContent API gives it: server-sent events, or a whole.

use serde_json::{Value, json};

use crate::model::turn::{Block, End, Fault, Message, Piece, Tokens, words};
use crate::model::wire::{Frame, chunks, number};

/// The code of errors that come in the midst of a stream.
const UNAVAILABLE: u16 = 503;

pub fn whole(message: &Message) -> Value {
    let parts = message.blocks.iter().map(|block| match block {
        Block::Text(pieces) => json!({"text": words(pieces)}),
        Block::Tool { name, input } => call(name, input),
    });
    chunk(message.tokens, parts.collect(), Some(finish_reason(message)))
}

pub fn stream(message: &Message) -> Vec<Frame> {
    if let End::HungUp = message.end {
        return vec![Frame::Broken];
    }
    let part = |part: Value| event(&chunk(message.tokens, json!([part]), None));
    let mut frames = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Tool { name, input } => frames.push(part(call(name, input))),
            Block::Text(pieces) => {
                for piece in pieces {
                    match piece {
                        Piece::Pause(gate) => frames.push(Frame::Pause(gate.clone())),
                        Piece::Words(words) => {
                            frames.extend(chunks(words).into_iter().map(|text| part(json!({"text": text}))));
                        }
                    }
                }
            }
        }
    }
    frames.push(match &message.end {
        End::Dropped | End::HungUp => Frame::Broken,
        End::Failed(fault) => event(&error(UNAVAILABLE, fault)),
        End::Usual | End::MaxTokens | End::Refusal => {
            event(&chunk(message.tokens, json!([]), Some(finish_reason(message))))
        }
    });
    frames
}

pub fn error(code: u16, fault: &Fault) -> Value {
    let mut error = fault.object("status", "message");
    error["code"] = code.into();
    json!({"error": error})
}

/// A server-sent event; here they have no types.
fn event(value: &Value) -> Frame {
    Frame::Bytes(format!("data: {value}\r\n\r\n"))
}

fn call(name: &str, input: &Value) -> Value {
    json!({"functionCall": {"name": name, "args": input}})
}

fn finish_reason(message: &Message) -> &'static str {
    match message.end {
        End::MaxTokens => "MAX_TOKENS",
        End::Refusal => "SAFETY",
        _ => "STOP",
    }
}

fn chunk(tokens: Tokens, parts: Value, finish_reason: Option<&str>) -> Value {
    let Tokens { input, output, cache_read, cache_write } = tokens;
    let all = input + cache_read + cache_write;
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(reason) = finish_reason {
        candidate["finishReason"] = reason.into();
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": all, "cachedContentTokenCount": cache_read,
            "candidatesTokenCount": output, "totalTokenCount": all + output,
        },
        "modelVersion": "gemini-of-the-test", "responseId": format!("response-{}", number()),
    })
}
