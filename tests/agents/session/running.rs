//! What a test can see of a session, and do to it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::record::Step;
use super::{Agent, Session};
use crate::support::Answer;
use crate::{LIMIT, WITNESS_MS};

/// Silence after which a terminal has said all that it has to say.
const QUIET_MS: u64 = 700;

/// Between two looks at something that tells no event of its changes.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

impl<A: Agent> Session<A> {
    async fn within<T>(&self, what: &str, future: impl Future<Output = T>) -> T {
        tokio::time::timeout(LIMIT, future).await.unwrap_or_else(|_| panic!("{what}: not within {LIMIT:?}"))
    }

    // What it does.

    pub async fn state(&self) -> Value {
        self.coop.get("/api/v1/agent/state").await.ok()
    }

    /// The state with all evidence.
    pub async fn explained(&self) -> Value {
        self.coop.get("/api/v1/agent/state?explain=true").await.ok()
    }

    /// All states that it went through, such as `starting`, `idle`, `working`, `prompt:permission`.
    pub fn transitions(&self) -> Vec<String> {
        self.record.steps().into_iter().map(|step| step.word).collect()
    }

    /// Waits for this state after those that the test has seen; others may come before it.
    pub async fn until(&self, word: &str) -> Value {
        let from = self.seen.load(Ordering::Relaxed);
        let found = self.record.until(|record| {
            let steps = record.steps();
            let index = steps.iter().skip(from).position(|step| is(step, word))? + from;
            Some((index, steps[index].event.clone()))
        });
        let (index, event) = self.within(word, found).await;
        self.seen.store(index + 1, Ordering::Relaxed);
        event
    }

    /// Waits for exactly these states after those that the test has seen.
    pub async fn goes<const N: usize>(&self, words: [&str; N]) {
        let from = self.seen.load(Ordering::Relaxed);
        let came = self.record.until(|record| {
            let came: Vec<String> = record.steps().into_iter().skip(from).take(N).map(|step| step.word).collect();
            let wrong = came.iter().zip(words).any(|(came, word)| came != word);
            (wrong || came.len() == N).then_some(came)
        });
        let came = self.within(&format!("{words:?}"), came).await;
        assert_eq!(came, words, "the states after {:?}", &self.transitions()[..from]);
        self.seen.store(from + N, Ordering::Relaxed);
    }

    /// Waits until the terminal is silent; nothing may have happened beyond what the test has seen.
    pub async fn rests(&self) {
        self.quiet().await;
        let seen = self.seen.load(Ordering::Relaxed);
        assert_eq!(self.transitions()[seen..], [] as [&str; 0], "after {:?}", &self.transitions()[..seen]);
    }

    /// Waits until the terminal is silent and takes all that has happened so far as seen.
    pub async fn settles(&self) {
        self.quiet().await;
        self.seen.store(self.record.steps().len(), Ordering::Relaxed);
    }

    /// Waits until a dialog of this kind is shown and everything about it is known; gives the dialog.
    pub async fn prompt(&self, kind: &str) -> Value {
        let word = format!("prompt:{kind}");
        self.until(&word).await;
        let index = self.seen.load(Ordering::Relaxed) - 1;
        let ready = self.record.until(|record| {
            let prompt = record.steps()[index].event["prompt"].clone();
            (prompt["ready"] == true).then_some(prompt)
        });
        self.within(&format!("{word}, ready"), ready).await
    }

    /// Waits until coop tells this about the session: `stop`, `start`, `receipt`, `transcript:saved`.
    pub async fn told_of(&self, event: &str, met: impl Fn(&Value) -> bool) -> Value {
        let found = self.record.until(|record| record.events(event).into_iter().find(|event| met(event)));
        self.within(event, found).await
    }

    // What it shows.

    pub async fn screen(&self) -> String {
        self.coop.screen().await
    }

    /// Waits until the terminal has been silent for a while.
    pub async fn quiet(&self) {
        self.wait(json!({"quiet_ms": QUIET_MS})).await;
    }

    /// Waits until a row of the screen shows this.
    pub async fn shows(&self, text: &str) {
        self.wait(json!({"text": text})).await;
    }

    /// Waits until the title of the window holds this.
    pub async fn titled(&self, text: &str) {
        let holds = |screen: &Value| screen["title"].as_str().is_some_and(|title| title.contains(text));
        self.eventually("/api/v1/screen", holds).await;
    }

