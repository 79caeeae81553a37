//! Answers to an agent's dialogs and messages to it: given once, to the one that was meant, and never by guess.

use serde_json::{Value, json};

use crate::support::{Answer, Claude, Coop, Hook, PATIENCE_MS};

const RESPOND: &str = "/api/v1/agent/respond";
const NUDGE: &str = "/api/v1/agent/nudge";

/// An answer whose confirmation is waited for until it comes.
fn patiently(mut answer: Value) -> Value {
    answer["timeout_ms"] = PATIENCE_MS.into();
    answer
}

/// What the hook tells the agent to do.
fn decided(decision: Value) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
}

fn bash(command: &str) -> Value {
    json!({"command": command})
}

/// Gives an answer, lets the agent go on when its hook has told it, and tells what became of both.
async fn answered(claude: &Claude, hook: Hook, answer: Value, goes_on: (&str, Value)) -> (Value, Value) {
    let (event, payload) = goes_on;
    let agent = async {
        let told = hook.told().await;
        claude.hook(event, payload).await;
        told
    };
    let response = async { claude.post(RESPOND, patiently(answer)).await.ok() };
    tokio::join!(response, agent)
}

fn code(answer: &Answer) -> (u16, String) {
    answer.refused()
}

#[tokio::test]
async fn a_yes_reaches_the_agent_through_its_hook_and_is_accepted_when_the_tool_was_used() {
    let claude = Claude::start(&[]).await;
    let mut ws = claude.place.ws("/ws?mode=state").await;
    let (mut hook, prompt) = claude.asks("Bash", bash("ls")).await;
    assert!(hook.waits());
    let used = ("PostToolUse", json!({"tool_name": "Bash", "tool_input": bash("ls")}));
    let (answer, told) = answered(&claude, hook, json!({"accept": true, "prompt_id": prompt["id"]}), used).await;
    assert_eq!(told, decided(json!({"behavior": "allow"})));
    assert_eq!(json!([answer["delivered"], answer["prompt_type"]]), json!([true, "permission"]));
    assert_eq!(json!([answer["reason"], answer["state"]]), json!([null, "working"]));
    assert_eq!(answer["ends_turn"], json!(null), "nothing was refused");
    let receipt = &answer["receipt"];
    assert_eq!(json!([receipt["phase"], receipt["witness"]]), json!(["accepted", "hooks: PostToolUse"]));
    let told = ws.next_event("receipt").await;
    assert_eq!(json!([told["id"], told["phase"]]), json!([receipt["id"], "accepted"]), "everybody hears of it");
    assert_eq!(claude.status().await["bytes_written"], 0, "no key was pressed");
}

#[tokio::test]
async fn a_no_carries_its_reason() {
    let claude = Claude::start(&[]).await;
    let (hook, _) = claude.asks("Bash", bash("rm -rf x")).await;
    let words = "use \"the other\" file\nplease";
    let next = ("PreToolUse", json!({"tool_name": "Read", "tool_input": {}}));
    let (answer, told) = answered(&claude, hook, json!({"accept": false, "text": words}), next).await;
    assert_eq!(told, decided(json!({"behavior": "deny", "message": words, "interrupt": false})));
    assert_eq!(json!([answer["delivered"], answer["receipt"]["witness"]]), json!([true, "hooks: PreToolUse"]));
    assert_eq!(answer["ends_turn"], false, "the model is told, and goes on");
}

#[tokio::test]
async fn a_plan_is_approved_or_sent_back_with_words() {
    let claude = Claude::start(&[]).await;
    let plan = json!({"plan": "# Plan"});
    let used = ("PostToolUse", json!({"tool_name": "ExitPlanMode", "tool_input": plan}));
    let (hook, _) = claude.asks("ExitPlanMode", plan.clone()).await;
    let (answer, told) = answered(&claude, hook, json!({"accept": true}), used).await;
    assert_eq!(told, decided(json!({"behavior": "allow"})));
    assert_eq!(json!([answer["delivered"], answer["prompt_type"]]), json!([true, "plan"]));
    let (hook, _) = claude.asks("ExitPlanMode", plan).await;
    let (_, told) = answered(&claude, hook, json!({"text": "change step 2"}), ("PreToolUse", json!({}))).await;
    assert_eq!(told, decided(json!({"behavior": "deny", "message": "change step 2", "interrupt": false})));
}

