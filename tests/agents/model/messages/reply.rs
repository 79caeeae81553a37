//! A message as the Messages API gives it: server-sent events, or a whole.

use serde_json::{Value, json};

use crate::model::turn::{Block, End, Message, Piece, Tokens, words};
use crate::model::wire::{Frame, chunks, event, number};

pub fn whole(message: &Message, model: &Value) -> Value {
    let content = message.blocks.iter().map(|block| match block {
        Block::Text(pieces) => json!({"type": "text", "text": words(pieces)}),
        Block::Tool { name, input } => json!({"type": "tool_use", "id": tool_id(), "name": name, "input": input}),
    });
    head(message, model, content.collect(), stop_reason(message).into(), message.tokens.output)
}

pub fn stream(message: &Message, model: &Value) -> Vec<Frame> {
    if let End::HungUp = message.end {
        return vec![Frame::Broken];
    }
    let start = head(message, model, json!([]), Value::Null, 1);
    let mut frames = vec![event(&json!({"type": "message_start", "message": start}))];
    for (index, block) in message.blocks.iter().enumerate() {
        let start =
            |block: Value| event(&json!({"type": "content_block_start", "index": index, "content_block": block}));
        let delta = |delta: Value| event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        match block {
            Block::Text(pieces) => {
                frames.push(start(json!({"type": "text", "text": ""})));
                for piece in pieces {
                    match piece {
                        Piece::Pause(gate) => frames.push(Frame::Pause(gate.clone())),
                        Piece::Words(words) => {
                            let texts = chunks(words).into_iter();
                            frames.extend(texts.map(|text| delta(json!({"type": "text_delta", "text": text}))));
                        }
                    }
                }
            }
            Block::Tool { name, input } => {
                frames.push(start(json!({"type": "tool_use", "id": tool_id(), "name": name, "input": {}})));
                let texts = chunks(&input.to_string()).into_iter();
                frames.extend(texts.map(|text| delta(json!({"type": "input_json_delta", "partial_json": text}))));
            }
        }
        frames.push(event(&json!({"type": "content_block_stop", "index": index})));
    }
    match &message.end {
        End::Dropped => frames.push(Frame::Broken),
        End::Failed(fault) => {
            frames.push(event(&json!({"type": "error", "error": fault.object("type", "message")})));
        }
        End::Usual | End::MaxTokens | End::Refusal | End::HungUp => {
            let stopped = json!({"stop_reason": stop_reason(message), "stop_sequence": null});
            let usage = usage(message.tokens, message.tokens.output);
            frames.push(event(&json!({"type": "message_delta", "delta": stopped, "usage": usage})));
            frames.push(event(&json!({"type": "message_stop"})));
        }
    }
    frames
}

fn tool_id() -> String {
    format!("toolu_{:016}", number())
}

fn stop_reason(message: &Message) -> &'static str {
    let tools = message.blocks.iter().any(|block| matches!(block, Block::Tool { .. }));
    match message.end {
        End::MaxTokens => "max_tokens",
        End::Refusal => "refusal",
        _ if tools => "tool_use",
        _ => "end_turn",
    }
}

fn usage(tokens: Tokens, output: u64) -> Value {
    json!({
        "input_tokens": tokens.input,
        "output_tokens": output,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation_input_tokens": tokens.cache_write,
    })
}

fn head(message: &Message, model: &Value, content: Value, stop_reason: Value, output: u64) -> Value {
    json!({
        "id": format!("msg_{:016}", number()), "type": "message", "role": "assistant", "model": model,
        "content": content, "stop_reason": stop_reason, "stop_sequence": null, "usage": usage(message.tokens, output),
    })
}