    async fn wait(&self, mut what: Value) {
        what["timeout_ms"] = json!(LIMIT.as_millis());
        let met = self.coop.call("POST", "/api/v1/wait").json(&what).send_within().await.ok();
        assert_eq!(met["matched"], true, "{what} never came true");
    }

    // What it is told.

    /// A nudge as it stands, with the answer as it stands.
    pub async fn nudge_with(&self, body: Value) -> Answer {
        self.coop.post("/api/v1/agent/nudge", body).await
    }

    pub async fn nudge(&self, message: &str) -> Value {
        self.nudge_with(json!({"message": message, "timeout_ms": WITNESS_MS})).await.ok()
    }

    /// A nudge that must be delivered.
    pub async fn told(&self, message: &str) -> Value {
        self.accepted(self.nudge(message).await)
    }

    /// One of the agent's own commands, which must be taken.
    pub async fn commanded(&self, command: &str) -> Value {
        let body = json!({"message": command, "command": true, "timeout_ms": WITNESS_MS});
        self.accepted(self.nudge_with(body).await.ok())
    }

    /// An answer as it stands.
    pub async fn respond_with(&self, body: Value) -> Answer {
        self.coop.post("/api/v1/agent/respond", body).await
    }

    pub async fn respond(&self, mut body: Value) -> Value {
        body["timeout_ms"] = json!(WITNESS_MS);
        self.respond_with(body).await.ok()
    }

    /// An answer that must be taken.
    pub async fn answered(&self, body: Value) -> Value {
        self.accepted(self.respond(body).await)
    }

    fn accepted(&self, answer: Value) -> Value {
        assert_eq!((&answer["delivered"], &answer["receipt"]["phase"]), (&json!(true), &json!("accepted")), "{answer}");
        assert_eq!(answer["reason"], Value::Null, "{answer}");
        answer
    }

    /// Presses keys, past coop's knowledge of the agent.
    pub async fn keys(&self, keys: &[&str]) {
        self.coop.post("/api/v1/input/keys", json!({"keys": keys})).await.ok();
    }

    /// Types, past coop's knowledge of the agent.
    pub async fn types(&self, text: &str) {
        self.coop.post("/api/v1/input", json!({"text": text})).await.ok();
    }

    /// Waits until the child has ended; how it did.
    pub async fn ended(&self) -> Value {
        let exit = self.until("exited").await;
        assert_eq!(self.state().await["state"], "exited");
        exit
    }

    // What it left behind.

    /// Asks again and again; for what no event tells.
    pub async fn eventually(&self, path: &str, met: impl Fn(&Value) -> bool) -> Value {
        let look = async {
            loop {
                let found = self.coop.get(path).await.ok();
                if met(&found) {
                    return found;
                }
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
        };
        self.within(path, look).await
    }

    pub fn has(&self, file: &str) -> bool {
        self.house.at(file).exists()
    }

    pub fn reads(&self, file: &str) -> String {
        std::fs::read_to_string(self.house.at(file)).unwrap_or_default()
    }
}

/// `prompt` stands for a prompt of any kind.
fn is(step: &Step, word: &str) -> bool {
    step.word == word || step.word.split(':').next() == Some(word)
}

impl<A: Agent> Drop for Session<A> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let place = self.coop.place.clone();
        // The test's own runtime cannot be waited for in here.
        let looked = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let get = async |path: &str| {
                    let asked = tokio::spawn(place.call("GET", path).send());
                    asked.await.map_or_else(|_| "(no answer)".to_owned(), |answer| answer.text())
                };
                (get("/api/v1/screen/text").await, get("/api/v1/agent/state?explain=true").await)
            })
        });
        let (screen, explained) = looked.join().unwrap_or_default();
        let rows: Vec<&str> = screen.lines().filter(|row| !row.trim().is_empty()).collect();
        eprintln!("--- screen\n{}", rows.join("\n"));
        eprintln!("--- states\n{}", self.record.summary());
        eprintln!("--- state explained\n{explained}");
        eprintln!("--- coop's log\n{}", self.coop.place.log.text());
        eprintln!("--- what the model got\n{}", self.model.summary());
    }
}