fn question(text: &str, labels: &[&str], multi_select: bool) -> Value {
    let options: Vec<Value> = labels.iter().map(|label| json!({"label": label, "description": "…"})).collect();
    json!({"question": text, "header": "H", "options": options, "multiSelect": multi_select})
}

#[tokio::test]
async fn questions_are_answered_in_the_agents_own_words() {
    let claude = Claude::start(&[]).await;
    let database = question("Which database?", &["PostgreSQL", "SQLite", "MySQL"], false);
    let language = question("Which language?", &["Rust", "Go"], false);
    let features = question("Which features?", &["Auth", "Search", "Export"], true);
    for (questions, answer, expected) in [
        (json!([database]), json!({"option": 2}), json!({"Which database?": "SQLite"})),
        (json!([database]), json!({"answers": [{"option": 1}]}), json!({"Which database?": "PostgreSQL"})),
        (json!([database]), json!({"text": "Redis, \"really\""}), json!({"Which database?": "Redis, \"really\""})),
        (
            json!([database, language]),
            json!({"answers": [{"option": 3}, {"text": "Zig"}]}),
            json!({"Which database?": "MySQL", "Which language?": "Zig"}),
        ),
        (json!([features]), json!({"answers": [{"options": [1, 3]}]}), json!({"Which features?": "Auth, Export"})),
        (json!([features]), json!({"option": 2}), json!({"Which features?": "Search"})),
        (
            json!([features, database]),
            json!({"answers": [{"options": [2]}, {"option": 2}]}),
            json!({"Which features?": "Search", "Which database?": "SQLite"}),
        ),
    ] {
        let input = json!({"questions": questions, "metadata": {"kept": 1}});
        let (hook, _) = claude.asks("AskUserQuestion", input.clone()).await;
        let used = ("PostToolUse", json!({"tool_name": "AskUserQuestion", "tool_input": input}));
        let (response, told) = answered(&claude, hook, answer.clone(), used).await;
        let mut updated = input;
        updated["answers"] = expected;
        assert_eq!(told, decided(json!({"behavior": "allow", "updatedInput": updated})), "{answer}");
        assert_eq!(json!([response["delivered"], response["prompt_type"]]), json!([true, "question"]));
    }
}

#[tokio::test]
async fn an_answer_that_makes_no_sense_is_refused_with_what_would() {
    let claude = Claude::start(&[]).await;
    let database = question("Which database?", &["PostgreSQL", "SQLite", "MySQL"], false);
    let features = question("Which features?", &["Auth", "Search"], true);
    let one = json!({"questions": [database]});
    let two = json!({"questions": [database, features]});
    for (tool, input, refused) in [
        (
            "AskUserQuestion",
            &one,
            &[
                (json!({"option": 0}), &["option 0", "1 to 3"][..]),
                (json!({"option": 4}), &["option 4", "1 to 3"]),
                (json!({"answers": [{"option": 9}]}), &["answers[0]", "1 to 3"]),
                (json!({"answers": [{"options": [1, 2]}]}), &["answers[0]", "one option"]),
                (json!({"answers": [{"option": 1, "text": "x"}]}), &["answers[0]", "not both"]),
                (json!({"answers": [{}]}), &["answers[0]", "option", "text"]),
                (json!({"accept": true}), &["option", "text"]),
                (json!({"text": " "}), &["text"]),
                (json!({}), &["no answer", "accept"]),
            ][..],
        ),
        (
            "AskUserQuestion",
            &two,
            &[
                (json!({"option": 1}), &["1 were given", "2 questions"]),
                (json!({"answers": [{"option": 1}, {"options": [1, 3]}]}), &["answers[1]", "1 to 2"]),
            ],
        ),
        (
            "Bash",
            &bash("ls"),
            &[
                (json!({"answers": [{"option": 1}]}), &["answers", "no questions"]),
                (json!({"accept": true, "text": "x"}), &["text", "accept:false"]),
                (json!({"option": 2}), &["option 2", "accept"]),
                (json!({"option": 0}), &["option 0"]),
            ],
        ),
    ] {
        let (mut hook, _) = claude.asks(tool, input.clone()).await;
        for (answer, parts) in refused {
            let (status, code, message) = claude.post(RESPOND, answer.clone()).await.error();
            assert_eq!((status, code.as_str()), (400, "BAD_REQUEST"), "{answer}: {message}");
            for part in *parts {
                assert!(message.contains(part), "{answer}: says nothing of {part:?}: {message}");
            }
        }
        assert!(hook.waits(), "the question is still open");
        claude.hook("PostToolUse", json!({"tool_name": tool, "tool_input": input})).await;
        hook.ended().await;
    }
}

