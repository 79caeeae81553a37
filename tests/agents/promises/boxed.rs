//! In a box an agent does its work as outside, and reaches nothing that the box keeps from it.

use serde_json::json;

use super::Kept;
use super::degraded::does_its_work;
use crate::model::Script;
use crate::session::{Options, Session};

/// Asks the proxy of the box for a server of the machine that is not on its list, and the kernel for it without the proxy.
fn knocks(port: u16) -> String {
    format!(
        "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT host.coop:{port} HTTP/1.1\\r\\nHost: host.coop:{port}\\r\\n\\r\\n' \
         >&3; head -1 <&3; (exec 4<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null || echo unreachable"
    )
}

pub async fn it_does_its_work_in_a_box<A: Kept>() {
    let agent = Session::<A>::ready(A::asking(Options::new()).boxed()).await;
    does_its_work(&agent, "nothing").await;
}

pub async fn a_box_keeps_files_and_hosts_from_its_agent<A: Kept>() {
    let options = Options::<A>::new().boxed().prepare(|house| std::fs::write(house.beside("secret"), "hush").unwrap());
    let agent = Session::<A>::ready(options).await;
    let secret = agent.house.beside("secret");
    // A server that answers whoever reaches it, and would see who did.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let knocks = knocks(listener.local_addr().unwrap().port());
    // Read from the project: an agent may lose the last line of what a command printed (Gemini CLI 0.61.0).
    let command =
        format!("{{ cat {} || echo hidden; bash -c \"{knocks}\"; }} >found 2>&1; cat found", secret.display());
    agent.model.plays(Script::new().bash(&command).text("Done."));
    agent.told("Look around").await;
    agent.prompt("permission").await;
    agent.answered(json!({"accept": true})).await;
    agent.goes(["working", "idle"]).await;
    let result = agent.model.results().pop().expect("the command has run").text;
    assert!(!result.contains("hush"), "{result}");
    let found = agent.reads("found");
    assert!(agent.has("found"), "the workspace is the project itself: {result}");
    assert!(found.contains("hidden") && !found.contains("hush"), "{found}");
    assert!(found.contains("403") && found.contains("unreachable"), "{found}");
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "somebody came: {found}");
}
