//! Promises of the socket to itself: who is let in, and for how long.

use std::io::{Read, Write};

use super::super::hook::{self, Errand};
use super::super::hook_call;
use super::*;
use crate::config::Scratch;

fn question(kind: Kind) -> Question {
    Question { token: "secret".into(), kind }
}

fn stop() -> Kind {
    Kind::Event { event: "Stop".into(), truncated: false }
}

#[tokio::test]
async fn the_socket_is_for_its_owner_alone_and_goes_with_it() {
    let scratch = Scratch::fresh();
    let path = scratch.path("hook.sock");
    let (calls, _heard) = hook_call::channel();
    let bind = || HookSocket::bind(path.clone(), "secret".into(), calls.clone());
    let socket = bind().unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(bind().unwrap_err().kind(), io::ErrorKind::AddrInUse, "one that lives is not taken over");
    drop(socket);
    assert!(!path.exists());
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    drop(bind().unwrap());
    std::fs::write(&path, "").unwrap();
    assert!(bind().is_err(), "a file of somebody else stays");
    assert!(path.exists());
}

#[tokio::test]
async fn a_caller_that_stalls_is_cut_off() {
    let scratch = Scratch::fresh();
    let (calls, mut heard) = hook_call::channel();
    let path = scratch.path("hook.sock");
    let socket = HookSocket::bind_within(path, "secret".into(), calls, Duration::from_millis(50)).unwrap();
    let whole = [wire::head(&question(stop()), 2).unwrap(), b"{}".to_vec()].concat();
    for sent in [0, 3, whole.len() - 1] {
        let mut stream = StdUnixStream::connect(socket.path()).unwrap();
        stream.write_all(&whole[..sent]).unwrap();
        let end = tokio::task::spawn_blocking(move || stream.read(&mut [0; 8])).await.unwrap();
        assert!(matches!(end, Ok(0) | Err(_)), "{sent}: {end:?}");
    }
    assert!(heard.try_recv().is_err());
}

#[tokio::test]
async fn whoever_holds_an_answer_learns_that_the_hook_has_left() {
    let scratch = Scratch::fresh();
    let (calls, mut heard) = hook_call::channel();
    let socket = HookSocket::bind(scratch.path("hook.sock"), "secret".into(), calls).unwrap();
    let mut stream = StdUnixStream::connect(socket.path()).unwrap();
    wire::write(&mut stream, &question(stop()), b"{}").unwrap();
    let mut call = heard.recv().await.unwrap();
    assert!(!call.answer.is_gone());
    drop(stream);
    call.answer.gone().await;
    assert!(call.answer.is_gone());
    call.answer.reply("late words harm nobody");
}

#[tokio::test]
async fn whoever_answers_learns_whether_the_agent_was_handed_it() {
    /// An agent that has closed its end.
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let scratch = Scratch::fresh();
    let (calls, mut heard) = hook_call::channel();
    let path = scratch.path("hook.sock");
    let _socket = HookSocket::bind(path.clone(), "secret".into(), calls).unwrap();
    let errand =
        || Errand { event: "PermissionRequest".into(), socket: path.clone(), token: "secret".into(), wait: None };
    let asks = errand();
    let hook = tokio::task::spawn_blocking(move || {
        let mut printed = Vec::new();
        hook::run(asks, &b"{}"[..], &mut printed);
        printed
    });
    let printed = heard.recv().await.unwrap().answer.reply_and_see("yes");
    assert_eq!(printed.await, Ok(true));
    assert_eq!(hook.await.unwrap(), b"yes");
    let asks = errand();
    let hook = tokio::task::spawn_blocking(move || hook::run(asks, &b"{}"[..], &mut Closed));
    let printed = heard.recv().await.unwrap().answer.reply_and_see("yes");
    assert_eq!(printed.await, Ok(false), "its agent did not want it");
    hook.await.unwrap();
    assert_eq!(HookAnswer::unheard().reply_and_see("yes").await, Ok(false), "there is no process");
}

#[tokio::test]
async fn nonsense_harms_nobody_else() {
    let scratch = Scratch::fresh();
    let (calls, mut heard) = hook_call::channel();
    let socket = HookSocket::bind(scratch.path("hook.sock"), "secret".into(), calls).unwrap();
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[wire::VERSION, 255, 255, 255, 255], &[wire::VERSION, 0, 0, 0, 0]] {
        let mut stream = StdUnixStream::connect(socket.path()).unwrap();
        stream.write_all(bytes).unwrap();
    }
    let mut stream = StdUnixStream::connect(socket.path()).unwrap();
    wire::write(&mut stream, &question(Kind::ResolveStop), b"1").unwrap();
    let call = heard.recv().await.unwrap().call;
    assert!(matches!(call, Call::ResolveStop { signal: Ok(signal) } if signal == 1));
}

#[tokio::test]
async fn more_hooks_than_there_are_places_wait_for_theirs() {
    let scratch = Scratch::fresh();
    let (calls, mut heard) = hook_call::channel();
    let socket = HookSocket::bind(scratch.path("hook.sock"), "secret".into(), calls).unwrap();
    let path = socket.path().to_owned();
    let callers = tokio::task::spawn_blocking(move || {
        let call = |_| {
            let mut stream = StdUnixStream::connect(&path).unwrap();
            wire::write(&mut stream, &question(stop()), b"{}").unwrap();
            stream
        };
        (0..HOOKS_AT_ONCE_MAX + 5).map(call).collect::<Vec<_>>()
    });
    let mut held = Vec::new();
    for _ in 0..HOOKS_AT_ONCE_MAX {
        held.push(heard.recv().await.unwrap());
    }
    let callers = callers.await.unwrap();
    assert!(heard.try_recv().is_err());
    held.truncate(HOOKS_AT_ONCE_MAX - 5);
    for _ in 0..5 {
        heard.recv().await.unwrap();
    }
    drop(callers);
}