#[tokio::test]
async fn the_first_option_of_a_tools_dialog_is_a_plain_yes() {
    let claude = Claude::start(&[]).await;
    let (hook, _) = claude.asks("Bash", bash("ls")).await;
    let used = ("PostToolUse", json!({"tool_name": "Bash", "tool_input": bash("ls")}));
    let (answer, told) = answered(&claude, hook, json!({"option": 1}), used).await;
    assert_eq!((told, &answer["delivered"]), (decided(json!({"behavior": "allow"})), &json!(true)));
}

#[tokio::test]
async fn another_prompt_than_the_one_that_was_meant_is_not_answered() {
    let claude = Claude::start(&[]).await;
    let (mut hook, prompt) = claude.asks("Bash", bash("ls")).await;
    let shown = prompt["id"].as_str().unwrap();
    let yes = |more: Value| {
        let mut answer = json!({"accept": true, "timeout_ms": 500});
        answer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        claude.post(RESPOND, answer)
    };
    for wrong in [
        json!({"prompt_id": "p-none"}),
        json!({"expect": {"prompt_id": "p-none"}}),
        json!({"expect": {"state": "idle"}}),
        json!({"expect": {"state": "working", "prompt_id": shown}}),
        json!({"prompt_id": shown, "expect": {"prompt_id": "p-none"}}),
    ] {
        let (status, code, message) = yes(wrong.clone()).await.error();
        assert_eq!((status, code.as_str()), (409, "STATE_CHANGED"), "{wrong}: {message}");
        assert!(hook.waits(), "{wrong}");
    }
    let (_, _, message) = yes(json!({"prompt_id": "p-none"})).await.error();
    assert!(message.contains("p-none") && message.contains(shown), "{message}");
    yes(json!({"prompt_id": shown, "expect": {"state": "prompt", "prompt_id": shown}})).await.ok();
    assert_eq!(hook.told().await, decided(json!({"behavior": "allow"})));
}

#[tokio::test]
async fn nothing_to_answer_is_an_ordinary_answer_unless_asked_to_be_strict() {
    let claude = Claude::start(&[]).await;
    claude.hook("SessionStart", json!({})).await;
    claude.is("idle").await;
    let answer = claude.post(RESPOND, json!({"accept": true})).await.ok();
    assert_eq!(json!([answer["delivered"], answer["reason"]]), json!([false, "no_prompt"]));
    assert_eq!(json!([answer["state"], answer["receipt"], answer["prompt_type"]]), json!(["idle", null, null]));
    let strict = claude.post(RESPOND, json!({"accept": true, "strict": true})).await;
    assert_eq!(code(&strict), (409, "NO_PROMPT".to_owned()));
    let (hook, _) = claude.asks("Bash", bash("ls")).await;
    claude.hook("PostToolUse", json!({"tool_name": "Bash", "tool_input": bash("ls")})).await;
    hook.ended().await;
    claude.is("working").await;
    let late = claude.post(RESPOND, json!({"accept": true})).await.ok();
    assert_eq!(json!([late["delivered"], late["reason"]]), json!([false, "no_prompt"]), "somebody was quicker");
}

