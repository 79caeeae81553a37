//! A message as the Responses API gives it: server-sent events.

use serde_json::{Value, json};

use crate::model::turn::{Block, End, Message, Piece, Tokens, words};
use crate::model::wire::{Frame, chunks, event, number};

pub fn stream(message: &Message) -> Vec<Frame> {
    if let End::HungUp = message.end {
        return vec![Frame::Broken];
    }
    let id = format!("resp_{:016}", number());
    let response = |kind: &str, status: &str, fields: Value| {
        let mut response = json!({"id": id, "object": "response", "status": status});
        response.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        event(&json!({"type": kind, "response": response}))
    };
    let mut frames = vec![response("response.created", "in_progress", json!({"output": []}))];
    for (index, block) in message.blocks.iter().enumerate() {
        let (begun, done) = item(block);
        let id = done["id"].clone();
        frames.push(event(&json!({"type": "response.output_item.added", "output_index": index, "item": begun})));
        if let Block::Text(pieces) = block {
            for piece in pieces {
                match piece {
                    Piece::Pause(gate) => frames.push(Frame::Pause(gate.clone())),
                    Piece::Words(words) => frames.extend(chunks(words).into_iter().map(|text| {
                        event(&json!({
                            "type": "response.output_text.delta", "item_id": id, "output_index": index,
                            "content_index": 0, "delta": text,
                        }))
                    })),
                }
            }
        }
        // Words that are cut have no end.
        if !matches!(message.end, End::Dropped | End::Failed(_)) {
            frames.push(event(&json!({"type": "response.output_item.done", "output_index": index, "item": done})));
        }
    }
    let usage = usage(message.tokens);
    frames.push(match &message.end {
        End::Dropped | End::HungUp => Frame::Broken,
        End::Failed(fault) => response("response.failed", "failed", json!({"error": fault.object("code", "message")})),
        End::MaxTokens => incomplete(&response, "max_output_tokens", usage),
        End::Refusal => incomplete(&response, "content_filter", usage),
        End::Usual => response("response.completed", "completed", json!({"usage": usage})),
    });
    frames
}

fn incomplete(response: &impl Fn(&str, &str, Value) -> Frame, reason: &str, usage: Value) -> Frame {
    let fields = json!({"incomplete_details": {"reason": reason}, "usage": usage});
    response("response.incomplete", "incomplete", fields)
}

/// A block as it begins and as it is done.
fn item(block: &Block) -> (Value, Value) {
    let number = number();
    match block {
        Block::Text(pieces) => {
            let item = |content: Value| json!({"type": "message", "id": format!("msg_{number:016}"), "role": "assistant", "content": content});
            let text = json!([{"type": "output_text", "text": words(pieces), "annotations": []}]);
            (item(json!([])), item(text))
        }
        Block::Tool { name, input } => {
            let (kind, field, input) = match input {
                Value::String(text) => ("custom_tool_call", "input", text.clone()),
                input => ("function_call", "arguments", input.to_string()),
            };
            let id = format!("fc_{number:016}");
            let call_id = format!("call_{number:016}");
            let item = json!({"type": kind, "id": id, "call_id": call_id, "name": name, field: input});
            (item.clone(), item)
        }
    }
}

fn usage(tokens: Tokens) -> Value {
    let Tokens { input, output, cache_read, cache_write } = tokens;
    let all = input + cache_read + cache_write;
    json!({
        "input_tokens": all, "input_tokens_details": {"cached_tokens": cache_read},
        "output_tokens": output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": all + output,
    })
}
