//! Everything that coop tells about an agent, kept from the first event on.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use serde_json::Value;
use tokio::sync::watch;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

use crate::support::Place;

/// Cheap to clone.
#[derive(Clone)]
pub struct Record(Arc<Inner>);

struct Inner {
    events: Mutex<Vec<Value>>,
    count: watch::Sender<usize>,
}

/// One state that the agent was in.
#[derive(Clone, Debug)]
pub struct Step {
    /// Such as `idle` or `prompt:permission`.
    pub word: String,
    /// The latest event about it; a prompt's context grows.
    pub event: Value,
}

impl Record {
    /// Follows the states over a WebSocket until it is closed.
    pub async fn follow(place: &Place) -> Self {
        let token = place.token.as_ref().map(|token| format!("&token={token}")).unwrap_or_default();
        let url = format!("ws://{}/ws?mode=state&after_seq=0{token}", place.host());
        let (mut stream, _) = client_async(url, place.connect().await).await.expect("a WebSocket");
        let record = Self(Arc::new(Inner { events: Mutex::default(), count: watch::Sender::new(0) }));
        let kept = record.clone();
        tokio::spawn(async move {
            while let Some(Ok(message)) = stream.next().await {
                if let Message::Text(text) = message {
                    kept.0.events.lock().unwrap().push(serde_json::from_str(&text).unwrap());
                    kept.0.count.send_modify(|count| *count += 1);
                }
            }
        });
        record
    }

    /// All events with this word, oldest first.
    pub fn events(&self, word: &str) -> Vec<Value> {
        let events = self.0.events.lock().unwrap();
        events.iter().filter(|event| event["event"] == word).cloned().collect()
    }

    /// The states in order. Events that only add to a state, such as the options of a prompt, make no step of their own.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for event in self.0.events.lock().unwrap().iter() {
            let Some(word) = word_of(event) else { continue };
            if let Some(before) = event["prev"].as_str().filter(|prev| steps.is_empty() && *prev != word) {
                // What it was in before the first event.
                steps.push(Step { word: before.to_owned(), event: Value::Null });
            }
            match steps.last_mut() {
                Some(last) if last.word == word && last.event["prompt"]["id"] == event["prompt"]["id"] => {
                    last.event = event.clone();
                }
                _ => steps.push(Step { word, event: event.clone() }),
            }
        }
        steps
    }

    /// Waits until this gives something.
    pub async fn until<T>(&self, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        let mut count = self.0.count.subscribe();
        loop {
            count.borrow_and_update();
            if let Some(found) = look(self) {
                return found;
            }
            if count.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// The states with what each was concluded from, for a failing test.
    pub fn summary(&self) -> String {
        let events = self.0.events.lock().unwrap();
        let line = |event: &Value| match word_of(event) {
            Some(word) => format!("{:>6} {word:<20} {} {}", event["seq"], event["cause"], event["prompt"]["id"]),
            None => format!("       {event}"),
        };
        events.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// What an event says about the state, if it does.
fn word_of(event: &Value) -> Option<String> {
    match event["event"].as_str()? {
        "exit" => Some("exited".to_owned()),
        "transition" => {
            let next = event["next"].as_str()?;
            let kind = event["prompt"]["type"].as_str().filter(|_| next == "prompt");
            Some(kind.map_or(next.to_owned(), |kind| format!("{next}:{kind}")))
        }
        _ => None,
    }
}