#[tokio::test]
async fn a_prompt_is_answered_once() {
    let claude = Claude::start(&[]).await;
    let mut ws = claude.place.ws("/ws?mode=state").await;
    let (hook, prompt) = claude.asks("Bash", bash("ls")).await;
    let impatient = json!({"accept": true, "prompt_id": prompt["id"], "timeout_ms": 0});
    let first = claude.post(RESPOND, impatient).await.ok();
    assert_eq!(json!([first["delivered"], first["reason"]]), json!([false, "unconfirmed"]));
    assert_eq!(hook.told().await, decided(json!({"behavior": "allow"})));
    let second = claude.post(RESPOND, json!({"accept": false, "text": "no"})).await.ok();
    assert_eq!(json!([second["delivered"], second["reason"]]), json!([false, "already_answered"]));
    claude.hook("PostToolUse", json!({"tool_name": "Bash", "tool_input": bash("ls")})).await;
    loop {
        let late = ws.next_event("receipt").await;
        assert_eq!(late["id"], first["receipt"]["id"], "{late}");
        if late["phase"] == "accepted" {
            break;
        }
    }
    let third = claude.post(RESPOND, json!({"accept": true})).await.ok();
    assert_eq!(third["reason"], "no_prompt");
}

#[tokio::test]
async fn of_many_answers_at_once_one_is_given() {
    let claude = Claude::start(&[]).await;
    let (hook, _) = claude.asks("Bash", bash("ls")).await;
    let no = |n: usize| claude.post(RESPOND, patiently(json!({"accept": false, "text": format!("no {n}")})));
    let agent = async {
        let told = hook.told().await;
        claude.hook("PreToolUse", json!({})).await;
        told
    };
    let answers = futures_util::future::join_all((0..10).map(no));
    let (told, answers) = tokio::join!(agent, answers);
    let answers: Vec<Value> = answers.iter().map(Answer::ok).collect();
    let given: Vec<usize> = (0..10).filter(|n| answers[*n]["delivered"] == true).collect();
    assert_eq!(given.len(), 1, "{answers:?}");
    assert_eq!(told["hookSpecificOutput"]["decision"]["message"], format!("no {}", given[0]));
    for answer in answers.iter().filter(|answer| answer["delivered"] == false) {
        assert!(answer["reason"] == "already_answered" || answer["reason"] == "no_prompt", "{answer}");
    }
}

#[tokio::test]
async fn an_answer_whose_child_ends_was_not_accepted() {
    let claude = Claude::start(&[]).await;
    for end in [("/api/v1/session/restart", json!({})), ("/api/v1/signal", json!({"signal": "KILL"}))] {
        let (hook, _) = claude.asks("Bash", bash("ls")).await;
        let agent = async {
            hook.told().await;
            claude.post(end.0, end.1.clone()).await.ok();
        };
        let (answer, ()) = tokio::join!(claude.post(RESPOND, patiently(json!({"accept": true}))), agent);
        let answer = answer.ok();
        assert_eq!(json!([answer["delivered"], answer["reason"]]), json!([false, "exited"]), "{end:?}: {answer}");
    }
}

#[tokio::test]
async fn without_a_driver_or_a_child_there_is_nobody_to_talk_to() {
    let coop = Coop::run(&["cat"]);
    let calls = [(NUDGE, json!({"message": "hi"})), (RESPOND, json!({"accept": true}))];
    for (path, body) in &calls {
        let (status, code, message) = coop.post(path, body.clone()).await.error();
        assert_eq!((status, code.as_str()), (404, "NO_DRIVER"), "{path}");
        assert!(message.contains("unknown") && message.contains("input"), "{message}");
    }
    let claude = Claude::start(&[]).await;
    let (hook, _) = claude.asks("Bash", bash("ls")).await;
    claude.post("/api/v1/signal", json!({"signal": "KILL"})).await.ok();
    claude.exited().await;
    assert_eq!(hook.ended().await, "");
    for (path, body) in calls {
        assert_eq!(code(&claude.post(path, body).await), (410, "EXITED".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn an_agent_at_a_dialog_takes_no_message_and_not_a_key_is_pressed() {
    let claude = Claude::start(&[]).await;
    let refused = async |before: &str| {
        let answer = claude.post(NUDGE, json!({"message": "go on"})).await.ok();
        assert_eq!(json!([answer["delivered"], answer["reason"]]), json!([false, "agent_busy"]), "{before}");
        assert_eq!(json!([answer["state_before"], answer["state"]]), json!([before, before]));
        assert_eq!(answer["receipt"], Value::Null);
        let strict = claude.post(NUDGE, json!({"message": "go on", "strict": true})).await;
        let (status, code, message) = strict.error();
        assert_eq!((status, code.as_str()), (409, "AGENT_BUSY"));
        assert!(message.contains(before), "{message}");
    };
    refused("starting").await;
    claude.hook("UserPromptSubmit", json!({"prompt": "x"})).await;
    claude.is("working").await;
    refused("working").await;
    let (mut hook, _) = claude.asks("Bash", bash("ls")).await;
    refused("prompt").await;
    let queued = claude.post(NUDGE, json!({"message": "go on", "queue": true})).await.ok();
    assert_eq!(queued["reason"], "agent_busy", "no queue stands behind a dialog");
    assert!(hook.waits());
    let status = claude.status().await;
    assert_eq!(json!([status["bytes_written"], status["input_queued"]]), json!([0, 0]));
    assert_eq!(claude.screen().await, "ready");
}

#[tokio::test]
async fn a_message_for_another_state_than_expected_is_not_given() {
    let claude = Claude::start(&[]).await;
    claude.hook("SessionStart", json!({})).await;
    claude.is("idle").await;
    for expect in [json!({"state": "error"}), json!({"prompt_id": "p1"})] {
        let answer = claude.post(NUDGE, json!({"message": "go", "expect": expect})).await;
        assert_eq!(code(&answer), (409, "STATE_CHANGED".to_owned()), "{expect}");
    }
    for message in ["", " \n\t", "\u{1b}\u{7}"] {
        let (status, code, said) = claude.post(NUDGE, json!({"message": message})).await.error();
        assert_eq!((status, code.as_str()), (400, "BAD_REQUEST"), "{message:?}");
        assert!(said.contains("message"), "{said}");
    }
    assert_eq!(claude.status().await["bytes_written"], 0);
}

#[tokio::test]
async fn a_lock_keeps_others_from_answering() {
    let claude = Claude::start(&[]).await;
    let (mut hook, _) = claude.asks("Bash", bash("ls")).await;
    let lock = claude.post("/api/v1/lock", json!({})).await.ok()["lock_id"].as_str().unwrap().to_owned();
    let yes = json!({"accept": true, "timeout_ms": 0});
    assert_eq!(code(&claude.post(RESPOND, yes.clone()).await), (409, "WRITER_BUSY".to_owned()));
    assert!(hook.waits());
    claude.call("POST", RESPOND).header("coop-lock", &lock).json(&yes).send().await.ok();
    assert_eq!(hook.told().await, decided(json!({"behavior": "allow"})));
}

#[tokio::test]
async fn every_face_can_answer() {
    let claude = Claude::start(&[]).await;
    let input = json!({"questions": [question("Which?", &["A", "B"], false)]});
    let said = |told: &Value| told["hookSpecificOutput"]["decision"]["updatedInput"]["answers"]["Which?"].clone();
    let used = json!({"tool_name": "AskUserQuestion", "tool_input": input});
    let agent = async |hook: Hook| {
        let told = hook.told().await;
        claude.hook("PostToolUse", used.clone()).await;
        said(&told)
    };

    let (hook, _) = claude.asks("AskUserQuestion", input.clone()).await;
    let mut ws = claude.place.ws("/ws?mode=state").await;
    let asked = ws.ask(patiently(json!({"event": "respond", "option": 2})));
    let (answer, told) = tokio::join!(asked, agent(hook));
    assert_eq!(json!([answer["event"], answer["delivered"], told]), json!(["respond:result", true, "B"]));

    let (hook, _) = claude.asks("AskUserQuestion", input.clone()).await;
    let mut grpc = claude.place.grpc().await;
    let request =
        coop::proto::v1::RespondRequest { option: Some(1), timeout_ms: Some(PATIENCE_MS), ..Default::default() };
    let (answer, told) = tokio::join!(grpc.respond(request), agent(hook));
    assert_eq!((answer.unwrap().into_inner().delivered, told), (true, json!("A")));

    let (hook, _) = claude.asks("AskUserQuestion", input.clone()).await;
    let (ended, told) = tokio::join!(claude.verb(&["respond", "--answer", "text:neither"]), agent(hook));
    assert_eq!((ended.ok().as_str(), told), ("question answered, seen by hooks: PostToolUse\n", json!("neither")));
}
